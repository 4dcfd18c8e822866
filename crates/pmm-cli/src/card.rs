//! A model's `README.md`: what it is, from what, how well.

use std::fmt::Write as _;

use pmm_data::{PairKind, Schema};
use pmm_train::{Facts, FitConfig, to_toml};

pub(crate) fn text(schema: &Schema, config: &FitConfig, facts: &Facts, weights: usize) -> String {
    let fact = |name: &str| facts.get(name).map_or("–", String::as_str);
    let mut text = String::from("# A model of a table, by Posterior Mean Matching\n\n");
    let _ = writeln!(
        text,
        "Fitted by pmm {} to {} rows (of {}) and {} columns; seed {}; {} weights; {} steps, the best at step {} with a held-out loss of {} nats per column.\n",
        fact("version"),
        fact("rows"),
        schema.rows,
        schema.columns.len(),
        config.seed,
        weights,
        fact("steps"),
        fact("best_step"),
        fact("valid_loss"),
    );
    let _ = writeln!(text, "Data: BLAKE3 {}.\n", fact("data"));
    text.push_str("| column | kind | pair | missing | why |\n|---|---|---|---|---|\n");
    for column in &schema.columns {
        let pair = if column.pair == PairKind::None { "left out" } else { column.pair.name() };
        let cell = |text: &str| text.replace('|', "\\|");
        let _ = writeln!(
            text,
            "| {} | {} | {pair} | {} | {} |",
            cell(&column.name),
            column.kind.name(),
            column.missing,
            cell(&column.reason)
        );
    }
    let _ = write!(text, "\n```toml\n{}```\n\n", to_toml(config));
    text.push_str(
        "Samples of columns whose values repeat keep to values that were seen in the data (`--no-snap` lifts that); \
         the schema holds the levels and values of the data. Whoever has this folder can see them.\n",
    );
    text
}
