//! What the files of a model belong together by.

use serde::{Deserialize, Serialize};

/// The format of a model's folder. Another number is refused with what to do.
pub const FORMAT: u32 = 2;

/// Digests of what a model was made from: files with another identity are of another model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The format of the folder, [`FORMAT`].
    pub format: u32,
    /// Digest of the data.
    pub data: String,
    /// Digest of what the data are: schema, tokenizer or images.
    pub description: String,
    /// Digest of the settings that count.
    pub settings: String,
}

/// In what two identities differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Which digest.
    pub what: &'static str,
    /// What was found.
    pub found: String,
    /// What was expected.
    pub expected: String,
}

impl Identity {
    /// The identity of data (by their digest), their description and the settings that count, as texts.
    ///
    /// ```
    /// use pmm_store::Identity;
    /// let one = Identity::new("abc", "{}", "seed = 0");
    /// assert_eq!(one.difference(&Identity::new("abc", "{}", "seed = 1")).unwrap().what, "settings");
    /// assert!(one.difference(&one.clone()).is_none());
    /// ```
    pub fn new(data: &str, description: &str, settings: &str) -> Self {
        let digest = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..32].to_owned();
        Self {
            format: FORMAT,
            data: data.to_owned(),
            description: digest(description),
            settings: digest(settings),
        }
    }

    /// The first thing in which this identity, which was found, differs from one that is expected.
    pub fn difference(&self, expected: &Self) -> Option<Difference> {
        let pairs = [
            ("format", self.format.to_string(), expected.format.to_string()),
            ("data", self.data.clone(), expected.data.clone()),
            ("description", self.description.clone(), expected.description.clone()),
            ("settings", self.settings.clone(), expected.settings.clone()),
        ];
        let mut differing = pairs.into_iter().filter(|(_, found, expected)| found != expected);
        differing.next().map(|(what, found, expected)| Difference { what, found, expected })
    }
}
