//! The method at work where the answer is known: a small target for each pair, its exact denoiser, and posterior means on their way.

use pmm_core::{
    Block, Categorical, Clock, Elements, Estimates, Exponential, Finish, FiniteTarget, Gamma, Head, Normal,
    Poisson, Space, States, Streams, TimeGrid, Values, online,
};

use crate::error::Error;

/// A known target on one coordinate, and how to speak of it.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Its name in files and addresses.
    pub name: &'static str,
    /// The pair, for headings.
    pub title: &'static str,
    /// What the reader sees, in two sentences.
    pub story: &'static str,
    /// The vertical axis; empty where means are points of a triangle.
    pub axis: &'static str,
    /// Names of the target's points.
    pub labels: Vec<String>,
    /// The target, which is its own exact denoiser.
    pub target: FiniteTarget,
}

/// The clock of all scenes: the paper's, to a reading of 1769.
pub fn clock() -> Exponential {
    Exponential::default()
}

/// The four pairs, each with a target.
pub fn scenes() -> Result<Vec<Scene>, Error> {
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

/// The grid of all scenes: uniform in the logarithm of the clock.
pub fn grid(steps: usize) -> Result<TimeGrid, Error> {
    Ok(TimeGrid::log_information(&clock(), 1e-2, steps)?)
}

/// Posterior means on their way to samples.
#[derive(Debug, Clone)]
pub struct Walk {
    /// The information at every step.
    pub readings: Vec<f64>,
    /// `[step][row × mean_len]` of the first rows.
    pub means: Vec<Vec<f32>>,
    /// The target's point nearest to the last mean of each of those rows.
    pub ends: Vec<usize>,
    /// The share of all rows that ended at each point of the target.
    pub shares: Vec<f64>,
}

impl Scene {
    /// Draws `rows` samples in so many steps, and keeps the ways of the first `paths` of them.
    ///
    /// ```
    /// use pmm::core::Streams;
    /// for scene in pmm::method::scenes()? {
    ///     let walk = scene.walk(8, 200, 50, &Streams::new(0))?;
    ///     assert_eq!((walk.readings.len(), walk.ends.len()), (51, 8));
    ///     assert!((walk.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    /// }
    /// # Ok::<(), pmm::Error>(())
    /// ```
    pub fn walk(&self, paths: usize, rows: usize, steps: usize, streams: &Streams) -> Result<Walk, Error> {
        let grid = grid(steps)?;
        let mut means = Vec::new();
        let mut watch = |_: usize, states: &States, _: &Estimates| {
            let all = states.means(0);
            means.push(all[..paths * all.len() / states.rows()].to_vec());
        };
        let states = States::prior(self.target.space(), 0, rows);
        let x = online(&self.target, states, &grid, streams, Finish::Estimate, &mut watch)?;
        let readings = grid.times().iter().map(|&t| clock().information(t, 0.0)).collect();
        let shares = self.target.law_of(&x)?;
        let ends = means.last().map_or(Vec::new(), |last| self.nearest(last, paths));
        Ok(Walk { readings, means, ends, shares })
    }

    /// The target's point nearest to each mean.
    fn nearest(&self, means: &[f32], rows: usize) -> Vec<usize> {
        let points = self.target.points().reals(0);
        let len = means.len() / rows.max(1);
        let distance = |mean: &[f32], m: usize| -> f32 {
            points[m * len..].iter().zip(mean).map(|(p, x)| (p - x).powi(2)).sum()
        };
        let best = |mean: &[f32]| {
            (0..self.labels.len()).min_by(|&i, &j| distance(mean, i).total_cmp(&distance(mean, j)))
        };
        means.chunks_exact(len).map(|mean| best(mean).unwrap_or(0)).collect()
    }
}

const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];

fn names(points: &[f32]) -> Vec<String> {
    points.iter().map(|x| format!("{x}")).collect()
}

fn scalar(block: Block, points: &[f32], head: Head) -> Result<FiniteTarget, Error> {
    let values = Values::new(vec![Elements::from(points.to_vec())]);
    Ok(FiniteTarget::new(&Space::new(vec![block]), values, &WEIGHTS)?.with_head(head))
}

fn categories() -> Result<FiniteTarget, Error> {
    let space = Space::new(vec![Block::new(Categorical::new(3, 3.0)?.simplex(), 1, clock())?]);
    let points = Values::new(vec![Elements::from(vec![1.0f32, 0.0, 0.0, 0.1, 0.8, 0.1, 0.2, 0.3, 0.5])]);
    Ok(FiniteTarget::new(&space, points, &WEIGHTS)?)
}
