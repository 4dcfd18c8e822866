//! How images are drawn: the sampler and its number of calls.

use pmm_core::{
    Churn, Exponential, Finish, Observer, Purpose, Solver, States, Streams, TimeGrid, Values, leap, ode,
    online, second_order,
};
use pmm_net::image::{ImageDenoiser, ImagePair};
use pmm_train::image::ImageFacts;

use crate::error::Error;

/// The noise level at which the ODE and Algorithm 1 of second order begin.
const SIGMA_MAX: f64 = 80.0;
/// The same for counts, where it is a = 1/σ² at which the first events have come: a few in an image.
const SIGMA_MAX_COUNTS: f64 = 18.0;
/// The exponent of Karras's steps.
const RHO: f64 = 7.0;
/// The noise levels between which churn applies.
const CHURN: (f64, f64) = (0.05, 50.0);

/// How noise is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampler {
    /// Algorithm 1 of the paper, with noise at every step.
    Sde,
    /// Algorithm 1, second order: the estimate is taken further by that of the step before, one call a step.
    Sde2,
    /// The probability-flow ODE, first order. For the Normal pair.
    Euler,
    /// The ODE, second order, two calls a step. For the Normal pair.
    Heun,
    /// The ODE by DPM-Solver++(2M), second order, one call a step. For the Normal pair.
    Dpm,
    /// Midpoint tau-leaping, two calls a step. For the Poisson pair.
    Leap,
}

/// What Algorithm 1 takes at the end of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// What the network expects of the image, x̂, by one more call: without noise.
    Estimate,
    /// The posterior mean μ, as in the paper: with what is left of the noise.
    Mean,
}

/// How images are drawn. The default is the recommended way of the pair.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Drawing {
    /// The sampler: Algorithm 1 of second order.
    pub sampler: Option<Sampler>,
    /// Network calls for an image: 20 for an ODE and for Algorithm 1 of second order (40 for counts), 250 for Algorithm 1, 100 for leaping.
    pub calls: Option<usize>,
    /// Noise put back on the way, such as 40; for Heun's method.
    pub churn: Option<f64>,
    /// What is taken at the end; for Algorithm 1.
    pub ending: Option<Ending>,
}

impl Drawing {
    fn sampler(&self) -> Sampler {
        self.sampler.unwrap_or(Sampler::Sde2)
    }

    /// Network calls for an image.
    pub(crate) fn calls(&self, pair: ImagePair) -> usize {
        self.calls.unwrap_or(match self.sampler() {
            Sampler::Sde => 250,
            Sampler::Leap => 100,
            Sampler::Sde2 if pair == ImagePair::Poisson => 40,
            _ => 20,
        })
    }

    /// Refuses what does not go together, before anything is drawn.
    pub(crate) fn check(&self, pair: ImagePair) -> Result<(), Error> {
        let sampler = self.sampler();
        let (fits, name, known) = match pair {
            ImagePair::Normal => (sampler != Sampler::Leap, "Normal", "sde, sde2, euler, heun and dpm"),
            ImagePair::Poisson => (
                matches!(sampler, Sampler::Sde | Sampler::Sde2 | Sampler::Leap),
                "Poisson",
                "sde, sde2 and leap",
            ),
        };
        if !fits {
            let what = format!("this sampler does not draw images of the {name} pair");
            return Err(Error::request(what, format!("{known} do")));
        }
        if let Some(churn) = self.churn {
            if sampler != Sampler::Heun {
                return Err(Error::request("churn is for the sampler heun", "leave it out, or choose heun"));
            }
            Churn::new(churn, CHURN.0, CHURN.1, 1.0)?;
        }
        if self.ending.is_some() && sampler != Sampler::Sde {
            return Err(Error::request(
                "the other samplers than sde end with what the network expects",
                "leave it out, or choose sde",
            ));
        }
        if !(2..=1_000_000).contains(&self.calls(pair)) {
            let what = match self.calls(pair) {
                1 => "one network call draws no image".to_owned(),
                calls => format!("{calls} network calls are not what an image is drawn by"),
            };
            return Err(Error::request(what, "2 at least; 20 are enough for sde2 and dpm"));
        }
        Ok(())
    }

    /// Draws images from where the states are.
    pub(crate) fn draw(
        &self,
        pair: ImagePair,
        denoiser: &ImageDenoiser,
        states: States,
        streams: &Streams,
        observer: &mut dyn Observer,
    ) -> Result<Values, Error> {
        let (clock, calls) = (Exponential::default(), self.calls(pair));
        let solver = match (self.sampler(), self.churn) {
            (Sampler::Euler, _) => Solver::Euler,
            (Sampler::Heun, Some(churn)) if churn > 0.0 => {
                Solver::HeunWithChurn(Churn::new(churn, CHURN.0, CHURN.1, 1.0)?)
            }
            (Sampler::Heun, _) => Solver::Heun,
            (Sampler::Dpm, _) => Solver::DpmSolverPlusPlus2M,
            (Sampler::Leap, _) => {
                // Two calls a step, and one at the end.
                let grid = TimeGrid::uniform(((calls - 1) / 2).max(1))?;
                return Ok(leap(denoiser, states, &grid, streams, observer)?);
            }
            (Sampler::Sde2, _) => {
                let sigma_max = match pair {
                    ImagePair::Normal => SIGMA_MAX,
                    ImagePair::Poisson => SIGMA_MAX_COUNTS,
                };
                let grid = TimeGrid::karras(&clock, sigma_max, RHO, calls - 1)?;
                return Ok(second_order(denoiser, states, &grid, streams, observer)?);
            }
            (Sampler::Sde, _) => {
                let finish = match self.ending {
                    Some(Ending::Mean) => Finish::PosteriorMean,
                    _ => Finish::Estimate,
                };
                // An estimate at the end is one more call.
                let grid = TimeGrid::uniform(calls - usize::from(finish == Finish::Estimate))?;
                return Ok(online(denoiser, states, &grid, streams, finish, observer)?);
            }
        };
        let steps = if self.sampler() == Sampler::Heun { calls / 2 } else { calls - 1 };
        let grid = TimeGrid::karras(&clock, SIGMA_MAX, RHO, steps.max(1))?;
        Ok(ode(denoiser, states, &grid, streams, solver, observer)?)
    }
}

/// Classes of images by their numbers: as frequent as in the data, where none is asked for.
pub(crate) fn classes(
    facts: &ImageFacts,
    asked: Option<u32>,
    rows: std::ops::Range<u64>,
    streams: &Streams,
) -> Vec<Option<u32>> {
    let total: u64 = facts.class_counts.iter().sum();
    let draw = |row: u64| {
        if asked.is_some() || total == 0 {
            return asked;
        }
        let mut left = streams.stream(Purpose::CLASS, 0, row).below(total);
        let class = facts.class_counts.iter().position(|&count| {
            let here = left < count;
            left = left.saturating_sub(count);
            here
        });
        class.map(|class| class as u32)
    };
    rows.map(draw).collect()
}

/// Values as the bytes of images.
pub(crate) fn bytes(pair: ImagePair, values: &[f32], width: usize) -> Vec<Vec<u8>> {
    values.chunks_exact(width).map(|image| image.iter().map(|x| pair.byte(*x)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_net::image::PixelFacts;

    #[test]
    fn classes_are_as_frequent_as_in_the_data() {
        let facts = ImageFacts {
            count: 4,
            shape: [1, 1, 1],
            classes: vec!["a".into(), "b".into(), "c".into()],
            class_counts: vec![1, 0, 3],
            pixels: PixelFacts { mean: 0.0, sd: 1.0 },
        };
        let drawn = classes(&facts, None, 0..4000, &Streams::new(0));
        let share = |class| drawn.iter().filter(|drawn| **drawn == Some(class)).count() as f64 / 4000.0;
        // Five standard deviations.
        assert!((share(0) - 0.25).abs() < 0.035 && share(1) == 0.0 && share(0) + share(2) == 1.0);
        assert_eq!(classes(&facts, Some(1), 0..2, &Streams::new(0)), [Some(1); 2]);
    }
}
