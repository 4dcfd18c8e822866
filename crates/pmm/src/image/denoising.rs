//! How far the network is off at each noise level, beside the posterior mean.

use pmm_core::{Estimate, Estimates, Purpose, States, Streams};
use pmm_eval::DenoisingPoint;
use pmm_net::image::ImagePair;

use super::model::Model;
use super::real::Real;
use crate::error::Error;

/// Images that are looked at.
const IMAGES: usize = 64;
/// Noise levels, and the largest of them; the smallest is that at the end of the clock.
const LEVELS: (usize, f64) = (14, 20.0);

/// Errors from the smallest noise level to the largest.
pub(crate) fn curve(model: &Model, real: &Real, streams: &Streams) -> Result<Vec<DenoisingPoint>, Error> {
    let rows = &real.test.rows[..IMAGES.min(real.test.len())];
    let x = real.test.values(model, rows);
    let denoiser = model.denoiser.told(real.test.labels(model, rows), 1.0);
    let space = denoiser.net().space();
    let clock = space.blocks()[0].clock();
    let end = clock.information(1.0, 0.0).powf(-0.5);
    // Noise of its own.
    let noise = streams.child(Purpose::DENOISING, 0);
    let unit = 255.0 / f64::from(model.config().pair.value(255) - model.config().pair.value(0));
    let mut points = Vec::new();
    for level in 0..LEVELS.0 {
        let sigma = end * (LEVELS.1 / end).powf(level as f64 / (LEVELS.0 - 1) as f64);
        let time = clock.time(sigma.powi(-2), 0.0).clamp(0.0, 1.0);
        let mut states = States::prior(space, 0, rows.len());
        states.draw(&x, &vec![time; rows.len()], &noise, level as u64)?;
        let mut estimates = Estimates::default();
        estimates.ask(&denoiser, &states)?;
        let Some(Estimate::Mean(x_hat)) = estimates.blocks.first() else { break };
        let plain = states.means(0);
        let [error, plain] =
            [x_hat, &plain].map(|guess| unit * error(model.config().pair, guess, x.reals(0)));
        points.push(DenoisingPoint { sigma, error, plain });
    }
    Ok(points)
}

/// The root of the mean squared difference, once a guess is held to what a byte can be.
fn error(pair: ImagePair, guess: &[f32], x: &[f32]) -> f64 {
    let (low, high) = (pair.value(0), pair.value(255));
    let squares = guess.iter().zip(x).map(|(guess, x)| f64::from(guess.clamp(low, high) - x).powi(2));
    (squares.sum::<f64>() / x.len() as f64).sqrt()
}
