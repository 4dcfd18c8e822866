//! The rules of a CSV file, in plain words with their evidence.
//!
//! `cargo run --release -p pmm-data --example rules -- FILE.csv[.gz] … [--bins 4] [--rate 0.01] [--json]`

mod csv_rows;

use std::path::Path;
use std::time::Instant;

use pmm_data::rules::{Found, Options, Rows, Rule, find};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let (mut files, mut json) = (Vec::new(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--bins" => options.bins = words.next().ok_or("--bins needs a number")?.parse()?,
            "--rate" => options.error_rate = words.next().ok_or("--rate needs a number")?.parse()?,
            "--json" => json = true,
            _ => files.push(word),
        }
    }
    for file in &files {
        let rows = csv_rows::read(Path::new(file))?;
        let start = Instant::now();
        let found = find(&rows, &options)?;
        let seconds = start.elapsed().as_secs_f64();
        if json {
            println!("{}", serde_json::to_string_pretty(&found)?);
            continue;
        }
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
        println!(
            "\n{name}: {} rows × {} columns, {} rules, {seconds:.2} s",
            rows.len(),
            rows.columns().len(),
            found.len()
        );
        for found in &found {
            println!("  {}", line(found));
        }
    }
    Ok(())
}

fn line(found: &Found) -> String {
    let Found { rule, evidence } = found;
    let expected =
        evidence.expected_breaks.map_or(String::new(), |breaks| format!(", by chance {breaks:.0} would not"));
    let lines = match rule {
        Rule::Determined { table, .. } => format!(" ({} lines)", table.len()),
        Rule::OneToOne { pairs, .. } => format!(" ({} pairs)", pairs.len()),
        _ => String::new(),
    };
    let exceptions = match evidence.exceptions.first() {
        Some(exception) => {
            let values: Vec<String> = exception.values.iter().map(|value| value.to_string()).collect();
            format!("; not in row {}: {}", exception.row, values.join(", "))
        }
        None => String::new(),
    };
    let share =
        if evidence.breaks() == 0 { "all".to_owned() } else { format!("{:.2} %", 100.0 * evidence.share()) };
    format!(
        "[{}] {}{lines}: {share} of {} rows{expected}{exceptions}",
        rule.kind(),
        rule.sentence(),
        evidence.applies
    )
}
