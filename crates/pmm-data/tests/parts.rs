//! Tables in many files: the same rows as in one, and errors that name the file.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use pmm_data::{Kind, NumberedFiles, OutputColumn, Overrides, ReadOptions, Schema, Source, Table, Writer};

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn open(path: &Path) -> Result<Source, pmm_data::ReadError> {
    Source::open(path, &ReadOptions::default())
}

fn error(path: &Path) -> String {
    let error = open(path).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error.to_string()
}

fn batch(ids: std::ops::Range<i64>) -> RecordBatch {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(ids.clone().collect::<Vec<_>>()))),
        ("x", Arc::new(Float64Array::from(ids.clone().map(|id| id as f64 / 4.0).collect::<Vec<_>>()))),
        ("level", Arc::new(StringArray::from(ids.map(|id| ["a", "b"][id as usize % 2]).collect::<Vec<_>>()))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn columns() -> Vec<OutputColumn> {
    let types = [("id", DataType::Int64), ("x", DataType::Float64), ("level", DataType::Utf8)];
    types.map(|(name, data_type)| OutputColumn::new(name, data_type)).to_vec()
}

/// Rows of all files one after the other are those of one file: the same schema, the same cells.
#[test]
fn many_files_are_one_table() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    let rows = batch(0..1000);
    for ending in ["parquet", "csv", "arrow"] {
        let whole = folder.path().join(format!("whole.{ending}"));
        let mut one = Writer::create(&whole, &columns()).unwrap();
        one.write(&rows).unwrap();
        one.finish().unwrap();
        let pattern = folder.path().join(format!("parts/part-*.{ending}"));
        let mut many = NumberedFiles::create(&pattern, &columns(), 300, 0).unwrap();
        // Pieces that end anywhere.
        for (from, length) in [(0, 250), (250, 700), (950, 50)] {
            many.write(&rows.slice(from, length)).unwrap();
        }
        many.finish().unwrap();
        let (one, many) = (open(&whole).unwrap(), open(&pattern).unwrap());
        assert_eq!(many.notes()[0], "4 files");
        assert_eq!((one.names(), one.is_delimited()), (many.names(), many.is_delimited()));
        let read = |source: &Source| {
            let schema = Schema::infer(source, &Overrides::default()).unwrap();
            let table = Table::read(source, &schema, usize::MAX, &pmm_core::Streams::new(0)).unwrap().0;
            (serde_json::to_value(&schema).unwrap(), table)
        };
        assert_eq!(read(&one), read(&many), "{ending}");
        assert!(one.digest().unwrap() != many.digest().unwrap());
    }
}

#[test]
fn folders_say_what_their_files_do_not() {
    let folder = tempfile::tempdir().unwrap();
    for (year, place) in [(2019, "a"), (2020, "__HIVE_DEFAULT_PARTITION__"), (2021, "b")] {
        let rows: String = (0..20).map(|i| format!("{},{}\n", i, i % 3)).collect();
        write(folder.path(), &format!("year={year}/place={place}/p.csv"), &format!("x,y\n{rows}"));
    }
    // Nothing but a header: no part of the table, and no error.
    write(folder.path(), "year=2022/place=c/p.csv", "x,y\n");
    let source = open(folder.path()).unwrap();
    assert_eq!(source.names(), ["x", "y", "year", "place"]);
    assert!(source.notes().contains(&"1 files without rows are left out".to_owned()), "{:?}", source.notes());
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    assert_eq!((schema.rows, schema.columns[3].missing), (60, 20));
    assert_eq!((schema.columns[2].kind, schema.columns[3].kind), (Kind::Count, Kind::Category));
}

#[test]
fn what_does_not_go_together_is_refused_by_its_name() {
    let other = |name: &str, text: &str| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.csv", "x,y\n1,2\n3,4\n");
        write(folder.path(), name, text);
        error(folder.path())
    };
    let said = other("b.csv", "x,z\n1,2\n");
    assert!(said.contains("b.csv does not go with") && said.contains("column z more"), "{said}");
    assert!(other("b.csv", "x\n1\n").contains("it has no column y"));
    assert!(other("k=1/b.csv", "x,y\n1,2\n").contains("folders of other keys"));
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "x=1/a.csv", "x,y\n1,2\n");
    assert!(error(folder.path()).contains("a column x of its own"));
    let typed = |data_type: DataType, array: ArrayRef| {
        let folder = tempfile::tempdir().unwrap();
        for (name, data_type, array) in
            [("a", DataType::Int64, Arc::new(Int64Array::from(vec![1])) as ArrayRef), ("b", data_type, array)]
        {
            let path = folder.path().join(format!("{name}.parquet"));
            let mut writer = Writer::create(path, &[OutputColumn::new("x", data_type)]).unwrap();
            writer.write(&RecordBatch::try_from_iter([("x", array)]).unwrap()).unwrap();
            writer.finish().unwrap();
        }
        error(folder.path())
    };
    let said = typed(DataType::Utf8, Arc::new(StringArray::from(vec!["1"])));
    assert!(
        said.contains("b.parquet") && said.contains("its column x is of the type Utf8, not Int64"),
        "{said}"
    );
    assert!(error(tempfile::tempdir().unwrap().path()).contains("no file that could be a table"));
}

/// A cell that does not fit is named with its own file and line.
#[test]
fn cells_are_found_in_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..50).map(|i| format!("{i}\n")).collect();
    for name in ["a.csv", "b.csv"] {
        write(folder.path(), name, &format!("x\n{rows}"));
    }
    let schema = Schema::infer(&open(folder.path()).unwrap(), &Overrides::default()).unwrap();
    write(folder.path(), "b.csv", "x\n1\n2\nthree\n");
    let source = open(folder.path()).unwrap();
    let mut coder = schema.coder(&source).unwrap();
    let failed =
        source.batches().unwrap().find_map(|rows| coder.code(&rows.unwrap()).err()).unwrap().to_string();
    assert!(failed.contains("b.csv, line 4, column x"), "{failed}");
}

#[test]
fn files_begin_where_others_end() {
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str, per_file, first| {
        NumberedFiles::create(folder.path().join(name), &columns(), per_file, first)
    };
    let error = create("part-*.csv", 100, 250).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "row 250 does not begin a file of 100 rows");
    assert!(error.hint().unwrap().contains("multiple of 100"));
    assert!(create("part.csv", 100, 0).map(drop).unwrap_err().to_string().contains("has no *"));
    assert!(create("part-*.json", 100, 0).is_err());
    // Nothing is left of a file that was not finished; those before it are whole.
    let mut files = create("p-*.csv", 100, 0).unwrap();
    files.write(&batch(0..150)).unwrap();
    drop(files);
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["p-00000.csv"]);
}
