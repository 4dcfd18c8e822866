//! Model folders that were altered: each works as before, or is refused by name.

use std::path::{Path, PathBuf};

use pmm_core::Stream;

use crate::common::Place;
use crate::limited::limited;
use crate::models::{EXAMPLES, place};
use crate::{count, one_of, random};

/// Values that no field should have.
const HOSTILE: [&str; 12] =
    ["1000000000", "4611686018427387904", "-1", "0", "1e308", "nan", "\"x\"", "[]", "{}", "", "null", "0.5"];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        if path.is_dir() {
            copy(&path, &to.join(name))
        } else {
            std::fs::copy(path, to.join(name)).map(drop).unwrap()
        }
    }
}

/// Puts a hostile value in place of one of the values of a text.
fn edited(text: &str, rng: &mut Stream) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let with_value: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].contains(['=', ':'])).collect();
    let Some(&line) = with_value.get(rng.below(with_value.len().max(1) as u64) as usize) else {
        return String::new();
    };
    let at = lines[line].find(['=', ':']).unwrap();
    let comma = if lines[line].ends_with(',') { "," } else { "" };
    lines[line] = match rng.below(4) {
        0 => String::new(),
        1 => lines[line].clone() + "\n" + &lines[line],
        _ => format!("{} {}{comma}", &lines[line][..=at], one_of(rng, &HOSTILE)),
    };
    lines.join("\n")
}

/// Alters one file of a folder; says how.
fn mutate(folder: &Path, other: &Path, rng: &mut Stream) -> String {
    let all = files(folder);
    let path = &all[rng.below(all.len() as u64) as usize];
    let mut bytes = std::fs::read(path).unwrap();
    let place = rng.below(bytes.len().max(1) as u64) as usize;
    let how = match rng.below(12) {
        0 | 1 if !bytes.is_empty() => {
            bytes[place] ^= 1 << rng.below(8);
            "a bit flipped"
        }
        2 => {
            bytes.truncate(place);
            "truncated"
        }
        3 => {
            bytes.clear();
            "emptied"
        }
        4 => {
            bytes.extend(vec![b'0'; 1 + place.min(100)]);
            "lengthened"
        }
        5 if bytes.len() > 16 => {
            let place = place.min(bytes.len() - 16);
            bytes[place..place + 16].fill(0xff);
            "overwritten"
        }
        6 => {
            bytes = std::fs::read(&all[rng.below(all.len() as u64) as usize]).unwrap();
            "replaced by another file of the model"
        }
        7 => {
            let others = files(other);
            bytes = std::fs::read(&others[rng.below(others.len() as u64) as usize]).unwrap();
            "replaced by a file of another model"
        }
        8 => {
            std::fs::remove_file(path).unwrap();
            match rng.below(3) {
                0 => return format!("{} removed", path.display()),
                1 => std::fs::create_dir(path).unwrap(),
                _ => assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
            }
            return format!("{} replaced by a folder or a pipe", path.display());
        }
        9 => {
            std::fs::write(folder.join("extra.bin"), &bytes).unwrap();
            return "a file more".into();
        }
        _ => match String::from_utf8(bytes.clone()) {
            Ok(text) => {
                bytes = edited(&text, rng).into_bytes();
                "edited"
            }
            Err(_) => {
                bytes.reverse();
                "reversed"
            }
        },
    };
    std::fs::write(path, bytes).unwrap();
    format!("{} {how}", path.display())
}

/// Counts of outcomes.
#[derive(Default)]
struct Outcomes {
    same: u64,
    refused: u64,
}

/// What a job on an altered folder may do: its result as before, or a refusal that names the folder.
fn judge(place: &Place, arguments: &str, expected: Option<&[u8]>, how: &str, outcomes: &mut Outcomes) {
    let run = place.run(arguments);
    match run.code {
        Some(0) => {
            if let Some(expected) = expected {
                assert!(
                    run.out == expected,
                    "pmm {arguments}: another answer without a word ({how})\n{}",
                    run.err
                );
            }
            outcomes.same += 1;
        }
        Some(1) => {
            assert!(
                run.err.contains("error: ") && run.err.contains("m.pmm"),
                "pmm {arguments} ({how}): {}",
                run.err
            );
            outcomes.refused += 1;
        }
        code => panic!("pmm {arguments}: exit code {code:?} ({how})\n{}", run.err),
    }
}

fn all_of(mutations: u64) {
    let place = place();
    let mut samples = Vec::new();
    for (number, example) in EXAMPLES.iter().enumerate() {
        place.run(&format!("fit {} {} -q --out whole-{number}", example.data, example.settings)).ok();
        samples.push(place.run(&format!("sample whole-{number} {} -q", example.sample)).ok().out);
    }
    let (mut jobs, mut resumed) = (Outcomes::default(), Outcomes::default());
    for trial in 0..mutations {
        let (mut rng, number) = (random(10_000 + trial), (trial % 3) as usize);
        let (example, folder) = (&EXAMPLES[number], place.path("m.pmm"));
        let _ = std::fs::remove_dir_all(&folder);
        copy(&place.path(&format!("whole-{number}")), &folder);
        let other = place.path(&format!("whole-{}", (number + 1) % 3));
        let how = mutate(&folder, &other, &mut rng);
        judge(&place, "info m.pmm", None, &how, &mut jobs);
        judge(
            &place,
            &format!("sample m.pmm {} -q", example.sample),
            Some(&samples[number]),
            &how,
            &mut jobs,
        );
        if trial % 4 == 0 {
            let arguments = format!("fit {} -q --resume --out m.pmm", example.data);
            let arguments: Vec<&str> = arguments.split_whitespace().collect();
            let (code, said) = limited(&place, &arguments);
            match code {
                Some(0) => resumed.same += 1,
                Some(1) if said.contains("error: ") && said.contains("m.pmm") => resumed.refused += 1,
                // A fit whose settings were edited may go on for long; one that waits for a pipe goes on for ever.
                None if !how.contains("pipe") => resumed.same += 1,
                _ => panic!("pmm {arguments:?}: exit code {code:?} ({how})\n{said}"),
            }
        }
    }
    println!(
        "{mutations} mutations: {} jobs as before, {} refused by name; {} fits resumed, {} refused; no panic, abort or hang",
        jobs.same, jobs.refused, resumed.same, resumed.refused
    );
    assert!(mutations < 20 || jobs.same > 0 && jobs.refused > 0, "the trial sees both outcomes");
}

#[test]
fn a_few() {
    all_of(24);
}

#[test]
#[ignore = "long: trials/run folders"]
fn all() {
    all_of(count(900));
}
