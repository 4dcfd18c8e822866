//! A fit that is killed goes on bit for bit; what it cannot go on from is refused by name.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, pets, step};
use pmm_core::{Purpose, Streams};
use pmm_store::{Checkpoint, Identity, load_state, load_tensors, save_state};

const STEPS: u64 = 150;
const CHECKPOINT: &str = "pets.pmm/state/checkpoint.safetensors";
const WEIGHTS: &str = "pets.pmm/weights.safetensors";
/// Saved after every step: most of the time is spent in writing, so most kills fall there.
const ALWAYS: &str = "--set train.checkpoint_seconds=0";

fn settings() -> String {
    format!("--steps {STEPS} --set net.width=64 --set net.blocks=1 --set train.validate_every=20 --seed 3")
}

/// A folder with the table, and the arguments of its fit.
fn place() -> Place {
    let place = Place::new();
    place.write("pets.csv", pets(200));
    place
}

/// The files of a fit that nobody disturbs.
fn undisturbed(extra: &str) -> Place {
    let place = place();
    place.run(&format!("fit pets.csv {} -q {extra}", settings())).ok();
    place
}

fn spawn(place: &Place, arguments: &str) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("pmm"))
        .current_dir(place.path(""))
        .args(arguments.split_whitespace())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// By what a checkpoint is known, and how many weights it holds.
fn known_by(path: &Path) -> (Identity, usize) {
    let (tensors, facts) = load_tensors::<Checkpoint>(path).unwrap();
    (facts.identity, tensors[0].values.len())
}

/// Begins a fit and kills it once it has come to `step`.
fn killed_at(step_wanted: u64, extra: &str) -> Place {
    let place = place();
    let mut child = spawn(&place, &format!("fit pets.csv {} {ALWAYS} -q {extra}", settings()));
    let path = place.path(CHECKPOINT);
    let begun = Instant::now();
    while step(&path).is_none_or(|step| step < step_wanted) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint comes");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place
}

/// Runs the fit of a place again and again, each time for a moment, until `kills` of the kills fell between its first
/// and last step; then lets it end. Says at which steps they fell.
fn disturbed(place: &Place, kills: usize, threads: [usize; 2]) -> Vec<u64> {
    let mut rng = Streams::new(11).stream(Purpose::DATA, 0, 0);
    let path = place.path(CHECKPOINT);
    let mut fell: Vec<u64> = Vec::new();
    for attempt in 0..200 {
        let begun = place.path("pets.pmm/config.toml").exists();
        let how = if begun { "--resume" } else { "--force" };
        let threads = threads[attempt % 2];
        let arguments = format!("fit pets.csv {} {ALWAYS} -q {how} --threads {threads}", settings());
        let before = step(&path).unwrap_or(0);
        let mut child = spawn(place, &arguments);
        if fell.len() == kills || before >= STEPS {
            assert!(child.wait().unwrap().success(), "attempt {attempt}");
            return fell;
        }
        // Past its start, then anywhere in the time of some steps with their writing.
        let started = Instant::now();
        while step(&path).unwrap_or(0) <= before && started.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(rng.below(60_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        let at = step(&path).unwrap_or(0);
        if at > before && at < STEPS {
            fell.push(at);
        }
    }
    panic!("{fell:?}");
}

#[test]
fn a_mapped_file_that_is_cut_short_is_told_in_words() {
    use std::io::Read as _;
    let place = place();
    let mut child = spawn(&place, &format!("fit pets.csv --steps 100000000 {ALWAYS} -q"));
    let begun = Instant::now();
    while step(&place.path(CHECKPOINT)).is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint comes");
        std::thread::sleep(Duration::from_millis(2));
    }
    // What the system sends to whoever reads beyond the end of a mapped file.
    assert!(Command::new("kill").args(["-BUS", &child.id().to_string()]).status().unwrap().success());
    let code = child.wait().unwrap().code();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("was cut short by another program") && said.contains("--resume"), "{said}");
}

#[test]
fn killed_at_any_moment_it_goes_on_bit_for_bit() {
    let whole = undisturbed("--threads 1");
    let place = place();
    let fell = disturbed(&place, 6, [2, 1]);
    assert!(fell.len() >= 3, "the test needs kills on the way: {fell:?}");
    for name in ["weights.safetensors", "schema.json", "README.md"] {
        // How often a checkpoint is written stands in the settings, and the card shows them.
        let read =
            |place: &Place| String::from_utf8_lossy(&place.read(&format!("pets.pmm/{name}"))).into_owned();
        let same = |text: String| text.replace("checkpoint_seconds = 0.0", "checkpoint_seconds = 10.0");
        assert_eq!(same(read(&place)), same(read(&whole)), "{name}, killed at {fell:?}");
    }
    assert_eq!(place.read(WEIGHTS), whole.read(WEIGHTS), "killed at {fell:?}");
    let (log, expected) = (place.sheet("pets.pmm/log.csv"), whole.sheet("pets.pmm/log.csv"));
    for column in ["step", "valid_loss", "learning_rate", "skipped"] {
        assert_eq!(log.column(column), expected.column(column), "log.csv: {column}");
    }
    for folder in ["pets.pmm", "pets.pmm/state"] {
        let names = std::fs::read_dir(place.path(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
        assert!(hidden.is_empty(), "killed writers leave nothing for good: {hidden:?}");
    }
}

/// The comparison above can fail: another seed, or a checkpoint whose step is off by one, gives other weights.
#[test]
fn negative_control() {
    let whole = undisturbed("").read(WEIGHTS);
    let other = place();
    other.run(&format!("fit pets.csv {} -q --set seed=4", settings())).ok();
    assert_ne!(whole, other.read(WEIGHTS), "another seed");

    let place = killed_at(30, "");
    let path = place.path(CHECKPOINT);
    let (identity, weights) = known_by(&path);
    let mut state = load_state(&path, &identity, weights).unwrap();
    save_state(&path, &state, &identity).unwrap();
    let untouched = std::fs::read(&path).unwrap();
    state.step += 1;
    save_state(&path, &state, &identity).unwrap();
    place.run("fit pets.csv --resume -q").ok();
    assert_ne!(whole, place.read(WEIGHTS), "a step left out");
    // And the way through the file is not what made the difference.
    std::fs::write(&path, untouched).unwrap();
    place.run("fit pets.csv --resume -q").ok();
    assert_eq!(whole, place.read(WEIGHTS));
}

/// `--resume` alone is enough: settings, seed and columns are those of the beginning.
#[test]
fn settings_need_not_be_repeated_and_cannot_be_changed() {
    let whole = undisturbed("--set columns.age.pair=normal").read(WEIGHTS);
    let place = killed_at(40, "--set columns.age.pair=normal");
    let words = ["was begun with train.learning_rate = 0.00", "not 0.5", "hint: --resume alone goes on"];
    place.run("fit pets.csv --resume --set train.learning_rate=0.5").fails(1, &words);
    place.run("fit pets.csv --resume --seed 8").fails(1, &["was begun with seed = 3, not 8"]);
    place.run("fit pets.csv --resume --steps 999").fails(1, &["was begun with train.steps = 150, not 999"]);
    let words = ["checkpoint.safetensors does not belong here: its description", "hint: "];
    place.run("fit pets.csv --resume --set columns.age.pair=gamma").fails(1, &words);
    place.run("fit pets.csv --resume -q").ok();
    assert_eq!(whole, place.read(WEIGHTS));
}

#[test]
fn what_cannot_be_gone_on_from_is_refused_by_name() {
    let place = killed_at(20, "");
    let path = place.path(CHECKPOINT);
    let good = std::fs::read(&path).unwrap();
    let resume = format!("fit pets.csv {} {ALWAYS} --resume", settings());
    let refused = |words: &[&str]| {
        let run = place.run(&resume).fails(1, words);
        let named = run.err.contains("state/checkpoint.safetensors") || run.err.contains("other data");
        assert!(named && run.err.contains("\nhint: "), "{}", run.err);
    };
    for end in [0, 7, good.len() / 2, good.len() - 1] {
        std::fs::write(&path, &good[..end]).unwrap();
        refused(&["is damaged"]);
    }
    for at in [0, 20, good.len() / 2, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        std::fs::write(&path, bytes).unwrap();
        refused(&["is damaged"]);
    }
    std::fs::write(&path, &good).unwrap();
    let (known, weights) = known_by(&path);
    let state = load_state(&path, &known, weights).unwrap();
    let other = || "0123".to_owned();
    for (identity, words) in [
        (Identity { format: 99, ..known.clone() }, "was written by a pmm of format 99"),
        (Identity { settings: other(), ..known.clone() }, "does not belong here: its settings is 0123"),
        (Identity { description: other(), ..known.clone() }, "does not belong here: its description is 0123"),
        (Identity { data: other(), ..known.clone() }, "was begun with other data (BLAKE3 0123"),
    ] {
        save_state(&path, &state, &identity).unwrap();
        refused(&[words]);
    }
    std::fs::write(&path, &good).unwrap();
    place.write("pets.csv", pets(200).replacen("cat", "dog", 1));
    refused(&["was begun with other data"]);
    place.write("pets.csv", pets(200));
    std::fs::remove_file(&path).unwrap();
    place.run(&resume).fails(1, &["state/checkpoint.safetensors"]);
    std::fs::write(&path, &good).unwrap();
    place.run(&format!("{resume} -q")).ok();
}

/// The first Ctrl-C ends a fit early with exit code 0: there is a model to use, and it can go on as if nothing had been.
#[test]
fn ctrl_c_leaves_a_model() {
    let whole = undisturbed("").read(WEIGHTS);
    let place = place();
    let child = spawn(&place, &format!("fit pets.csv {} {ALWAYS}", settings()));
    let begun = Instant::now();
    while step(&place.path(CHECKPOINT)).is_none_or(|step| step < 25) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint comes");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(
        Command::new("sh").arg("-c").arg(format!("kill -INT {}", child.id())).status().unwrap().success()
    );
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("stopped at step ") && said.contains("--resume goes on"), "{said}");
    assert!(step(&place.path(CHECKPOINT)).unwrap() < STEPS, "it came in time");
    place.run("sample pets.pmm -n 10 -q").ok();
    place.run("fit pets.csv --resume -q").ok();
    assert_eq!(whole, place.read(WEIGHTS));
}

/// One that is done stays as it is.
#[test]
fn resuming_what_is_done_changes_nothing() {
    let place = undisturbed("");
    let files = ["weights.safetensors", "schema.json", "config.toml", "README.md", "log.csv"];
    let read = || files.map(|name| place.read(&format!("pets.pmm/{name}")));
    let before = read();
    place.run("fit pets.csv --resume -q").ok();
    assert!(before == read());
}

#[test]
fn the_same_seed_makes_identical_files_with_one_thread_or_two() {
    let (one, two) = (undisturbed("--threads 1"), undisturbed("--threads 2"));
    for name in ["weights.safetensors", "schema.json", "config.toml", "README.md"] {
        let name = format!("pets.pmm/{name}");
        assert!(one.read(&name) == two.read(&name), "{name}");
    }
    for setting in ["clock=gradual", "net.kind=attention"] {
        let weights = |threads| {
            let place = place();
            let settings = format!("--set net.width=32 --set {setting} --threads {threads}");
            place.run(&format!("fit pets.csv --steps 30 -q {settings}")).ok();
            place.read(WEIGHTS)
        };
        assert!(weights(1) == weights(2), "{setting}");
    }
}
