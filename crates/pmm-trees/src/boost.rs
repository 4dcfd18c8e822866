//! Boosting: the trees of all questions of a column, grown side by side until held-out examples gain no more.

use pmm_core::{Purpose, Streams};

use crate::column_trees::{ColumnTrees, value_of};
use crate::examples::{Examples, Feature};
use crate::grow::{Grower, Grown, Pulled, Spare};
use crate::histogram::{Layout, SplitRule};
use crate::questions::{Branch, Questions};

/// How trees are grown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoostConfig {
    /// Trees of a question, at most.
    pub rounds: usize,
    /// What is taken of each tree.
    pub rate: f64,
    /// Leaves of a tree, at most.
    pub leaves: usize,
    /// Added to the curvature of a leaf: shrinks its value.
    pub l2: f64,
    /// The least curvature of a leaf: four examples of even odds have 1.
    pub least: f64,
    /// The share of the examples that a tree is grown from.
    pub share: f64,
    /// Rounds without a new best on the held-out examples after which no more trees are grown.
    pub patience: usize,
}

/// Splits that gain less are noise.
const LEAST_GAIN: f64 = 1e-3;
/// What splits into sets of names are shrunk by, beside `l2`.
const CODES_L2: f64 = 10.0;
/// Rounds in a row without any split after which a question gets no more trees.
const TRIES: usize = 3;

/// The examples of one question.
struct Asked {
    examples: Vec<u32>,
    yes: Vec<bool>,
    log_odds: Vec<f32>,
}

impl Asked {
    /// The examples that come to each question.
    fn of(examples: &Examples, questions: &Questions, bases: &[f32]) -> Vec<Self> {
        let mut asked: Vec<Self> =
            bases.iter().map(|_| Self { examples: vec![], yes: vec![], log_odds: vec![] }).collect();
        let ways = questions.ways();
        for (example, code) in examples.codes.iter().enumerate() {
            for &(question, yes) in &ways[*code as usize] {
                asked[question as usize].examples.push(example as u32);
                asked[question as usize].yes.push(yes);
            }
        }
        for (asked, base) in asked.iter_mut().zip(bases) {
            asked.log_odds = vec![*base; asked.examples.len()];
        }
        asked
    }

    fn add(&mut self, tree: &[Grown], of: &Examples, features: usize) {
        for (log_odds, example) in self.log_odds.iter_mut().zip(&self.examples) {
            *log_odds += value_of(tree, of.row(*example, features));
        }
    }

    /// −log p of the answers, in sum.
    fn loss(&self) -> f64 {
        let one = |(log_odds, yes): (&f32, &bool)| {
            let wrong = f64::from(if *yes { -*log_odds } else { *log_odds });
            wrong.max(0.0) + (-wrong.abs()).exp().ln_1p()
        };
        self.log_odds.iter().zip(&self.yes).map(one).sum()
    }
}

/// Fits the trees of a column. `counts` are those of its codes among all rows; `column` keys what is drawn.
///
/// Every question starts from the log-odds of the counts. In each round it gets one tree, for a share of its examples, drawn
/// anew; it gets no more when its held-out examples have not gained for a while, and what came after their best is dropped.
/// Questions with few held-out examples stop together. Without held-out examples all rounds are kept.
pub fn fit(
    features: &[Feature],
    questions: Questions,
    counts: &[u64],
    (learned, held_out): (&Examples, &Examples),
    config: &BoostConfig,
    (streams, column): (&Streams, u32),
) -> ColumnTrees {
    let bases = bases(&questions, counts);
    let layout = Layout::new(features);
    let mut columns = Boosting {
        grower: Grower {
            layout: &layout,
            bins: &learned.bins,
            rule: SplitRule { l2: config.l2, codes_l2: CODES_L2, least: config.least, gain: LEAST_GAIN },
            leaves: config.leaves,
            rate: config.rate,
        },
        share: config.share,
        spare: Vec::new(),
        pulled: Vec::new(),
    };
    let mut asked = Asked::of(learned, &questions, &bases);
    let mut checked = Asked::of(held_out, &questions, &bases);
    let mut stops = Stops::new(&checked);
    let mut grown: Vec<Vec<(usize, Vec<Grown>)>> = vec![Vec::new(); bases.len()];
    let mut tries = vec![TRIES; bases.len()];
    for round in 1..=config.rounds {
        for question in 0..bases.len() {
            if tries[question] == 0 || stops.waited(question, round) > config.patience {
                continue;
            }
            let key = (round as u64) << 32 | question as u64;
            let mut rng = streams.block_stream(Purpose::TREE_EXAMPLES, column, key, 0);
            let Some(tree) = columns.tree(&asked[question], &mut rng) else {
                tries[question] -= 1;
                continue;
            };
            tries[question] = TRIES;
            asked[question].add(&tree, learned, features.len());
            checked[question].add(&tree, held_out, features.len());
            stops.losses[question] = checked[question].loss();
            grown[question].push((round, tree));
        }
        stops.look(round, held_out.codes.is_empty());
    }
    let kept: Vec<Vec<Vec<Grown>>> = grown
        .into_iter()
        .enumerate()
        .map(|(question, trees)| {
            let last = stops.best[stops.group[question]].1;
            trees.into_iter().filter(|(round, _)| *round <= last).map(|(_, tree)| tree).collect()
        })
        .collect();
    ColumnTrees::new(questions, features.len(), bases, &kept)
}

/// When to stop: a question with many held-out examples by its own, all others together.
struct Stops {
    /// The held-out loss of every question.
    losses: Vec<f64>,
    /// The group of every question.
    group: Vec<usize>,
    /// The lowest loss of every group, and its round.
    best: Vec<(f64, usize)>,
}

/// Held-out examples with which a question stops by itself.
const MANY: usize = 400;

impl Stops {
    fn new(checked: &[Asked]) -> Self {
        let mut groups = 1;
        let group = checked.iter().map(|asked| {
            let alone = asked.examples.len() >= MANY;
            groups += usize::from(alone);
            if alone { groups - 1 } else { 0 }
        });
        let group: Vec<usize> = group.collect();
        let mut stops = Self {
            losses: checked.iter().map(Asked::loss).collect(),
            group,
            best: vec![(f64::INFINITY, 0); groups],
        };
        stops.look(0, false);
        stops
    }

    /// Rounds since the best of a question's group.
    fn waited(&self, question: usize, round: usize) -> usize {
        round - self.best[self.group[question]].1
    }

    fn look(&mut self, round: usize, always: bool) {
        let mut sums = vec![0.0; self.best.len()];
        self.group.iter().zip(&self.losses).for_each(|(group, loss)| sums[*group] += loss);
        for (best, sum) in self.best.iter_mut().zip(sums) {
            if sum < best.0 || always {
                *best = (sum, round);
            }
        }
    }
}

/// What is used again from tree to tree.
struct Boosting<'a> {
    grower: Grower<'a>,
    share: f64,
    spare: Spare,
    pulled: Vec<Pulled>,
}

impl Boosting<'_> {
    fn tree(&mut self, asked: &Asked, rng: &mut pmm_core::Stream) -> Option<Vec<Grown>> {
        self.pulled.clear();
        let bound = (self.share.min(1.0) * 65536.0) as u64;
        for (at, chunk) in asked.examples.chunks(4).enumerate() {
            // Sixteen bits an example.
            let word = rng.word();
            for (k, &example) in chunk.iter().enumerate() {
                if (word >> (16 * k)) & 0xffff < bound {
                    let p = 1.0 / (1.0 + (-asked.log_odds[4 * at + k]).exp());
                    let gradient = p - f32::from(u8::from(asked.yes[4 * at + k]));
                    self.pulled.push(Pulled { example, gradient, curvature: (p * (1.0 - p)).max(1e-6) });
                }
            }
        }
        if self.pulled.is_empty() {
            return None;
        }
        self.grower.grow(&mut self.pulled, &mut self.spare)
    }
}

/// The log-odds of every question among all rows; a code that was never seen has half a row.
fn bases(questions: &Questions, counts: &[u64]) -> Vec<f32> {
    let mut sums = vec![[0.0; 2]; questions.list().len()];
    for (at, pair) in questions.list().iter().enumerate().rev() {
        for (side, branch) in pair.iter().enumerate() {
            sums[at][side] = match *branch {
                Branch::Question(next) => sums[next as usize][0] + sums[next as usize][1],
                Branch::Code(code) => counts.get(code as usize).map_or(0.0, |count| *count as f64) + 0.5,
            };
        }
    }
    sums.iter().map(|[no, yes]: &[f64; 2]| (yes / no).ln() as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::FeatureKind;

    const CONFIG: BoostConfig =
        BoostConfig { rounds: 60, rate: 0.2, leaves: 8, l2: 1.0, least: 0.5, share: 0.7, patience: 60 };

    fn features() -> Vec<Feature> {
        vec![Feature { kind: FeatureKind::Ordered, bins: 5 }, Feature { kind: FeatureKind::Codes, bins: 6 }]
    }

    /// Four codes by a threshold and a set of names, one row in twenty wrong; a feature is unknown now and then.
    fn examples(n: u32, seed: u64) -> Examples {
        let mut rng = Streams::new(seed).stream(Purpose::TREE_EXAMPLES, 0, 0);
        let mut examples = Examples::default();
        for _ in 0..n {
            let (a, b) = (1 + rng.below(4) as u8, 1 + rng.below(5) as u8);
            let right = 2 * u32::from(a > 2) + u32::from(b == 2 || b == 5);
            let code = if rng.unit() < 0.05 { rng.below(4) as u32 } else { right };
            examples.bins.extend([a, if rng.unit() < 0.2 { 0 } else { b }]);
            examples.codes.push(code);
        }
        examples
    }

    fn fitted() -> ColumnTrees {
        let (learned, held_out) = (examples(2000, 1), examples(500, 2));
        let questions = Questions::unordered(&[1, 1, 1, 1]);
        fit(&features(), questions, &[1; 4], (&learned, &held_out), &CONFIG, (&Streams::new(0), 0))
    }

    /// Where a row is known the right code has probability .9625; where the name is unknown, two codes in the proportion 3 : 2.
    #[test]
    fn probabilities_are_those_of_the_rows() {
        let trees = fitted();
        let mut p = Vec::new();
        trees.probabilities(&[4, 5], &mut p);
        assert!((p[3] - 0.9625).abs() < 0.04, "{p:?}");
        trees.probabilities(&[1, 0], &mut p);
        assert!((p[0] - 0.58).abs() < 0.15 && (p[1] - 0.39).abs() < 0.15, "{p:?}");
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    /// Held-out examples that have nothing to do with the features stop the growth at once.
    #[test]
    fn noise_is_not_learned() {
        let mut learned = examples(400, 3);
        let mut held_out = examples(400, 4);
        let mut rng = Streams::new(5).stream(Purpose::TREE_EXAMPLES, 0, 0);
        for code in learned.codes.iter_mut().chain(&mut held_out.codes) {
            *code = rng.below(4) as u32;
        }
        let questions = Questions::ordered(&[1; 4]);
        let config = BoostConfig { patience: 5, ..CONFIG };
        let trees =
            fit(&features(), questions, &[1; 4], (&learned, &held_out), &config, (&Streams::new(0), 0));
        assert!(trees.trees() <= 6, "{}", trees.trees());
    }

    #[test]
    fn counts_give_the_odds_to_start_from() {
        let bases = bases(&Questions::ordered(&[2, 0]), &[2, 0]);
        assert!((bases[0] - (0.5f32 / 2.5).ln()).abs() < 1e-6);
        assert_eq!(fitted(), fitted());
    }
}
