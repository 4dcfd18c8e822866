//! What is written is what was read, in every format; and nothing that is read makes a panic.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use pmm_core::Streams;
use pmm_data::{
    CellType, Field, FileFormat, Kind, Overrides, ReadOptions, Schema, Source, Table, WriteError, Writer,
};
use proptest::prelude::*;

/// Integers, fixed and free decimals, codes, dates, quotes, unicode, yes/no, missing cells, numbers with a text among them.
fn rows() -> Vec<Vec<String>> {
    let row = |i: usize| {
        let missing = |text: String, every: usize| if i % every == 3 { String::new() } else { text };
        vec![
            missing((i * 37 % 101).to_string(), 10),
            format!("{:.2}", (i * 7919 % 1000) as f64 * 0.37),
            missing(format!("{}", ((i * 31) % 97) as f64 * 0.25), 7),
            format!("{:05}", 100 + i % 13),
            format!("2020-{:02}-{:02}", 1 + i % 12, 1 + i % 28),
            ["a \"quoted\", field", "naïve – ☃", "two\nlines", "semi;colon"][i % 4].to_owned(),
            missing(["true", "false"][i * i % 3 % 2].to_owned(), 9),
            if i % 100 == 50 { "<5".into() } else { format!("{}", i as f64 * 1.5 - 20.0) },
        ]
    };
    (0..300).map(row).collect()
}

const NAMES: [&str; 8] = ["count", "money", "plain", "zip code", "day", "note", "flag", "lab, mg/l"];

fn fields(schema: &Schema) -> Vec<Field> {
    schema.columns.iter().map(|column| column.field()).collect()
}

fn write(path: &Path, fields: &[Field], rows: &[Vec<String>]) {
    let mut writer = Writer::create(path, fields).unwrap();
    rows.iter().for_each(|row| writer.write(row).unwrap());
    writer.finish().unwrap();
}

fn read(path: &Path) -> (Source, Vec<Vec<String>>) {
    let source = Source::open(path, &ReadOptions::default()).unwrap();
    let rows = source.records().unwrap().map(|record| record.unwrap().cells).collect();
    (source, rows)
}

#[test]
fn every_format_keeps_the_cells() {
    let folder = tempfile::tempdir().unwrap();
    let text_fields: Vec<Field> = NAMES.iter().map(|name| Field::new(*name, CellType::Text)).collect();
    let first = folder.path().join("first.csv");
    write(&first, &text_fields, &rows());
    let (source, cells) = read(&first);
    assert_eq!(cells, rows());
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    let kinds: Vec<Kind> = schema.columns.iter().map(|column| column.kind).collect();
    use Kind::*;
    assert_eq!(kinds, [Count, Real, Real, Category, DateTime, Category, YesNo, Real]);

    // Text → codes → text.
    let mut coder = schema.coder(&source).unwrap();
    let decoded: Vec<Vec<String>> = source
        .records()
        .unwrap()
        .map(|record| {
            let row = coder.code(&record.unwrap()).unwrap();
            schema
                .columns
                .iter()
                .zip(row.cells)
                .map(|(column, (code, value))| column.decode(code, value, 0.5))
                .collect()
        })
        .collect();
    assert_eq!(decoded, rows());

    // Text → file → text, with types where the format has them.
    for name in ["t.csv", "t.tsv", "t.csv.gz", "t.TSV.GZ", "t.parquet", "t.arrow", "t.feather"] {
        let path = folder.path().join(name);
        write(&path, &fields(&schema), &decoded);
        let (other, cells) = read(&path);
        assert_eq!(other.names(), NAMES, "{name}");
        for (row, expected) in cells.iter().zip(rows()) {
            for ((cell, expected), column) in row.iter().zip(expected).zip(&schema.columns) {
                // A Float64 column does not keep the number of digits, but the number.
                let same = match column.field().cell_type {
                    CellType::Float
                        if name.starts_with("t.p") || name.starts_with("t.a") || name.starts_with("t.f") =>
                    {
                        cell.parse::<f64>() == expected.parse::<f64>()
                    }
                    _ => *cell == expected,
                };
                assert!(same, "{name}, {}: {cell:?} is not {expected:?}", column.name);
            }
        }
        assert_eq!(cells.len(), 300);
        let again = Schema::infer(&other, &Overrides::default()).unwrap();
        assert_eq!(again.columns.iter().map(|column| column.kind).collect::<Vec<_>>(), kinds, "{name}");
        Table::read(&other, &schema, usize::MAX, &Streams::new(0)).unwrap();
    }
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, "old").unwrap();
    let fields = [Field::new("a", CellType::Integer)];
    let mut writer = Writer::create(&path, &fields).unwrap();
    writer.write(&["1"]).unwrap();
    assert!(matches!(writer.write(&["x"]), Err(WriteError::Cell { .. })));
    assert!(matches!(writer.write(&["1", "2"]), Err(WriteError::Ragged { expected: 1, found: 2 })));
    drop(writer);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(Writer::create(folder.path().join("no/such/folder.csv"), &fields).is_err());
}

#[test]
fn formats_by_name() {
    let of = |name: &str| FileFormat::of(Path::new(name));
    assert_eq!(of("a.b/x.csv"), FileFormat::Delimited(','));
    assert_eq!(of("x"), FileFormat::Delimited(','));
    assert_eq!(of("x.TSV.gz"), FileFormat::Gzip('\t'));
    assert_eq!((of("x.pq"), of("x.feather")), (FileFormat::Parquet, FileFormat::Arrow));
}

#[test]
fn bom_and_digest() {
    let options = ReadOptions::default();
    let source = Source::from_bytes("t.csv", b"\xef\xbb\xbfa,b\n1,2\n3,4\n".to_vec(), &options).unwrap();
    assert_eq!(source.names(), ["a", "b"]);
    let digest = source.digest().unwrap();
    assert_eq!(digest.len(), 64);
    let other = Source::from_bytes("t.csv", b"a,b\n1,2\n3,4\n".to_vec(), &options).unwrap();
    assert_ne!(digest, other.digest().unwrap());
}

/// Everything that can be done with a file that may be anything.
fn use_all(bytes: Vec<u8>) {
    let Ok(source) = Source::from_bytes("any", bytes, &ReadOptions::default()) else { return };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return };
    let json = schema.to_json().unwrap();
    assert_eq!(Schema::from_json(&json).unwrap(), schema);
    let (table, notes) = Table::read(&source, &schema, 64, &Streams::new(1)).unwrap();
    assert!(notes.unseen.is_empty());
    for (column, cells) in schema.columns.iter().zip(&table.columns) {
        for (&code, &value) in cells.code.iter().zip(&cells.value) {
            let text = column.decode(code, value, 0.5);
            let (again, number) = column.parse(&text).unwrap();
            let shared = column.kind == Kind::Category;
            assert!(again == code || shared, "{}: {text:?} {code} {again}", column.name);
            assert!(
                number.to_bits() == value.to_bits() || number == value || value.is_nan(),
                "{text:?} {value} {number}"
            );
        }
    }
}

/// A Parquet and an Arrow file, to be damaged.
fn columnar() -> [Vec<u8>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let fields = [Field::new("n", CellType::Integer), Field::new("t", CellType::Text)];
    ["t.parquet", "t.arrow"].map(|name| {
        let path = folder.path().join(name);
        let rows: Vec<Vec<String>> =
            (0..50).map(|i| vec![(i % 7).to_string(), format!("x{}", i % 3)]).collect();
        write(&path, &fields, &rows);
        std::fs::read(&path).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use_all(bytes);
    }

    #[test]
    fn any_table_like_text(text in "([-+]?[0-9]{0,3}[.]?[0-9]{0,3}(e[0-9]{1,3})?|[a-c]|inf|NA|\"|2020-0[1-3]-1[0-9]|[\n\r,;\t|]){0,120}") {
        use_all(text.into_bytes());
    }

    #[test]
    fn any_cells(rows in prop::collection::vec(prop::collection::vec("[ -~é\n]{0,8}", 3), 1..30)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        let fields = ["a", "b", "c"].map(|name| Field::new(name, CellType::Text));
        write(&path, &fields, &rows);
        let options = ReadOptions { delimiter: Some(','), header: pmm_data::Header::Yes };
        let source = Source::open(&path, &options).unwrap();
        let read: Vec<Vec<String>> = source.records().unwrap().map(|record| record.unwrap().cells).collect();
        prop_assert_eq!(read, rows);
    }

    #[test]
    fn numbers_come_back(values in prop::collection::vec((-1e6f64..1e6, 0usize..6), 3..80)) {
        let text = values.iter().fold("x,k\n".to_owned(), |text, (value, digits)| text + &format!("{value:.digits$},1\n"));
        use_all(text.into_bytes());
    }

    #[test]
    fn damaged_columnar_files(place in 0.0f64..1.0, byte: u8, cut: bool) {
        for mut bytes in columnar() {
            let at = (place * bytes.len() as f64) as usize;
            if cut { bytes.truncate(at) } else { bytes[at] = byte }
            use_all(bytes);
        }
    }

    #[test]
    fn damaged_schemas(place in 0.0f64..1.0, byte in 32u8..127) {
        let source = Source::from_bytes("t", b"a,b,d\n1.5,x,2020-01-01\n2.5,y,2020-01-02\n3.5,x,2020-01-09\n".to_vec(), &ReadOptions::default()).unwrap();
        let mut json = Schema::infer(&source, &Overrides::default()).unwrap().to_json().unwrap().into_bytes();
        let at = (place * json.len() as f64) as usize;
        json[at] = byte;
        if let Ok(schema) = Schema::from_json(&String::from_utf8(json).unwrap()) {
            let _ = Table::read(&source, &schema, 100, &Streams::new(0));
            for column in &schema.columns {
                column.decode(0, 1.0, 0.5);
            }
        }
    }
}
