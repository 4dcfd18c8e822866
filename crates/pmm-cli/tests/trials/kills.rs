//! Fits and writers that are killed at random moments.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Place, step};
use crate::models::{EXAMPLES, Example, place};
use crate::{count, random};

/// Saved after every step: most kills fall into writing.
const ALWAYS: &str = "--set train.checkpoint_seconds=0";

fn spawn(place: &Place, arguments: &str) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("pmm"));
    command.current_dir(place.path("")).args(arguments.split_whitespace());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills a child after a random part of `span`; says whether it was still running.
fn kill(mut child: Child, span: Duration, trial: u64) -> bool {
    std::thread::sleep(span.mul_f64(random(trial).unit()));
    let running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    running
}

/// What killed writers have left for good.
fn leftovers(place: &Place, folder: &str) -> Vec<String> {
    let names = std::fs::read_dir(place.path(folder)).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

/// A fit that is killed `kills` times on its way and then ends: its weights are those of a fit that nobody disturbs. Returns how
/// many kills fell while it ran.
fn fit(example: &Example, threads: usize, kills: u64) -> u64 {
    let place = place();
    let Example { data, settings, .. } = example;
    let begun = Instant::now();
    place.run(&format!("fit {data} {settings} {ALWAYS} -q --threads {threads} --out whole.pmm")).ok();
    let span = begun.elapsed();
    let expected = place.read("whole.pmm/weights.safetensors");
    let mut fell = 0;
    for trial in 0..kills {
        let checkpoint = place.path("m.pmm/state/checkpoint.safetensors");
        let how = if place.path("m.pmm/config.toml").exists() { "--resume" } else { "--force" };
        let arguments = format!("fit {data} {settings} {ALWAYS} -q --out m.pmm {how} --threads {threads}");
        fell += u64::from(kill(spawn(&place, &arguments), span, 1000 * threads as u64 + trial));
        // One that is there is whole: `step` says so, or panics.
        let _ = step(&checkpoint);
        if place.path("m.pmm/weights.safetensors").exists() {
            place.run("info m.pmm").ok();
        }
        if place.path("m.pmm/weights.safetensors").exists() && step(&checkpoint).is_none_or(|at| at >= 8) {
            let done = place
                .run(&format!("fit {data} {settings} {ALWAYS} -q --out m.pmm --resume --threads {threads}"));
            done.ok();
            assert_eq!(
                place.read("m.pmm/weights.safetensors"),
                expected,
                "{data}, {threads} threads, kill {trial}"
            );
            std::fs::remove_dir_all(place.path("m.pmm")).unwrap();
        }
    }
    let how = if place.path("m.pmm/config.toml").exists() { "--resume" } else { "" };
    place.run(&format!("fit {data} {settings} {ALWAYS} -q --out m.pmm {how} --threads {threads}")).ok();
    assert_eq!(place.read("m.pmm/weights.safetensors"), expected, "{data}, {threads} threads");
    assert!(leftovers(&place, "m.pmm").is_empty() && leftovers(&place, "m.pmm/state").is_empty());
    fell
}

/// A writer that is killed leaves the file that was there, or the new one, whole.
fn write(kills: u64) -> u64 {
    let place = place();
    place.run(&format!("fit pets.csv {} -q", EXAMPLES[0].settings)).ok();
    let mut fell = 0;
    for (job, file) in [
        ("sample pets.pmm -n 60000", "x.csv"),
        ("sample pets.pmm -n 60000", "x.parquet"),
        ("impute pets.pmm pets.csv --draws 400", "y.csv.gz"),
        ("impute pets.pmm pets.csv --draws 400", "y.arrow"),
    ] {
        let begun = Instant::now();
        place.run(&format!("{job} -q --out whole-{file}")).ok();
        let (span, whole) = (begun.elapsed(), place.read(&format!("whole-{file}")));
        for trial in 0..kills {
            let old = trial % 2 == 1;
            let _ = std::fs::remove_file(place.path(file));
            if old {
                place.write(file, "old");
            }
            let child = spawn(&place, &format!("{job} -q --out {file}"));
            fell += u64::from(kill(child, span.mul_f64(1.1), 5000 + trial));
            match std::fs::read(place.path(file)) {
                Ok(bytes) => assert!(bytes == whole || old && bytes == b"old", "{file}, kill {trial}"),
                Err(_) => assert!(!old, "{file}, kill {trial}: what was there is gone"),
            }
        }
    }
    fell
}

fn all_of(kills: u64) {
    for example in &EXAMPLES {
        for threads in [1, 2] {
            let fell = fit(example, threads, kills);
            println!(
                "{}, {threads} threads: {kills} kills, {fell} of a running fit; weights as undisturbed",
                example.data
            );
        }
    }
    println!("writers: {} kills, {} of a running writer; files whole or as before", 4 * kills, write(kills));
}

#[test]
fn a_few() {
    assert!(fit(&EXAMPLES[0], 2, 4) > 0);
    assert!(write(2) > 0);
}

#[test]
#[ignore = "long: trials/run kills"]
fn all() {
    all_of(count(30));
}
