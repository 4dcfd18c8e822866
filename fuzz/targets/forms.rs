//! Numbers, dates and markers as people write them: the lines of the input are the cells of a column. A value that is read is written so
//! that it is read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pmm_core::Streams;
use pmm_data::{Header, Overrides, ReadOptions, Schema, Source, Table};

fuzz_target!(|text: &str| {
    let cells: Vec<&str> = text.lines().filter(|line| line.len() < 60).take(40).collect();
    let Some((first, cells)) = cells.split_first() else { return };
    let delimiter = if first.len() % 2 == 0 { ',' } else { ';' };
    let mut table = format!("x{delimiter}n\n");
    for (row, cell) in cells.iter().enumerate() {
        table += &format!("\"{}\"{delimiter}{}\n", cell.replace('"', "\"\""), row % 3);
    }
    let options = ReadOptions { delimiter: Some(delimiter), header: Header::Yes, ..Default::default() };
    let Ok(source) = Source::from_bytes("fuzz.csv", table.into_bytes(), &options) else { return };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return };
    let (table, _) =
        Table::read(&source, &schema, 10_000, &Streams::new(0)).expect("what was typed can be coded");
    for (column, cells) in
        schema.columns.iter().zip(&table.columns).filter(|(column, _)| column.is_modelled())
    {
        for cell in cells.iter() {
            let text = column.text(cell, 0.5);
            assert_eq!(column.parse(&text).ok(), Some(cell), "{text:?} of {column:?}");
        }
    }
});
