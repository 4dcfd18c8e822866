//! Every setting at absurd values: refused or taken, never an abort.

use crate::count;
use crate::limited::limited;
use crate::models::{EXAMPLES, place};

const VALUES: [&str; 16] = [
    "1000000000",
    "4611686018427387904",
    "18446744073709551615",
    "99999999999999999999",
    "-1",
    "0",
    "0.5",
    "1e308",
    "-1e308",
    "nan",
    "inf",
    "",
    "x",
    "[]",
    "[1,2,3]",
    "true",
];
/// All settings of a model, by their dotted names.
fn settings(table: &toml::Table, before: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => names.extend(settings(inner, &format!("{before}{key}."))),
            _ => names.push(format!("{before}{key}")),
        }
    }
    names
}

fn all_of(most: u64) {
    let place = place();
    let mut pairs = Vec::new();
    for (number, example) in EXAMPLES.iter().enumerate() {
        place.run(&format!("fit {} {} -q --out whole-{number}", example.data, example.settings)).ok();
        let config: toml::Table =
            String::from_utf8(place.read(&format!("whole-{number}/config.toml"))).unwrap().parse().unwrap();
        let names = settings(&config, "");
        pairs.extend(
            names.into_iter().flat_map(|name| VALUES.map(|value| (number, format!("{name}={value}")))),
        );
    }
    let stride = (pairs.len() as u64).div_ceil(most.max(1)).max(1) as usize;
    let (mut refused, mut taken, mut long) = (0, 0, 0);
    for (number, setting) in pairs.iter().step_by(stride) {
        let example = &EXAMPLES[*number];
        let _ = std::fs::remove_dir_all(place.path("m.pmm"));
        let mut arguments = vec!["fit", example.data];
        arguments.extend(example.settings.split_whitespace());
        arguments.extend(["-q", "--out", "m.pmm", "--set", setting.as_str()]);
        let (code, said) = limited(&place, &arguments);
        assert!(!said.contains("panicked"), "{} with {setting}: {said}", example.data);
        match code {
            Some(0) => taken += 1,
            Some(1 | 2) => {
                assert!(said.contains("error: "), "{} with {setting}: {said}", example.data);
                refused += 1;
            }
            Some(code) => panic!("{} with {setting}: exit code {code}: {said}", example.data),
            None => long += 1,
        }
    }
    println!(
        "{} settings: {refused} refused, {taken} taken and fitted, {long} taken and still running; no abort",
        refused + taken + long
    );
    assert!(refused > 0 && taken > 0, "the trial sees both outcomes");
}

#[test]
fn a_few() {
    all_of(40);
}

#[test]
#[ignore = "long: trials/run configs"]
fn all() {
    all_of(count(u64::MAX));
}
