//! A fitted model of texts.

use std::path::Path;

use pmm_data::Tokenizer;
use pmm_net::Device;
use pmm_train::text::TextConfig;

use super::data::Data;
use super::denoiser::Denoiser;
use super::evaluate::Evaluate;
use super::infill::Infill;
use super::kind::Text;
use super::sample::Sample;
use super::score::Score;
use super::trace::Trace;
use crate::error::Error;
use crate::fitted::{FitSummary, Fitted};
use crate::info::Info;

/// A model of texts.
pub struct Model {
    pub(crate) fitted: Fitted<Text>,
    pub(crate) denoiser: Denoiser,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("weights", &self.fitted.weights.len()).finish_non_exhaustive()
    }
}

impl Model {
    pub(crate) fn new(fitted: Fitted<Text>) -> Self {
        let denoiser = Denoiser::new(&fitted.net, &fitted.weights);
        Self { fitted, denoiser }
    }

    /// Reads a model, whole and unaltered, to compute on a device.
    pub fn open(folder: impl AsRef<Path>, device: &Device) -> Result<Self, Error> {
        Ok(Self::new(Fitted::load(folder.as_ref(), device)?))
    }

    /// Writes the model to a folder, whole; a model that is there is replaced.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        self.fitted.save(folder.as_ref())
    }

    /// Text ⇄ tokens.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.fitted.description
    }

    /// The settings.
    pub fn config(&self) -> &TextConfig {
        &self.fitted.config
    }

    /// How the fit went.
    pub fn summary(&self) -> &FitSummary {
        &self.fitted.fit
    }

    /// What it is, how it was trained and how big it is.
    pub fn info(&self) -> Info {
        self.fitted.info()
    }

    /// The folder that it was read from or fitted in.
    pub fn folder(&self) -> Option<&Path> {
        self.fitted.folder.as_deref()
    }

    /// Tokens of a text that is drawn.
    pub fn length(&self) -> usize {
        self.fitted.net.length()
    }

    /// New texts.
    pub fn sample(&self, texts: u64) -> Sample<'_> {
        Sample::new(self, texts)
    }

    /// A text whose gaps are completed: `____` (three or more, one token each), `[MASK:12]`, or `[MASK]` for a gap of any length.
    pub fn infill(&self, text: &str) -> Infill<'_> {
        Infill::new(self, text)
    }

    /// What documents cost, each by its exact likelihood: in bits, in which order, and where.
    pub fn score(&self, documents: impl Into<Data>) -> Score<'_> {
        Score::new(self, documents.into())
    }

    /// Whether its documents are sequences, read from FASTA.
    pub fn is_of_sequences(&self) -> bool {
        self.config().sequences
    }

    /// The token before and after every sequence; none for other texts.
    pub(crate) fn sequence_end(&self) -> Option<u32> {
        self.tokenizer().end_of_document().filter(|_| self.is_of_sequences())
    }

    /// Scores of the model on text that it has not seen.
    pub fn evaluate(&self, test: impl Into<Data>) -> Evaluate<'_> {
        Evaluate::new(self, test.into())
    }

    /// A picture of a text coming out of its masks.
    pub fn trace(&self) -> Trace<'_> {
        Trace::new(self)
    }

    /// Tokens as text; bytes that are no characters are shown as such.
    pub(crate) fn text(&self, tokens: &[u32]) -> String {
        String::from_utf8_lossy(&self.tokenizer().decode(tokens)).into_owned()
    }
}
