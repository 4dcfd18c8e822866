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

/// Before the first step the tables of patterns read the text: what is held out costs less at once, and the rest of the state stays. The
/// same bits for any threads, and however often; where it is stopped, the state is what it was.
#[test]
fn tables_of_patterns_read_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let (long, config) = (config(150), config(7));
    let task = task(folder.path(), &config);
    let read = |threads: usize, times: usize, most: u64| {
        let mut state = State::new(task.initial());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut told = Vec::new();
        let mut goes_on = |done: u64, of: u64| {
            told.push((done, of));
            done < most
        };
        pool.install(|| (0..times).for_each(|_| task.prepare(&mut state, &mut goes_on)));
        (state, told)
    };
    let (state, told) = read(1, 1, u64::MAX);
    // Of 3,180 characters four fifths are learned: 106 windows of 24.
    assert_eq!(told, [(0, 106), (64, 106)]);
    let before = task.held_out_bits(&task.initial());
    let after = task.held_out_bits(&state.average);
    assert!(after.left_to_right.mean < 0.6 * before.left_to_right.mean, "{after:?}");
    assert!(after.random.mean < 0.8 * before.random.mean, "{after:?}");
    let fresh = State::new(task.initial());
    assert_eq!(State { weights: fresh.weights.clone(), ..state.clone() }.first_moment, fresh.first_moment);
    assert_eq!((state.step, state.updates, state.is_whole()), (0, 0, true));
    assert_eq!(read(3, 1, u64::MAX).0, state);
    assert_eq!(read(2, 2, u64::MAX).0, state);
    assert_eq!(read(2, 1, 64).0, fresh);
    // Where the network comes to all of the text, they read nothing ahead.
    let (other, mut state) = (crate::task(folder.path(), &long), fresh.clone());
    other.prepare(&mut state, &mut |_, _| unreachable!("nothing is read"));
    assert_eq!(state, fresh);
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
