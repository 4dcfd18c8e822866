//! Texts that are filled one token at a time, with all that the network remembers of the tokens before.

use pmm_core::{MASK, TokenPosition};
use rayon::prelude::*;

use super::ordered::OrderedNet;
use super::ordered_text::{OrderedText, known_first};
use crate::ops::ordered::Engine;
use crate::ops::ordered_step::{KeysValues, Past};

/// Several texts on their way, each in an order of its own.
#[derive(Debug, Clone)]
pub struct OrderedCache {
    width: usize,
    rows: Vec<Row>,
}

/// A text on its way.
#[derive(Debug, Clone)]
struct Row {
    /// Tokens, or masks.
    known: Vec<u32>,
    /// The last token that was told, and where.
    last: Option<(u32, u32)>,
    past: Past,
    /// The position that was asked for last, and the keys and values of that step.
    asked: Option<(usize, Vec<KeysValues>)>,
}

impl OrderedCache {
    /// The texts as they are, `[rows, length]`; what is not known is [`MASK`].
    pub fn tokens(&self) -> Vec<u32> {
        self.rows.iter().flat_map(|row| &row.known).copied().collect()
    }

    /// The number of texts.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Says which token stands where the row was asked last ([`OrderedNet::step`]).
    ///
    /// # Panics
    /// If another place was asked last.
    pub fn reveal(&mut self, place: TokenPosition, token: u32) {
        let row = &mut self.rows[place.row];
        let Some((position, made)) = row.asked.take() else {
            panic!("row {} was not asked before it was told", place.row);
        };
        assert_eq!(position, place.position, "the position that row {} was asked for", place.row);
        row.past.push(&made, 0, self.width);
        row.known[position] = token;
        row.last = Some((token, position as u32));
    }
}

impl OrderedNet {
    /// Begins texts of which something may be known (`[rows, length]` tokens or [`MASK`]): the known tokens are read first, left to right, in
    /// one pass a text.
    pub fn begin(&self, weights: &[f32], tokens: &[u32]) -> OrderedCache {
        let engine = Engine::new(self, weights);
        let (length, width) = (self.length(), self.config().width);
        let begin = |tokens: &[u32]| {
            let order = known_first(tokens);
            let steps = tokens.iter().filter(|&&token| token != MASK).count();
            let text = OrderedText::new(self.neighbours(), tokens, &order.positions, steps);
            let last = steps.checked_sub(1).map(|last| order.positions[last]);
            Row {
                known: tokens.to_vec(),
                last: last.map(|position| (tokens[position as usize], position)),
                past: engine.past(&text),
                asked: None,
            }
        };
        OrderedCache { width, rows: tokens.par_chunks_exact(length).map(begin).collect() }
    }

    /// Logits `[wanted, classes]` of the next token at a place of each of some rows, at most one a row. What is found there must be told by
    /// [`OrderedCache::reveal`] before the row goes on; a row that is asked again instead forgets the first question.
    pub fn step(&self, weights: &[f32], cache: &mut OrderedCache, wanted: &[TokenPosition]) -> Vec<f32> {
        let asked: Vec<usize> = wanted.iter().map(|place| place.row).collect();
        let (logits, made) = self.answers(weights, cache, wanted, true);
        for ((row, place), made) in asked.into_iter().zip(wanted).zip(made) {
            cache.rows[row].asked = Some((place.position, made));
        }
        logits
    }

    /// Logits `[wanted, classes]` at any places, each as if it were the next; the texts stay as they are.
    pub fn peek(&self, weights: &[f32], cache: &OrderedCache, wanted: &[TokenPosition]) -> Vec<f32> {
        self.answers(weights, cache, wanted, false).0
    }

    /// The logits at the wanted places and, if asked for, the keys and values of each.
    fn answers(
        &self,
        weights: &[f32],
        cache: &OrderedCache,
        wanted: &[TokenPosition],
        keep: bool,
    ) -> (Vec<f32>, Vec<Vec<KeysValues>>) {
        let engine = Engine::new(self, weights);
        // A row's answer does not depend on those beside it, so that they may be shared out by threads.
        let each = wanted.len().div_ceil(rayon::current_num_threads()).clamp(1, 64);
        let answers: Vec<(Vec<f32>, Vec<Vec<KeysValues>>)> = wanted
            .par_chunks(each)
            .map(|wanted| {
                let mut steps = OrderedText::empty(wanted.len());
                let rows: Vec<&Row> = wanted.iter().map(|place| &cache.rows[place.row]).collect();
                for (row, place) in rows.iter().zip(wanted) {
                    steps.push(self.neighbours(), &row.known, row.last, place.position as u32);
                }
                let pasts: Vec<&Past> = rows.iter().map(|row| &row.past).collect();
                let (logits, made) = engine.step(&steps, &pasts);
                let cut = |index| cut(&made, index, cache.width);
                (logits, if keep { (0..wanted.len()).map(cut).collect() } else { Vec::new() })
            })
            .collect();
        let (logits, made): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
        (logits.concat(), made.into_iter().flatten().collect())
    }
}

/// The keys and values of one of several steps.
fn cut(made: &[KeysValues], index: usize, width: usize) -> Vec<KeysValues> {
    let part = |values: &[f32]| values[index * width..][..width].to_vec();
    made.iter().map(|made| KeysValues { keys: part(&made.keys), values: part(&made.values) }).collect()
}
