//! `pmm trace` for images: images coming out of noise, as a picture that moves.

use std::path::PathBuf;

use anyhow::bail;
use pmm_core::{Estimate, Estimates, States, Streams};
use pmm_data::{animated_png, grid_png};
use pmm_train::ImageModel;

use super::plan::{Plan, bytes, classes};
use crate::cli::TraceArgs;
use crate::files;
use crate::output::{self, Advice};

/// Images side by side.
const COLUMNS: usize = 8;
/// Network calls, each a frame.
const CALLS: usize = 40;
/// Pixels of an image's side, at least.
const SIDE: usize = 64;
/// Milliseconds of a frame, and of the last.
const DELAYS: (u16, u16) = (90, 2500);

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<()> {
    if !args.columns.is_empty() {
        bail!(Advice::new("images have no columns".into(), "leave out --columns"));
    }
    let path: PathBuf = args.out.clone().unwrap_or_else(|| args.model.join("trace.png"));
    if !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        bail!(Advice::new(format!("{} is not named .png", path.display()), "--out FILE.png (it moves)"));
    }
    let model = ImageModel::load(&args.model)?;
    let (pair, shape) = (model.config.pair, model.images.shape);
    let streams = Streams::new(args.common.seed);
    let labels = classes(&model.images, None, 0..COLUMNS as u64, &streams);
    let denoiser = model.denoiser.told(labels, 1.0);
    let states = States::prior(denoiser.net().space(), 0, COLUMNS);
    let bar = output::bar(CALLS as u64, "calls", args.common.quiet);
    let mut frames = Vec::new();
    let mut failure = None;
    let mut observe = |_: usize, states: &States, estimates: &Estimates| {
        bar.inc(1);
        let Some(Estimate::Mean(x_hat)) = estimates.blocks.first() else { return };
        let both = [states.means(0), x_hat.clone()].concat();
        let images = bytes(pair, &both, shape.iter().product());
        match frame(&images, shape) {
            Ok(png) => frames.push((png, DELAYS.0)),
            Err(error) => failure = Some(error),
        }
    };
    Plan::of(pair).with_calls(CALLS).draw(&denoiser, states, &streams, &mut observe)?;
    bar.finish_and_clear();
    if let Some(error) = failure {
        return Err(error.into());
    }
    if let Some(last) = frames.last_mut() {
        last.1 = DELAYS.1;
    }
    files::write(&path, &animated_png(&frames)?)?;
    if !args.common.quiet {
        eprintln!(
            "picture: {} (open it in a browser: it moves). Above the posterior means, below what the network expects",
            path.display()
        );
    }
    Ok(())
}

/// Two rows of images, enlarged so that they can be seen.
fn frame(images: &[Vec<u8>], shape: [usize; 3]) -> Result<Vec<u8>, pmm_data::ImageDataError> {
    let times = SIDE.div_ceil(shape[1]).max(1);
    let large: Vec<Vec<u8>> = images.iter().map(|image| enlarge(image, shape[2], times)).collect();
    grid_png(&large, [shape[0], times * shape[1], times * shape[2]], COLUMNS)
}

/// Every pixel so many times across and down.
fn enlarge(image: &[u8], width: usize, times: usize) -> Vec<u8> {
    let line = |line: &[u8]| -> Vec<u8> {
        let line: Vec<u8> = line.iter().flat_map(|byte| std::iter::repeat_n(*byte, times)).collect();
        line.repeat(times)
    };
    image.chunks(width).flat_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_grow_in_place() {
        assert_eq!(enlarge(&[1, 2, 3, 4], 2, 2), [1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4]);
    }
}
