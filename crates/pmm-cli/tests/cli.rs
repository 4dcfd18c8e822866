//! The program as a user meets it.
#![allow(clippy::unwrap_used)]

use assert_cmd::Command;

fn pmm() -> Command {
    let mut command = Command::cargo_bin("pmm").unwrap();
    command.env("NO_COLOR", "1");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn version_and_help() {
    let output = pmm().arg("--version").output().unwrap();
    assert_eq!(text(&output.stdout), format!("pmm {}\n", env!("CARGO_PKG_VERSION")));
    let output = pmm().arg("--help").output().unwrap();
    let verbs = ["demo", "fit", "sample", "impute", "predict", "eval", "trace", "info", "completions"];
    for word in verbs.iter().chain(&["Posterior Mean Matching"]) {
        assert!(text(&output.stdout).contains(word), "{word}");
    }
    // No verb at all: the help, and the exit code of a usage error.
    assert_eq!(pmm().output().unwrap().status.code(), Some(2));
}

/// The tests are built for the processor alone.
#[test]
fn devices_that_are_not_built_in_say_so() {
    for device in ["wgpu", "cuda"] {
        let output = pmm().args(["fit", "data.csv", "--device", device]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("built without {device}")), "{said}");
        assert!(said.contains(&format!("--features {device}")), "{said}");
    }
}

#[test]
fn completions_name_the_verbs() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = pmm().args(["completions", shell]).output().unwrap();
        assert!(output.status.success() && text(&output.stdout).contains("demo"), "{shell}");
    }
}

#[test]
fn usage_errors_exit_with_2_and_say_what_is_wrong() {
    for (args, word) in [
        (vec!["demo", "--method", "--rows", "0"], "--rows"),
        (vec!["demo", "--rows", "200"], "--method"),
        (vec!["demo", "--seed", "minus"], "minus"),
        (vec!["demo", "--nonsense"], "--nonsense"),
        (vec!["completions", "tcsh"], "tcsh"),
    ] {
        let output = pmm().args(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(word) && output.stdout.is_empty(), "{args:?}");
    }
}

/// The demo of the method with 200 rows, as JSON.
fn demo(folder: &std::path::Path, extra: &[&str]) -> std::process::Output {
    pmm()
        .args(["demo", "--method", "--rows", "200", "--json", "--out"])
        .arg(folder)
        .args(extra)
        .output()
        .unwrap()
}

#[test]
fn the_method_draws_and_reports() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/demo");
    let output = demo(&out, &["--seed", "3"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["total_variation"].as_object().unwrap().len(), 5);
    let at = |name: &str, step: usize| json["total_variation"][name][step].as_f64().unwrap();
    // With 200 rows a total variation of .13 is 3 standard deviations of noise; 10 Poisson steps are off by .27.
    assert!(at("Gamma–Poisson", 0) > 0.15 && at("Gamma–Poisson", 4) < 0.13);
    for name in ["normal", "poisson", "categorical", "gamma", "error"] {
        let png = std::fs::read(out.join(format!("{name}.png"))).unwrap();
        assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{name}");
    }
    let html = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert_eq!(html.matches("<figure").count(), 5);
    assert!(!html.contains("src=") && !html.contains("href="), "the page needs no network");
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 6, "no temporary file is left");
}

#[test]
fn the_seed_fixes_everything_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two, other) = (folder.path().join("1"), folder.path().join("2"), folder.path().join("3"));
    let first = demo(&one, &["--threads", "1"]).stdout;
    assert_eq!(first, demo(&two, &["--threads", "3"]).stdout);
    assert_ne!(first, demo(&other, &["--seed", "1"]).stdout);
    for name in ["normal.png", "index.html"] {
        assert_eq!(std::fs::read(one.join(name)).unwrap(), std::fs::read(two.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let output = demo(&file.join("demo"), &[]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = text(&output.stderr);
    assert!(
        stderr.starts_with("error: cannot make the folder ")
            && stderr.ends_with("\nhint: choose another place with --out\n"),
        "{stderr}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "in the way");
}
