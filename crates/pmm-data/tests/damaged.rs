//! Odd files, whole and damaged: what is typed can be coded, and what is coded can be written. The fuzz target `csv` looks further.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use pmm_core::{Purpose, Streams};
use pmm_data::{Overrides, ReadOptions, Schema, Source, Table};

fn look(bytes: &[u8]) {
    let Ok(source) = Source::from_bytes("odd.csv", bytes.to_vec(), &ReadOptions::default()) else { return };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return };
    let text = || String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema, "{}", text());
    let (table, _) = Table::read(&source, &schema, 10_000, &Streams::new(0))
        .unwrap_or_else(|error| panic!("{error}: {}", text()));
    let decoder = schema.decoder().unwrap();
    let rows = decoder.batch(table.rows, &table.columns, |_, _| 0.5);
    assert_eq!(rows.unwrap_or_else(|error| panic!("{error}: {}", text())).num_rows(), table.rows);
}

#[test]
fn odd_files_whole_and_damaged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/odd");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 50);
    for (index, path) in files.iter().enumerate() {
        let bytes = std::fs::read(path).unwrap();
        look(&bytes);
        for damage in 0..12 {
            let mut rng = Streams::new(1).stream(Purpose::custom(0), damage, index as u64);
            let mut bytes = bytes.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len().max(1) as u64) as usize;
                match rng.below(3) {
                    0 if at < bytes.len() => bytes[at] = rng.word() as u8,
                    1 if at < bytes.len() => drop(bytes.remove(at)),
                    _ => bytes.insert(at.min(bytes.len()), b",;\"\n09.-%$ \t"[rng.below(12) as usize]),
                }
            }
            look(&bytes);
        }
    }
}
