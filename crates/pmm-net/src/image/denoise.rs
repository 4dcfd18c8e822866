//! The network of an image as a denoiser of states.

use std::sync::Arc;

use burn::tensor::Tensor;
use pmm_core::{Denoiser, Elements, Estimate, Estimates, States};

use super::net::{ImageNet, View};

/// A network with its weights: what samplers of images and bounds ask.
///
/// Classes come in the order of the batch's rows. With guidance w the estimate is that without a class, moved w times as far as
/// the class moves it; 1 is the class as learned.
#[derive(Debug, Clone)]
pub struct ImageDenoiser {
    net: Arc<ImageNet>,
    parts: Arc<[Tensor<2>]>,
    labels: Vec<Option<u32>>,
    guidance: f64,
}

impl ImageDenoiser {
    /// A network with weights of its own, told no class.
    pub fn new(net: Arc<ImageNet>, weights: &[f32]) -> Self {
        let parts = net.bind(weights).into();
        Self { net, parts, labels: Vec::new(), guidance: 1.0 }
    }

    /// Told the classes of a batch's rows, with this guidance; with none of it, classes need not be told.
    pub fn told(&self, labels: Vec<Option<u32>>, guidance: f64) -> Self {
        let labels = if guidance == 0.0 { Vec::new() } else { labels };
        Self { labels, guidance, ..self.clone() }
    }

    /// The network.
    pub fn net(&self) -> &Arc<ImageNet> {
        &self.net
    }

    fn label(&self, row: usize) -> Option<u32> {
        self.labels.get(row).copied().flatten()
    }
}

impl Denoiser for ImageDenoiser {
    fn denoise(&self, states: &States, estimates: &mut Estimates) {
        let (clock, width) = (states.clock(0), self.net.space().blocks()[0].width());
        let Elements::Double(stat) = states.stat(0) else { return };
        let pixels = width / self.net.shape()[0];
        let observed: Vec<bool> = clock
            .chunks_exact(width)
            .flat_map(|clock| {
                (0..pixels).map(|p| clock[p..].iter().step_by(pixels).all(|a| *a == f64::INFINITY))
            })
            .collect();
        let view = |row: usize, label: Option<u32>| {
            let clock = &clock[row * width..][..width];
            View {
                stat: &stat[row * width..][..width],
                clock: clock.iter().copied().find(|a| *a < f64::INFINITY).unwrap_or(0.0),
                observed: &observed[row * pixels..][..pixels],
                label,
                augment: &[],
            }
        };
        let ask = |label: &dyn Fn(usize) -> Option<u32>, x_hat: &mut [f32]| {
            let views: Vec<View<'_>> = (0..states.rows()).map(|row| view(row, label(row))).collect();
            self.net.estimates(&self.parts, &views, x_hat);
        };
        let mut x_hat = estimates.blocks[0].take_buffer(clock.len());
        ask(&|row| self.label(row), &mut x_hat);
        if self.guidance != 1.0 && (0..states.rows()).any(|row| self.label(row).is_some()) {
            let mut without = vec![0.0; x_hat.len()];
            ask(&|_| None, &mut without);
            let levels = self.net.levels();
            x_hat.iter_mut().zip(&without).for_each(|(with, without)| {
                *with = levels.held(levels.guide(*without, *with, self.guidance))
            });
        }
        estimates.blocks[0] = Estimate::Mean(x_hat);
    }
}

#[cfg(test)]
mod tests {
    use super::super::net::tests::{net, weights};
    use super::super::pixels::ImagePair;
    use super::*;
    use pmm_core::{Exponential, Finish, Solver, Streams, TimeGrid, Values, leap, ode, online};

    fn denoiser(pair: ImagePair) -> ImageDenoiser {
        let net = net(pair, 0.0);
        let weights = weights(&net);
        ImageDenoiser::new(Arc::new(net), &weights)
    }

    /// All samplers of the core run; a row is the same in a batch of one and of six, to the bit.
    #[test]
    fn rows_do_not_depend_on_the_batch() {
        let clock = Exponential::default();
        let streams = Streams::new(2);
        for (pair, sampler) in
            [(ImagePair::Normal, 0), (ImagePair::Normal, 1), (ImagePair::Poisson, 0), (ImagePair::Poisson, 2)]
        {
            let denoiser = denoiser(pair);
            let draw = |first: u64, rows: usize| -> Values {
                let states = States::prior(denoiser.net().space(), first, rows);
                let told = denoiser
                    .told((first..first + rows as u64).map(|row| Some(row as u32 % 3)).collect(), 2.0);
                let log = TimeGrid::log_information(&clock, 1e-2, 4).unwrap();
                match sampler {
                    0 => online(&told, states, &log, &streams, Finish::Estimate, &mut ()).unwrap(),
                    1 => {
                        let grid = TimeGrid::karras(&clock, 80.0, 7.0, 4).unwrap();
                        ode(&told, states, &grid, &streams, Solver::DpmSolverPlusPlus2M, &mut ()).unwrap()
                    }
                    _ => leap(&told, states, &log, &streams, &mut ()).unwrap(),
                }
            };
            let all = draw(0, 6);
            assert_eq!(draw(0, 1).reals(0), &all.reals(0)[..64], "{pair:?}");
            assert_eq!(draw(4, 2).reals(0), &all.reals(0)[4 * 64..], "{pair:?}");
            assert!(all.reals(0).iter().all(|x| x.is_finite()));
        }
    }

    /// Whatever the network says, and however it is guided, an estimate is a pixel that there can be.
    #[test]
    fn estimates_are_pixels() {
        for pair in [ImagePair::Normal, ImagePair::Poisson] {
            let denoiser = denoiser(pair);
            let (black, white) = (pair.value(0), pair.value(255));
            for guidance in [1.0, 1000.0] {
                let told = denoiser.told(vec![Some(0), Some(1)], guidance);
                let mut states = States::prior(told.net().space(), 0, 2);
                let x = Values::new(vec![Elements::from(vec![white; 2 * 64])]);
                states.draw(&x, &[0.4, 0.6], &Streams::new(3), 0).unwrap();
                let mut estimates = Estimates::default();
                estimates.ask(&told, &states).unwrap();
                let Estimate::Mean(x_hat) = &estimates.blocks[0] else { panic!() };
                assert!(x_hat.iter().all(|x| (black..=white).contains(x)), "{pair:?} {guidance}: {x_hat:?}");
                assert!(guidance == 1.0 || x_hat.iter().any(|x| *x == black || *x == white), "{pair:?}");
            }
        }
    }

    /// Observed pixels stay, and change what is said of the others.
    #[test]
    fn observed_pixels_count() {
        let denoiser = denoiser(ImagePair::Normal);
        let mut told = Vec::new();
        for value in [-0.5f32, 0.5] {
            let x = Values::new(vec![Elements::from(vec![value; 64])]);
            let mut states = States::prior(denoiser.net().space(), 0, 1);
            states.observe(&x, |_, _, c| c < 32).unwrap();
            let mut estimates = Estimates::default();
            estimates.ask(&denoiser, &states).unwrap();
            let Estimate::Mean(x_hat) = &estimates.blocks[0] else { panic!() };
            told.push(x_hat[32..].to_vec());
            let grid = TimeGrid::karras(&Exponential::default(), 80.0, 7.0, 3).unwrap();
            let x = ode(&denoiser, states, &grid, &Streams::new(1), Solver::Euler, &mut ()).unwrap();
            assert!(x.reals(0)[..32].iter().all(|x| *x == value));
        }
        assert_ne!(told[0], told[1]);
    }
}
