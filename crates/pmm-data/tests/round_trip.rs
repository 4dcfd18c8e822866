//! What is written is what was read, in every format; and nothing that is read makes a panic.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use pmm_core::Streams;
use pmm_data::{Cell, Kind, OutputColumn, Overrides, ReadOptions, Schema, Source, Table, WriteError, Writer};
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
            ["a \"quoted\", field", "naïve – ☃", "two\nlines", " blanks "][i % 4].to_owned(),
            missing(["true", "false"][i * i % 3 % 2].to_owned(), 9),
            if i % 100 == 50 { "<5".into() } else { format!("{}", i as f64 * 1.5 - 20.0) },
            format!("{}/{}/2011 {:02}:30", 1 + i % 12, 1 + i % 28, i % 24),
            format!("{}.0", 371 + i % 50 * i),
        ]
    };
    (0..300).map(row).collect()
}

const NAMES: [&str; 10] =
    ["count", "money", "plain", "zip code", "day", "note", "flag", "lab, mg/l", "when", "whole"];

/// Rows of text as a batch of texts.
fn batch_of(names: &[&str], rows: &[Vec<String>]) -> RecordBatch {
    let column = |place: usize| -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(row[place].as_str())).collect::<StringArray>())
    };
    RecordBatch::try_from_iter(names.iter().enumerate().map(|(place, name)| (*name, column(place)))).unwrap()
}

fn write(path: &Path, columns: &[OutputColumn], batch: &RecordBatch) {
    let mut writer = Writer::create(path, columns).unwrap();
    // In two parts.
    let middle = batch.num_rows() / 2;
    writer.write(&batch.slice(0, middle)).unwrap();
    writer.write(&batch.slice(middle, batch.num_rows() - middle)).unwrap();
    writer.finish().unwrap();
}

fn write_texts(path: &Path, names: &[&str], rows: &[Vec<String>]) {
    let columns: Vec<OutputColumn> =
        names.iter().map(|name| OutputColumn::new(*name, DataType::Utf8)).collect();
    write(path, &columns, &batch_of(names, rows));
}

/// All rows of a delimited file, as texts.
fn texts(source: &Source) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for batch in source.batches().unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.rows() {
            let cell = |column: &ArrayRef| column.as_string::<i32>().value(row).to_owned();
            rows.push(batch.batch.columns().iter().map(cell).collect());
        }
    }
    rows
}

fn open(path: &Path) -> Source {
    Source::open(path, &ReadOptions::default()).unwrap()
}

/// Every row of a source, decoded from its cells.
fn decoded(source: &Source, schema: &Schema) -> RecordBatch {
    let (mut coder, decoder) = (schema.coder(source).unwrap(), schema.decoder().unwrap());
    let batches: Vec<RecordBatch> = source
        .batches()
        .unwrap()
        .map(|batch| {
            let batch = batch.unwrap();
            let cells = coder.code(&batch).unwrap();
            decoder.batch(batch.rows(), &cells, |_, _| 0.5).unwrap()
        })
        .collect();
    arrow_select::concat::concat_batches(decoder.schema(), &batches).unwrap()
}

#[test]
fn every_format_keeps_the_cells() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first.csv");
    write_texts(&first, &NAMES, &rows());
    let source = open(&first);
    assert_eq!(texts(&source), rows());
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    let kinds: Vec<Kind> = schema.columns.iter().map(|column| column.kind).collect();
    use Kind::*;
    assert_eq!(kinds, [Count, Real, Real, Category, DateTime, Category, YesNo, Real, DateTime, Count]);
    let types: Vec<String> = schema.columns.iter().map(|column| column.column_type().to_string()).collect();
    assert_eq!(
        types,
        ["int64", "float64", "float64", "utf8", "date32", "utf8", "bool", "utf8", "timestamp[s]", "int64"]
    );

    // Text → cells → arrays → file: delimited text is what it was, everything else has types and the same values.
    let typed = decoded(&source, &schema);
    for name in ["t.csv", "t.tsv", "t.csv.gz", "t.TSV.GZ", "t.txt"] {
        let path = folder.path().join(name);
        write(&path, &schema.output(), &typed);
        let other = open(&path);
        assert_eq!((other.names(), texts(&other)), (&NAMES.map(String::from)[..], rows()), "{name}");
    }
    for name in ["t.parquet", "t.arrow", "t.feather", "t.arrows"] {
        let path = folder.path().join(name);
        write(&path, &schema.output(), &typed);
        let other = open(&path);
        let again: Vec<RecordBatch> = other.batches().unwrap().map(|batch| batch.unwrap().batch).collect();
        assert_eq!(
            arrow_select::concat::concat_batches(typed.schema_ref(), &again).unwrap(),
            typed,
            "{name}"
        );
        let found = Schema::infer(&other, &Overrides::default()).unwrap();
        assert_eq!(found.columns.iter().map(|column| column.kind).collect::<Vec<_>>(), kinds, "{name}");
        // The first schema codes the typed file as it coded the text.
        let streams = Streams::new(0);
        let (from_text, _) = Table::read(&source, &schema, usize::MAX, &streams).unwrap();
        let (from_types, notes) = Table::read(&other, &schema, usize::MAX, &streams).unwrap();
        assert_eq!(from_types, from_text, "{name}");
        assert!(notes.messages().is_empty());
    }
}

#[test]
fn texts_become_types_without_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    write_texts(&path, &NAMES, &rows());
    let source = open(&path);
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    let rows = source.batches().unwrap().next().unwrap().unwrap();
    let typed = decoded(&source, &schema);
    for (place, column) in schema.columns.iter().enumerate() {
        let array = column.decoder().unwrap().typed(rows.batch.column(place), &schema.missing).unwrap();
        assert_eq!(&array, typed.column(place), "{}", column.name);
    }
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, "old").unwrap();
    let columns = [OutputColumn::new("a", DataType::Int64)];
    let mut writer = Writer::create(&path, &columns).unwrap();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    writer.write(&RecordBatch::try_from_iter([("a", numbers.clone())]).unwrap()).unwrap();
    let wide = RecordBatch::try_from_iter([("a", numbers.clone()), ("b", numbers)]).unwrap();
    let error = writer.write(&wide).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the columns of a batch are a: int64, b: int64, those of the file a: int64"
    );
    assert!(matches!(writer.write(&batch_of(&["a"], &[vec!["x".into()]])), Err(WriteError::Columns { .. })));
    drop(writer);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(Writer::create(folder.path().join("no/such/folder.csv"), &columns).is_err());
    assert!(matches!(
        Writer::create(folder.path().join("t.json"), &columns),
        Err(WriteError::UnknownFormat { .. })
    ));
}

/// A reader at the other end of a named pipe gets the file, and the pipe stays a pipe.
#[cfg(unix)]
#[test]
fn pipes_are_written_straight() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    for name in ["pipe", "pipe.parquet", "pipe.arrow", "pipe.arrows"] {
        let path = folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || std::fs::read(path).unwrap()
        });
        write_texts(&path, &["a"], &[vec!["x".into()], vec!["y".into()]]);
        let bytes = reader.join().unwrap();
        assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo());
        let source = Source::from_bytes(name, bytes, &ReadOptions::default()).unwrap();
        assert_eq!(texts(&source), [["x"], ["y"]], "{name}");
    }
}

/// A pipe whose reader has gone is told from other failures, for every format.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_told() {
    use pmm_data::FileFormat::*;
    for format in [Delimited(','), Gzip(','), Parquet, Arrow, ArrowStream] {
        let (reader, output) = std::os::unix::net::UnixStream::pair().unwrap();
        drop(reader);
        let columns = [OutputColumn::new("a", DataType::Utf8)];
        let result = Writer::stream(output, format, &columns).and_then(|mut writer| {
            let long: Vec<Vec<String>> = (0..50_000).map(|i| vec![format!("row {}", i * 7919)]).collect();
            writer.write(&batch_of(&["a"], &long))?;
            writer.finish()
        });
        assert!(result.as_ref().is_err_and(WriteError::is_broken_pipe), "{format:?}: {result:?}");
    }
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

/// A schema of an older program is refused with what to do, not as damaged.
#[test]
fn old_schemas_are_told() {
    let old = "{\"version\": 1, \"rows\": 1, \"delimiter\": \",\", \"header\": true, \"missing\": [], \"columns\": []}";
    for text in [old.to_owned(), old.replace("\"rows\": 1, ", "")] {
        let error = Schema::from_json(&text).unwrap_err();
        assert_eq!(error.to_string(), "the schema has version 1; this program reads version 3");
        assert!(error.hint().unwrap().contains("fit the model again"));
    }
}

/// Everything that can be done with a file that may be anything.
fn use_all(bytes: Vec<u8>) {
    let Ok(source) = Source::from_bytes("any", bytes, &ReadOptions::default()) else { return };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return };
    let json = schema.to_json().unwrap();
    assert_eq!(Schema::from_json(&json).unwrap(), schema);
    let (table, notes) = Table::read(&source, &schema, 64, &Streams::new(1)).unwrap();
    assert!(notes.unseen.is_empty());
    schema.decoder().unwrap().batch(table.rows, &table.columns, |_, _| 0.5).unwrap();
    for (column, cells) in schema.columns.iter().zip(&table.columns) {
        for cell in cells.iter() {
            let text = column.text(cell, 0.5);
            let again = column.parse(&text).unwrap();
            let same = match (cell, again) {
                (Cell::Value(a), Cell::Value(b)) => a == b || (a - b).abs() <= 1e-9 * a.abs(),
                (a, b) => a == b || column.kind == Kind::Category,
            };
            assert!(same, "{}: {text:?} {cell:?} {again:?}", column.name);
        }
    }
}

/// A Parquet and an Arrow file, to be damaged.
fn columnar() -> [Vec<u8>; 3] {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Vec<String>> = (0..50).map(|i| vec![(i % 7).to_string(), format!("x{}", i % 3)]).collect();
    ["t.parquet", "t.arrow", "t.arrows"].map(|name| {
        let path = folder.path().join(name);
        let texts = batch_of(&["n", "t"], &rows);
        let numbers = arrow_cast::cast(texts.column(0), &DataType::Int64).unwrap();
        let columns = [OutputColumn::new("n", DataType::Int64), OutputColumn::new("t", DataType::Utf8)];
        let batch = RecordBatch::try_from_iter([("n", numbers), ("t", texts.column(1).clone())]).unwrap();
        write(&path, &columns, &batch);
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
        write_texts(&path, &["a", "b", "c"], &rows);
        let options = ReadOptions { delimiter: Some(','), header: pmm_data::Header::Yes };
        let source = Source::open(&path, &options).unwrap();
        prop_assert_eq!(texts(&source), rows);
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
            if let Ok((table, _)) = Table::read(&source, &schema, 100, &Streams::new(0)) {
                let _ = schema.decoder().unwrap().batch(table.rows, &table.columns, |_, _| 0.5);
            }
            for column in &schema.columns {
                column.text(Cell::Value(1.0), 0.5);
                let _ = column.output();
            }
        }
    }
}
