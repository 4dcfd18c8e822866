//! The reports on a table, on texts and on images: verdicts in plain words, pictures, and the figures behind them.

mod calibration;
mod image;
mod marginals;
mod number;
mod pairs;
mod summary;
mod text;
mod training;
mod verdict;

use serde::Serialize;

use crate::Page;
use crate::chart::{Axis, Figure};
use crate::table::{Calibration, ClassCalibration, Frame, FrameColumn, Measure, TableScores};

pub use image::{DenoisingPoint, ImageReport, Raster};
pub use summary::SummaryRow;
pub use text::{AnyOrderLine, BoundLine, TextReport};
pub use training::TrainingPoint;

/// Everything a report may show. Parts left empty are left out.
///
/// ```
/// use pmm_eval::{TableReport, TrainingPoint};
/// let point = |step, train| TrainingPoint { step, train, valid: None };
/// let report = TableReport {
///     title: "Penguins".into(),
///     facts: vec![("rows".into(), "333".into())],
///     training: vec![point(0, 5.0), point(100, 3.0)],
///     ..TableReport::default()
/// };
/// assert!(report.html().contains("<h1>Penguins</h1>"));
/// assert_eq!(report.pictures().iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), ["training"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableReport {
    /// The heading.
    pub title: String,
    /// A sentence or two under it.
    pub lead: String,
    /// What the model is: names and values, in this order.
    pub facts: Vec<(String, String)>,
    /// Real rows that the model did not learn from, for the pictures.
    pub real: Option<Frame>,
    /// Rows that the model made, for the pictures.
    pub synth: Option<Frame>,
    /// The scores of the synthetic rows.
    pub scores: TableScores,
    /// How well single columns are predicted from the others.
    pub predictions: Vec<Prediction>,
    /// The loss in the course of training.
    pub training: Vec<TrainingPoint>,
    /// What the loss is measured in, such as "bits per row".
    pub loss_unit: String,
    /// Rules of the real rows, and how often each is broken.
    pub rules: Vec<RuleLine>,
    /// What a reader should know before anything else.
    pub warnings: Vec<String>,
    /// What else was noticed.
    pub notes: Vec<String>,
}

/// How often a rule of the real rows is broken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleLine {
    /// The rule in words.
    pub rule: String,
    /// In what share of the real rows to which it applies it is broken.
    pub real: f64,
    /// In what share of the made rows.
    pub made: f64,
}

/// The score of one predicted column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The column.
    pub target: String,
    /// How its predictions fare.
    pub score: PredictionScore,
}

/// Numbers are predicted by draws, levels by probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionScore {
    /// A column of numbers.
    Numbers(Calibration),
    /// A column of levels.
    Levels(ClassCalibration),
}

/// A figure with a name for its file and a description for readers who do not see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// A name fit for a file, without ending.
    pub name: String,
    /// What it shows.
    pub alt: String,
    /// The figure, to be written as SVG or PNG.
    pub figure: Figure,
}

impl TableReport {
    /// The report as one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        let mut page = Page::new(self.title.clone());
        if !self.lead.is_empty() {
            page = page.lead(&self.lead);
        }
        for warning in &self.warnings {
            page = page.quote(&format!("Mind: {warning}."));
        }
        page = self.verdicts(page);
        let pictures = self.pictures();
        let show = |page: Page, name: &str| {
            let named = pictures.iter().filter(|picture| picture.name.starts_with(name));
            named.fold(page, |page, picture| page.figure(&picture.figure.svg(), &picture.alt))
        };
        page = self.rule_table(page);
        if !self.scores.marginals.is_empty() || pictures.iter().any(|p| p.name.starts_with("columns")) {
            page = show(page.section("Columns"), "columns");
            page = self.column_table(page);
        }
        if pictures.iter().any(|p| p.name == "pairs" || p.name == "dependence") {
            page = show(show(page.section("Pairs of columns"), "dependence"), "pairs");
        }
        if !self.predictions.is_empty() {
            page = show(page.section("Predictions"), "calibration");
        }
        if !self.training.is_empty() {
            page = show(page.section("Training"), "training");
        }
        if !self.notes.is_empty() {
            page = self.notes.iter().fold(page.section("Notes"), |page, note| page.text(note));
        }
        with_facts(page, &self.facts).html()
    }

    fn rule_table(&self, page: Page) -> Page {
        if self.rules.is_empty() {
            return page;
        }
        let mut rules: Vec<&RuleLine> = self.rules.iter().collect();
        rules.sort_by(|a, b| (b.made - b.real).total_cmp(&(a.made - a.real)));
        let row =
            |line: &&RuleLine| [line.rule.clone(), number::percent(line.made), number::percent(line.real)];
        page.section("Rules")
            .text("Rules that hold in the real rows, and the share of rows that break each, of those to which it applies.")
            .table(&["rule", "broken in made rows", "in real rows"], &rules.iter().map(row).collect::<Vec<_>>())
    }

    /// All pictures, in the order of the page.
    pub fn pictures(&self) -> Vec<Picture> {
        let mut out = Vec::new();
        if let (Some(real), Some(synth)) = (&self.real, &self.synth) {
            out.extend(marginals::pictures(real, synth));
        }
        if let Some(dependence) = &self.scores.dependence {
            out.extend(pairs::heat_maps(dependence));
            if let (Some(real), Some(synth)) = (&self.real, &self.synth) {
                out.extend(pairs::scatters(dependence, real, synth));
            }
        }
        out.extend(self.predictions.iter().enumerate().map(|(i, p)| calibration::picture(i, p)));
        out.extend(training::picture(&self.training, &self.loss_unit, "rows"));
        out
    }

    /// The headline figures, a row each, for a terminal.
    pub fn summary(&self) -> Vec<SummaryRow> {
        verdict::summary(self)
    }

    /// What the scores say in words, a sentence or two each.
    pub fn verdict(&self) -> Vec<String> {
        verdict::sentences(self)
    }

    fn verdicts(&self, page: Page) -> Page {
        let summary = self.summary();
        if summary.is_empty() {
            return page;
        }
        let mut page = page.section("Verdict");
        for sentence in verdict::sentences(self) {
            page = page.text(&sentence);
        }
        let row = |r: &SummaryRow| [r.name.clone(), r.value.clone(), r.baseline.clone(), r.meaning.clone()];
        page.table(&["", "here", "baseline", "meaning"], &summary.iter().map(row).collect::<Vec<_>>())
    }

    fn column_table(&self, page: Page) -> Page {
        if self.scores.marginals.is_empty() {
            return page;
        }
        let row = |score: &crate::table::MarginalScore| {
            let measure = match score.measure {
                Measure::Wasserstein => "mean shift of values, in standard deviations",
                Measure::TotalVariation => "share of rows in the wrong level",
            };
            [
                score.column.clone(),
                format!("{:.3}", score.distance),
                format!("{:.3}", score.baseline),
                number::percent(score.missing),
                number::percent(score.missing_synth),
                measure.to_owned(),
            ]
        };
        let rows: Vec<[String; 6]> = self.scores.marginals.iter().map(row).collect();
        page.text("Distance of each column from the real rows; the baseline is that of other real rows.")
            .table(&["column", "distance", "baseline", "missing: real", "made", "measured as"], &rows)
    }
}

/// An axis of the values of a column: numbers, or dates drawn as such.
fn value_axis(column: &FrameColumn, label: &str) -> Axis {
    column.calendar.map_or_else(|| Axis::linear(label), |calendar| Axis::dates(label, calendar))
}

/// The section on what the model is, unless there is nothing to say.
fn with_facts(page: Page, facts: &[(String, String)]) -> Page {
    let rows: Vec<[String; 2]> = facts.iter().map(|(name, value)| [name.clone(), value.clone()]).collect();
    if rows.is_empty() { page } else { page.section("Model").table(&["", ""], &rows) }
}
