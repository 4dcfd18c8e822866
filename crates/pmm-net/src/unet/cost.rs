//! What a U-Net costs, by its parts.

use super::net::Unet;
use crate::parts::Part;

/// Tensors as large as a convolution's output that a training step remembers for each convolution: its norm, its activation
/// and their compositions. By the peak memory of whole fits, less weights and data, 3 (width 32, at 32×32 and at 64×64 pixels)
/// to 7 (width 64, at 32×32): the larger, so that memory suffices.
const REMEMBERED: f64 = 7.0;

impl Unet {
    /// Multiplications of one image on its way through.
    pub fn multiplications(&self) -> f64 {
        let of = |part: &Part| {
            let area = self.area(part);
            // Scores and sums of an attention over all pairs of pixels.
            let pairs = if part.name.ends_with("qkv.weight") { 2.0 * area * area } else { 0.0 };
            part.range.len() as f64 * area + pairs * part.shape[1] as f64
        };
        self.matrices().map(of).sum()
    }

    /// Numbers that a training step remembers of one image, roughly.
    pub fn activations(&self) -> f64 {
        let of = |part: &Part| {
            let area = self.area(part);
            let heads = if part.name.ends_with("qkv.weight") { 3.0 * area } else { 0.0 };
            area * (REMEMBERED * part.shape[0] as f64 + heads)
        };
        self.matrices().filter(|part| part.name.contains("conv") || part.name.contains("qkv")).map(of).sum()
    }

    fn matrices(&self) -> impl Iterator<Item = &Part> {
        self.parts().iter().filter(|part| part.name.ends_with(".weight") && !part.name.contains("norm"))
    }

    /// Pixels at which a part works: those of the resolution in its name, or 1 for what is not about pixels.
    fn area(&self, part: &Part) -> f64 {
        let resolution =
            part.name.split(['.', '_']).find_map(|piece| piece.split_once('x')?.0.parse::<f64>().ok());
        let whole = self.config().size as f64;
        match resolution {
            _ if part.name.contains("affine") || part.name.starts_with("map_") => 1.0,
            Some(side) => side * side,
            None => whole * whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::unet::{Unet, UnetConfig};

    /// By hand for one level without attention but that of the middle, at 4×4 pixels and 8 channels.
    #[test]
    fn multiplications_by_hand() {
        let config = UnetConfig {
            size: 4,
            channels_in: 1,
            channels_out: 1,
            width: 8,
            multipliers: vec![1],
            blocks: 1,
            attention: vec![],
            channels_per_head: 8,
            ..UnetConfig::default()
        };
        let conv = |input: f64, output: f64| 16.0 * 9.0 * input * output;
        let affine = 32.0 * 16.0;
        let block = |input: f64| conv(input, 8.0) + conv(8.0, 8.0) + affine;
        let skip = 16.0 * 16.0 * 8.0;
        let attention = 16.0 * (8.0 * 24.0 + 8.0 * 8.0) + 2.0 * 256.0 * 8.0;
        let embedding = 8.0 * 32.0 + 32.0 * 32.0;
        // One block down, two in the middle of which one attends, two up that take what came down.
        let expected = conv(1.0, 8.0)
            + 3.0 * block(8.0)
            + 2.0 * (block(16.0) + skip)
            + attention
            + conv(8.0, 1.0)
            + embedding;
        assert_eq!(Unet::new(&config).multiplications(), expected);
    }
}
