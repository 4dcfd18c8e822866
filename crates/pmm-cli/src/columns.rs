//! Columns as the user sees them.

use anyhow::bail;
use comfy_table::{ContentArrangement, Table as Text};
use pmm_data::{PairKind, Schema};

use crate::output::Advice;

/// Name, kind, pair, missing share and reason of every column.
pub(crate) fn table(schema: &Schema) -> String {
    let mut text = Text::new();
    text.load_style(comfy_table::presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    text.set_header(["column", "kind", "pair", "missing", "why"]);
    for column in &schema.columns {
        let missing = if column.missing == 0 {
            String::new()
        } else {
            format!("{:.1} %", 100.0 * column.missing as f64 / schema.rows.max(1) as f64)
        };
        let pair = if column.pair == PairKind::None { "left out" } else { column.pair.name() };
        text.add_row([&column.name, column.kind.name(), pair, &missing, &column.reason]);
    }
    text.to_string()
}

/// The place of a column, or an error that lists what there is.
pub(crate) fn find_modelled(schema: &Schema, name: &str) -> anyhow::Result<usize> {
    let Some(index) = schema.position(name) else {
        let names: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
        bail!(Advice::new(
            format!("there is no column {name}"),
            format!("the columns are {}", names.join(", "))
        ));
    };
    let column = &schema.columns[index];
    if !column.is_modelled() {
        bail!(Advice::new(
            format!("the column {name} is not part of the model: {}", column.reason),
            "fit again with --set columns.NAME.kind=… to change that"
        ));
    }
    Ok(index)
}
