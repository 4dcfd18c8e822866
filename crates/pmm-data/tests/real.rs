//! The real tables, each with the kinds that a person would give its columns.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use pmm_core::Streams;
use pmm_data::{
    Coding, FileFormat, Kind, Numbers, OutputColumn, Overrides, ReadOptions, Schema, Source, Table, Writer,
};

/// A table of the shared data.
fn open(file: &str) -> Source {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tables").join(file);
    Source::open(&path, &ReadOptions::default()).unwrap()
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
#[ignore = "needs ../shared/data"]
fn all_tables_are_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/tables");
    for entry in std::fs::read_dir(&folder).unwrap() {
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
        let strange = (notes.unseen.len(), notes.extra.len(), notes.absent.len(), notes.rows_kept);
        assert_eq!(strange, (0, 0, 0, notes.rows_seen), "{notes:?}");
    }
}

#[test]
#[ignore = "needs ../shared/data"]
fn adult_has_no_header_and_its_odd_gains() {
    let source = open("adult-train.csv.gz");
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
#[ignore = "needs ../shared/data"]
fn titanic_is_mixed() {
    let source = open("seaborn-titanic.csv.gz");
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
#[ignore = "needs ../shared/data"]
fn counts_identifiers_and_tails() {
    let source = open("COUNT-rwm5yr.csv.gz");
    let schema = infer(&source);
    assert_eq!((kind(&schema, "rownames"), kind(&schema, "docvis")), (Kind::Identifier, Kind::Count));
    assert_eq!((kind(&schema, "id"), kind(&schema, "female")), (Kind::Count, Kind::YesNo));
    let source = open("ggplot2-diamonds.csv.gz");
    let schema = infer(&source);
    assert_eq!((kind(&schema, "rownames"), kind(&schema, "cut")), (Kind::Identifier, Kind::Category));
    assert_eq!((kind(&schema, "price"), kind(&schema, "carat")), (Kind::Count, Kind::Real));
    let source = open("freMTPL2sev.csv.gz");
    assert_eq!(kind(&infer(&source), "ClaimAmount"), Kind::Positive);
    let source = open("evir-danish.csv.gz");
    assert_eq!(kind(&infer(&source), "dat"), Kind::Positive);
}

#[test]
#[ignore = "needs ../shared/data"]
fn dates_and_row_names() {
    for file in ["bike-sharing-day.csv.gz", "bike-sharing-hour.csv.gz"] {
        let source = open(file);
        let schema = infer(&source);
        assert_eq!((kind(&schema, "instant"), kind(&schema, "dteday")), (Kind::Identifier, Kind::DateTime));
    }
    let source = open("support2.csv.gz");
    let schema = infer(&source);
    assert_eq!(schema.columns.len(), 48, "the header names 47 of them");
    assert_eq!((kind(&schema, "rownames"), kind(&schema, "age")), (Kind::Identifier, Kind::Real));
}

/// What is written is what was read: every modelled cell of every table, as text or as a number.
#[test]
#[ignore = "needs ../shared/data"]
fn cells_come_back() {
    let files = [
        "seaborn-penguins.csv.gz",
        "ggplot2-diamonds.csv.gz",
        "california-housing.csv.gz",
        "bike-sharing-hour.csv.gz",
    ];
    for source in files.into_iter().map(open) {
        let schema = infer(&source);
        let mut coder = schema.coder(&source).unwrap();
        let decoder = schema.decoder().unwrap();
        for batch in source.batches().unwrap() {
            let batch = batch.unwrap();
            let cells = coder.code(&batch).unwrap();
            let decoded = decoder.batch(batch.rows(), &cells, |_, _| 0.5).unwrap();
            let written = texts(&decoded, &schema.output());
            for (place, column) in
                schema.columns.iter().enumerate().filter(|(_, column)| column.is_modelled())
            {
                let read = batch.batch.column(place).as_string::<i32>();
                for (row, text) in read.iter().enumerate() {
                    assert_eq!(written[row][place], text.unwrap(), "{} {}", column.name, batch.place(row));
                }
            }
        }
    }
}

/// The cells of a batch as a CSV file shows them.
fn texts(batch: &RecordBatch, columns: &[OutputColumn]) -> Vec<Vec<String>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = Writer::create_as(file.path(), FileFormat::Delimited(','), columns).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    let mut reader = csv::ReaderBuilder::new().from_path(file.path()).unwrap();
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}
