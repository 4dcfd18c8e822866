//! How far samples are from the target as steps grow.

use pmm::core::{
    Finish, FiniteTarget, Head, States, Streams, online, total_variation, total_variation_error,
};
use pmm::method::{Scene, grid};

/// The numbers of steps in the table.
pub(super) const STEPS: [usize; 5] = [10, 30, 100, 300, 1000];

/// One line of the error plot, one column of the table.
pub(super) struct Series {
    pub(super) name: String,
    /// Total variation and its standard error at each of [`STEPS`].
    pub(super) distance: Vec<(f64, f64)>,
}

/// Every pair with the head it wants, and the Gamma pair with the paper's.
pub(super) fn columns(scenes: &[Scene]) -> Vec<(String, FiniteTarget)> {
    let mut columns: Vec<(String, FiniteTarget)> = Vec::new();
    for scene in scenes {
        let short = scene.title.split(':').next().unwrap_or(scene.title);
        columns.push((short.to_owned(), scene.target.clone()));
        if scene.name == "gamma" {
            columns.push(("same, mean plugged in".to_owned(), scene.target.clone().with_head(Head::Mean)));
        }
    }
    columns
}

/// Total variation between the target and the law of this many samples, with its standard error.
pub(super) fn distance(
    target: &FiniteTarget,
    steps: usize,
    rows: usize,
    streams: &Streams,
) -> anyhow::Result<(f64, f64)> {
    let states = States::prior(target.space(), 0, rows);
    let law = target.law_of(&online(target, states, &grid(steps)?, streams, Finish::Estimate, &mut ())?)?;
    let error = total_variation_error(&law, target.weights(), rows);
    Ok((total_variation(&law, target.weights()), error))
}
