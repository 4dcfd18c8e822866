//! `pmm fit --valid FILE`: rows of a file of their own are held out.
#![allow(clippy::unwrap_used)]

mod common;

use common::{PETS, Place, QUICK, pets};

/// `pets.csv` with 200 rows, and others: `rest.csv` with 60, `other.csv` with 40 more.
fn place() -> Place {
    let place = Place::new();
    let text = pets(300);
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    for (name, rows) in [("pets.csv", 200), ("rest.csv", 60), ("other.csv", 40)] {
        let rows: Vec<&str> = lines.by_ref().take(rows).collect();
        place.write(name, format!("{header}\n{}\n", rows.join("\n")));
    }
    place
}

/// `rest.csv` with some of its columns, in this order, and cells as `cell` says.
fn write_rest(place: &Place, name: &str, columns: &[&str], cell: impl Fn(&str, &str) -> String) {
    let rest = place.sheet("rest.csv");
    let row = |row: usize| columns.iter().map(|column| cell(column, rest.column(column)[row])).collect();
    let rows: Vec<Vec<String>> = (0..rest.rows.len()).map(row).collect();
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    place.write(name, format!("{}\n{}\n", columns.join(","), lines.join("\n")));
}

fn as_it_is(_: &str, cell: &str) -> String {
    cell.to_owned()
}

/// Training and held-out losses of a fit with this file, and what it said.
fn losses(place: &Place, file: &str) -> (Vec<String>, Vec<String>, String) {
    let run = place.run(&format!("fit pets.csv --valid {file} --force {QUICK}")).ok();
    let log = place.sheet("pets.pmm/log.csv");
    let column = |name: &str| log.column(name).into_iter().map(str::to_owned).collect();
    (column("train_loss"), column("valid_loss"), run.err)
}

#[test]
fn rows_of_a_file_are_held_out_and_all_others_learned() {
    let place = place();
    let (learned, held_out, said) = losses(&place, "rest.csv");
    assert!(said.contains("pets.csv: 200 rows") && said.contains("held out: rest.csv, 60 rows"), "{said}");
    let config = String::from_utf8(place.read("pets.pmm/config.toml")).unwrap();
    assert!(config.contains("valid = 0.0"), "no share of the rows: {config}");
    let (also_learned, others, _) = losses(&place, "other.csv");
    assert_eq!(learned, also_learned, "what is held out is not learned");
    assert_ne!(held_out, others, "other rows, another loss");
    let columns: Vec<&str> = PETS.into_iter().rev().collect();
    write_rest(&place, "reversed.csv", &columns, as_it_is);
    assert_eq!(losses(&place, "reversed.csv").1, held_out, "columns go by their names");
    place.run("sample pets.pmm -n 5 -q").ok();
}

#[test]
fn a_file_is_read_as_by_eval() {
    let place = place();
    let columns: Vec<&str> = PETS.into_iter().filter(|name| *name != "sex").collect();
    write_rest(&place, "absent.csv", &columns, as_it_is);
    let run = place.run(&format!("fit pets.csv --valid absent.csv --force {QUICK}"));
    run.fails(1, &["absent.csv has no column sex, which pets.csv has", "hint: "]);

    let extra = PETS.iter().copied().chain(["species"]).collect::<Vec<_>>();
    write_rest(&place, "levels.csv", &extra, |name, cell| {
        if name == "species" { cell.replace("cat", "wolf") } else { cell.to_owned() }
    });
    let text = String::from_utf8(place.read("levels.csv")).unwrap();
    place.write("levels.csv", text.replacen("planet,species", "planet,colour", 1));
    let said = losses(&place, "levels.csv").2;
    for words in ["levels.csv: columns not in the model are ignored: colour", "never seen before", "wolf"] {
        assert!(said.contains(words), "{words:?} is not in {said}");
    }
}

#[test]
fn mistakes_name_file_line_column_and_value() {
    let place = place();
    let text = String::from_utf8(place.read("rest.csv")).unwrap();
    let line: Vec<&str> = text.lines().nth(2).unwrap().split(',').collect();
    let (old, new) = (line.join(","), [&line[..2], &["old"], &line[3..]].concat().join(","));
    place.write("wrong.csv", text.replacen(&old, &new, 1));
    place.write("ragged.csv", text.replacen(&old, "P1,cat", 1));
    place.write("foreign.csv", "x,y\n1,2\n3,4\n");
    let few: Vec<&str> = text.lines().take(6).collect();
    place.write("few.csv", few.join("\n"));
    for (file, words) in [
        ("wrong.csv", &["wrong.csv, line 3, column age: \"old\" is not a number"][..]),
        ("ragged.csv", &["ragged.csv, line 3: expected 9 fields, found 2"]),
        ("foreign.csv", &["foreign.csv has no column name, which pets.csv has"]),
        ("few.csv", &["few.csv has 5 rows, too few for a score", "at least 10 rows"]),
        ("nowhere.csv", &["nowhere.csv"]),
        ("0.9", &["between 0 and 0.5"]),
    ] {
        place.run(&format!("fit pets.csv --valid {file} {QUICK}")).fails(1, words);
        assert!(!place.path("pets.pmm").exists(), "{file}: nothing was made");
    }
}

#[test]
fn another_file_is_other_data_to_a_fit_that_goes_on() {
    let place = place();
    place.run(&format!("fit pets.csv --valid rest.csv {QUICK} -q")).ok();
    let before = place.read("pets.pmm/weights.safetensors");
    let words = ["was begun with other data", "hint: --resume alone"];
    for other in ["", "--valid other.csv", "--valid 0.2"] {
        place.run(&format!("fit pets.csv --resume {other}")).fails(1, &words);
    }
    place.run("fit pets.csv --resume --valid rest.csv -q").ok();
    assert_eq!(before, place.read("pets.pmm/weights.safetensors"));
    let shares = Place::with_model("");
    shares.run("fit pets.csv --resume --valid pets.csv").fails(1, &words);
}

#[test]
fn texts_and_images_have_shares_only() {
    let place = place();
    place.write("book.txt", "the cat sees the dog. ".repeat(100));
    place.write("end.txt", "the dog sees the cat. ".repeat(100));
    let words =
        ["--valid end.txt", "for tables only", "hint: --valid 0.1 holds out the last tenth of the text"];
    place.run("fit book.txt --valid end.txt").fails(1, &words);
    std::fs::create_dir_all(place.path("shapes")).unwrap();
    let picture = pmm_data::grid_png(&[vec![7; 64]], [1, 8, 8], 1).unwrap();
    place.write("shapes/a.png", picture);
    place.run("fit shapes --valid more").fails(1, &["for tables only", "a tenth of the images"]);
}
