//! An ordered network learns a text, and a stopped run goes on to the bit.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use pmm_core::Streams;
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};
use pmm_net::text::{OrderedConfig, OrderedNet, TextNetConfig};
use pmm_store::{Identity, load_state, save_state};
use pmm_train::text::{OrderedTask, TextConfig};
use pmm_train::{Alone, Outcome, Progress, State, Task, TrainConfig, Watcher, train};

#[derive(Default)]
struct Quiet {
    stop_at: Option<u64>,
    step: u64,
}

impl Watcher for Quiet {
    type Error = std::convert::Infallible;
    fn wants_stop(&mut self) -> bool {
        self.stop_at.is_some_and(|at| self.step >= at)
    }
    fn step(&mut self, progress: Progress, _: &State) -> Result<(), Self::Error> {
        self.step = progress.step;
        Ok(())
    }
    fn validated(&mut self, _: &State, _: f64, _: f64) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn config(steps: u64) -> TextConfig {
    let net = OrderedConfig { width: 32, blocks: 2, heads: 2, length: 24, window: 3, hash_bits: 8 };
    let train = TrainConfig { steps, warmup: 5, validate_every: 10, ..TextConfig::default().train };
    TextConfig { batch: 6, valid: 0.2, net: TextNetConfig::Ordered(net), train, ..TextConfig::default() }
}

/// Lines of a counting rhyme, over and over: easy to learn.
fn task(folder: &std::path::Path, config: &TextConfig) -> OrderedTask {
    let text = folder.join("text.txt");
    std::fs::write(&text, "one two three four five, once I caught a fish alive. ".repeat(60)).unwrap();
    let source = TextSource::open(&text, &TextOptions::default()).unwrap();
    let tokenizer = Tokenizer::characters(&source).unwrap();
    let path = folder.join("tokens.bin");
    Tokens::write(&source, &tokenizer, &path, &mut |_| ()).unwrap();
    let TextNetConfig::Ordered(net) = &config.net else { unreachable!() };
    let net = Arc::new(OrderedNet::new(tokenizer.classes(), net).unwrap());
    OrderedTask::new(net, Arc::new(Tokens::open(&path).unwrap()), config, Streams::new(1)).unwrap()
}

/// A rhyme of 53 characters is known by heart after a while, in either order; at first every character is as likely.
#[test]
fn learns_a_rhyme() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(150);
    let task = task(folder.path(), &config);
    let mut state = State::new(task.initial());
    let before = task.held_out_bits(&state.weights);
    assert!((before.left_to_right.mean - before.random.mean).abs() < 1e-5 && before.random.mean > 4.0);
    assert_eq!(
        train(&task, &config.train, &Alone, &mut state, &mut Quiet::default()).unwrap(),
        Outcome::Done
    );
    let after = task.held_out_bits(&state.average);
    assert!(after.left_to_right.mean < 1.0 && after.random.mean < 1.5, "{after:?}");
    let held_out = task.mean_loss(&task.losses(&state.average, 0..task.pieces()));
    assert!((held_out - state.best.unwrap().loss).abs() < 0.1);
}

/// Stopped anywhere and gone on through a file: the same bits, of weights, momenta and tables; also with other threads.
#[test]
fn resume_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(24);
    let task = task(folder.path(), &config);
    let run = |state: &mut State, stop_at: Option<u64>, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| train(&task, &config.train, &Alone, state, &mut Quiet { stop_at, step: 0 }).unwrap())
    };
    let mut whole = State::new(task.initial());
    run(&mut whole, None, 1);
    let path = folder.path().join("checkpoint.safetensors");
    let identity = Identity::new("", "", "");
    for at in [1, 10, 17] {
        let mut state = State::new(task.initial());
        assert_eq!(run(&mut state, Some(at), 3), Outcome::Interrupted);
        save_state(&path, &state, &identity).unwrap();
        let mut state = load_state(&path, &identity, whole.weights.len()).unwrap();
        run(&mut state, None, 2);
        assert!(state == whole, "stopped at {at}");
    }
}
