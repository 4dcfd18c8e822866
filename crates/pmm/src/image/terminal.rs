//! The last term of the bound for images of bytes: what remains to be said once the clock has run out.

use pmm_core::{Estimate, Estimates, Purpose, SpaceError, States, Streams, Terminal, Values};
use pmm_net::image::{ImageDenoiser, ImagePair};

/// How many images the plain law counts as, at every level.
const PRIOR: f64 = 16.0;

/// The law of a byte given the network's last estimate, as it was in other images: counted for each byte that the estimate is
/// nearest to, and filled up with the law of the differences over all.
pub(crate) struct ByteLaw<'a> {
    denoiser: ImageDenoiser,
    pair: ImagePair,
    table: &'a [f64],
}

/// −log p, `[level of the estimate, byte]`.
pub(crate) fn learn(denoiser: &ImageDenoiser, x: &Values, streams: &Streams) -> Result<Vec<f64>, SpaceError> {
    let pair = denoiser.net().pair();
    let rows = denoiser.net().space().check(x)?;
    let mut states = States::prior(denoiser.net().space(), 0, rows);
    // Noise of its own.
    states.draw(x, &vec![1.0; rows], &streams.child(Purpose::BYTE_LAW, 0), 0)?;
    let levels = levels(denoiser, &states)?;
    let mut counts = vec![0f64; 256 * 256];
    let mut differences = vec![0.25f64; 511];
    for (level, x) in levels.iter().zip(x.reals(0)) {
        let byte = pair.byte(*x);
        counts[usize::from(*level) * 256 + usize::from(byte)] += 1.0;
        differences[usize::from(byte) + 255 - usize::from(*level)] += 1.0;
    }
    for (level, counts) in counts.chunks_exact_mut(256).enumerate() {
        let plain = &differences[255 - level..][..256];
        let (all, seen) = (plain.iter().sum::<f64>(), counts.iter().sum::<f64>());
        for (count, plain) in counts.iter_mut().zip(plain) {
            *count = -((*count + PRIOR * plain / all) / (seen + PRIOR)).ln();
        }
    }
    Ok(counts)
}

impl<'a> ByteLaw<'a> {
    pub(crate) fn new(denoiser: ImageDenoiser, table: &'a [f64]) -> Self {
        let pair = denoiser.net().pair();
        Self { denoiser, pair, table }
    }
}

impl Terminal for ByteLaw<'_> {
    fn surprise(&self, states: &States, x: &Values) -> Vec<f64> {
        let width = self.denoiser.net().space().blocks()[0].width();
        let Ok(levels) = levels(&self.denoiser, states) else { return vec![f64::NAN; states.rows()] };
        let surprise =
            |(level, x): (&u8, &f32)| self.table[usize::from(*level) * 256 + usize::from(self.pair.byte(*x))];
        let rows = levels.chunks_exact(width).zip(x.reals(0).chunks_exact(width));
        rows.map(|(levels, x)| levels.iter().zip(x).map(surprise).sum()).collect()
    }
}

/// The byte nearest to each estimate.
fn levels(denoiser: &ImageDenoiser, states: &States) -> Result<Vec<u8>, SpaceError> {
    let mut estimates = Estimates::default();
    estimates.ask(denoiser, states)?;
    let Estimate::Mean(x_hat) = &estimates.blocks[0] else { return Ok(Vec::new()) };
    Ok(x_hat.iter().map(|x| denoiser.net().pair().byte(*x)).collect())
}
