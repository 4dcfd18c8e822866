//! Settings: defaults by size, then a file, then flags.

use std::path::Path;

use anyhow::{Context, bail};
use pmm_data::{Header, ReadOptions};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::FitArgs;
use crate::output::Advice;
use crate::valid::Valid;

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

/// `--set` as keys and values.
pub(crate) fn pairs(args: &FitArgs) -> anyhow::Result<Vec<(String, String)>> {
    let pair = |setting: &String| match setting.split_once('=') {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => bail!(Advice::new(format!("--set {setting} has no ="), "write --set key=value")),
    };
    args.set.iter().map(pair).collect()
}

/// What the user has set: a file, then flags. A fit that goes on keeps what it has `stored`.
pub(crate) fn given(args: &FitArgs, set: &[(String, String)], stored: bool) -> anyhow::Result<toml::Table> {
    let mut given = toml::Table::new();
    if let Some(path) = &args.config {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        given = text.parse().with_context(|| path.display().to_string())?;
    }
    set.iter().try_for_each(|(key, value)| insert(&mut given, key, value))?;
    if let Some(steps) = args.steps {
        insert(&mut given, "train.steps", &steps.to_string())?;
        let by_steps = [("validate_every", (steps / 30).max(10)), ("warmup", (steps / 20).min(200))];
        for (key, value) in by_steps.map(|(key, value)| (format!("train.{key}"), value)) {
            if !stored && !is_set(&given, &key) {
                insert(&mut given, &key, &value.to_string())?;
            }
        }
    }
    match &args.valid {
        Some(Valid::Share(share)) => insert(&mut given, "valid", &format!("{share:?}"))?,
        // All rows of the data are learned.
        Some(Valid::File(_)) => insert(&mut given, "valid", "0.0")?,
        None => {}
    }
    if let Some(target) = &args.target {
        given.insert("target".into(), toml::Value::String(target.clone()));
    }
    // A seed of 0 is what nobody asked for: a fit that goes on has its own.
    if !stored || args.common.seed != 0 {
        given.entry("seed").or_insert(toml::Value::Integer(args.common.seed.cast_signed()));
    }
    Ok(given)
}

/// Refuses settings that make no sense.
pub(crate) fn check(problem: Option<String>) -> anyhow::Result<()> {
    match problem {
        None => Ok(()),
        Some(why) => bail!(Advice::new(why, "pmm fit --dry-run shows all settings")),
    }
}

/// Whether a setting of a group is given.
fn is_set(given: &toml::Table, key: &str) -> bool {
    let (group, name) = key.split_once('.').unwrap_or((key, ""));
    given.get(group).and_then(|group| group.get(name)).is_some()
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

/// Settings with those that are given in their place.
pub(crate) fn merge<T: Serialize + DeserializeOwned>(base: &T, given: &toml::Table) -> anyhow::Result<T> {
    let mut all: toml::Table = toml::Table::try_from(base)?;
    overlay(&mut all, given);
    toml::Value::Table(all).try_into().map_err(|error: toml::de::Error| {
        anyhow::anyhow!("{}", error.message()).context(Advice::new(
            "a setting is not understood".into(),
            "pmm fit --dry-run shows all settings; columns are set by columns.NAME.pair=…",
        ))
    })
}

/// Refuses to go on with other settings than a fit began with.
pub(crate) fn keep_stored<T: Serialize>(folder: &Path, stored: Option<&T>, config: &T) -> anyhow::Result<()> {
    if let Some(stored) = stored
        && let Some((key, was, is)) = difference(stored, config)?
    {
        bail!(Advice::new(
            format!("{} says {key} = {was}, not {is}", folder.join("config.toml").display()),
            "--resume alone goes on with the settings it began with, --force begins anew"
        ));
    }
    Ok(())
}

/// The first setting in which two differ, and what it is in each; how often a fit is saved does not count.
fn difference<T: Serialize>(a: &T, b: &T) -> anyhow::Result<Option<(String, String, String)>> {
    let (a, b) = (toml::Table::try_from(a)?, toml::Table::try_from(b)?);
    let (a, b) = (toml::Value::Table(a), toml::Value::Table(b));
    Ok(differing("", Some(&a), Some(&b)).filter(|(key, ..)| key != "train.checkpoint_seconds"))
}

fn differing(
    key: &str,
    a: Option<&toml::Value>,
    b: Option<&toml::Value>,
) -> Option<(String, String, String)> {
    if let (Some(toml::Value::Table(a)), Some(toml::Value::Table(b))) = (a, b) {
        let dotted = |inner: &str| if key.is_empty() { inner.to_owned() } else { format!("{key}.{inner}") };
        let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
        let pairs = keys.filter_map(|inner| differing(&dotted(inner), a.get(inner), b.get(inner)));
        // The one that does not count comes last.
        return pairs.min_by_key(|(key, ..)| key == "train.checkpoint_seconds");
    }
    let text = |value: Option<&toml::Value>| value.map_or_else(|| "absent".to_owned(), ToString::to_string);
    (a != b).then(|| (key.to_owned(), text(a), text(b)))
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
