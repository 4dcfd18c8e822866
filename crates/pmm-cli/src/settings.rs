//! Settings: defaults by size, then a file, then flags.

use anyhow::{Context, bail};
use pmm_data::{Header, ReadOptions};
use pmm_train::FitConfig;

use crate::cli::FitArgs;
use crate::output::Advice;

/// How the file is read, where the user says so.
pub(crate) fn set_reading(options: &mut ReadOptions, key: &str, value: &str) -> anyhow::Result<()> {
    match (key, value) {
        ("header", "yes") => options.header = Header::Yes,
        ("header", "no") => options.header = Header::No,
        ("delimiter", "tab" | "\\t") => options.delimiter = Some('\t'),
        ("delimiter", text) if text.chars().count() == 1 => options.delimiter = text.chars().next(),
        _ => bail!(Advice::new(
            format!("--set {key}={value} is not understood"),
            "header is yes or no, delimiter is one character or tab"
        )),
    }
    Ok(())
}

/// The settings of a fit. `sized` gives the defaults for the table with a network of the given settings.
pub(crate) fn resolve(
    args: &FitArgs,
    set: &[(String, String)],
    sized: impl Fn(&FitConfig) -> anyhow::Result<FitConfig>,
) -> anyhow::Result<FitConfig> {
    let mut given = toml::Table::new();
    if let Some(path) = &args.config {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        given = text.parse().with_context(|| path.display().to_string())?;
    }
    set.iter().try_for_each(|(key, value)| insert(&mut given, key, value))?;
    if let Some(steps) = args.steps {
        insert(&mut given, "train.steps", &steps.to_string())?;
        if !set.iter().any(|(key, _)| key == "train.validate_every") {
            insert(&mut given, "train.validate_every", &(steps / 30).max(10).to_string())?;
        }
    }
    if let Some(valid) = args.valid {
        insert(&mut given, "valid", &format!("{valid:?}"))?;
    }
    if let Some(target) = &args.target {
        given.insert("target".into(), toml::Value::String(target.clone()));
    }
    given.entry("seed").or_insert(toml::Value::Integer(args.common.seed.cast_signed()));
    // Once over the plain defaults, to know the network; once over those of its size.
    let first = merge(&FitConfig::default(), &given)?;
    let config = merge(&sized(&first)?, &given)?;
    match config.problem() {
        None => Ok(config),
        Some(why) => bail!(Advice::new(why, "pmm fit --dry-run shows all settings")),
    }
}

/// Puts a value under a dotted key; numbers and booleans are recognised.
fn insert(table: &mut toml::Table, key: &str, value: &str) -> anyhow::Result<()> {
    let parsed = format!("x = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("x"));
    let value = parsed.unwrap_or_else(|| toml::Value::String(value.to_owned()));
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().unwrap_or(key);
    let mut table = table;
    for part in parts {
        let inner = table.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let Some(inner) = inner.as_table_mut() else {
            bail!("{part} in --set {key} is no group of settings")
        };
        table = inner;
    }
    table.insert(last.to_owned(), value);
    Ok(())
}

fn merge(base: &FitConfig, given: &toml::Table) -> anyhow::Result<FitConfig> {
    let mut all: toml::Table = toml::Table::try_from(base)?;
    overlay(&mut all, given);
    toml::Value::Table(all).try_into().map_err(|error: toml::de::Error| {
        anyhow::anyhow!("{}", error.message()).context(Advice::new(
            "a setting is not understood".into(),
            "pmm fit --dry-run shows all settings; columns are set by columns.NAME.pair=…",
        ))
    })
}

fn overlay(base: &mut toml::Table, given: &toml::Table) {
    for (key, value) in given {
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(given)) => overlay(inner, given),
            // A whole number is a number, too.
            (Some(slot @ toml::Value::Float(_)), toml::Value::Integer(n)) => {
                *slot = toml::Value::Float(*n as f64)
            }
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}
