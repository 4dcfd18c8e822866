//! Bytes of a table: opened, typed, coded, decoded. Refusals are fine, crashes and schemas that do not survive are not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pmm_core::Streams;
use pmm_data::{Overrides, ReadOptions, Schema, Source, Table};

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = Source::from_bytes("fuzz.csv", bytes.to_vec(), &ReadOptions::default()) else { return };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return };
    let json = schema.to_json().expect("an inferred schema can be written");
    assert_eq!(Schema::from_json(&json).expect("and read"), schema);
    let (table, notes) =
        Table::read(&source, &schema, 10_000, &Streams::new(0)).expect("what was typed can be coded");
    let _ = (notes.messages(), source.digest());
    assert!(table.rows as u64 <= schema.rows);
    for (column, cells) in schema.columns.iter().zip(&table.columns) {
        let decoder = column.decoder().expect("what was typed has a decoder");
        decoder.array(table.rows, cells, |_| 0.5).expect("what was coded has a type");
        for cell in cells.iter() {
            let _ = column.parse(&column.text(cell, 0.5));
        }
    }
});
