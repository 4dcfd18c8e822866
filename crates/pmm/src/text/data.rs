//! A text that is read: files, or documents in memory.

use std::path::{Path, PathBuf};

use pmm_data::{Document, TextOptions, TextSource};
use pmm_train::text::TextConfig;

use crate::error::Error;

/// A text, wherever it lies.
///
/// ```
/// use pmm::text::Data;
/// let data = Data::from_documents(["Once upon a time", "The end"]);
/// # let _ = data;
/// ```
#[derive(Debug, Clone)]
pub struct Data(DataPlace);

#[derive(Debug, Clone)]
enum DataPlace {
    Path(PathBuf),
    Documents(Vec<Vec<u8>>),
}

impl Data {
    /// A file (plain, gzip, xz, JSON lines, FASTA), a folder of them, or standard input for `-`.
    pub fn open(path: impl AsRef<Path>) -> Self {
        Self(DataPlace::Path(path.as_ref().to_owned()))
    }

    /// One text in memory.
    pub fn from_text(text: impl Into<Vec<u8>>) -> Self {
        Self(DataPlace::Documents(vec![text.into()]))
    }

    /// Documents in memory.
    pub fn from_documents(documents: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        Self(DataPlace::Documents(documents.into_iter().map(Into::into).collect()))
    }

    /// Its documents, as a model with these settings reads them.
    pub(crate) fn documents(&self, config: &TextConfig) -> Result<Vec<Document>, Error> {
        let options = TextOptions { field: config.field.clone(), lossy_bytes: config.tokenizer == "bytes" };
        Ok(self.source(&options)?.documents()?)
    }

    pub(crate) fn source(&self, options: &TextOptions) -> Result<TextSource, Error> {
        Ok(match &self.0 {
            DataPlace::Path(path) => TextSource::open(path, options)?,
            DataPlace::Documents(documents) => TextSource::from_documents(documents.iter().cloned(), options),
        })
    }
}

impl From<&Path> for Data {
    fn from(path: &Path) -> Self {
        Self::open(path)
    }
}
