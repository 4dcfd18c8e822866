//! The levels of a category, and the codes that a model sees of them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A model never sees more codes than this.
const MAX_CODES: usize = 1024;
/// Beyond it, this many of the most frequent levels keep codes of their own and the others share the rest.
const OWN_CODES: usize = 960;

/// One level of a category.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Its text.
    pub text: String,
    /// How often it occurs.
    pub count: u64,
}

/// The levels of a category, most frequent first (then by text).
///
/// Up to 1,024 levels have a code each. Beyond that the most frequent 960 do, and the others share 64 buckets by a hash of
/// their text; decoding a bucket draws one of its levels in proportion to its count.
///
/// ```
/// use pmm_data::{Level, Levels};
/// let level = |text: &str, count| Level { text: text.into(), count };
/// let levels = Levels::new(vec![level("no", 2), level("yes", 7)])?;
/// assert_eq!((levels.code("yes"), levels.code("no"), levels.code("perhaps")), (Some(0), Some(1), None));
/// assert_eq!(levels.text(1, 0.5), "no");
/// # Ok::<(), pmm_data::LevelsError>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Vec<Level>", into = "Vec<Level>")]
pub struct Levels {
    levels: Vec<Level>,
    codes: HashMap<String, u32>,
    /// Codes of levels with blanks around them, by their trimmed text; none where several levels have the same.
    trimmed: HashMap<String, Option<u32>>,
    /// Places in `levels` of every bucket's levels.
    buckets: Vec<Vec<usize>>,
}

/// Levels that cannot be coded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LevelsError {
    /// No level at all.
    #[error("a category needs at least one level")]
    NoLevels,
    /// A text that occurs twice.
    #[error("level {0:?} occurs twice")]
    Duplicate(String),
    /// Counts beyond 2⁵³.
    #[error("the counts of levels must sum to at most 2^53")]
    Counts,
}

impl PartialEq for Levels {
    fn eq(&self, other: &Self) -> bool {
        self.levels == other.levels
    }
}

impl TryFrom<Vec<Level>> for Levels {
    type Error = LevelsError;

    fn try_from(levels: Vec<Level>) -> Result<Self, LevelsError> {
        Self::new(levels)
    }
}

impl From<Levels> for Vec<Level> {
    fn from(levels: Levels) -> Self {
        levels.levels
    }
}

impl Levels {
    /// Sorts the levels and gives them codes.
    pub fn new(mut levels: Vec<Level>) -> Result<Self, LevelsError> {
        if levels.is_empty() {
            return Err(LevelsError::NoLevels);
        }
        let total = levels.iter().try_fold(0u64, |sum, level| sum.checked_add(level.count));
        if total.is_none_or(|total| total > 1 << 53) {
            return Err(LevelsError::Counts);
        }
        levels.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text.cmp(&b.text)));
        let shared = levels.len() > MAX_CODES;
        let mut buckets = vec![Vec::new(); if shared { MAX_CODES - OWN_CODES } else { 0 }];
        let mut codes = HashMap::with_capacity(levels.len());
        let mut trimmed = HashMap::new();
        for (place, level) in levels.iter().enumerate() {
            let mut code = place;
            if shared && place >= OWN_CODES {
                let bucket = (hash(&level.text) % buckets.len() as u64) as usize;
                buckets[bucket].push(place);
                code = OWN_CODES + bucket;
            }
            if codes.insert(level.text.clone(), code as u32).is_some() {
                return Err(LevelsError::Duplicate(level.text.clone()));
            }
            if level.text.trim() != level.text {
                let one = trimmed.entry(level.text.trim().to_owned()).and_modify(|one| *one = None);
                one.or_insert(Some(code as u32));
            }
        }
        Ok(Self { levels, codes, trimmed, buckets })
    }

    /// The levels, most frequent first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// How many codes there are.
    pub fn n_codes(&self) -> usize {
        if self.buckets.is_empty() { self.levels.len() } else { MAX_CODES }
    }

    /// Whether rare levels share codes.
    pub fn is_shared(&self) -> bool {
        !self.buckets.is_empty()
    }

    /// The code of a level.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.codes.get(text).copied()
    }

    /// The code of a level, where blanks around a text count only if levels differ by them alone.
    pub fn find(&self, text: &str) -> Option<u32> {
        let trimmed = text.trim();
        let exact = self.code(text).or_else(|| self.code(trimmed));
        exact.or_else(|| self.trimmed.get(trimmed).copied().flatten())
    }

    /// The place in [`levels`](Self::levels) of a code; `u` in \[0, 1) picks among the levels of a bucket.
    pub fn place(&self, code: u32, u: f64) -> Option<usize> {
        let code = code as usize;
        let own = if self.is_shared() { OWN_CODES } else { self.levels.len() };
        if code < own { Some(code) } else { self.pick(code - own, u) }
    }

    /// The `u` for which the code of a level gives this very level: ½ for a level with a code of its own, the middle of its
    /// share for one that shares a code.
    ///
    /// ```
    /// use pmm_data::{Level, Levels};
    /// let levels = (0..5_000).map(|i| Level { text: format!("v{i}"), count: 1 + i % 3 }).collect();
    /// let levels = Levels::new(levels)?;
    /// let code = levels.code("v4321").unwrap();
    /// assert_eq!(levels.text(code, levels.tie("v4321")), "v4321");
    /// # Ok::<(), pmm_data::LevelsError>(())
    /// ```
    pub fn tie(&self, text: &str) -> f64 {
        let bucket = self.find(text).and_then(|code| (code as usize).checked_sub(OWN_CODES));
        let Some(places) = bucket.and_then(|bucket| self.buckets.get(bucket)) else { return 0.5 };
        let count = |place: &usize| self.levels[*place].count;
        let is_level = |place: &usize| {
            let own = &self.levels[*place].text;
            own == text || self.code(text).is_none() && own.trim() == text.trim()
        };
        let Some(at) = places.iter().position(is_level) else { return 0.5 };
        let below: u64 = places[..at].iter().map(count).sum();
        let total: u64 = places.iter().map(count).sum();
        (below as f64 + 0.5 * count(&places[at]) as f64) / total.max(1) as f64
    }

    /// The text of a code; `u` in \[0, 1) picks among the levels of a bucket. Empty for what is no code.
    pub fn text(&self, code: u32, u: f64) -> &str {
        let place = self.place(code, u);
        place.map_or("", |place| self.levels[place].text.as_str())
    }

    fn pick(&self, bucket: usize, u: f64) -> Option<usize> {
        let places = self.buckets.get(bucket)?;
        let total: u64 = places.iter().map(|&place| self.levels[place].count).sum();
        let mut left = u * total as f64;
        for &place in places {
            left -= self.levels[place].count as f64;
            if left < 0.0 {
                return Some(place);
            }
        }
        places.last().copied()
    }
}

/// FNV-1a: the same on every machine, and a schema's codes depend on it.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(n: u64) -> Levels {
        Levels::new((0..n).map(|i| Level { text: format!("v{i}"), count: n - i }).collect()).unwrap()
    }

    #[test]
    fn hash_is_fnv1a() {
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn up_to_1024_levels_have_their_own_codes() {
        let levels = levels(1024);
        assert!(!levels.is_shared() && levels.n_codes() == 1024);
        for code in 0..1024 {
            assert_eq!(levels.code(levels.text(code, 0.3)), Some(code));
        }
        assert_eq!(levels.text(1024, 0.5), "");
    }

    #[test]
    fn rare_levels_share_buckets() {
        let levels = levels(10_000);
        assert_eq!(levels.n_codes(), 1024);
        assert_eq!(levels.code("v0"), Some(0));
        assert!(levels.code("v9999").unwrap() >= 960);
        for code in 0..1024 {
            for u in [0.0, 0.4, 0.999_999] {
                assert_eq!(
                    levels.code(levels.text(code, u)),
                    Some(code),
                    "every level of a bucket has its code"
                );
            }
        }
    }

    /// A bucket gives its levels by their counts: the shares of 10,000 even draws are exact to one draw.
    #[test]
    fn buckets_are_drawn_by_count() {
        let levels = levels(1_100);
        let code = levels.code("v1050").unwrap();
        let bucket = &levels.buckets[code as usize - 960];
        let total: u64 = bucket.iter().map(|&place| levels.levels[place].count).sum();
        let hits = (0..10_000).filter(|i| levels.text(code, (*i as f64 + 0.5) / 1e4) == "v1050").count();
        assert!((hits as f64 / 1e4 - 50.0 / total as f64).abs() < 2e-4, "{hits} of {total}");
    }

    #[test]
    fn every_rare_level_has_its_tie() {
        let levels = levels(3_000);
        for level in levels.levels() {
            let code = levels.code(&level.text).unwrap();
            assert_eq!(levels.text(code, levels.tie(&level.text)), level.text);
        }
        assert_eq!(levels.tie("never seen"), 0.5);
    }

    #[test]
    fn blanks_count_only_where_levels_differ_by_them() {
        let level = |text: &str| Level { text: text.into(), count: 1 };
        let levels = Levels::new(["C1 ", "C1", " B ", "x ", " x"].map(level).to_vec()).unwrap();
        assert_ne!(levels.find("C1 "), levels.find("C1"));
        assert_eq!(levels.find("B"), levels.code(" B "));
        assert_eq!(levels.find("  C1"), levels.code("C1"));
        assert_eq!((levels.find("x"), levels.find("x ")), (None, levels.code("x ")));
        assert_eq!(levels.code("B"), None);
    }

    #[test]
    fn refusals() {
        let level = |text: &str, count| Level { text: text.into(), count };
        assert_eq!(Levels::new(vec![]), Err(LevelsError::NoLevels));
        assert_eq!(Levels::new(vec![level("a", 1), level("a", 2)]), Err(LevelsError::Duplicate("a".into())));
        assert_eq!(Levels::new(vec![level("a", u64::MAX), level("b", 2)]), Err(LevelsError::Counts));
    }
}
