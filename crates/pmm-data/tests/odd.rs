//! Small odd files, each with what must come of it: `odd/NAME` and `odd/NAME.out`.
//!
//! With `PMM_WRITE_ODD=1` the test writes the `.out` files as they are; what changed is then to be read like code.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use pmm_data::{Column, Overrides, ReadError, ReadOptions, Schema, Source};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/odd")
}

/// Header, notes, columns with kinds and reasons, and the rows: read, coded, and written again.
fn outcome(name: &str, bytes: Vec<u8>) -> Result<String, ReadError> {
    let source = Source::from_bytes(name, bytes, &ReadOptions::default())?;
    let schema = Schema::infer(&source, &Overrides::default())?;
    let mut text = format!("delimiter {:?}, header {}\n", source.delimiter(), source.header());
    for note in source.notes() {
        writeln!(text, "note: {note}").unwrap();
    }
    for column in &schema.columns {
        writeln!(text, "column {:?}: {}: {}", column.name, column.kind.name(), column.reason).unwrap();
    }
    let mut coder = schema.coder(&source)?;
    for rows in source.batches()? {
        let rows = rows?;
        let coded = coder.code(&rows)?;
        for row in 0..rows.rows() {
            let cell = |(place, column): (usize, &Column)| match column.is_modelled() {
                true => format!("{:?}", column.text(coded[place].get(row), 0.5)),
                false => format!("({:?})", rows.batch.column(place).as_string::<i32>().value(row)),
            };
            let cells: Vec<String> = schema.columns.iter().enumerate().map(cell).collect();
            writeln!(text, "{}: {}", rows.place(row), cells.join(" ")).unwrap();
        }
    }
    Ok(text)
}

#[test]
fn odd_files_come_out_as_stated() {
    let write = std::env::var_os("PMM_WRITE_ODD").is_some();
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.ends_with(".out"))
        .collect();
    names.sort();
    assert!(names.len() >= 60, "the corpus is there: {}", names.len());
    let mut wrong = String::new();
    for name in names {
        let found = match outcome(&name, std::fs::read(folder().join(&name)).unwrap()) {
            Ok(text) => text,
            Err(error) => format!("error: {error}\nhint: {}\n", error.hint().unwrap_or_default()),
        };
        let path = folder().join(format!("{name}.out"));
        if write {
            std::fs::write(path, &found).unwrap();
            continue;
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            writeln!(wrong, "{name}\n--- stated\n{expected}--- found\n{found}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
