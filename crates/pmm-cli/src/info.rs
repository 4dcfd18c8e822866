//! `pmm info`: what a model is, how it was trained, how big it is.

use std::path::Path;

use comfy_table::Table as Text;
use pmm_core::Head;
use pmm_net::table::ClockKind;
use pmm_train::{ImageModel, Model, TextModel, to_toml};
use serde::Serialize;

use crate::cli::InfoArgs;
use crate::{columns, image, output, text};

/// How the clocks run, in words.
pub(crate) fn clock_name(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Reveal => "reveal: one column after the other",
        ClockKind::Gradual => "gradual: all columns together",
    }
}

pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<()> {
    if pmm_train::is_text_model(&args.model) {
        let model = TextModel::load(&args.model)?;
        let text = if args.json { text::info::json } else { text::info::text };
        return output::print(text(&args.model, &model).as_bytes());
    }
    if pmm_train::is_image_model(&args.model) {
        let model = ImageModel::load(&args.model)?;
        let text = if args.json { image::info::json } else { image::info::text };
        return output::print(text(&args.model, &model).as_bytes());
    }
    let model = output::load(&args.model)?;
    let shown = if args.json { json(&args.model, &model) } else { table(&args.model, &model) };
    output::print(shown.as_bytes())
}

fn table(folder: &Path, model: &Model) -> String {
    let columns = format!("{}\n\n", columns::table(&model.schema));
    page(facts_of(folder, model), &columns, &model.config)
}

/// Facts by name, whatever stands between, and the settings.
pub(crate) fn page(facts: Vec<(&'static str, String)>, between: &str, config: &impl Serialize) -> String {
    let mut table = Text::new();
    table.load_style(comfy_table::presets::NOTHING);
    facts.into_iter().for_each(|(name, value)| {
        table.add_row([name.to_owned(), value]);
    });
    let settings: String = to_toml(config).lines().map(|line| format!("  {line}\n")).collect();
    format!("{table}\n\n{between} settings (config.toml)\n{settings}")
}

fn facts_of(folder: &Path, model: &Model) -> Vec<(&'static str, String)> {
    let fact = |name: &str| model.facts.get(name).cloned().unwrap_or_else(|| "–".into());
    let net = model.denoiser.net();
    let (all, state) = (size(folder), size(&folder.join("state")));
    let head = if net.head() == Head::Mean { "mean" } else { "marginal: the whole law of a cell" };
    let rows = match fact("rows") {
        kept if kept == model.schema.rows.to_string() => kept,
        kept => format!("{kept} of {}", model.schema.rows),
    };
    let columns = model.schema.columns.len();
    let mut facts = vec![
        ("model", folder.display().to_string()),
        ("rows", rows),
        ("columns", format!("{columns}, {} in the model", net.coordinates().columns.len())),
        ("target", model.config.target.clone().unwrap_or_else(|| "–".into())),
        ("clock", clock_name(net.clock()).to_owned()),
        ("head", head.to_owned()),
        ("weights", net.parts().len().to_string()),
        ("size", format!("{}, of which {} to go on training", bytes(all), bytes(state))),
        ("steps", format!("{}, the best at {}", fact("steps"), fact("best_step"))),
        ("held-out loss", format!("{} per column", fact("valid_loss"))),
    ];
    facts.extend(seconds(folder).map(|seconds| ("training", format!("{seconds:.0} seconds"))));
    facts.extend(Some(fact("skipped")).filter(|n| n != "0").map(|n| ("skipped steps", n)));
    facts.push(("seed", model.config.seed.to_string()));
    facts.push(("version", format!("pmm {}", fact("version"))));
    facts.push(("data", format!("BLAKE3 {}", fact("data"))));
    facts
}

fn json(folder: &Path, model: &Model) -> String {
    let number = |name: &str| model.facts.get(name).and_then(|text| text.parse::<f64>().ok());
    let whole = |name: &str| model.facts.get(name).and_then(|text| text.parse::<u64>().ok());
    let columns: Vec<_> = model
        .schema
        .columns
        .iter()
        .map(|c| {
            serde_json::json!({
                "name": c.name, "kind": c.kind.name(), "pair": c.pair.name(), "missing": c.missing, "modelled": c.is_modelled(),
                "reason": c.reason,
            })
        })
        .collect();
    let value = serde_json::json!({
        "model": folder,
        "rows": model.schema.rows,
        "rows_kept": whole("rows"),
        "columns": columns,
        "config": model.config,
        "weights": model.denoiser.net().parts().len(),
        "bytes": size(folder),
        "bytes_state": size(&folder.join("state")),
        "steps": whole("steps"),
        "best_step": whole("best_step"),
        "valid_loss": number("valid_loss"),
        "skipped": whole("skipped"),
        "seconds": seconds(folder),
        "seed": model.config.seed,
        "version": model.facts.get("version"),
        "data": model.facts.get("data"),
    });
    format!("{value:#}\n")
}

/// Bytes of a folder's files, with those in folders within.
pub(crate) fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

pub(crate) fn bytes(bytes: u64) -> String {
    match bytes {
        n if n < 1_000_000 => format!("{:.0} kB", (n as f64 / 1e3).ceil()),
        n if n < 1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        n => format!("{:.1} GB", n as f64 / 1e9),
    }
}

/// Seconds of training, by the last line of the log.
pub(crate) fn seconds(folder: &Path) -> Option<f64> {
    let log = std::fs::read_to_string(folder.join("log.csv")).ok()?;
    log.lines().skip(1).last()?.split(',').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([900, 12_345, 2_500_000, 3_210_000_000].map(bytes), ["1 kB", "13 kB", "2.5 MB", "3.2 GB"]);
    }
}
