//! What a model of a table was found to be worth: numbers, charts, a page.

use std::path::{Path, PathBuf};

use pmm_eval::table::{Frame, TableScores};
use pmm_eval::{Picture, Prediction, RuleLine, SummaryRow, TableReport};
use pmm_net::table::{ClockKind, Likelihood};

use super::model::Model;
use crate::error::Error;
use crate::{folder, log};

/// An evaluation of a model.
pub struct Report<'m> {
    pub(crate) model: &'m Model,
    pub(crate) data: String,
    pub(crate) train: Option<String>,
    /// The file of rows that were scored in place of made ones.
    pub(crate) samples: Option<String>,
    pub(crate) target: String,
    pub(crate) seed: u64,
    /// Rows of the data.
    pub rows: usize,
    /// The real rows that were compared.
    pub real: Frame,
    /// The rows that the model made.
    pub synth: Frame,
    /// How the two differ.
    pub scores: TableScores,
    /// How well the target is predicted.
    pub prediction: Option<Prediction>,
    /// What an unseen row costs.
    pub likelihood: Option<Likelihood>,
    /// Rules of the real rows, and how often each is broken.
    pub rules: Vec<RuleScore>,
    /// Whether the rows are those that the model was fitted to.
    pub test_was_fitted: bool,
    /// What makes the scores mean less than they seem to.
    pub warnings: Vec<String>,
    /// What a person should know; the warnings come first.
    pub notes: Vec<String>,
}

/// How often a rule of the real rows is broken.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct RuleScore {
    /// The rule in words.
    pub rule: String,
    /// In what share of the real rows to which it applies it is broken.
    pub real: f64,
    /// In what share of the made rows.
    pub made: f64,
}

impl RuleScore {
    fn line(&self) -> RuleLine {
        RuleLine { rule: self.rule.clone(), real: self.real, made: self.made }
    }
}

impl Report<'_> {
    /// The headline figures.
    pub fn summary(&self) -> Vec<SummaryRow> {
        let mut rows = self.page().summary();
        if let Some(likelihood) = &self.likelihood {
            rows.push(SummaryRow {
                name: "bits per column".into(),
                value: format!("{} ± {}", signed(likelihood.bits, 2), signed(likelihood.bits_error, 2)),
                baseline: signed(likelihood.independent, 2),
                meaning: format!(
                    "cost of an unseen row, numbers on the scale of their normal scores; baseline: columns on their own. \
                     The difference, {} ± {}, is what dependences save",
                    signed(likelihood.saved, 3),
                    signed(likelihood.saved_error, 3)
                ),
            });
        }
        if !self.rules.is_empty() {
            let mean =
                |of: fn(&RuleScore) -> f64| self.rules.iter().map(of).sum::<f64>() / self.rules.len() as f64;
            let worst = self.rules.iter().max_by(|a, b| (a.made - a.real).total_cmp(&(b.made - b.real)));
            rows.push(SummaryRow {
                name: "rules broken".into(),
                value: format!("{:.1} %", 100.0 * mean(|rule| rule.made)),
                baseline: format!("{:.1} %", 100.0 * mean(|rule| rule.real)),
                meaning: format!(
                    "of the rows to which one of the {} rules of real rows applies; the worst: {}",
                    self.rules.len(),
                    worst.map_or("", |rule| &rule.rule)
                ),
            });
        }
        rows
    }

    /// What the figures say, a sentence or two each: what made rows look like, column by column and in relation.
    pub fn verdict(&self) -> Vec<String> {
        self.page().verdict()
    }

    /// The page.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// The pictures of the page.
    pub fn pictures(&self) -> Vec<Picture> {
        self.page().pictures()
    }

    /// Writes `report.html` and the pictures to a folder; returns the page's path.
    pub fn write(&self, to: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let to = to.as_ref();
        folder::make(to)?;
        for picture in self.pictures() {
            let png = picture.figure.png(2.0).map_err(|error| Error::Picture(error.to_string()))?;
            folder::write(&to.join(format!("{}.png", picture.name)), &png)?;
        }
        let page = to.join("report.html");
        folder::write(&page, self.html().as_bytes())?;
        Ok(page)
    }

    /// All figures.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "model": self.model.folder(),
            "data": self.data,
            "train": self.train,
            "samples": self.samples,
            "test_was_fitted": self.test_was_fitted,
            "baseline": if self.train.is_some() { "training rows" } else { "half of the rows" },
            "rows": self.rows,
            "rows_compared": self.real.rows(),
            "rows_made": self.synth.rows(),
            "columns": self.model.denoiser.net().coordinates().columns.len(),
            "target": self.target,
            "seed": self.seed,
            "version": env!("CARGO_PKG_VERSION"),
            "scores": self.scores,
            "prediction": self.prediction,
            "likelihood": self.likelihood,
            "rules": self.rules,
            "notes": self.notes,
        })
    }

    fn page(&self) -> TableReport {
        let gradual = self.model.denoiser.net().clock() == ClockKind::Gradual;
        TableReport {
            title: match &self.samples {
                Some(samples) => format!("How good are the rows of {samples}?"),
                None => format!("How good is the model “{}”?", self.model.fitted.name()),
            },
            lead: self.lead(),
            facts: self.facts(),
            real: Some(self.real.clone()),
            synth: Some(self.synth.clone()),
            scores: self.scores.clone(),
            predictions: self.prediction.clone().into_iter().collect(),
            training: match &self.samples {
                Some(_) => Vec::new(),
                None => self.model.folder().map(log::learning_curve).unwrap_or_default(),
            },
            rules: self.rules.iter().map(RuleScore::line).collect(),
            warnings: self.warnings.clone(),
            notes: self.notes.iter().filter(|note| !self.warnings.contains(note)).cloned().collect(),
            loss_unit: if gradual { String::new() } else { "nats per column".to_owned() },
        }
    }

    fn lead(&self) -> String {
        let baseline = if self.train.is_some() { "training rows" } else { "other real rows" };
        let made = match &self.samples {
            Some(samples) => format!("of {samples}"),
            None => "made by the model".to_owned(),
        };
        let unseen = if self.warnings.is_empty() { " that it has not seen" } else { "" };
        let unseen = if self.samples.is_some() { "" } else { unseen };
        let mut lead = format!(
            "{} rows {made}, held against {} real rows{unseen}. Every score stands beside a baseline: the same \
             score for {baseline}, which is what a perfect model would get, or for a prediction that does not look at the row.",
            self.synth.rows(),
            self.real.rows(),
        );
        if let Some(found) = &self.likelihood {
            lead += &format!(
                " To write down an unseen row takes {} bits per column with the model and {} if columns knew nothing of each other: \
                 the dependences that it knows save {} ± {} bits per column.",
                signed(found.bits, 2),
                signed(found.independent, 2),
                signed(found.saved, 3),
                signed(found.saved_error, 3),
            );
        }
        lead
    }

    fn facts(&self) -> Vec<(String, String)> {
        let (fitted, net) = (&self.model.fitted, self.model.denoiser.net());
        let facts = [
            (
                "fitted to",
                format!("{} rows, {} columns", fitted.facts.rows, fitted.description.columns.len()),
            ),
            ("columns in the model", net.coordinates().columns.len().to_string()),
            ("scored on", format!("{} rows of {}", self.rows, self.data)),
            ("weights", net.parts().len().to_string()),
            ("clock", super::kind::clock_name(net.clock()).to_owned()),
            ("training", fitted.fit.sentence("nats per column")),
            ("seed", format!("{} (fit), {} (scores)", fitted.config.seed, self.seed)),
            ("version", format!("pmm {}", fitted.fit.version)),
            ("data", format!("BLAKE3 {}", fitted.identity.data)),
        ];
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn signed(value: f64, digits: usize) -> String {
    format!("{value:.digits$}").replace('-', "−")
}
