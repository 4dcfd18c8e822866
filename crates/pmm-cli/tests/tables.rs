//! From a table to a model and back: what a user sees of fit, sample, impute and predict.
//!
//! Shares are compared with a margin of .12: of 400 rows that is more than 4 standard deviations, so that noise alone
//! never fails (the seeds are fixed besides), while a gate that ignores zeros or gaps is off by .15 to .4.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{PETS, Place, QUICK, Sheet, convert, pets};
use pmm_data::{ReadOptions, Source};

const MARGIN: f64 = 0.12;

/// Digits after the point.
fn decimals(cell: &str) -> usize {
    cell.split_once('.').map_or(0, |(_, digits)| digits.len())
}

fn is_missing(cell: &str) -> bool {
    cell.is_empty() || cell == "NA"
}

#[test]
fn a_fit_says_what_it_sees_and_leaves_a_model() {
    let place = Place::with_pets();
    let run = place.run(&format!("fit pets.csv {QUICK}")).ok();
    assert!(run.out.is_empty(), "standard output is for data");
    for words in ["pets.csv: 300 rows, 9 columns", "identifier", "left out", "date_time", "model: pets.pmm"] {
        assert!(run.err.contains(words), "{words:?} is not in {}", run.err);
    }
    for name in ["config.toml", "schema.json", "weights.safetensors", "log.csv", "README.md"] {
        assert!(!place.read(&format!("pets.pmm/{name}")).is_empty(), "{name}");
    }
    let log = place.sheet("pets.pmm/log.csv");
    assert_eq!((log.names[0].as_str(), log.column("step")), ("step", vec!["10", "20", "30"]));
}

#[test]
fn samples_look_like_the_table() {
    let place = Place::with_pets();
    // Long enough to learn how often what is missing or 0.
    place.run("fit pets.csv --steps 300 --set net.width=32 --set net.blocks=1 -q").ok();
    let run = place.run("sample pets.pmm -n 400 --seed 1").ok();
    assert!(run.err.contains("note: new identifiers, none of them real: name"), "{}", run.err);
    let (real, made) = (place.sheet("pets.csv"), run.sheet());
    assert_eq!((made.names.as_slice(), made.rows.len()), (&PETS.map(str::to_owned)[..], 400));
    for name in ["age", "visits"] {
        assert!(made.column(name).iter().all(|cell| cell.parse::<u32>().is_ok()), "{name}: integers");
    }
    for (name, digits) in [("weight", 1), ("rain", 2)] {
        assert!(made.column(name).iter().all(|c| c.is_empty() || decimals(c) == digits), "{name}: {digits}");
    }
    for name in ["species", "sex", "planet"] {
        let known: HashSet<&str> =
            real.column(name).into_iter().map(|c| if c == "NA" { "" } else { c }).collect();
        assert!(made.column(name).iter().all(|cell| known.contains(cell)), "{name}: known levels");
    }
    assert_eq!((made.column("name")[0], made.column("name")[399]), ("P0300x", "P0699x"), "names go on");
    assert!(made.column("born").iter().all(|cell| cell.len() == 10 && cell.starts_with("20")), "dates");
    for name in ["weight", "sex", "rain"] {
        let (is, was) = (made.share(name, is_missing), real.share(name, is_missing));
        assert!((is - was).abs() < MARGIN, "{name}: {is} missing, {was} in the table");
    }
    let (is, was) = (made.share("rain", |c| c == "0.00"), real.share("rain", |c| c == "0.00"));
    assert!((is - was).abs() < MARGIN, "rain: {is} zeros, {was} in the table");
}

#[test]
fn the_seed_fixes_samples_for_any_number_of_threads() {
    let place = Place::with_model("");
    let one = place.run("sample pets.pmm -n 50 --seed 1 --threads 1").out;
    assert_eq!(one, place.run("sample pets.pmm -n 50 --seed 1 --threads 2").out);
    assert_ne!(one, place.run("sample pets.pmm -n 50 --seed 2").out);
    let first = |out: &[u8]| out.split(|b| *b == b'\n').take(21).map(<[u8]>::to_vec).collect::<Vec<_>>();
    assert_eq!(
        first(&one),
        first(&place.run("sample pets.pmm -n 20 --seed 1").out),
        "rows do not depend on n"
    );
}

#[test]
fn pieces_of_a_sample_fit_together() {
    let place = Place::with_model("");
    let whole = place.run("sample pets.pmm -n 50 --seed 1 -q").ok().out;
    let lines =
        |out: &[u8]| String::from_utf8(out.to_vec()).unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
    let piece =
        |rows: &str| lines(&place.run(&format!("sample pets.pmm --rows {rows} --seed 1 -q")).ok().out);
    let (first, second, third) = (piece("0..17"), piece("17..18"), piece("18..50"));
    assert_eq!([&first[..], &second[1..], &third[1..]].concat(), lines(&whole));
    for rows in ["5..5", "9..3", "5", "a..9", "..3", "-1..3"] {
        place.run(&format!("sample pets.pmm --rows={rows}")).fails(2, &["--help"]);
    }
    place.run("sample pets.pmm --rows 0..5 -n 5").fails(2, &["cannot be used with"]);
}

#[test]
fn rows_from_anywhere_are_scored() {
    let place = Place::with_model("");
    place.write("rest.csv", pets(700));
    place.run("sample pets.pmm -n 300 --seed 3 -q --out made.csv").ok();
    let eval = |arguments: &str| {
        let run = place.run(&format!("eval pets.pmm {arguments} --json -q --out scores")).ok();
        serde_json::from_slice::<serde_json::Value>(&run.out).unwrap()
    };
    let own = eval("rest.csv --samples made.csv");
    assert_eq!((&own["samples"], &own["rows_made"]), (&"made.csv".into(), &300.into()));
    assert!(own["likelihood"].is_null() && own["prediction"].is_null(), "these are the model's");
    assert_eq!(own["test_was_fitted"], false);
    let real = eval("rest.csv --samples pets.csv");
    let auc = |json: &serde_json::Value, name: &str| json["scores"][name]["auc"].as_f64().unwrap();
    assert!(auc(&own, "two_sample") > auc(&real, "two_sample") + 0.05, "{own:#} {real:#}");
    assert!(auc(&own, "two_sample_related") > 0.5, "{own:#}");
    let page = String::from_utf8(place.read("scores/report.html")).unwrap();
    assert!(page.contains("How good are the rows of pets.csv?"));
}

#[test]
fn scores_on_the_rows_of_the_fit_are_called_that() {
    let place = Place::with_model("");
    let run = place.run("eval pets.pmm pets.csv --json").ok();
    let words = "pets.csv holds the rows that the model was fitted to";
    assert!(run.err.contains(words), "{}", run.err);
    let json: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(json["test_was_fitted"], true);
    assert!(json["notes"][0].as_str().unwrap().contains(words));
    let page = String::from_utf8(place.read("pets.pmm/report.html")).unwrap();
    assert!(page.contains(words) && !page.contains("that it has not seen"));
    place.write("other.csv", pets(500));
    let run = place.run("eval pets.pmm other.csv").ok();
    assert!(!run.err.contains("fitted to"), "{}", run.err);
    assert!(String::from_utf8(run.out).unwrap().contains("A strong classifier"));
}

#[test]
fn given_cells_are_in_every_row() {
    let place = Place::with_model("");
    let made =
        place.run("sample pets.pmm -n 60 -q --given species=dog,age=7 --given weight=12.5").ok().sheet();
    assert_eq!(made.rows.len(), 60);
    for (name, value) in [("species", "dog"), ("age", "7"), ("weight", "12.5")] {
        assert!(made.column(name).iter().all(|cell| *cell == value), "{name}");
    }
    let run = place.run("sample pets.pmm -n 3 --given weight=900").ok();
    assert!(run.err.contains("note: weight=900 is outside what was seen"), "{}", run.err);
}

#[test]
fn impute_fills_gaps_and_touches_nothing_else() {
    let place = Place::with_model("");
    let run = place.run("impute pets.pmm pets.csv").ok();
    let (gaps, full) = (place.sheet("pets.csv"), run.sheet());
    assert_eq!((&full.names, full.rows.len()), (&gaps.names, gaps.rows.len()));
    let mut filled = 0;
    for (before, after) in gaps.rows.iter().flatten().zip(full.rows.iter().flatten()) {
        if is_missing(before) {
            filled += 1;
            assert!(!is_missing(after));
        } else {
            assert_eq!(before, after);
        }
    }
    assert!(filled > 30 && run.err.contains(&format!("{filled} cells filled")), "{}", run.err);
    assert!(full.column("weight").iter().all(|cell| decimals(cell) == 1));
    assert!(full.column("sex").iter().all(|cell| ["female", "male"].contains(cell)));
}

#[test]
fn impute_stacks_draws() {
    let place = Place::with_model("");
    let drawn = place.run("impute pets.pmm pets.csv --draws 3 -q").ok().sheet();
    assert_eq!((drawn.names[0].as_str(), drawn.names.len(), drawn.rows.len()), ("draw", 10, 900));
    let numbers: Vec<String> = (1..=3).flat_map(|k| std::iter::repeat_n(k.to_string(), 300)).collect();
    assert_eq!(drawn.column("draw"), numbers);
    assert_eq!(drawn.column("name")[..300], drawn.column("name")[600..], "the same rows, in order");
    assert_ne!(drawn.column("weight")[..300], drawn.column("weight")[300..600], "drawn anew");
}

/// A level and a column that the model does not know stay as they are.
#[test]
fn rows_with_keys_come_out_alike_in_any_order() {
    let place = Place::with_model("");
    let sheet = place.sheet("pets.csv");
    let name = sheet.names.iter().position(|name| name == "weight").unwrap();
    let gap = |row: usize, cells: &[String]| {
        let mut cells = cells.to_vec();
        cells[name].clear();
        [vec![format!("k{row}")], cells].concat().join(",")
    };
    let lines: Vec<String> =
        sheet.rows.iter().take(40).enumerate().map(|(row, cells)| gap(row, cells)).collect();
    let head = format!("key,{}\n", sheet.names.join(","));
    place.write("forth.csv", format!("{head}{}\n", lines.join("\n")));
    let back: Vec<&str> = lines.iter().rev().map(String::as_str).collect();
    place.write("back.csv", format!("{head}{}\n", back.join("\n")));
    for verb in ["impute", "predict --target weight --draws 2", "score"] {
        let (verb, flags) = verb.split_once(' ').unwrap_or((verb, ""));
        let rows = |file: &str, key: &str| {
            let mut rows = place.run(&format!("{verb} pets.pmm {file} {flags} {key} -q")).ok().sheet().rows;
            // Scores are numbered in their file's order.
            rows.iter_mut().filter(|_| verb == "score").for_each(|row| row[0].clear());
            rows
        };
        let mut turned = rows("back.csv", "--key key");
        turned.reverse();
        assert_eq!(rows("forth.csv", "--key key"), turned, "{verb}");
    }
    place.run("impute pets.pmm forth.csv --key nothing").fails(1, &["there is no column nothing", "key, "]);
    place.run("impute pets.pmm forth.csv --key key --first-row 3").fails(2, &["--first-row"]);
}

#[test]
fn impute_takes_other_rows_as_they_are() {
    let place = Place::with_model("");
    place.write("new.csv", "colour,sex,species,weight\nred,,wolf,\nblue,male,cat,4.4\n");
    let run = place.run("impute pets.pmm new.csv").ok();
    let full = run.sheet();
    assert_eq!(full.names, ["colour", "sex", "species", "weight"]);
    assert_eq!(full.rows[1], ["blue", "male", "cat", "4.4"]);
    assert_eq!((full.rows[0][0].as_str(), full.rows[0][2].as_str()), ("red", "wolf"));
    assert!(!full.rows[0][1].is_empty() && !full.rows[0][3].is_empty());
    assert!(run.err.contains("wolf") && run.err.contains("colour"), "said aloud: {}", run.err);
}

#[test]
fn predictions_of_numbers_are_ordered() {
    let place = Place::with_model("--target age");
    let sheet = place.run("predict pets.pmm pets.csv --draws 4 -q").ok().sheet();
    let names = ["mean", "q05", "q25", "q50", "q75", "q95", "draw_1", "draw_2", "draw_3", "draw_4"];
    assert_eq!((sheet.names.as_slice(), sheet.rows.len()), (&names.map(str::to_owned)[..], 300));
    for row in &sheet.rows {
        assert!(row[1..].iter().all(|cell| cell.parse::<u32>().is_ok()), "counts stay counts: {row:?}");
        let numbers: Vec<f64> = row.iter().map(|cell| cell.parse().unwrap()).collect();
        assert!(numbers[1..6].is_sorted(), "{row:?}");
        assert!((1.0..=13.0).contains(&numbers[0]), "{row:?}");
    }
    let sheet = place.run("predict pets.pmm pets.csv --target weight -q").ok().sheet();
    assert_eq!(sheet.names.len(), 6);
    assert!(sheet.rows.iter().all(|row| row[1..].iter().all(|cell| decimals(cell) == 1)));
    let sheet = place.run("predict pets.pmm pets.csv --target born -q").ok().sheet();
    assert!(sheet.rows.iter().all(|row| row.iter().all(|cell| cell.len() == 10) && row[1..].is_sorted()));
}

#[test]
fn probabilities_of_levels_sum_to_one() {
    let place = Place::with_model("");
    for (target, levels) in [("species", &["cat", "dog", "guinea pig"][..]), ("sex", &["female", "male"])] {
        let sheet = place.run(&format!("predict pets.pmm pets.csv --target {target} -q")).ok().sheet();
        let mut names: Vec<&str> =
            sheet.names[1..].iter().map(|name| name.trim_start_matches("p_")).collect();
        for row in &sheet.rows {
            let shares: Vec<f64> = row[1..].iter().map(|cell| cell.parse().unwrap()).collect();
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{row:?}");
            let best = names.iter().position(|name| **name == row[0]).unwrap();
            assert!(shares.iter().all(|share| *share <= shares[best]), "{row:?}");
        }
        names.sort_unstable();
        assert_eq!(names, levels);
    }
}

/// What the file says of the target is not looked at, and need not be there.
#[test]
fn predictions_do_not_look_at_the_answer() {
    let place = Place::with_model("");
    let answers = place.run("predict pets.pmm pets.csv --target age -q").ok().out;
    let mut blind = place.sheet("pets.csv");
    blind.rows.iter_mut().for_each(|row| row[2] = "1".into());
    blind.save(&place.path("blind.csv"));
    assert_eq!(answers, place.run("predict pets.pmm blind.csv --target age -q").ok().out);
    blind.rows.iter_mut().for_each(|row| drop(row.remove(2)));
    blind.names.remove(2);
    blind.save(&place.path("absent.csv"));
    assert_eq!(answers, place.run("predict pets.pmm absent.csv --target age -q").ok().out);
}

/// The same table in five formats gives the same weights.
#[test]
fn formats_in() {
    let place = Place::with_model("--out first.pmm");
    // Typed by a model, so that Parquet and Arrow have numbers.
    place.run("impute first.pmm pets.csv --out pets.parquet -q").ok();
    for name in ["pets.csv.gz", "pets.tsv", "pets.parquet", "pets.arrow"] {
        let from = if name.contains("sv") { "pets.csv" } else { "pets.parquet" };
        if name != from {
            convert(&Source::open(place.path(from), &ReadOptions::default()).unwrap(), &place.path(name));
        }
        assert_eq!(place.sheet(name).names, PETS, "{name}");
        place.run(&format!("fit {name} {QUICK} --out {name}.pmm -q")).ok();
        let made = place.run(&format!("sample {name}.pmm -n 20 -q")).ok().sheet();
        assert_eq!((made.names.as_slice(), made.rows.len()), (&PETS.map(str::to_owned)[..], 20), "{name}");
        assert!(made.numbers("age").iter().all(|age| age.fract() == 0.0), "{name}");
        place.run(&format!("impute {name}.pmm {name} -q")).ok();
    }
    let run = place.run_with(&format!("fit - {QUICK} --out pipe.pmm"), pets(300)).ok();
    assert!(run.err.contains("standard input: 300 rows"), "{}", run.err);
    place.run(&format!("fit pets.csv {QUICK} -q")).ok();
    assert_eq!(place.read("pipe.pmm/weights.safetensors"), place.read("pets.pmm/weights.safetensors"));
    let full = place.run_with("impute pets.pmm - -q", pets(300)).ok().out;
    assert_eq!(full, place.run("impute pets.pmm pets.csv -q").ok().out);
    let laws = place.run_with("predict pets.pmm - --target age -q", pets(300)).ok().out;
    assert_eq!(laws, place.run("predict pets.pmm pets.csv --target age -q").ok().out);
}

#[test]
fn formats_out() {
    let place = Place::with_model("");
    let csv = place.run("sample pets.pmm -n 40 -q").ok().sheet();
    for name in ["new.csv", "new.tsv", "new.csv.gz", "new.parquet", "new.arrow"] {
        let run = place.run(&format!("sample pets.pmm -n 40 --out {name} -q")).ok();
        assert!(run.out.is_empty() && run.err.is_empty());
        let sheet = place.sheet(name);
        assert_eq!(sheet.names, csv.names, "{name}");
        for column in ["age", "weight", "rain"] {
            assert_eq!(sheet.numbers(column), csv.numbers(column), "{name}: {column}");
        }
        assert_eq!(sheet.column("sex"), csv.column("sex"), "{name}");
    }
    let tsv = place.run("sample pets.pmm -n 40 -q --format tsv").ok();
    assert_eq!((tsv.sheet(), tsv.out.iter().filter(|b| **b == b'\t').count()), (csv, 41 * 8));
    let parquet = place.run("sample pets.pmm -n 40 -q --format parquet").ok().out;
    assert_eq!(&parquet[..4], b"PAR1");
    let words = ["--format does not go with the name new.csv", "hint: "];
    place.run("sample pets.pmm --out new.csv --format parquet").fails(1, &words);
}

/// Every verb has its rows from a network whose tokens are columns, too; what is not said of its shape fits the kind.
#[test]
fn columns_as_tokens() {
    let place = Place::with_pets();
    let run = place.run("fit pets.csv --dry-run --json --set net.kind=attention").ok();
    let json: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!(
        (&json["config"]["net"]["kind"], &json["config"]["net"]["width"]),
        (&"attention".into(), &32.into())
    );
    place.run(&format!("fit pets.csv {QUICK} --set net.kind=attention -q")).ok();
    let one = place.run("sample pets.pmm -n 50 -q --given species=dog --threads 1").ok();
    assert!(one.sheet().column("species").iter().all(|cell| *cell == "dog"));
    assert_eq!(one.out, place.run("sample pets.pmm -n 50 -q --given species=dog --threads 2").ok().out);
    place.run("impute pets.pmm pets.csv -q").ok();
    place.run("predict pets.pmm pets.csv --target age -q").ok();
    let info = String::from_utf8(place.run("info pets.pmm").ok().out).unwrap();
    assert!(info.contains("kind = \"attention\""), "{info}");
    place.run("fit pets.csv --resume -q").ok();
    let words = ["was begun with net.kind = \"attention\", not absent"];
    place.run("fit pets.csv --resume --set net.kind=mlp").fails(1, &words);
}

#[test]
fn quiet_is_silent() {
    let place = Place::with_pets();
    let verbs = [
        &format!("fit pets.csv {QUICK} --target age"),
        "sample pets.pmm -n 5 --given age=99",
        "impute pets.pmm pets.csv",
        "predict pets.pmm pets.csv",
    ];
    for verb in verbs {
        let run = place.run(&format!("{verb} --quiet")).ok();
        assert_eq!(run.err, "", "{verb}");
    }
}

/// `pmm sample … | head -1`.
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let place = Place::with_model("");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("pmm"))
        .args(["sample", "-n", "200000", "-q"])
        .arg(place.path("pets.pmm"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, PETS.join(",") + "\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn mistakes_are_explained_with_a_hint() {
    let place = Place::with_model("");
    place.write("other.csv", "x,y\n1,2\n3,4\n");
    for (arguments, words) in [
        ("sample pets.pmm --given colour=red", &["there is no column colour", "species"][..]),
        ("sample pets.pmm --given species=wolf", &["wolf", "3 levels", "guinea pig"]),
        ("sample pets.pmm --given age=old", &["\"old\" is not a number", "between"]),
        ("sample pets.pmm --given species", &["has no =", "column=value"]),
        ("sample pets.pmm --given name=P1", &["not part of the model"]),
        ("predict pets.pmm pets.csv", &["no target", "--target COLUMN"]),
        ("predict pets.pmm pets.csv --target ages", &["there is no column ages", "age"]),
        ("impute pets.pmm other.csv", &["other.csv has none of the columns", "belongs to this model"]),
        ("fit pets.csv --force --set columns.age.pair=beta", &["cannot be \"beta\"", "poisson"]),
        ("fit pets.csv --force --set columns.ages.pair=poisson", &["no column \"ages\"", "age"]),
        ("fit pets.csv --force --set net.widht=3", &["widht", "width", "--dry-run"]),
        ("fit pets.csv --force --set net.width=wide", &["wide", "--dry-run"]),
        ("fit pets.csv --force --set net.kind=forest", &["forest", "attention", "--dry-run"]),
        (
            "fit pets.csv --force --set net.kind=attention --set net.width=30",
            &["a multiple of 4", "--dry-run"],
        ),
        ("fit pets.csv --force --set nonsense", &["has no =", "key=value"]),
        ("fit pets.csv --force --set train.ema=2", &["train.ema = 2: it must be", "--dry-run"]),
        ("fit pets.csv --force --target colour", &["there is no column colour", "species"]),
        ("fit pets.csv --force --config none.toml", &["none.toml"]),
        ("fit pets.csv", &["pets.pmm is already a model", "--force replaces it"]),
        ("fit pets.csv --resume --out new.pmm", &["new.pmm has no fit to go on with", "leave out --resume"]),
        ("sample nowhere.pmm", &["nowhere.pmm is not a model", "pmm fit DATA makes a model"]),
    ] {
        let run = place.run(arguments).fails(1, words);
        assert!(run.err.starts_with("error: "), "{arguments}: {}", run.err);
        assert!(arguments.contains("none.toml") || run.err.contains("\nhint: "), "{arguments}: {}", run.err);
    }
    place.run("fit nowhere.csv").fails(1, &["nowhere.csv"]);
    for arguments in
        ["fit", "fit pets.csv --steps many", "fit pets.csv --json", "sample pets.pmm -n -3", "guess"]
    {
        place.run(arguments).fails(2, &["--help"]);
    }
    assert!(!place.path("new.pmm").exists() && !place.path("nowhere.pmm").exists(), "nothing was made");
}

#[test]
fn a_damaged_model_is_refused_by_name() {
    let place = Place::with_model("");
    let weights = place.read("pets.pmm/weights.safetensors");
    place.write("pets.pmm/weights.safetensors", &weights[..weights.len() - 1]);
    place.run("sample pets.pmm").fails(1, &["weights.safetensors is damaged", "hint: "]);
    place.write("pets.pmm/weights.safetensors", &weights);
    let config = String::from_utf8(place.read("pets.pmm/config.toml")).unwrap();
    place.write("pets.pmm/config.toml", config.replace("width = 32", "width = 16"));
    place
        .run("sample pets.pmm")
        .fails(1, &["weights.safetensors does not belong here: its settings", "hint: "]);
    place.write("pets.pmm/config.toml", config);
    place.write("pets.pmm/schema.json", "{}");
    place.run("sample pets.pmm").fails(1, &["schema.json", "hint: "]);
}

#[test]
fn a_model_is_replaced_only_by_force() {
    let place = Place::with_model("");
    let before = place.read("pets.pmm/weights.safetensors");
    place.run("fit pets.csv -q").fails(1, &["already a model"]);
    assert_eq!(before, place.read("pets.pmm/weights.safetensors"));
    place.run(&format!("fit pets.csv {QUICK} --seed 9 --force -q")).ok();
    assert_ne!(before, place.read("pets.pmm/weights.safetensors"));
}

#[test]
fn a_dry_run_trains_nothing() {
    let place = Place::with_pets();
    let run = place.run("fit pets.csv --dry-run").ok();
    let text = String::from_utf8(run.out).unwrap();
    for words in ["pets.csv: 300 rows, 9 columns", "3 levels", "[train]", "weights; about"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    let run =
        place.run("fit pets.csv --dry-run --json --set columns.age.pair=normal --set net.width=48").ok();
    let json: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    assert_eq!((&json["rows"], &json["config"]["net"]["width"]), (&300.into(), &48.into()));
    let columns = json["columns"].as_array().unwrap();
    assert_eq!(columns.iter().map(|column| column["name"].as_str().unwrap()).collect::<Vec<_>>(), PETS);
    assert_eq!(columns[2]["pair"], "normal");
    assert!(!place.path("pets.pmm").exists());
}

/// An edited schema and a config file say the same as flags.
#[test]
fn settings_from_files() {
    let place = Place::with_model("");
    let schema = String::from_utf8(place.read("pets.pmm/schema.json")).unwrap();
    let at = schema.find("\"poisson\"").unwrap();
    place.write("edited.json", format!("{}\"normal\"{}", &schema[..at], &schema[at + 9..]));
    place.write("fit.toml", "seed = 4\n[net]\nwidth = 24\n[train]\nsteps = 20\n");
    let run =
        place.run("fit pets.csv --dry-run --json --schema edited.json --config fit.toml --set net.blocks=2");
    let json: serde_json::Value = serde_json::from_slice(&run.ok().out).unwrap();
    let (config, pair) = (&json["config"], &json["columns"][2]["pair"]);
    assert_eq!((&config["seed"], &config["net"]["width"], pair), (&4.into(), &24.into(), &"normal".into()));
    assert_eq!((&config["train"]["steps"], &config["net"]["blocks"]), (&20.into(), &2.into()));
}

/// Real tables: fitted for a moment, then everything that must hold for any model, good or bad.
#[test]
#[ignore = "needs ../shared/data"]
fn real_tables() {
    let shared = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tables");
    for (name, target) in [("seaborn-penguins", "body_mass_g"), ("seaborn-titanic", "survived")] {
        let path = shared.join(format!("{name}.csv.gz"));
        let place = Place::new();
        std::fs::copy(&path, place.path("real.csv.gz")).unwrap();
        place.run(&format!("fit real.csv.gz --out real.pmm {QUICK} -q")).ok();
        let real = place.sheet("real.csv.gz");
        let made = place.run("sample real.pmm -n 400 -q").ok().sheet();
        assert_eq!(made.names, real.names, "{name}");
        columns_agree(name, &real, &made);
        let full = place.run("impute real.pmm real.csv.gz -q").ok().sheet();
        let cells = || real.rows.iter().flatten().zip(full.rows.iter().flatten());
        assert!(cells().all(|(before, after)| is_missing(before) || before == after), "{name}");
        assert!(full.rows.iter().flatten().all(|cell| !is_missing(cell)), "{name}: no gap is left");
        let laws = place.run(&format!("predict real.pmm real.csv.gz --target {target} -q")).ok().sheet();
        assert_eq!(laws.rows.len(), real.rows.len(), "{name}");
    }
}

/// Levels, digits and gaps of made columns are those of the real ones.
fn columns_agree(table: &str, real: &Sheet, made: &Sheet) {
    for name in &real.names {
        let cells: Vec<&str> = real.column(name).into_iter().filter(|cell| !is_missing(cell)).collect();
        let (is, was) = (made.share(name, is_missing), 1.0 - cells.len() as f64 / real.rows.len() as f64);
        assert!((is - was).abs() < MARGIN, "{table}: {name}: {is} missing, {was} in the table");
        if cells.iter().all(|cell| cell.parse::<f64>().is_ok()) {
            let most = cells.iter().map(|cell| decimals(cell)).max().unwrap();
            made.numbers(name);
            assert!(
                made.column(name).iter().all(|cell| decimals(cell) <= most),
                "{table}: {name}: {most} digits"
            );
        } else {
            let known: HashSet<&str> = cells.into_iter().collect();
            let made = made.column(name);
            assert!(made.iter().all(|cell| cell.is_empty() || known.contains(cell)), "{table}: {name}");
        }
    }
}
