//! How a fit went so far, for whoever begins to watch it late.

use serde::Serialize;
use utoipa::ToSchema;

/// Points of a curve that are kept, at most.
const MOST: usize = 600;

/// The losses so far.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub(crate) struct History {
    /// (step, loss) of training, smoothed.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub(crate) train: Vec<(u64, f64)>,
    /// (step, loss) on held-out data.
    #[schema(value_type = Vec<Vec<f64>>)]
    pub(crate) held_out: Vec<(u64, f64)>,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
}

impl History {
    /// One more point of training.
    pub(crate) fn step(&mut self, step: u64, loss: f64) {
        self.train.push((step, loss));
        thin(&mut self.train);
    }

    /// One more look at held-out data.
    pub(crate) fn validated(&mut self, step: u64, loss: f64) {
        self.held_out.retain(|(at, _)| *at < step);
        self.held_out.push((step, loss));
        thin(&mut self.held_out);
    }
}

/// Every other point goes when there are too many; the last stays.
fn thin(points: &mut Vec<(u64, f64)>) {
    if points.len() > MOST {
        let last = points.len() - 1;
        let mut at = 0;
        points.retain(|_| {
            at += 1;
            at % 2 == 1 || at == last + 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned() {
        let mut history = History::default();
        (0..10_000).for_each(|step| history.step(step, 1.0));
        assert!(history.train.len() <= MOST && history.train.len() > MOST / 3);
        assert_eq!(history.train.last(), Some(&(9_999, 1.0)));
        assert!(history.train.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}
