//! `pmm fit --dry-run`: what would be fitted.

use pmm::{Cost, Gain, image, table, text};
use serde::Serialize;

use crate::columns;
use crate::output::print;

/// Size and time in words.
fn size(cost: &Cost) -> String {
    format!(
        "{} weights; about {:.0} MB; {:.2e} operations per step, {} on two cores\n",
        cost.weights,
        cost.megabytes,
        cost.operations_per_step,
        time(cost.minutes)
    )
}

/// A time in words.
pub(crate) fn time(minutes: f64) -> String {
    match minutes {
        minutes if minutes < 1.0 => format!("{:.0} seconds", (60.0 * minutes).max(2.0)),
        minutes if minutes < 120.0 => format!("{minutes:.1} minutes"),
        minutes if minutes < 2880.0 => format!("{:.1} hours", minutes / 60.0),
        minutes => format!("{:.0} days", minutes / 1440.0),
    }
}

/// What ranks gain in words: what was measured, and what follows for more of them.
fn gained(gain: Option<&Gain>) -> String {
    let Some(gain) = gain else { return String::new() };
    let more = std::iter::successors(Some(2 * gain.ranks), |ranks| Some(2 * ranks));
    let more: Vec<String> = more
        .take_while(|ranks| *ranks <= gain.shards)
        .map(|ranks| format!("{ranks} ranks {:.1}", gain.predicted(ranks)))
        .collect();
    let more = match more.is_empty() {
        true => format!("more ranks need more than {} shards (train.shards)", gain.shards),
        false => format!("by the same compute and bandwidth: {} times as fast", more.join(", ")),
    };
    format!(
        "{} ranks, measured: {:.3} s a step, {:.1} times as fast as one of them; each sends {:.2} MB a step, at {:.0} MB/s\n{more}\n",
        gain.ranks,
        gain.step,
        gain.speed_up(),
        gain.bytes / 1e6,
        gain.bandwidth / 1e6,
    )
}

fn json(
    data: &str,
    about: serde_json::Value,
    config: &impl Serialize,
    cost: &Cost,
    gain: Option<&Gain>,
) -> anyhow::Result<()> {
    let mut value = serde_json::json!({
        "data": data, "config": config, "weights": cost.weights,
        "megabytes": cost.megabytes.round(), "operations_per_step": cost.operations_per_step,
        "minutes": (cost.minutes * 10.0).round() / 10.0,
    });
    if let Some(gain) = gain {
        value["gain"] = serde_json::to_value(gain)?;
    }
    if let (Some(all), Some(about)) = (value.as_object_mut(), about.as_object()) {
        all.extend(about.clone());
    }
    print(format!("{value:#}\n").as_bytes())
}

pub(crate) fn table(fit: &table::PreparedFit, gain: Option<Gain>, as_json: bool) -> anyhow::Result<()> {
    let (schema, cost) = (fit.schema(), fit.cost());
    if as_json {
        let columns: Vec<_> = schema
            .columns
            .iter()
            .map(|c| {
                serde_json::json!({
                    "name": c.name, "kind": c.kind.name(), "pair": c.pair.name(), "missing": c.missing, "reason": c.reason,
                })
            })
            .collect();
        let about = serde_json::json!({ "rows": schema.rows, "rows_kept": fit.rows().0, "columns": columns, "notes": fit.notes() });
        return json(fit.name(), about, fit.config(), &cost, gain.as_ref());
    }
    let text = format!(
        "{}: {} rows, {} columns\n{}\n\n{}\n{}{}",
        fit.name(),
        schema.rows,
        schema.columns.len(),
        columns::table(schema),
        toml::to_string(fit.config())?,
        size(&cost),
        gained(gain.as_ref()),
    );
    print(text.as_bytes())
}

pub(crate) fn text(fit: &text::PreparedFit, gain: Option<Gain>, as_json: bool) -> anyhow::Result<()> {
    let (tokens, tokenizer, cost) = (fit.tokens(), fit.tokenizer(), fit.cost());
    if as_json {
        let about = serde_json::json!({
            "characters": tokens.characters(), "tokens": tokens.len(), "tokenizer": tokenizer.name(), "classes": tokenizer.classes(),
        });
        return json(fit.name(), about, fit.config(), &cost, gain.as_ref());
    }
    let text = format!(
        "{}: {} characters, {} tokens ({}, {} kinds)\n\n{}\n{}{}",
        fit.name(),
        tokens.characters(),
        tokens.len(),
        tokenizer.name(),
        tokenizer.classes(),
        toml::to_string(fit.config())?,
        size(&cost),
        gained(gain.as_ref()),
    );
    print(text.as_bytes())
}

pub(crate) fn images(fit: &image::PreparedFit, gain: Option<Gain>, as_json: bool) -> anyhow::Result<()> {
    let (images, cost) = (fit.images(), fit.cost());
    if as_json {
        return json(fit.name(), serde_json::json!({ "images": images }), fit.config(), &cost, gain.as_ref());
    }
    let text = format!(
        "{}: {} of {}; classes: {}\n\n{}\n{}{}",
        fit.name(),
        image::image_count(images.count),
        image::shape_words(images.shape),
        image::class_list(&images.classes),
        toml::to_string(fit.config())?,
        size(&cost),
        gained(gain.as_ref()),
    );
    print(text.as_bytes())
}

#[cfg(test)]
mod tests {
    #[test]
    fn times_are_said_in_a_unit_that_fits() {
        let said = [0.001, 0.5, 3.46, 150.0, 65_677_716.0].map(super::time);
        assert_eq!(said, ["2 seconds", "30 seconds", "3.5 minutes", "2.5 hours", "45610 days"]);
    }
}
