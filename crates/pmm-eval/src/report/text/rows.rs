//! What the scores of a text say, in rows and sentences.

use super::super::number::{number, percent};
use super::{AnyOrderLine, BoundLine, SummaryRow, TextReport};
use crate::text::Compared;

/// The headline figures of a report.
pub(super) fn rows(report: &TextReport) -> Vec<SummaryRow> {
    let scores = &report.scores;
    let judge = format!(
        "bits per token under an n-gram model of order {}; higher: unlikely, lower: bland",
        scores.judge_order
    );
    let mut rows = report.bound.map_or(Vec::new(), |bound| bound_rows(bound, &report.ngram_bits));
    let shares = |rows: &mut Vec<SummaryRow>, figures: &[(&str, Option<Compared>, &str)]| {
        rows.extend(figures.iter().filter_map(|figure| compared(figure, percent)));
    };
    shares(
        &mut rows,
        &[
            (
                "real words",
                scores.real_words,
                "words that the training text has; baseline: real text, as below",
            ),
            ("tokens", scores.unigrams, "share of tokens to change to match held-out text; 0 is best"),
            ("pairs", scores.bigrams, "the same for pairs of tokens"),
            ("triples", scores.trigrams, "the same for triples of tokens"),
        ],
    );
    rows.extend(compared(&("judge", scores.judge, &judge), number));
    rows.extend(compared(&("entropy", scores.entropy, "of single tokens, in bits"), number));
    shares(
        &mut rows,
        &[
            ("distinct words", scores.distinct1, "kinds of words over words"),
            ("distinct pairs", scores.distinct2, "the same for pairs of words"),
            ("distinct triples", scores.distinct3, "the same for triples of words"),
            ("repetition", scores.repetition, "runs of four words that came before in the same sample"),
        ],
    );
    rows
}

fn compared(
    (name, figure, meaning): &(&str, Option<Compared>, &str),
    show: fn(f64) -> String,
) -> Option<SummaryRow> {
    let figure = (*figure)?;
    Some(row(name, show(figure.samples), show(figure.real), (*meaning).to_owned()))
}

fn row(name: &str, value: String, baseline: String, meaning: String) -> SummaryRow {
    SummaryRow { name: name.to_owned(), value, baseline, meaning }
}

/// The cheapest n-gram model is what the bound has to beat.
fn bound_rows(bound: BoundLine, ngrams: &[(usize, f64)]) -> Vec<SummaryRow> {
    let finite = ngrams.iter().filter(|(_, bits)| bits.is_finite());
    let best = finite.min_by(|a, b| a.1.total_cmp(&b.1));
    let baseline =
        best.map_or(String::new(), |(order, _)| format!("; baseline: the best n-gram model, order {order}"));
    let mut rows = vec![row(
        "bits per character",
        format!("{} ± {}", bits(bound.bits_per_character), bits(bound.standard_error)),
        best.map_or("–".into(), |(_, value)| bits(*value)),
        match bound.any_order {
            Some(_) => format!("cost of held-out text, exactly, from left to right{baseline}"),
            None => format!("cost of held-out text, at most{baseline}"),
        },
    )];
    rows.extend(bound.npc_bits.map(|npc| {
        row("NPC", bits(npc), "–".into(), "normalised form of the bound, bits per character".into())
    }));
    if let Some(AnyOrderLine { orders, random, order_averaged }) = bound.any_order {
        let meaning = format!("bits per character, filled from all sides: the mean of {orders} orders");
        rows.push(row("in random order", bits(random), "–".into(), meaning));
        let meaning = format!("bits per character by the mean probability over {orders} random orders");
        rows.push(row("order-averaged", bits(order_averaged), "–".into(), meaning));
    }
    rows
}

/// The verdicts, a sentence each.
pub(super) fn sentences(report: &TextReport) -> Vec<String> {
    let (scores, mut out) = (&report.scores, Vec::new());
    if let Some(bound) = &report.bound {
        out.push(format!(
            "To write down held-out text takes {} {} ± {} bits per character with this model{}.",
            if bound.any_order.is_some() { "from left to right" } else { "at most" },
            bits(bound.bits_per_character),
            bits(bound.standard_error),
            match (bound.npc_bits, bound.any_order) {
                (Some(npc), _) => format!(" (NPC: {})", bits(npc)),
                (_, Some(line)) => format!(
                    ", {} in random order, {} averaged over {} orders",
                    bits(line.random),
                    bits(line.order_averaged),
                    line.orders
                ),
                _ => String::new(),
            }
        ));
    }
    if let Some(words) = scores.real_words {
        out.push(format!(
            "{} of the words in its samples occur in the training text; in real text, {} do.",
            percent(words.samples),
            percent(words.real)
        ));
    }
    if scores.rows > 0 {
        out.push(format!(
            "Samples ({}, with {} tokens in all) stand beside as much held-out text, which shows what a perfect \
             model would get.",
            scores.rows, scores.tokens
        ));
    }
    out
}

/// Bits to a thousandth: texts are compared in hundredths.
pub(super) fn bits(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}").replace('-', "−") } else { "–".into() }
}
