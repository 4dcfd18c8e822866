//! How images are drawn: the sampler and its number of calls.

use anyhow::bail;
use pmm_core::{
    Churn, Exponential, Finish, Observer, Purpose, Solver, States, Streams, TimeGrid, Values, leap, ode,
    online,
};
use pmm_net::image::{ImageDenoiser, ImagePair};
use pmm_train::ImageFacts;

use crate::cli::{Drawing, Last, Picturing, Sampler};
use crate::output::Advice;

/// Images drawn together.
pub(super) const CHUNK: usize = 64;
/// The noise level at which the ODE begins.
const SIGMA_MAX: f64 = 80.0;
/// The exponent of Karras's steps.
const RHO: f64 = 7.0;
/// The noise levels between which churn applies.
const CHURN: (f64, f64) = (0.05, 50.0);

#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    sampler: Sampler,
    calls: usize,
    churn: f64,
    finish: Finish,
}

impl Plan {
    pub(super) fn new(drawing: &Drawing, asked: &Picturing, pair: ImagePair) -> anyhow::Result<Self> {
        if drawing.is_of_text() {
            bail!(Advice::new("--temperature, --top-k and --top-p are for texts".into(), "leave them out"));
        }
        let mut plan = Self::of(pair);
        if let Some(sampler) = drawing.sampler {
            plan.sampler = sampler;
        }
        let fits = match pair {
            ImagePair::Normal => plan.sampler.is_of_images() && plan.sampler != Sampler::Leap,
            ImagePair::Poisson => matches!(plan.sampler, Sampler::Sde | Sampler::Leap),
        };
        if !fits {
            let (pair, samplers) = match pair {
                ImagePair::Normal => ("Normal", "sde, euler, heun and dpm"),
                ImagePair::Poisson => ("Poisson", "sde and leap"),
            };
            bail!(Advice::new(
                format!("this sampler does not draw images of the {pair} pair"),
                format!("--sampler {samplers} do")
            ));
        }
        if let Some(churn) = asked.churn {
            if plan.sampler != Sampler::Heun {
                bail!(Advice::new(
                    "--churn is for --sampler heun".into(),
                    "leave it out, or add --sampler heun"
                ));
            }
            plan.churn = churn;
            // Refused now rather than halfway.
            Churn::new(churn, CHURN.0, CHURN.1, 1.0)?;
        }
        if let Some(last) = asked.last {
            if plan.sampler != Sampler::Sde {
                bail!(Advice::new(
                    "--final is for --sampler sde: the others end with what the network expects".into(),
                    "leave it out, or add --sampler sde"
                ));
            }
            plan.finish = match last {
                Last::Estimate => Finish::Estimate,
                Last::Mean => Finish::PosteriorMean,
            };
        }
        plan.calls = match plan.sampler {
            Sampler::Sde => 250,
            Sampler::Leap => 100,
            _ => 20,
        };
        if let Some(calls) = drawing.steps {
            plan.calls = calls.get();
        }
        if plan.calls < 2 {
            bail!(Advice::new(
                "one network call draws no image".into(),
                "--steps 2 at least; 20 are enough for dpm"
            ));
        }
        Ok(plan)
    }

    /// The recommended plan of a pair.
    pub(super) fn of(pair: ImagePair) -> Self {
        let (sampler, calls) = match pair {
            ImagePair::Normal => (Sampler::Dpm, 20),
            ImagePair::Poisson => (Sampler::Leap, 100),
        };
        Self { sampler, calls, churn: 0.0, finish: Finish::Estimate }
    }

    /// With another number of calls.
    pub(super) fn with_calls(self, calls: usize) -> Self {
        Self { calls, ..self }
    }

    /// Draws images from where the states are.
    pub(super) fn draw(
        &self,
        denoiser: &ImageDenoiser,
        states: States,
        streams: &Streams,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Values> {
        let clock = Exponential::default();
        let solver = match self.sampler {
            Sampler::Euler => Solver::Euler,
            Sampler::Heun if self.churn > 0.0 => {
                Solver::HeunWithChurn(Churn::new(self.churn, CHURN.0, CHURN.1, 1.0)?)
            }
            Sampler::Heun => Solver::Heun,
            Sampler::Leap => {
                // Two calls a step, and one at the end.
                let grid = TimeGrid::uniform(((self.calls - 1) / 2).max(1))?;
                return Ok(leap(denoiser, states, &grid, streams, observer)?);
            }
            Sampler::Sde => {
                // An estimate at the end is one more call.
                let grid = TimeGrid::uniform(self.calls - usize::from(self.finish == Finish::Estimate))?;
                return Ok(online(denoiser, states, &grid, streams, self.finish, observer)?);
            }
            _ => Solver::DpmSolverPlusPlus2M,
        };
        let steps = if self.sampler == Sampler::Heun { self.calls / 2 } else { self.calls - 1 };
        let grid = TimeGrid::karras(&clock, SIGMA_MAX, RHO, steps.max(1))?;
        Ok(ode(denoiser, states, &grid, streams, solver, observer)?)
    }
}

/// Classes of images by their numbers: as frequent as in the data, where none is asked for.
pub(super) fn classes(
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
pub(super) fn bytes(pair: ImagePair, values: &[f32], width: usize) -> Vec<Vec<u8>> {
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
