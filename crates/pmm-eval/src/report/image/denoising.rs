//! The picture of denoising: how far the network is off, by noise level.

use serde::Serialize;

use super::super::Picture;
use crate::chart::{Axis, Chart, Figure, Style};

/// The error at one noise level, root mean square, in grey levels of 255.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DenoisingPoint {
    /// The noise level 1/√a, where a is the clock reading.
    pub sigma: f64,
    /// Of the network's estimate.
    pub error: f64,
    /// Of the posterior mean, which looks at single pixels only.
    pub plain: f64,
}

/// None without points.
pub(super) fn picture(points: &[DenoisingPoint]) -> Option<Picture> {
    let line = |value: fn(&DenoisingPoint) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (point.sigma, value(point))).collect()
    };
    let (error, plain) = (line(|point| point.error), line(|point| point.plain));
    let chart = Chart::new("Error in held-out images")
        .x(Axis::log("noise level σ"))
        .y(Axis::log("error, grey levels of 255"))
        .line(&plain, Style::new(4).dashed().label("pixels on their own"))
        .line(&error, Style::new(0).label("network"))
        .points(&error, Style::new(0).width(2.0).label("network"));
    let figure = Figure::new().panel(chart).caption(
        "How far the image behind the noise is from what is expected of it, root mean square. σ = 1/√a, where a is the reading of \
         the clock: sampling goes from right to left. Dashed: the posterior mean, which knows each pixel through its own noise \
         only. What lies between the lines is what the network knows about images.",
    );
    let alt = "Denoising error by noise level, beside that of the posterior mean".to_owned();
    (!points.is_empty()).then(|| Picture { name: "denoising".into(), alt, figure })
}
