//! Penguins: fit, sample, impute, predict, trace and eval, as anybody would call them.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Parser;
use comfy_table::Table;
use pmm::core::{Purpose, Streams};

use crate::cli::{Cli, DemoArgs};
use crate::output::{print, refuse, say};
use crate::terminal::interrupted;
use crate::write;

/// Its source and licence: data/README.md.
const DATA: &str = include_str!("../../data/penguins.csv");
const HELD_OUT: f64 = 0.2;
const TARGET: &str = "body_mass_g";
/// Rows shown of every result.
const SHOWN: usize = 5;

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let demo = Demo { args, table: Split::new(args.seed) };
    let file = |name: &str| args.out.join(name).to_string_lossy().into_owned();
    let [train, test, gaps, model] = ["train.csv", "test.csv", "gaps.csv", "penguins.pmm"].map(file);
    let [new, full, predicted, trace] = ["new.csv", "full.csv", "predictions.csv", "trace.png"].map(file);
    check(&args.out)?;
    write::folder(&args.out)?;
    demo.table.write(&args.out)?;

    demo.say(&format!(
        "The Palmer penguins: {} rows to learn from, {} held out",
        demo.table.train.len(),
        demo.table.test.len()
    ));
    if !demo.verb(&["fit", &train, "--out", &model, "--target", TARGET, "--force"])? {
        return Ok(());
    }
    demo.say("New penguins that never lived");
    demo.verb(&["sample", &model, "-n", "1000", "--out", &new])?;
    demo.show(&head(Path::new(&new))?)?;
    demo.say("Rows with gaps, filled from what else is known (the true value in brackets)");
    demo.verb(&["impute", &model, &gaps, "--out", &full])?;
    demo.show(&filled(&demo.table, &read(Path::new(&full))?))?;
    demo.say("How heavy is a penguin, given the rest of its row?");
    demo.verb(&["predict", &model, &test, "--target", TARGET, "--out", &predicted])?;
    demo.show(&forecasts(&demo.table, &read(Path::new(&predicted))?))?;
    demo.say("Rows in the making: a picture");
    demo.verb(&["trace", &model, "--out", &trace])?;
    demo.say("And how good is it all? Each score beside that of real rows");
    let folder = args.out.to_string_lossy();
    let mut eval = vec!["eval", &model, &test, "--train", &train, "--out", &folder];
    eval.extend(args.json.then_some("--json"));
    demo.verb(&eval)?;
    Ok(())
}

/// Refuses to replace a model of that name that no demo made.
fn check(out: &Path) -> anyhow::Result<()> {
    if out.join("penguins.pmm/config.toml").exists() && !out.join("gaps.csv").exists() {
        return refuse(
            format!("{} has a model penguins.pmm that is not the demo's", out.display()),
            "choose another place with --out",
        );
    }
    Ok(())
}

struct Demo<'a> {
    args: &'a DemoArgs,
    table: Split,
}

impl Demo<'_> {
    fn say(&self, text: &str) {
        if !self.args.quiet {
            say(format!("\n{text}"));
        }
    }

    /// Results go to standard output, which JSON has for itself.
    fn show(&self, text: &Table) -> anyhow::Result<()> {
        if self.args.json || self.args.quiet { Ok(()) } else { print(format!("{text}\n").as_bytes()) }
    }

    /// Runs a verb as the command line would, and shows the command; false if the user has had enough.
    fn verb(&self, words: &[&str]) -> anyhow::Result<bool> {
        if interrupted().is_set() {
            bail!("stopped");
        }
        let seed = self.args.seed.to_string();
        let mut line: Vec<&str> = std::iter::once("pmm").chain(words.iter().copied()).collect();
        if self.args.seed != 0 {
            line.extend(["--seed", &seed]);
        }
        if !self.args.quiet {
            say(format!("$ {}", line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")));
        }
        let threads = self.args.threads.map(|n| n.to_string());
        if let Some(threads) = &threads {
            line.extend(["--threads", threads]);
        }
        line.extend(self.args.quiet.then_some("--quiet"));
        crate::run(Cli::try_parse_from(line).context("cannot run a verb")?)?;
        Ok(!interrupted().is_set())
    }
}

/// A word as a shell would want it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,\\".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

type Row = Vec<String>;

/// The penguins, with some held out, and with gaps in some of those.
struct Split {
    header: Row,
    train: Vec<Row>,
    test: Vec<Row>,
    /// Complete rows that were held out, and the column of each that is taken out.
    gaps: Vec<(Row, [usize; 2])>,
}

fn cells(line: &str) -> Row {
    line.split(',').map(str::to_owned).collect()
}

impl Split {
    fn new(seed: u64) -> Self {
        let mut lines = DATA.lines();
        let header = lines.next().map(cells).unwrap_or_default();
        let mut train: Vec<Row> = lines.map(cells).collect();
        Streams::new(seed).stream(Purpose::DEMO, 0, 0).shuffle(&mut train);
        let held_out = (HELD_OUT * train.len() as f64).round() as usize;
        let test = train.split_off(train.len() - held_out);
        let complete = test.iter().filter(|row| row.iter().all(|cell| !cell.is_empty())).take(SHOWN);
        let width = header.len().max(1);
        let gaps = complete.enumerate().map(|(i, row)| (row.clone(), [i % width, (i + 3) % width])).collect();
        Self { header, train, test, gaps }
    }

    fn write(&self, out: &Path) -> anyhow::Result<()> {
        let gapped: Vec<Row> = self.gaps.iter().map(|(row, gaps)| without(row, gaps)).collect();
        for (name, rows) in [("train.csv", &self.train), ("test.csv", &self.test), ("gaps.csv", &gapped)] {
            let lines = std::iter::once(&self.header).chain(rows).map(|row| row.join(",") + "\n");
            write::file(&out.join(name), lines.collect::<String>().as_bytes())?;
        }
        Ok(())
    }
}

fn without(row: &Row, gaps: &[usize]) -> Row {
    row.iter()
        .enumerate()
        .map(|(i, cell)| if gaps.contains(&i) { String::new() } else { cell.clone() })
        .collect()
}

/// The cells of a file that a verb has written: no cell of these has a comma.
fn read(path: &Path) -> anyhow::Result<Vec<Row>> {
    let path: PathBuf = path.into();
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().map(cells).collect())
}

fn table(header: &[String], rows: impl Iterator<Item = Row>) -> Table {
    let mut text = Table::new();
    text.load_style(comfy_table::presets::NOTHING).set_header(header).add_rows(rows);
    text
}

fn head(path: &Path) -> anyhow::Result<Table> {
    let mut rows = read(path)?.into_iter();
    Ok(table(&rows.next().unwrap_or_default(), rows.take(SHOWN)))
}

/// Rows with their gaps filled, and what was there.
fn filled(split: &Split, full: &[Row]) -> Table {
    let row = |((truth, gaps), full): (&(Row, [usize; 2]), &Row)| {
        let cell = |(i, cell): (usize, &String)| {
            if gaps.contains(&i) { format!("→ {cell} ({})", truth[i]) } else { cell.clone() }
        };
        full.iter().enumerate().map(cell).collect()
    };
    table(&split.header, split.gaps.iter().zip(full.iter().skip(1)).map(row))
}

/// True weights beside their forecasts.
fn forecasts(split: &Split, predicted: &[Row]) -> Table {
    let column = |header: &Row, name: &str| header.iter().position(|cell| cell == name);
    let header = predicted.first().cloned().unwrap_or_default();
    let wanted = ["q05", "q50", "q95"].map(|name| column(&header, name));
    let known = ["species", "sex", TARGET].map(|name| column(&split.header, name));
    let pick = |row: &Row, at: Option<usize>| at.and_then(|at| row.get(at).cloned()).unwrap_or_default();
    let row = |(truth, forecast): (&Row, &Row)| {
        known.iter().map(|at| pick(truth, *at)).chain(wanted.iter().map(|at| pick(forecast, *at))).collect()
    };
    let names = ["species", "sex", "true weight, g", "low (5 %)", "median", "high (95 %)"].map(str::to_owned);
    table(&names, split.test.iter().zip(predicted.iter().skip(1)).take(SHOWN).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_is_held_out_and_every_row_is_somewhere() {
        let split = Split::new(0);
        assert_eq!((split.train.len(), split.test.len(), split.gaps.len()), (275, 69, SHOWN));
        let mut all: Vec<String> = split.train.iter().chain(&split.test).map(|row| row.join(",")).collect();
        let mut lines: Vec<&str> = DATA.lines().skip(1).collect();
        all.sort();
        lines.sort_unstable();
        assert_eq!(all, lines);
        assert_ne!(Split::new(1).test, split.test);
    }

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(
            (quoted("pmm-demo/new.csv"), quoted("my demo")),
            ("pmm-demo/new.csv".into(), "'my demo'".into())
        );
    }
}
