//! The real tables, each with the kinds that a person would give its columns.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use pmm_core::Streams;
use pmm_data::{Coding, Kind, Numbers, Overrides, ReadOptions, Schema, Source, Table};

/// A table of the shared data; none, with a printed reason, where they are absent.
fn open(file: &str) -> Option<Source> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tables").join(file);
    if !path.exists() {
        println!("skipped: {} is absent", path.display());
        return None;
    }
    Some(Source::open(&path, &ReadOptions::default()).unwrap())
}

fn infer(source: &Source) -> Schema {
    let schema = Schema::infer(source, &Overrides::default()).unwrap();
    for column in &schema.columns {
        println!("{:20} {:10} {:11} {}", column.name, column.kind.name(), column.pair.name(), column.reason);
    }
    schema
}

fn kind(schema: &Schema, name: &str) -> Kind {
    schema.columns[schema.position(name).unwrap()].kind
}

fn numbers<'a>(schema: &'a Schema, name: &str) -> &'a Numbers {
    match &schema.columns[schema.position(name).unwrap()].coding {
        Coding::Numbers(numbers) => numbers,
        other => panic!("{other:?}"),
    }
}

#[test]
fn all_tables_are_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tables");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: {} is absent", folder.display());
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        println!("\n{}", path.display());
        let source = Source::open(&path, &ReadOptions::default()).unwrap();
        let schema = infer(&source);
        let json = schema.to_json().unwrap();
        assert_eq!(Schema::from_json(&json).unwrap(), schema);
        // A schema that nobody edited changes nothing.
        let overrides = Overrides::from_json(&json).unwrap();
        assert_eq!(Schema::infer(&source, &overrides).unwrap(), schema);
        let (table, notes) = Table::read(&source, &schema, usize::MAX, &Streams::new(0)).unwrap();
        assert_eq!(table.rows as u64, schema.rows);
        assert!(notes.messages().is_empty(), "{notes:?}");
    }
}

#[test]
fn adult_has_no_header_and_its_odd_gains() {
    let Some(source) = open("adult-train.csv.gz") else { return };
    let schema = infer(&source);
    assert!(!schema.header && schema.rows == 32_561);
    // Its 119 gains are few enough for a probability each: 0 and the code 99999 need no gate.
    let gains = numbers(&schema, "c11");
    assert!(gains.discrete && gains.grid.values().contains(&99_999.0));
    assert_eq!((kind(&schema, "c2"), kind(&schema, "c15")), (Kind::Category, Kind::Category));
    assert_eq!(schema.columns[1].missing, 0);
    assert!(schema.columns[1].reason.contains("? (1836 cells) is a level"), "{}", schema.columns[1].reason);
    assert!(!numbers(&schema, "c3").discrete);
}

#[test]
fn titanic_is_mixed() {
    let Some(source) = open("seaborn-titanic.csv.gz") else { return };
    let schema = infer(&source);
    let missing = |name: &str| schema.columns[schema.position(name).unwrap()].missing;
    assert_eq!((missing("age"), missing("deck"), missing("embarked")), (177, 688, 2));
    for name in ["survived", "adult_male", "alive", "alone"] {
        assert_eq!(kind(&schema, name), Kind::YesNo, "{name}");
    }
    assert_eq!(kind(&schema, "age"), Kind::Real);
    assert_eq!((kind(&schema, "sibsp"), kind(&schema, "deck")), (Kind::Count, Kind::Category));
}

#[test]
fn counts_identifiers_and_tails() {
    if let Some(source) = open("COUNT-rwm5yr.csv.gz") {
        let schema = infer(&source);
        assert_eq!((kind(&schema, "rownames"), kind(&schema, "docvis")), (Kind::Identifier, Kind::Count));
        assert_eq!((kind(&schema, "id"), kind(&schema, "female")), (Kind::Count, Kind::YesNo));
    }
    if let Some(source) = open("ggplot2-diamonds.csv.gz") {
        let schema = infer(&source);
        assert_eq!((kind(&schema, "rownames"), kind(&schema, "cut")), (Kind::Identifier, Kind::Category));
        assert_eq!((kind(&schema, "price"), kind(&schema, "carat")), (Kind::Count, Kind::Real));
    }
    if let Some(source) = open("freMTPL2sev.csv.gz") {
        assert_eq!(kind(&infer(&source), "ClaimAmount"), Kind::Positive);
    }
    if let Some(source) = open("evir-danish.csv.gz") {
        assert_eq!(kind(&infer(&source), "dat"), Kind::Positive);
    }
}

#[test]
fn dates_and_row_names() {
    for file in ["bike-sharing-day.csv.gz", "bike-sharing-hour.csv.gz"] {
        if let Some(source) = open(file) {
            let schema = infer(&source);
            assert_eq!(
                (kind(&schema, "instant"), kind(&schema, "dteday")),
                (Kind::Identifier, Kind::DateTime)
            );
        }
    }
    if let Some(source) = open("support2.csv.gz") {
        let schema = infer(&source);
        assert_eq!(schema.columns.len(), 48, "the header names 47 of them");
        assert_eq!((kind(&schema, "rownames"), kind(&schema, "age")), (Kind::Identifier, Kind::Real));
    }
}

/// What is written is what was read: every modelled cell of every table, as text or as a number.
#[test]
fn cells_come_back() {
    let files = [
        "seaborn-penguins.csv.gz",
        "ggplot2-diamonds.csv.gz",
        "california-housing.csv.gz",
        "bike-sharing-hour.csv.gz",
    ];
    for source in files.into_iter().filter_map(open) {
        let schema = infer(&source);
        let mut coder = schema.coder(&source).unwrap();
        for record in source.records().unwrap() {
            let record = record.unwrap();
            let row = coder.code(&record).unwrap();
            for ((column, text), &(code, value)) in schema.columns.iter().zip(&record.cells).zip(&row.cells) {
                if column.is_modelled() {
                    assert_eq!(
                        &column.decode(code, value, 0.5),
                        text,
                        "{} line {}",
                        column.name,
                        record.line
                    );
                }
            }
        }
    }
}
