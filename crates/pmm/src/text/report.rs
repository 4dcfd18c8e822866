//! What a model of texts was found to be worth: numbers, a page.

use std::path::{Path, PathBuf};

use pmm_eval::text::TextScores;
use pmm_eval::{BoundLine, TextReport};

use super::kind::Text;
use super::model::Model;
use super::recovery::Recovery;
use crate::error::Error;
use crate::kind::Kind;
use crate::{folder, log};

/// Samples that the page shows.
const SHOWN: usize = 6;

/// An evaluation of a model.
pub struct Report<'m> {
    model: &'m Model,
    /// The likelihood bound.
    pub bound: Option<BoundLine>,
    /// Bits per character of n-gram models: (order, bits).
    pub ngram_bits: Vec<(usize, f64)>,
    /// How hidden tokens are recovered.
    pub recovery: Option<Recovery>,
    /// The same by a trigram model.
    pub recovery_ngram: Option<Recovery>,
    /// How gaps of 20 tokens are filled, with text on both sides.
    pub gap_recovery: Option<Recovery>,
    /// Tokens of the texts that were scored.
    pub(crate) samples: Vec<Vec<u32>>,
    /// Words, repetitions and n-grams of samples beside those of real text.
    pub scores: TextScores,
    /// Perplexity of the samples under GPT-2, where it was asked for.
    pub perplexity: Option<f64>,
    /// What a person should know.
    pub notes: Vec<String>,
}

impl<'m> Report<'m> {
    pub(crate) fn new(model: &'m Model, notes: Vec<String>) -> Self {
        Self {
            model,
            bound: None,
            ngram_bits: Vec::new(),
            recovery: None,
            recovery_ngram: None,
            gap_recovery: None,
            samples: Vec::new(),
            scores: TextScores::default(),
            perplexity: None,
            notes,
        }
    }

    /// The figures in words.
    pub fn summary(&self) -> String {
        let mut text = format!("{}\n{}", self.page().summary().trim_end(), self.lead());
        if let Some(perplexity) = self.perplexity {
            text +=
                &format!("\nGenerative perplexity of the samples under GPT-2: {perplexity:.1} per token.");
        }
        format!("{}\n", text.trim_end())
    }

    /// The page.
    pub fn html(&self) -> String {
        self.page().html()
    }

    /// Writes `report.html` to a folder; returns its path.
    pub fn write(&self, to: impl AsRef<Path>) -> Result<PathBuf, Error> {
        folder::make(to.as_ref())?;
        let page = to.as_ref().join("report.html");
        folder::write(&page, self.html().as_bytes())?;
        Ok(page)
    }

    /// All figures.
    pub fn to_json(&self) -> serde_json::Value {
        let any_order = self.bound.and_then(|bound| bound.any_order);
        serde_json::json!({
            "bits_per_character": self.bound.map(|bound| bound.bits_per_character),
            "standard_error": self.bound.map(|bound| bound.standard_error),
            "npc_bits": self.bound.and_then(|bound| bound.npc_bits),
            "random_order_bits": any_order.map(|line| line.random),
            "order_averaged_bits": any_order.map(|line| line.order_averaged), "orders": any_order.map(|line| line.orders),
            "ngram_bits": self.ngram_bits, "scores": self.scores,
            "gaps": self.recovery, "gaps_ngram": self.recovery_ngram,
            "gaps_of_20": self.gap_recovery,
            "gpt2_perplexity": self.perplexity, "notes": self.notes,
        })
    }

    fn page(&self) -> TextReport {
        TextReport {
            name: self.model.fitted.name(),
            lead: self.lead(),
            bound: self.bound,
            scores: self.scores.clone(),
            ngram_bits: self.ngram_bits.clone(),
            curve: self.model.folder().map(log::learning_curve).unwrap_or_default(),
            loss_unit: Text::LOSS_UNIT.into(),
            samples: self.samples.iter().take(SHOWN).map(|tokens| self.model.text(tokens)).collect(),
            facts: self.facts(),
        }
    }

    fn lead(&self) -> String {
        let Some(ours) = &self.recovery else { return String::new() };
        let beside = self.recovery_ngram.map_or_else(String::new, |ngram| {
            format!(" (a trigram model: {:.0} % and {:.2} bits)", 100.0 * ngram.recovered, ngram.bits)
        });
        let long = self
            .gap_recovery
            .map_or_else(String::new, |gap| format!(" Gaps of 20 tokens cost {:.2} bits a token.", gap.bits));
        format!(
            "Gaps: with 30 % of the tokens of held-out passages hidden, the best guess recovers {:.0} % of them, at {:.2} bits per hidden token{beside}.{long}",
            100.0 * ours.recovered,
            ours.bits
        )
    }

    fn facts(&self) -> Vec<(String, String)> {
        let info = self.model.info();
        let mut facts: Vec<(String, String)> =
            info.facts().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if let Some(ours) = &self.recovery {
            facts.push(("gaps recovered".to_owned(), format!("{:.1} %", 100.0 * ours.recovered)));
            facts.push(("bits per hidden token".to_owned(), format!("{:.3}", ours.bits)));
        }
        facts
    }
}
