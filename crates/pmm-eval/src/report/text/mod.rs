//! The report on a model of texts.

mod bars;
mod rows;

use serde::Serialize;

use super::summary::aligned;
use super::{Picture, SummaryRow, TrainingPoint, training, with_facts};
use crate::Page;
use crate::text::TextScores;
use rows::bits;

/// Everything a report on a text model may show. Parts left empty are left out.
///
/// ```
/// use pmm_eval::{BoundLine, TextReport};
/// let report = TextReport {
///     name: "text8".into(),
///     bound: Some(BoundLine { bits_per_character: 1.52, standard_error: 0.01, npc_bits: Some(1.5), any_order: None }),
///     samples: vec!["a <b> c".into()],
///     ..TextReport::default()
/// };
/// assert!(report.html().contains("a &lt;b&gt; c</pre>"));
/// assert!(report.summary().contains("1.520 ± 0.010"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextReport {
    /// The heading.
    pub name: String,
    /// A sentence or two under it.
    pub lead: String,
    /// What held-out text costs with the model.
    pub bound: Option<BoundLine>,
    /// The scores of the samples.
    pub scores: TextScores,
    /// For comparison, what the same text costs with n-gram models: orders, and bits per character.
    pub ngram_bits: Vec<(usize, f64)>,
    /// The loss in the course of training.
    pub curve: Vec<TrainingPoint>,
    /// What the loss is measured in, such as "bits per character".
    pub loss_unit: String,
    /// Some samples.
    pub samples: Vec<String>,
    /// What the model is: names and values, in this order.
    pub facts: Vec<(String, String)>,
}

/// The likelihood bound on held-out text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BoundLine {
    /// Bits per character: exactly, from left to right, by an ordered network; at most, by a masked one.
    pub bits_per_character: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// For a masked network, the paper's normalised form, NPC, in bits per character: no bound, but close to one.
    pub npc_bits: Option<f64>,
    /// For an ordered network: the same in random orders.
    pub any_order: Option<AnyOrderLine>,
}

/// What held-out text costs an ordered network in random orders, in bits per character.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnyOrderLine {
    /// Random orders in which every text is read.
    pub orders: usize,
    /// The mean over orders.
    pub random: f64,
    /// −log₂ of the mean over these orders of p: the likelihood under the mixture of orders, at most `random`.
    pub order_averaged: f64,
}

impl TextReport {
    /// The report as one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        let mut page = Page::new(self.name.clone());
        if !self.lead.is_empty() {
            page = page.lead(&self.lead);
        }
        page = self.verdict(page);
        if !self.ngram_bits.is_empty() {
            page = self.show(page.section("Beside n-gram models"), "orders");
            page = page.table(&["model", "bits per character"], &self.comparison());
        }
        if !self.samples.is_empty() {
            page = self.samples.iter().fold(page.section("Samples"), |page, sample| page.quote(sample));
        }
        if !self.curve.is_empty() {
            page = self.show(page.section("Training"), "training");
        }
        with_facts(page, &self.facts).html()
    }

    /// All pictures, in the order of the page.
    pub fn pictures(&self) -> Vec<Picture> {
        let bound = self.bound.map(|bound| bound.bits_per_character);
        let pictures = [
            bars::picture(&self.scores),
            bars::orders(&self.ngram_bits, bound),
            training::picture(&self.curve, &self.loss_unit, "text"),
        ];
        pictures.into_iter().flatten().collect()
    }

    /// The headline figures, a row each.
    pub fn rows(&self) -> Vec<SummaryRow> {
        rows::rows(self)
    }

    /// The headline figures as a table for a terminal; empty without figures.
    pub fn summary(&self) -> String {
        aligned(&self.rows())
    }

    fn verdict(&self, page: Page) -> Page {
        let rows = self.rows();
        if rows.is_empty() {
            return page;
        }
        let mut page = page.section("Verdict");
        for sentence in rows::sentences(self) {
            page = page.text(&sentence);
        }
        let row = |r: SummaryRow| [r.name, r.value, r.baseline, r.meaning];
        let rows: Vec<[String; 4]> = rows.into_iter().map(row).collect();
        self.show(page, "figures").table(&["", "here", "baseline", "meaning"], &rows)
    }

    fn comparison(&self) -> Vec<[String; 2]> {
        let name = |order: usize| format!("n-gram, order {order}");
        let mut rows: Vec<[String; 2]> =
            self.ngram_bits.iter().map(|&(order, value)| [name(order), bits(value)]).collect();
        rows.extend(self.bound.map(|bound| ["this model, at most".into(), bits(bound.bits_per_character)]));
        rows
    }

    fn show(&self, page: Page, name: &str) -> Page {
        let named = self.pictures().into_iter().filter(|picture| picture.name == name);
        named.fold(page, |page, picture| page.figure(&picture.figure.svg(), &picture.alt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Compared;

    fn report() -> TextReport {
        let decode =
            |row: &[u32]| row.iter().map(|&t| char::from(b" abcdefg"[t as usize])).collect::<String>();
        let text = |seed: u64, length: usize| -> Vec<u32> {
            let mut stream = pmm_core::Streams::new(seed).stream(pmm_core::Purpose::DATA, 0, 0);
            (0..length).map(|_| stream.below(8).min(stream.below(8)) as u32).collect()
        };
        let samples: Vec<Vec<u32>> = (10..40).map(|seed| text(seed, 200)).collect();
        let point = |i: u32| TrainingPoint {
            step: u64::from(i) * 100,
            train: 1.5 + (-f64::from(i) / 9.0).exp(),
            valid: i.is_multiple_of(5).then(|| 1.6 + (-f64::from(i) / 9.0).exp()),
        };
        TextReport {
            name: "letters <&>".into(),
            lead: "A model of letters, and how far its texts can be trusted.".into(),
            bound: Some(BoundLine {
                bits_per_character: 1.5234,
                standard_error: 0.0061,
                npc_bits: Some(1.49),
                any_order: None,
            }),
            scores: TextScores::new(&samples, &text(1, 40_000), &text(2, 30_000), 8, &decode),
            ngram_bits: vec![(1, 4.127), (2, 3.44), (3, 2.911), (4, 2.395), (5, 2.06), (6, 1.911)],
            curve: (0..50).map(point).collect(),
            loss_unit: "bits per character".into(),
            samples: vec![
                "once <upon> a time & so on\n  indented".into(),
                "the <script>alert(1)</script> end".into(),
            ],
            facts: vec![("seed".into(), "0".into())],
        }
    }

    /// The page and its pictures; kept in `PMM_REPORT_DIR`, if that is set, for a look at them.
    #[test]
    fn a_whole_text_report_is_written() {
        let report = report();
        let html = report.html();
        for part in ["Verdict", "Beside n-gram models", "Samples", "Training", "Model"] {
            assert!(html.contains(&format!("<h2>{part}</h2>")), "{part}");
        }
        assert!(html.contains("once &lt;upon&gt; a time &amp; so on\n  indented</pre>"));
        assert!(!html.contains("<script") && !html.contains("NaN") && html.contains("letters &lt;&amp;&gt;"));
        assert!(
            html.contains("at most 1.523 ± 0.006 bits per character")
                && html.contains("prefers-color-scheme: dark")
        );
        let names: Vec<String> = report.pictures().into_iter().map(|picture| picture.name).collect();
        assert_eq!(names, ["figures", "orders", "training"]);
        if let Ok(dir) = std::env::var("PMM_REPORT_DIR") {
            std::fs::write(format!("{dir}/text-report.html"), html).unwrap();
            for picture in report.pictures() {
                let png = picture.figure.png(1.5).unwrap();
                std::fs::write(format!("{dir}/text-{}.png", picture.name), png).unwrap();
            }
            println!("{}", report.summary());
        }
    }

    #[test]
    fn the_summary_lines_up() {
        let summary = report().summary();
        let lines: Vec<&str> = summary.lines().collect();
        assert_eq!(lines.len(), 13, "{summary}");
        let column = |line: &str, text: &str| line.find(text).map(|at| line[..at].chars().count());
        let meaning = column(lines[0], "meaning");
        assert!(meaning.is_some() && column(lines[1], "cost of held-out") == meaning, "{summary}");
        assert_eq!(column(lines[12], "runs of four"), meaning, "{summary}");
        assert!(lines[1].contains("1.523 ± 0.006") && lines[1].contains("1.911"), "{summary}");
    }

    #[test]
    fn an_empty_text_report_is_a_page() {
        let report = TextReport { name: "nothing".into(), ..TextReport::default() };
        assert!(report.html().contains("<h1>nothing</h1>") && !report.html().contains("<h2>"));
        assert!(report.pictures().is_empty() && report.summary().is_empty());
        let scores =
            TextScores { real_words: Some(Compared { samples: 0.0, real: 0.0 }), ..TextScores::default() };
        let report = TextReport { scores, ngram_bits: vec![(1, f64::NAN)], ..report };
        assert!(report.html().contains("0 % of the words") && !report.html().contains("NaN"));
    }
}
