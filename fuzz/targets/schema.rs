//! `schema.json`, edited by anyone: read or refused, and what was read can be used and written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pmm_data::{Cell, Cells, Overrides, Schema};

fuzz_target!(|text: &str| {
    let _ = Overrides::from_json(text);
    if let Some((key, value)) = text.split_once('=') {
        let _ = Overrides::default().set(key, value);
    }
    let Ok(schema) = Schema::from_json(text) else { return };
    let json = schema.to_json().expect("a valid schema can be written");
    assert_eq!(Schema::from_json(&json).expect("and read again"), schema);
    for column in &schema.columns {
        let codes = (0..column.n_codes().min(100) as u32).chain([u32::MAX]);
        let coded = codes.flat_map(|code| [Cell::Level(code), Cell::Special(code)]);
        let values = [0.0, -1.5, 1e300, f64::NAN].map(Cell::Value);
        let cells: Cells = coded.chain(values).chain([Cell::Missing, Cell::Unseen]).collect();
        for cell in cells.iter() {
            let _ = column.parse(&column.text(cell, 0.999));
        }
        if let Ok(decoder) = column.decoder() {
            let _ = decoder.array(cells.len(), &cells, |_| 0.999);
        }
    }
});
