//! Words of a text, as numbers.

use std::collections::HashMap;

/// Numbers for words, in the order in which they were first met: those of the training text, then others.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    numbers: HashMap<String, u32>,
    known: u32,
}

impl Lexicon {
    /// The lexicon of a training text.
    pub(super) fn new(train: &str) -> Self {
        let mut lexicon = Self::default();
        train.split_whitespace().for_each(|word| _ = lexicon.number(word));
        lexicon.known = lexicon.numbers.len() as u32;
        lexicon
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(word.to_owned(), number);
        number
    }

    /// The words between white space but for the first and the last, which may be cut.
    pub(super) fn words(&mut self, text: &str) -> Vec<u32> {
        let all: Vec<&str> = text.split_whitespace().collect();
        let inner = all.get(1..all.len().saturating_sub(1)).unwrap_or_default();
        inner.iter().map(|word| self.number(word)).collect()
    }

    /// The share of words that the training text has; `None` without words on either side.
    pub(super) fn known(&self, rows: &[Vec<u32>]) -> Option<f64> {
        let all = rows.iter().map(Vec::len).sum::<usize>();
        let known = rows.iter().flatten().filter(|&&word| word < self.known).count();
        (all > 0 && self.known > 0).then(|| known as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_words_are_looked_up() {
        let mut lexicon = Lexicon::new("the cat saw the dog");
        let rows = [lexicon.words("at the  dxg\nsaw the ca"), lexicon.words("cat"), lexicon.words(" ")];
        assert_eq!(rows, [vec![0, 4, 2, 0], vec![], vec![]]);
        assert_eq!((lexicon.known(&rows), lexicon.known(&[])), (Some(0.75), None));
        assert_eq!(Lexicon::new("").known(&rows), None);
    }
}
