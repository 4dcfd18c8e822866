//! Trains a network of texts for so many seconds of processor time and says what it needs for held-out text, in bits per token: from left
//! to right and in random orders, on the way and in the end, as JSON. `bench/text/ORDERED.md` has the commands.
//!
//! `cargo run --release -p pmm-train --example ordered_measure -- TOKENS SECONDS [KEY=VALUE …]`, where TOKENS is a file of tokens, made
//! from a text that stands in the variable `TEXT` if it is not there yet, and keys are settings, such as `net.kind=masked`.

use std::convert::Infallible;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pmm_core::{
    Filter, MASK, MonteCarlo, OrderLaw, Prompt, Streams, Texts, TokenDenoiser, TokenPosition, in_order,
};
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_net::text::{OrderedDenoiser, OrderedNet, TextDenoiser, TextNet, TextNetwork};
use pmm_train::text::{OrderedTask, TextConfig, TextTask};
use pmm_train::{Progress, State, Task, TrainConfig, Watcher, train};

/// Steps by which the time of a step is judged.
const TRIAL: u64 = 6;
/// Looks at held-out text while training.
const POINTS: u64 = 8;
/// Held-out windows, and positions of each that are asked, for a masked network.
const WINDOWS: usize = 64;
const ASKED: usize = 8;

/// What held-out text costs in bits per token from left to right, if that is cheap to know, and in random orders.
type Look<'a> = &'a dyn Fn(&State) -> (Option<f64>, f64);

/// Looks at held-out text now and then and, if asked to, stops after some steps.
struct Curve<'a> {
    stop_at: u64,
    step: u64,
    /// Steps from look to look.
    every: u64,
    look: Look<'a>,
    start: f64,
    /// Seconds of processor time spent with looking, which are not training.
    looking: f64,
    points: Vec<serde_json::Value>,
}

impl<'a> Curve<'a> {
    fn new(step: u64, stop_at: u64, every: u64, look: Look<'a>) -> Self {
        Self { stop_at, step, every, look, start: processor_seconds(), looking: 0.0, points: Vec::new() }
    }
}

impl Watcher for Curve<'_> {
    type Error = Infallible;
    fn wants_stop(&mut self) -> bool {
        self.step >= self.stop_at
    }
    fn step(&mut self, progress: Progress, state: &State) -> Result<(), Infallible> {
        self.step = progress.step;
        if self.step.is_multiple_of(self.every) {
            let now = processor_seconds();
            let ((left_to_right, random), seconds) = ((self.look)(state), now - self.start - self.looking);
            eprintln!("{:6} steps, {seconds:6.1} s: {left_to_right:.3?} and {random:.3} bits", self.step);
            self.points.push(serde_json::json!({
                "step": self.step, "seconds": seconds, "left_to_right": left_to_right, "random": random,
            }));
            self.looking += processor_seconds() - now;
        }
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Infallible> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(seconds)) = (args.next(), args.next()) else {
        return Err("usage: ordered_measure TOKENS SECONDS [KEY=VALUE …]".into());
    };
    let (path, seconds) = (PathBuf::from(path), seconds.parse::<f64>()?);
    let settings: Vec<String> = args.collect();
    let tokens = open(&path)?;
    let config = config(&settings)?;
    config.check()?;
    match config.network(27, &pmm_net::Device::flex())? {
        TextNetwork::Ordered(net) => {
            let task = |config: &TextConfig| {
                OrderedTask::new(net.clone(), tokens.clone(), config, Streams::new(config.seed))
            };
            let config = timed(&task(&config)?, config, seconds)?;
            let task = task(&config)?;
            let look = |state: &State| {
                let bits = task.held_out_bits(&state.average);
                (Some(bits.left_to_right.mean), bits.random.mean)
            };
            let (state, curve) = run(&task, &config, &look)?;
            let bits = task.held_out_bits(&state.average);
            say(&settings, &state, bits.left_to_right, bits.random, curve);
            [1, 16].into_iter().for_each(|texts| draw(&net, &state.average, texts));
        }
        TextNetwork::Masked(net) => {
            let streams = Streams::new(config.seed);
            let task = TextTask::new(net.clone(), tokens.clone(), &config, streams);
            let config = timed(&task, config.clone(), seconds)?;
            // The bound, which is that of random orders.
            let look = |state: &State| {
                let losses = task.losses(&state.average, 0..task.pieces());
                (None, task.mean_loss(&losses) / std::f64::consts::LN_2)
            };
            let (state, curve) = run(&task, &config, &look)?;
            let held_out = (tokens.len() as f64 * (1.0 - config.valid)).round() as u64;
            let bits = |straight: bool| masked_bits(&net, &state.average, &tokens, held_out, straight);
            say(&settings, &state, bits(true), bits(false), curve);
        }
    }
    Ok(())
}

fn open(path: &Path) -> Result<Arc<Tokens>, Box<dyn Error>> {
    if !path.exists() {
        let text = std::env::var_os("TEXT").ok_or("TEXT must name the text to make tokens of")?;
        let source = TextSource::open(Path::new(&text), &TextOptions::default())?;
        Tokens::write(&source, &Tokenizer::characters(&source)?, path, &mut |_| ())?;
    }
    Ok(Arc::new(Tokens::open(path)?))
}

/// The recommended settings of the kind of network, with those that are given in their place.
fn config(settings: &[String]) -> Result<TextConfig, Box<dyn Error>> {
    let masked = settings.iter().any(|setting| setting == "net.kind=masked");
    let base = if masked { TextConfig::masked() } else { TextConfig::default() };
    // Of 70 million characters the last four are held out.
    let mut table: toml::Table = pmm_train::to_toml(&TextConfig { valid: 4.0 / 70.0, ..base }).parse()?;
    for setting in settings {
        let (key, value) = setting.split_once('=').ok_or("settings are KEY=VALUE")?;
        let value = format!("x = {value}").parse::<toml::Table>().map_or(value.into(), |t| t["x"].clone());
        match key.split_once('.') {
            Some((group, key)) => {
                table[group].as_table_mut().ok_or("no such group of settings")?.insert(key.into(), value)
            }
            None => table.insert(key.into(), value),
        };
    }
    Ok(table.try_into()?)
}

/// With as many steps as fit into the time, judged by a few; 0 seconds leave those of the settings.
fn timed<T: Task>(task: &T, config: TextConfig, seconds: f64) -> Result<TextConfig, Box<dyn Error>> {
    if seconds == 0.0 {
        return Ok(config);
    }
    let nothing: Look<'_> = &|_| (None, 0.0);
    let long = TrainConfig { steps: 1_000_000, validate_every: 1_000_000, ..config.train.clone() };
    let mut state = State::new(task.initial());
    train(task, &long, &pmm_train::Alone, &mut state, &mut Curve::new(0, 2, u64::MAX, nothing))?;
    let start = processor_seconds();
    train(task, &long, &pmm_train::Alone, &mut state, &mut Curve::new(2, 2 + TRIAL, u64::MAX, nothing))?;
    let each = (processor_seconds() - start) / TRIAL as f64;
    Ok(config.with_steps((seconds / each) as u64))
}

/// Trains, after what the task does before its first step.
fn run<T: Task>(
    task: &T,
    config: &TextConfig,
    look: Look<'_>,
) -> Result<(State, Vec<serde_json::Value>), Box<dyn Error>> {
    let steps = config.train.steps;
    let mut state = State::new(task.initial());
    let mut curve = Curve::new(0, u64::MAX, (steps / POINTS).max(1), look);
    task.prepare(&mut state, &mut |_, _| true);
    let (straight, random) = look(&state);
    eprintln!("read ahead, {:.1} s: {straight:.3?} and {random:.3} bits", processor_seconds() - curve.start);
    // What a fit looks at while it runs is looked at in the end only: that takes time, too.
    let train_config = TrainConfig { validate_every: steps, ..config.train.clone() };
    train(task, &train_config, &pmm_train::Alone, &mut state, &mut curve)?;
    eprintln!("{:.1} s of processor time", processor_seconds() - curve.start - curve.looking);
    Ok((state, curve.points))
}

/// What a masked network needs for held-out text: stratified over how much is known, from left to right or in a random order.
fn masked_bits(
    net: &Arc<TextNet>,
    weights: &[f32],
    tokens: &Tokens,
    held_out: u64,
    straight: bool,
) -> MonteCarlo {
    let (length, denoiser) = (net.length(), TextDenoiser::new(net.clone(), weights));
    let span = tokens.len() - held_out - length as u64 + 1;
    let bits: Vec<f64> = (0..WINDOWS)
        .map(|window| {
            let mut text = vec![0; length];
            tokens.copy(held_out + (window as u64 * span) / WINDOWS as u64, &mut text);
            let mut rng = Streams::new(99).stream(pmm_core::Purpose::custom(1), 0, window as u64);
            let mut sum = 0.0;
            for stratum in 0..ASKED {
                let known = ((stratum as f64 + rng.unit()) / ASKED as f64 * length as f64) as usize;
                let mut order: Vec<usize> = (0..length).collect();
                if !straight {
                    rng.shuffle(&mut order);
                }
                let mut shown = text.clone();
                order[known..].iter().for_each(|&position| shown[position] = MASK);
                let asked = if straight { &order[known..=known] } else { &order[known..] };
                let wanted: Vec<TokenPosition> =
                    asked.iter().map(|&position| TokenPosition { row: 0, position }).collect();
                let mut logits = vec![0.0; wanted.len() * net.classes()];
                let time = known as f64 / length as f64;
                denoiser.logits(&Texts { tokens: &shown, times: &[time] }, &wanted, &mut logits);
                let nats = |(place, logits): (&TokenPosition, &[f32])| {
                    let sum: f64 = logits.iter().map(|l| f64::from(*l).exp()).sum();
                    sum.ln() - f64::from(logits[text[place.position] as usize])
                };
                let all = wanted.iter().zip(logits.chunks_exact(net.classes())).map(nats).sum::<f64>();
                sum += all / wanted.len() as f64 / ASKED as f64;
            }
            sum / std::f64::consts::LN_2
        })
        .collect();
    MonteCarlo::of(&bits)
}

/// Draws texts from left to right with a cache, and says how long that takes.
fn draw(net: &Arc<OrderedNet>, weights: &[f32], texts: usize) {
    let denoiser = OrderedDenoiser::new(net.clone(), weights);
    let prompt = Prompt::empty(0, texts, net.length());
    let start = processor_seconds();
    let law = OrderLaw::LeftToRight;
    let found = in_order(&denoiser, &law, prompt, Filter::default(), &Streams::new(1), &mut ());
    let each = (processor_seconds() - start) / (texts * net.length()) as f64;
    eprintln!("{texts} texts at once: {:.3} ms of processor time a token", 1e3 * each);
    let letter = |&token: &u32| if token == 0 { ' ' } else { (b'a' + token as u8 - 1) as char };
    for text in found.iter().flat_map(|found| found.tokens.chunks_exact(net.length())).take(2) {
        eprintln!("{}", text.iter().map(letter).collect::<String>());
    }
}

fn say(
    settings: &[String],
    state: &State,
    left_to_right: MonteCarlo,
    random: MonteCarlo,
    curve: Vec<serde_json::Value>,
) {
    let both = |found: MonteCarlo| serde_json::json!({"bits": found.mean, "error": found.standard_error});
    let line = serde_json::json!({
        "settings": settings, "steps": state.step, "left_to_right": both(left_to_right), "random": both(random), "curve": curve,
    });
    println!("{line}");
}

/// Seconds that all threads of this process have run, as Linux counts them in hundredths.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |field: usize| {
        after_name.split_whitespace().nth(field).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}
