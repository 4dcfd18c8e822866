//! Runs with little memory and little time.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Place;

/// Memory that a run may have, in kilobytes: one that asks for more aborts, and is found.
const MEMORY: u64 = 6_000_000;
/// After so long a fit that began counts as taken.
const LONG: Duration = Duration::from_secs(4);

/// A run with little memory and little time; its exit code (none if it ran on) and what it said.
pub(crate) fn limited(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let said = std::fs::File::create(place.path("said")).unwrap();
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(assert_cmd::cargo::cargo_bin!("pmm"))
        .args(arguments)
        .current_dir(place.path(""))
        .stdout(Stdio::null())
        .stderr(said)
        .spawn()
        .unwrap();
    let begun = Instant::now();
    loop {
        let said = || String::from_utf8_lossy(&place.read("said")).into_owned();
        match child.try_wait().unwrap() {
            Some(status) => {
                let code = status.code();
                assert!(code.is_some(), "pmm {arguments:?} ended by a signal: {status}\n{}", said());
                return (code, said());
            }
            None if begun.elapsed() > LONG => {
                child.kill().unwrap();
                child.wait().unwrap();
                return (None, said());
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
