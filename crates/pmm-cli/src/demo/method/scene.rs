//! The four targets of the demo, one for each pair.

use pmm::core::{
    Block, Categorical, Elements, Exponential, FiniteTarget, Gamma, Head, Normal, Poisson, Space, Values,
};

/// A known target on one coordinate, and how to speak of it.
pub(super) struct Scene {
    /// The file's stem.
    pub(super) name: &'static str,
    /// The pair, for headings.
    pub(super) title: &'static str,
    /// What the reader sees, in two sentences.
    pub(super) story: &'static str,
    /// The vertical axis.
    pub(super) axis: &'static str,
    /// Names of the target's points.
    pub(super) labels: Vec<String>,
    pub(super) target: FiniteTarget,
}

/// The clock of all scenes: the paper's, to a reading of 1769.
pub(super) fn clock() -> Exponential {
    Exponential::default()
}

pub(super) fn scenes() -> anyhow::Result<Vec<Scene>> {
    Ok(vec![
        Scene {
            name: "normal",
            title: "Normal–Normal: real numbers",
            story: "Each line is the posterior mean of one sample, moved by Gaussian observations. It starts at the prior \
                    mean, hesitates between the target's values, and settles on one of them.",
            axis: "posterior mean μ",
            labels: names(&[-2.0, 0.5, 3.0]),
            target: scalar(Block::new(Normal::new(1.0, 0.0)?, 1, clock())?, &[-2.0, 0.5, 3.0], Head::Mean)?,
        },
        Scene {
            name: "poisson",
            title: "Gamma–Poisson: counts",
            story: "Observations are events: between them the posterior mean falls, with each it jumps up. A sample \
                    that never sees an event ends at zero.",
            axis: "posterior mean μ",
            labels: names(&[0.0, 3.0, 10.0]),
            target: scalar(Block::new(Poisson::new(0.5, 0.5)?, 1, clock())?, &[0.0, 3.0, 10.0], Head::Mean)?,
        },
        Scene {
            name: "categorical",
            title: "Dirichlet–Categorical: categories and proportions",
            story: "The posterior mean is a point of the triangle of probabilities. It starts at the centre, and every mark of a \
                    category pulls it towards that corner; the diamonds are the target: pure A, mostly B, and a blend.",
            axis: "",
            labels: ["all A", "mostly B", "blend"].map(String::from).to_vec(),
            target: categories()?,
        },
        Scene {
            name: "gamma",
            title: "InverseGamma–Gamma: positive values",
            story: "Observations multiply noise: the posterior mean jumps by amounts in proportion to the value. Here each step \
                    draws from the marginal posterior; with the mean plugged in, as the paper prints it, samples stay \
                    away from the target however small the steps.",
            axis: "posterior mean μ",
            labels: names(&[0.5, 2.0, 6.0]),
            target: scalar(Block::new(Gamma::new(2.0, 2.0)?, 1, clock())?, &[0.5, 2.0, 6.0], Head::Marginal)?,
        },
    ])
}

const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

fn names(points: &[f32]) -> Vec<String> {
    points.iter().map(|x| format!("{x}")).collect()
}

fn scalar(block: Block, points: &[f32], head: Head) -> anyhow::Result<FiniteTarget> {
    let values = Values::new(vec![Elements::from(points.to_vec())]);
    Ok(FiniteTarget::new(&Space::new(vec![block]), values, &WEIGHTS)?.with_head(head))
}

fn categories() -> anyhow::Result<FiniteTarget> {
    let space = Space::new(vec![Block::new(Categorical::new(3, 3.0)?.simplex(), 1, clock())?]);
    let points = Values::new(vec![Elements::from(vec![1.0f32, 0.0, 0.0, 0.1, 0.8, 0.1, 0.2, 0.3, 0.5])]);
    Ok(FiniteTarget::new(&space, points, &WEIGHTS)?)
}
