//! Bytes of a Parquet or Arrow file: opened, typed, coded, decoded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pmm_core::Streams;
use pmm_data::{Overrides, ReadOptions, Schema, Source, Table};

fuzz_target!(init: {
    // Panics of the readers that become errors are none.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| if !pmm_data::is_reading_guarded() { usual(panic) }));
}, |bytes: &[u8]| {
    if !bytes.starts_with(b"PAR1") && !bytes.starts_with(b"ARROW1") {
        return;
    }
    let Ok(source) = Source::from_bytes("fuzz.bin", bytes.to_vec(), &ReadOptions::default()) else { return };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return };
    let json = schema.to_json().expect("an inferred schema can be written");
    assert_eq!(Schema::from_json(&json).expect("and read"), schema);
    let (table, _) = Table::read(&source, &schema, 10_000, &Streams::new(0)).expect("what was typed can be coded");
    let decoder = schema.decoder().expect("an inferred schema has types");
    // A time that no clock shows is refused here.
    let Ok(rows) = decoder.batch(table.rows, &table.columns, |_, _| 0.5) else { return };
    assert_eq!(rows.num_rows(), table.rows);
});
