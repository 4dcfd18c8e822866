//! `pmm score` for texts: what documents cost, and where.

use pmm::text::{Data, DocumentScore, Model};

use crate::cli::{Format, Output, ScoreArgs};
use crate::output::{print, refuse};
use crate::terminal::watcher;
use crate::write;

pub(crate) fn run(args: &ScoreArgs, model: &Model) -> anyhow::Result<()> {
    let score = model.score(Data::open(&args.data)).seed(args.common.seed());
    let format = format(&args.output)?;
    let scores = score.run(&mut watcher(args.common.quiet))?;
    let ranks = ranks(&scores);
    let text = match format {
        Format::Jsonl => json_lines(&scores, &ranks),
        Format::Tsv => delimited(&scores, &ranks, '\t'),
        _ => delimited(&scores, &ranks, ','),
    };
    match &args.output.out {
        Some(path) => write::text_file(path, text.as_bytes()),
        None => print(text.as_bytes()),
    }
}

/// What is asked for by name, or by the file's.
fn format(to: &Output) -> anyhow::Result<Format> {
    let by_name = match to.out.as_deref().and_then(write::ending) {
        Some("jsonl") => Format::Jsonl,
        Some("tsv") => Format::Tsv,
        _ => Format::Csv,
    };
    match to.format.unwrap_or(by_name) {
        format @ (Format::Csv | Format::Tsv | Format::Jsonl) => Ok(format),
        _ => refuse("scores of texts are written as csv, tsv or jsonl", "--format csv, tsv or jsonl"),
    }
}

/// The place of each document by its bits from left to right; 1 has the fewest.
fn ranks(scores: &[DocumentScore]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].left_to_right.total_cmp(&scores[b].left_to_right));
    let mut ranks = vec![0; order.len()];
    order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank + 1);
    ranks
}

/// The name of a document, or its number from 1.
fn name(score: &DocumentScore, number: usize) -> String {
    score.name.clone().unwrap_or_else(|| number.to_string())
}

fn delimited(scores: &[DocumentScore], ranks: &[usize], delimiter: char) -> String {
    let columns =
        ["name", "rank", "tokens", "left_to_right", "random", "order_averaged", "bits_per_character"];
    let mut text = columns.join(&delimiter.to_string()) + "\n";
    for (number, (score, rank)) in (1..).zip(scores.iter().zip(ranks)) {
        let mut name = name(score, number);
        if name.contains([delimiter, '"', '\n']) {
            name = format!("\"{}\"", name.replace('"', "\"\""));
        }
        let bits = [score.left_to_right, score.random, score.order_averaged, score.bits_per_character()];
        let bits = bits.map(|bits| format!("{bits:.4}")).join(&delimiter.to_string());
        text += &format!("{name}{delimiter}{rank}{delimiter}{}{delimiter}{bits}\n", score.tokens);
    }
    text
}

fn json_lines(scores: &[DocumentScore], ranks: &[usize]) -> String {
    let line = |(number, (score, rank)): (usize, (&DocumentScore, &usize))| {
        let line = serde_json::json!({
            "name": name(score, number), "rank": rank, "tokens": score.tokens, "left_to_right": score.left_to_right,
            "random": score.random, "order_averaged": score.order_averaged,
            "bits_per_character": score.bits_per_character(), "surprises": score.surprises,
        });
        format!("{line}\n")
    };
    (1..).zip(scores.iter().zip(ranks)).map(line).collect()
}
