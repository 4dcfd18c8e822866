//! Columns as the user sees them.

use comfy_table::{ContentArrangement, Table};
use pmm::table::{PairKind, Schema};

/// Name, kind, pair, missing share and reason of every column.
pub(crate) fn table(schema: &Schema) -> String {
    let mut text = Table::new();
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
