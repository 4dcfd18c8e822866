//! A text in the order of its events, and what each step is shown of it.

use pmm_core::{EventOrder, MASK};

/// The offsets of the five local patterns.
const PATTERNS: [&[isize]; TABLES] =
    [&[-4, -3, -2, -1], &[-6, -5, -4, -3, -2, -1], &[1, 2, 3, 4], &[-2, -1, 1, 2], &[-3, -2, -1, 1, 2, 3]];
/// Tables of local patterns.
pub(crate) const TABLES: usize = 5;
/// 2⁶⁴/φ: its multiples are spread evenly.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// What is around a position: known tokens, `classes` where a token is not known yet, `classes + 1` outside the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neighbours {
    pub(crate) classes: usize,
    pub(crate) window: usize,
    pub(crate) hash_bits: u32,
}

impl Neighbours {
    fn symbol(&self, known: &[u32], position: isize) -> u32 {
        match usize::try_from(position).ok().and_then(|position| known.get(position)) {
            None => self.classes as u32 + 1,
            Some(&MASK) => self.classes as u32,
            Some(&token) => token,
        }
    }

    /// Symbols that a table of the window has for each offset.
    pub(crate) fn symbols(&self) -> usize {
        self.classes + 2
    }

    /// Appends the rows of the window's table, `[offset, symbol]`, for offsets −window … −1, 1 … window around a position.
    pub(crate) fn window(&self, known: &[u32], centre: isize, rows: &mut Vec<u32>) {
        let reach = self.window as isize;
        let offsets = (-reach..=reach).filter(|&offset| offset != 0);
        rows.extend(
            offsets
                .enumerate()
                .map(|(index, offset)| (index * self.symbols()) as u32 + self.symbol(known, centre + offset)),
        );
    }

    /// Appends the row of each table of patterns for a target. Symbols are the digits of a number, which is spread over the rows.
    pub(crate) fn patterns(&self, known: &[u32], target: usize, rows: &mut Vec<u32>) {
        if self.hash_bits == 0 {
            return;
        }
        let base = self.symbols() as u64 + 1;
        for (table, pattern) in PATTERNS.iter().enumerate() {
            let digit = |offset: &isize| u64::from(self.symbol(known, target as isize + offset)) + 1;
            let number = pattern
                .iter()
                .fold(table as u64 + 1, |sum, offset| sum.wrapping_mul(base).wrapping_add(digit(offset)));
            rows.push((number.wrapping_mul(SPREAD) >> (64 - self.hash_bits)) as u32);
        }
    }
}

/// A text as the network reads it: step i reads the token of event i − 1 (a start symbol first) and predicts that of event i. It may be
/// the beginning of an order only.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedText {
    /// The token that each step reads; the start symbol is `classes`.
    pub(crate) read: Vec<u32>,
    /// One more than the position of that token; 0 for the start symbol.
    pub(crate) own: Vec<u32>,
    /// One more than the position that each step predicts.
    pub(crate) target: Vec<u32>,
    /// The token there.
    pub(crate) told: Vec<u32>,
    /// Rows of the tables of windows around the target, and around the token: `[steps, 2 · window]` each.
    pub(crate) windows: [Vec<u32>; 2],
    /// Rows of the tables of local patterns, `[steps, TABLES]`.
    pub(crate) patterns: Vec<u32>,
}

impl OrderedText {
    /// The first `steps` steps of a text in an order.
    pub(crate) fn new(neighbours: Neighbours, tokens: &[u32], order: &[u32], steps: usize) -> Self {
        let mut known = vec![MASK; tokens.len()];
        let mut text = Self::empty(steps);
        let mut last = None;
        for &position in &order[..steps] {
            text.push(neighbours, &known, last, position);
            let token = tokens[position as usize];
            text.told.push(token);
            known[position as usize] = token;
            last = Some((token, position));
        }
        text
    }

    pub(crate) fn empty(steps: usize) -> Self {
        let place = || Vec::with_capacity(steps);
        Self {
            read: place(),
            own: place(),
            target: place(),
            told: place(),
            windows: [Vec::new(), Vec::new()],
            patterns: Vec::new(),
        }
    }

    /// One more step: it reads the last token (with its position) and is to predict `target`.
    pub(crate) fn push(
        &mut self,
        neighbours: Neighbours,
        known: &[u32],
        last: Option<(u32, u32)>,
        target: u32,
    ) {
        let (token, own) = last.map_or((neighbours.classes as u32, 0), |(token, at)| (token, at + 1));
        self.read.push(token);
        self.own.push(own);
        self.target.push(target + 1);
        neighbours.window(known, target as isize, &mut self.windows[0]);
        neighbours.window(known, own as isize - 1, &mut self.windows[1]);
        neighbours.patterns(known, target as usize, &mut self.patterns);
    }

    /// Steps.
    pub fn len(&self) -> usize {
        self.read.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.read.is_empty()
    }

    /// The positions in their order.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = u32> {
        self.target.iter().map(|target| target - 1)
    }

    /// The tokens in that order.
    pub fn tokens(&self) -> &[u32] {
        &self.told
    }
}

/// The order that reads what is known first, left to right, and then the rest, left to right.
pub(crate) fn known_first(tokens: &[u32]) -> EventOrder {
    let time = |(c, token): (usize, &u32)| {
        0.5 * (c as f64 / tokens.len() as f64 + f64::from(u8::from(*token == MASK)))
    };
    EventOrder::sorted(&tokens.iter().enumerate().map(time).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Neighbours = Neighbours { classes: 3, window: 2, hash_bits: 8 };

    /// Classes 0, 1, 2; unknown is 3, outside 4; a table has five symbols an offset.
    #[test]
    fn windows_show_what_is_known_before_the_step() {
        let text = OrderedText::new(FEW, &[2, 0, 1, 1], &[2, 0, 3, 1], 4);
        assert_eq!(text.read, [3, 1, 2, 1]);
        assert_eq!(text.own, [0, 3, 1, 4]);
        assert_eq!(text.target, [3, 1, 4, 2]);
        assert_eq!(text.told, [1, 2, 1, 0]);
        let symbols = |step: usize, which: usize| {
            let row = &text.windows[which][step * 4..][..4];
            row.iter().enumerate().map(|(offset, row)| row - 5 * offset as u32).collect::<Vec<_>>()
        };
        assert_eq!(symbols(0, 0), [3, 3, 3, 4]); // around position 2: nothing is known
        assert_eq!(symbols(0, 1), [4, 4, 3, 3]); // around the start symbol, which stands before the text
        assert_eq!(symbols(1, 0), [4, 4, 3, 1]); // around position 0: the token at 2
        assert_eq!(symbols(3, 0), [4, 2, 1, 1]); // around position 1: all others
        assert_eq!(symbols(3, 1), [3, 1, 4, 4]); // around position 3
    }

    #[test]
    fn patterns_differ_where_they_should() {
        let rows = |known: &[u32]| {
            let mut rows = Vec::new();
            FEW.patterns(known, 3, &mut rows);
            rows
        };
        let (a, b) = (rows(&[0, 1, 2, MASK, 1, 0, MASK]), rows(&[0, 1, 2, MASK, 1, 1, MASK]));
        assert_eq!((a.len(), a[0], a[1]), (5, b[0], b[1]));
        assert!(a[2] != b[2] && a[3] != b[3] && a[4] != b[4]);
        assert!(a.iter().all(|row| *row < 256));
    }
}
