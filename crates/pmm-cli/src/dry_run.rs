//! `pmm fit --dry-run`: what would be fitted.

use pmm_data::Source;
use pmm_train::to_toml;

use crate::columns;
use crate::fit::Fit;
use crate::output;

pub(crate) fn print(fit: &Fit, source: &Source, json: bool) -> anyhow::Result<()> {
    let weights = fit.net.parts().len();
    let row = fit.config.net.multiplications(fit.net.columns());
    let work = 6.0 * row * fit.config.batch as f64 * fit.config.train.steps as f64;
    // Two cores of 2020 do some forty thousand million of these a second.
    let minutes = work / 8e10 / 60.0;
    let cells: usize = fit.table.columns.iter().map(|cells| cells.code.len()).sum();
    let memory = (cells * 12 + weights * 4 * 8) as f64 / 1e6;
    if json {
        let columns: Vec<_> = fit
            .schema
            .columns
            .iter()
            .map(|c| {
                serde_json::json!({"name": c.name, "kind": c.kind.name(), "pair": c.pair.name(), "missing": c.missing, "reason": c.reason})
            })
            .collect();
        let value = serde_json::json!({
            "data": source.name(), "rows": fit.schema.rows, "rows_kept": fit.table.rows, "columns": columns, "config": fit.config,
            "weights": weights, "megabytes": memory.round(), "minutes": (minutes * 10.0).round() / 10.0,
        });
        return output::print(format!("{value:#}\n").as_bytes());
    }
    let text = format!(
        "{}: {} rows, {} columns\n{}\n\n{}\n{} weights, about {:.0} MB and {:.1} minutes on two cores\n",
        source.name(),
        fit.schema.rows,
        fit.schema.columns.len(),
        columns::table(&fit.schema),
        to_toml(&fit.config),
        weights,
        memory,
        minutes,
    );
    output::print(text.as_bytes())
}
