//! Odd tables: what the user sees of each. None panics, none hangs.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;

use common::{Place, QUICK};

/// A table fitted for a moment, and rows of its model.
fn fit(text: &str) -> (Place, String, common::Sheet) {
    let place = Place::new();
    place.write("t.csv", text);
    let run = place.run(&format!("fit t.csv {QUICK}")).ok();
    let made = place.run("sample t.pmm -n 50 -q").ok().sheet();
    (place, run.err, made)
}

/// What is said about a file that is refused.
fn refused(bytes: impl AsRef<[u8]>, words: &[&str]) {
    let place = Place::new();
    place.write("t.csv", bytes);
    place.run(&format!("fit t.csv {QUICK}")).fails(1, words);
    assert!(!place.path("t.pmm").exists(), "nothing is left behind");
}

#[test]
fn five_rows() {
    let text = "town,rain,days\nOslo,1.25,3\nRome,0.50,1\nOslo,2.00,4\nRome,0.75,2\nOslo,1.50,3\n";
    let (place, _, made) = fit(text);
    assert_eq!((made.names.join(","), made.rows.len()), ("town,rain,days".into(), 50));
    assert!(made.column("town").iter().all(|town| ["Oslo", "Rome"].contains(town)));
    place.run("predict t.pmm t.csv --target rain -q").ok();
}

#[test]
fn one_column() {
    let (place, _, made) = fit(&(0..60).fold("x\n".to_owned(), |text, i| format!("{text}{}.5\n", i % 17)));
    assert!(made.numbers("x").iter().all(|x| (0.0..=17.0).contains(x)));
    let laws = place.run("predict t.pmm t.csv --target x -q").ok().sheet();
    assert_eq!(laws.rows.len(), 60);
}

#[test]
fn an_all_missing_column_stays_missing() {
    let text = (0..60).fold("x,gone\n".to_owned(), |text, i| format!("{text}{}.5,NA\n", i * 7 % 31));
    let (place, said, made) = fit(&text);
    assert!(said.contains("every cell is missing"), "{said}");
    assert!(made.column("gone").iter().all(|cell| cell.is_empty()));
    place.run("impute t.pmm t.csv -q").ok();
    let words = ["the column gone is not part of the model", "every cell is missing"];
    place.run("predict t.pmm t.csv --target gone").fails(1, &words);
}

#[test]
fn a_constant_table_has_nothing_to_learn() {
    refused("a,b\n1,x\n1,x\n1,x\n", &["t.csv: no column can be learned", "hint: --dry-run"]);
}

#[test]
fn ten_thousand_categories() {
    let mut text = "code,x\n".to_owned();
    for i in 0..30_000_u32 {
        // Three times each, so that they are no identifiers.
        let _ = writeln!(text, "c{},{}.5", i * 7919 % 10_000, i % 13);
    }
    let (place, said, made) = fit(&text);
    assert!(said.contains("10,000 levels"), "{said}");
    let levels: HashSet<String> = (0..10_000).map(|i| format!("c{i}")).collect();
    assert!(made.column("code").iter().all(|code| levels.contains(*code)), "known levels");
    place.run("sample t.pmm -n 5 -q --given code=c17").ok();
}

#[test]
fn five_hundred_columns() {
    let names: Vec<String> = (0..500).map(|i| format!("v{i}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..120_usize {
        let cell = |i: usize| match i % 3 {
            0 => format!("{}.{}", row * (i + 3) % 41, row % 10),
            1 => format!("{}", (row + i) * 31 % 7),
            _ => ["a", "b", "c"][(row * i + row) % 3].to_owned(),
        };
        let cells: Vec<String> = (0..500).map(cell).collect();
        let _ = writeln!(text, "{}", cells.join(","));
    }
    let place = Place::new();
    place.write("t.csv", text);
    place.run("fit t.csv --steps 3 --set net.width=32 --set net.blocks=1 -q").ok();
    let made = place.run("sample t.pmm -n 10 -q").ok().sheet();
    assert_eq!((made.names, made.rows.len()), (names, 10));
}

/// A million rows and three steps: read twice and coded, well within the time at which a test counts as hanging.
#[test]
fn a_million_rows() {
    let place = Place::new();
    let mut file = std::io::BufWriter::new(std::fs::File::create(place.path("t.csv")).unwrap());
    writeln!(file, "kind,x,n").unwrap();
    for i in 0..1_000_000_u64 {
        let word = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        writeln!(
            file,
            "{},{}.{:02},{}",
            ["a", "b", "c"][(word % 3) as usize],
            word % 9973,
            word % 100,
            word % 12
        )
        .unwrap();
    }
    drop(file);
    let (said, megabytes) = watched(&place, "fit t.csv --steps 3 --set net.width=32 --set net.blocks=1");
    assert!(said.contains("t.csv: 1000000 rows, 3 columns"), "{said}");
    assert!(megabytes < 300, "{megabytes} MB");
    place.run("sample t.pmm -n 5 -q").ok();
}

/// What a run says, and the most memory it had in megabytes (0 where the system does not tell).
fn watched(place: &Place, arguments: &str) -> (String, u64) {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pmm"))
        .current_dir(place.path(""))
        .args(arguments.split_whitespace())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0);
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok());
        most = kilobytes.unwrap_or(0_u64).max(most);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (said, most / 1000)
}

#[test]
fn ragged_lines_are_named() {
    refused("a,b\n1,2\n3,4,5\n6,7\n", &["t.csv, line 3: expected 2 fields, found 3", "hint: put quotes"]);
}

#[test]
fn mixed_types_become_what_fits() {
    let cell = |i: u32| if i % 100 == 7 { "<5".to_owned() } else { format!("{}.5", i * 7 % 331) };
    let text = (0..200).fold("x,y\n".to_owned(), |text, i| format!("{text}{},{}\n", cell(i), i % 9));
    let (_, said, made) = fit(&text);
    assert!(said.contains("<5"), "{said}");
    assert!(made.column("x").iter().all(|x| *x == "<5" || x.parse::<f64>().is_ok()));
    let cell = |i: u32| if i.is_multiple_of(2) { "unknown".to_owned() } else { (i % 5).to_string() };
    let text = (0..200).fold("x,y\n".to_owned(), |text, i| format!("{text}{},{}\n", cell(i), i % 9));
    let (_, said, made) = fit(&text);
    assert!(said.contains("category"), "{said}");
    assert!(made.column("x").iter().all(|x| ["unknown", "1", "3", "0", "2", "4"].contains(x)));
}

#[test]
fn nan_is_missing_and_infinity_asks() {
    let table = |odd: &str| {
        let cell = |i: u32| if i % 10 == 3 { odd.to_owned() } else { format!("{}.25", i * 13 % 101) };
        (0..100).fold("x,y\n".to_owned(), |text, i| format!("{text}{},{}\n", cell(i), i % 9))
    };
    let (_, said, made) = fit(&table("NaN"));
    assert!(said.contains("10 % missing"), "{said}");
    assert!(made.column("x").iter().all(|x| x.is_empty() || x.parse::<f64>().unwrap().is_finite()));
    for odd in ["inf", "-Inf", "Infinity"] {
        let words =
            ["t.csv, line 5, column x", odd, "is not a finite number", "hint: --set columns.x.specials"];
        refused(table(odd), &words);
    }
    let place = Place::new();
    place.write("t.csv", table("inf"));
    place.run(&format!("fit t.csv {QUICK} -q --set columns.x.specials=inf")).ok();
    assert!(place.run("sample t.pmm -n 200 -q").ok().sheet().column("x").contains(&"inf"));
}

#[test]
fn other_encodings_are_named() {
    refused(
        b"a,town\n1,Paris\n2,K\xf6ln\n",
        &["t.csv, line 3, column town", "F6", "hint: convert", "latin1"],
    );
    refused(b"\xff\xfea\0,\0b\0\n\0", &["not UTF-8", "utf-16"]);
}

#[test]
fn nothing_to_read() {
    refused("", &["t.csv is empty"]);
    refused("a,b\n", &["t.csv has a header and no rows"]);
    refused("PK\x03\x04and so on", &["a zip archive, which is not read", "hint: unpack it"]);
    let place = Place::new();
    place.run_with("fit -", "").fails(1, &["standard input is empty"]);
    place.run("fit .").fails(1, &["is an empty folder", "hint:"]);
    let place = Place::with_model("--set kind=table");
    place.run("sample pets.pmm --top-k 3").fails(1, &["are not for tables"]);
}

#[test]
fn duplicate_names_are_made_unique_and_said() {
    let text =
        (0..60).fold("x,x,x\n".to_owned(), |text, i| format!("{text}{},{}.5,{}\n", i % 7, i % 11, i % 3));
    let (_, said, made) = fit(&text);
    assert!(said.contains("note: ") && said.contains("x_2"), "{said}");
    assert_eq!(made.names.iter().collect::<HashSet<_>>().len(), 3, "{:?}", made.names);
}

#[test]
fn strange_names_and_texts_survive() {
    let (name, level) = ("a \"b\", c\nd", "x,\"y\"\nz");
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let text = (0..60).fold(format!("{},n\n", quoted(name)), |text, i| {
        format!("{text}{},{}\n", if i % 3 == 0 { quoted(level) } else { "ü€".into() }, i % 7)
    });
    let (_, _, made) = fit(&text);
    assert_eq!(made.names, [name, "n"]);
    assert!(made.column(name).iter().all(|cell| [level, "ü€"].contains(cell)));
}

#[test]
fn extreme_numbers_are_learned_or_refused() {
    let cell = |i: u32| if i.is_multiple_of(7) { "1e300".to_owned() } else { format!("{i}e-300") };
    let text = (0..100).fold("x,y\n".to_owned(), |text, i| format!("{text}{},{}\n", cell(i), i % 9));
    let place = Place::new();
    place.write("t.csv", text);
    let run = place.run(&format!("fit t.csv {QUICK}"));
    assert!(matches!(run.code, Some(0 | 1)), "{}", run.err);
}
