//! Statistics of samples beside those of held-out text.

use serde::Serialize;

use super::NGram;
use super::statistics::{distinct, entropy, grams, repetition, total_variation};
use super::words::Lexicon;

/// The judge's order with few classes (characters, bytes) and with many (pieces of words).
const JUDGE: (usize, usize) = (5, 3);
const FEW_CLASSES: usize = 300;

/// A figure of the samples beside that of as much real text.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// The samples' figure.
    pub samples: f64,
    /// Real text's.
    pub real: f64,
}

impl Compared {
    /// Both figures, if both are defined and finite.
    fn new(samples: Option<f64>, real: Option<f64>) -> Option<Self> {
        let finite = |figure: Option<f64>| figure.filter(|value| value.is_finite());
        Some(Self { samples: finite(samples)?, real: finite(real)? })
    }
}

/// Statistics of samples, each beside the same statistic of as much held-out text, which is what a perfect model
/// would get. A figure that either side leaves undefined is absent.
///
/// Held-out text is halved: the first half is the reference; rows of the second half, spread evenly over it, stand
/// beside the samples, as many and as long as they are. Samples for which the half has no room are left out.
///
/// ```
/// use pmm_eval::text::TextScores;
/// let decode = |row: &[u32]| row.iter().map(|&t| char::from(b"ab "[t as usize])).collect::<String>();
/// let text: Vec<u32> = [0, 1, 2, 1, 0, 2].repeat(100);
/// let scores = TextScores::new(&[text[..60].to_vec()], &text, &text, 3, &decode);
/// assert_eq!(scores.real_words.map(|figure| figure.samples), Some(1.0));
/// assert!(scores.unigrams.is_some_and(|figure| figure.samples < 0.01));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TextScores {
    /// Total variation distance of single tokens from the reference: the share that would have to change.
    pub unigrams: Option<Compared>,
    /// The same for pairs of neighbours.
    pub bigrams: Option<Compared>,
    /// The same for triples.
    pub trigrams: Option<Compared>,
    /// The share of words that occur in the training text. A row's first and last words, which may be cut, never
    /// count.
    pub real_words: Option<Compared>,
    /// The share of words that differ: kinds over occurrences.
    pub distinct1: Option<Compared>,
    /// The same for pairs of words.
    pub distinct2: Option<Compared>,
    /// The same for triples of words.
    pub distinct3: Option<Compared>,
    /// The share of runs of four words that came before in the same row.
    pub repetition: Option<Compared>,
    /// Bits per token under an n-gram model fitted to training text. Higher than real text: unlikely; lower: bland.
    pub judge: Option<Compared>,
    /// The order of that model.
    pub judge_order: usize,
    /// The entropy of single tokens, in bits.
    pub entropy: Option<Compared>,
    /// Rows compared, on each side.
    pub rows: usize,
    /// Tokens compared, on each side.
    pub tokens: usize,
}

impl TextScores {
    /// Compares samples with held-out text. The judge and the list of words come from `train`; `decode` makes text
    /// of tokens.
    pub fn new(
        samples: &[Vec<u32>],
        train: &[u32],
        held_out: &[u32],
        classes: usize,
        decode: &dyn Fn(&[u32]) -> String,
    ) -> Self {
        let (reference, real) = held_out.split_at(held_out.len() / 2);
        let (samples, real) = matched(samples, real);
        let sides = [&samples[..], &real[..]];
        let mut lexicon = Lexicon::new(&decode(train));
        let words: [Vec<Vec<u32>>; 2] =
            sides.map(|rows| rows.iter().map(|row| lexicon.words(&decode(row))).collect());
        let on_words =
            |figure: &dyn Fn(&[Vec<u32>]) -> Option<f64>| Compared::new(figure(&words[0]), figure(&words[1]));
        let (low, high) = JUDGE;
        let judge_order = if classes <= FEW_CLASSES { low } else { high };
        Self {
            unigrams: distance::<1>(reference, sides),
            bigrams: distance::<2>(reference, sides),
            trigrams: distance::<3>(reference, sides),
            real_words: on_words(&|rows| lexicon.known(rows)),
            distinct1: on_words(&distinct::<1>),
            distinct2: on_words(&distinct::<2>),
            distinct3: on_words(&distinct::<3>),
            repetition: on_words(&repetition),
            judge: judged(train, classes, judge_order, sides),
            judge_order,
            entropy: Compared::new(entropy(&grams::<1, _>(sides[0])), entropy(&grams::<1, _>(sides[1]))),
            rows: samples.len(),
            tokens: samples.iter().map(|row| row.len()).sum(),
        }
    }
}

type Rows<'a> = &'a [&'a [u32]];

fn distance<const N: usize>(reference: &[u32], sides: [Rows<'_>; 2]) -> Option<Compared> {
    let reference = grams::<N, _>(&[reference]);
    let [samples, real] = sides.map(|rows| total_variation(&grams::<N, _>(rows), &reference));
    Compared::new(samples, real)
}

fn judged(train: &[u32], classes: usize, order: usize, sides: [Rows<'_>; 2]) -> Option<Compared> {
    if train.is_empty() {
        return None;
    }
    let judge = NGram::fit(train, classes, order);
    let [samples, real] = sides.map(|rows| {
        let tokens = rows.iter().map(|row| row.len()).sum::<usize>() as f64;
        rows.iter().map(|row| judge.nats(row)).sum::<f64>() / (tokens * std::f64::consts::LN_2)
    });
    Compared::new(Some(samples), Some(real))
}

/// The samples that fit into `text`, one after another, and rows of `text` of the same lengths, spread evenly over
/// it. If not even the first fits, it is cut.
fn matched<'a>(samples: &'a [Vec<u32>], text: &'a [u32]) -> (Vec<&'a [u32]>, Vec<&'a [u32]>) {
    let mut room = text.len();
    let fits = |row: &&Vec<u32>| {
        let rest = room.checked_sub(row.len());
        room = rest.unwrap_or(room);
        rest.is_some()
    };
    let mut rows: Vec<&[u32]> = samples.iter().take_while(fits).map(Vec::as_slice).collect();
    if let (true, Some(first)) = (rows.is_empty(), samples.first()) {
        rows.push(&first[..text.len()]);
        room = 0;
    }
    let mut used = 0;
    let cut = |(i, row): (usize, &&[u32])| {
        let start = used + (room as u128 * i as u128 / rows.len() as u128) as usize;
        used += row.len();
        &text[start..][..row.len()]
    };
    let real = rows.iter().enumerate().map(cut).collect();
    (rows, real)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters from 1, blank at 0.
    fn tokens(text: &str) -> Vec<u32> {
        text.bytes().map(|c| if c == b' ' { 0 } else { u32::from(c - b'a' + 1) }).collect()
    }

    fn decode(row: &[u32]) -> String {
        row.iter().map(|&t| if t == 0 { ' ' } else { char::from(b'a' + t as u8 - 1) }).collect()
    }

    fn scores(samples: &[&str], train: &str, held_out: &str) -> TextScores {
        let samples: Vec<Vec<u32>> = samples.iter().map(|text| tokens(text)).collect();
        TextScores::new(&samples, &tokens(train), &tokens(held_out), 27, &decode)
    }

    fn pair(samples: f64, real: f64) -> Option<Compared> {
        Some(Compared { samples, real })
    }

    #[test]
    fn a_text_beside_itself_has_no_distance() {
        let half = "the cat saw the dog and the dog saw the cat ";
        let found = scores(&[half], half, &half.repeat(2));
        for figure in [found.unigrams, found.bigrams, found.trigrams] {
            assert_eq!(figure, pair(0.0, 0.0));
        }
        for figure in [found.real_words, found.judge, found.entropy, found.distinct2, found.repetition] {
            assert!(figure.is_some_and(|both| both.samples == both.real), "{found:?}");
        }
        assert_eq!((found.rows, found.tokens, found.judge_order), (1, half.len(), 5));
    }

    #[test]
    fn figures_by_hand() {
        // The real row is "a b a b a b a b " without its outer words; the sample's inner words are x b x b x b.
        let found = scores(&["b x b x b x b x"], "a b", &"a b a b a b a b".repeat(2));
        assert_eq!(found.real_words, pair(0.5, 1.0));
        assert_eq!(found.distinct1, pair(2.0 / 6.0, 2.0 / 6.0));
        assert_eq!(found.repetition, pair(1.0 / 3.0, 1.0 / 3.0));
        // Four of fifteen tokens would have to change, for x stands where a should.
        let distance = found.unigrams.unwrap();
        assert!((distance.samples - 4.0 / 15.0).abs() < 1e-12 && distance.real == 0.0, "{distance:?}");
        assert!(found.judge.is_some_and(|bits| bits.samples > bits.real + 0.5), "{found:?}");
    }

    #[test]
    fn tiny_inputs_leave_figures_out() {
        let found = scores(&[], "", "");
        assert_eq!(found, TextScores { judge_order: 5, ..TextScores::default() });
        let found = scores(&[" "], " ", "   ");
        assert_eq!((found.unigrams, found.entropy), (pair(0.0, 0.0), pair(0.0, 0.0)));
        assert_eq!((found.bigrams, found.real_words, found.repetition), (None, None, None));
        assert!(found.judge.is_some());
        let found = scores(&["abcdef", "abc"], "abc", "abcd");
        assert_eq!((found.rows, found.tokens), (1, 2));
        assert!(scores(&[""], "a", "a").unigrams.is_none());
        assert!(!serde_json::to_string(&found).unwrap().contains("NaN"));
    }

    #[test]
    fn real_rows_are_spread_and_as_long_as_the_samples() {
        let text: Vec<u32> = (0..100).collect();
        let samples = [vec![0; 10], vec![0; 5], vec![0; 25], vec![0; 70], vec![0; 1]];
        let (rows, real) = matched(&samples, &text);
        assert_eq!(rows.iter().map(|row| row.len()).collect::<Vec<_>>(), [10, 5, 25]);
        assert_eq!(real, [&text[0..10], &text[30..35], &text[55..80]]);
    }
}
