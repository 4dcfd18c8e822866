//! Images changed at random, and the numbers that tell a network how (Karras et al. 2022, F.2).

use std::f64::consts::PI;

use pmm_core::Stream;

/// Numbers by which a network is told how an image was changed.
pub(crate) const NUMBERS: usize = 9;
/// The deviation of the logarithm to base 2 of both scalings.
const SCALE: f64 = 0.2;
/// The deviation of a shift, as a share of the image's side.
const SHIFT: f64 = 0.125;

/// A change of an image, in this order.
///
/// | change | how often | by how much | numbers told |
/// |---|---|---|---|
/// | mirrored, left for right | ½ | | 1 |
/// | upside down | p/2 | | 1 |
/// | scaled | p | 2^(.2 z) | z |
/// | rotated counterclockwise | p | an angle ω, uniform | cos ω − 1, sin ω |
/// | stretched | p | 2^(.2 z) along the angle φ, and as much narrower across it | z cos φ, z sin φ |
/// | shifted right and down | p | .125 z of the side, each | z, z |
///
/// z is standard normal; φ is 0 or uniform, evenly. What is not done is told as 0, so that zeros, which the network is told in
/// sampling, stand for images as they are: no change leaks into samples.
///
/// A pixel that comes from between pixels has the value of a Catmull–Rom spline through 4×4 of them, cut at the darkest and
/// the brightest value of the image, so that it stays on the support of its pair; beyond its borders an image is its own
/// mirror image. The source also filters by a wavelet against aliasing, which is not done here: images shrink by a factor of 2^.2
/// or so.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Augmentation {
    /// Whether left and right change places.
    pub(crate) mirrored: bool,
    upside_down: bool,
    scale: f64,
    rotation: f64,
    stretch: f64,
    direction: f64,
    shift: [f64; 2],
}

impl Augmentation {
    /// A change whose kinds have the probability p each.
    pub(crate) fn draw(p: f64, rng: &mut Stream) -> Self {
        Self {
            mirrored: rng.unit() < 0.5,
            upside_down: rng.unit() < 0.5 * p,
            scale: sometimes(p, rng, Stream::normal),
            rotation: sometimes(p, rng, angle),
            stretch: sometimes(p, rng, Stream::normal),
            direction: sometimes(0.5, rng, angle),
            shift: if rng.unit() < p { [rng.normal(), rng.normal()] } else { [0.0; 2] },
        }
    }

    /// What the network is told.
    pub(crate) fn numbers(&self) -> [f32; NUMBERS] {
        let flag = |is: bool| f64::from(u8::from(is));
        let (sin, cos) = libm::sincos(self.rotation);
        let (across, along) = libm::sincos(self.direction);
        let numbers = [
            flag(self.mirrored),
            flag(self.upside_down),
            self.scale,
            cos - 1.0,
            sin,
            self.stretch * along,
            self.stretch * across,
            self.shift[0],
            self.shift[1],
        ];
        numbers.map(|number| number as f32)
    }

    /// The changed image, of values `[channels, height, width]`.
    pub(crate) fn apply(&self, mut x: Vec<f32>, [_, height, width]: [usize; 3]) -> Vec<f32> {
        if self.mirrored {
            x.chunks_exact_mut(width).for_each(<[f32]>::reverse);
        }
        if self.upside_down {
            let lines = |plane| <[f32]>::chunks_exact(plane, width).rev().flatten().copied();
            x = x.chunks_exact(height * width).flat_map(lines).collect();
        }
        let moves = [self.scale, self.rotation, self.stretch, self.shift[0], self.shift[1]];
        if moves == [0.0; 5] { x } else { self.moved(&x, height, width) }
    }

    fn moved(&self, x: &[f32], height: usize, width: usize) -> Vec<f32> {
        let ends = (f32::INFINITY, f32::NEG_INFINITY);
        let (least, most) = x.iter().fold(ends, |(least, most), x| (least.min(*x), most.max(*x)));
        let origin = self.origin();
        let middle = [width, height].map(|side| (side as f64 - 1.0) / 2.0);
        let shift = [width, height].map(|side| SHIFT * side as f64);
        let mut out = vec![0.0; x.len()];
        for pixel in 0..height * width {
            let to = [pixel % width, pixel / width];
            let from: [f64; 2] = std::array::from_fn(|k| to[k] as f64 - middle[k] - shift[k] * self.shift[k]);
            let [u, v] = [0, 1].map(|k| middle[k] + origin[k][0] * from[0] + origin[k][1] * from[1]);
            let (columns, rows) = (taps(u, width), taps(v, height));
            for (x, out) in x.chunks_exact(height * width).zip(out.chunks_exact_mut(height * width)) {
                let line = |row: usize| -> f64 {
                    columns.iter().map(|(column, weight)| weight * f64::from(x[row * width + column])).sum()
                };
                let value: f64 = rows.iter().map(|(row, weight)| weight * line(*row)).sum();
                out[pixel] = (value as f32).clamp(least, most);
            }
        }
        out
    }

    /// Where a pixel comes from, seen from the middle of the image: the inverse of scaling, rotation and stretch. Columns point
    /// right and rows point down, so an angle that is counterclockwise to the eye is clockwise here.
    fn origin(&self) -> [[f64; 2]; 2] {
        let shrink = libm::exp2(-SCALE * self.scale);
        let (sin, cos) = libm::sincos(self.rotation);
        let narrow = libm::exp2(-SCALE * self.stretch);
        let (s, c) = libm::sincos(self.direction);
        let slant = s * c * (1.0 / narrow - narrow);
        let straight = [[c * c * narrow + s * s / narrow, slant], [slant, s * s * narrow + c * c / narrow]];
        let turn = [[cos, -sin], [sin, cos]];
        turn.map(|row| [0, 1].map(|k| shrink * (row[0] * straight[0][k] + row[1] * straight[1][k])))
    }
}

fn sometimes(p: f64, rng: &mut Stream, draw: impl FnOnce(&mut Stream) -> f64) -> f64 {
    if rng.unit() < p { draw(rng) } else { 0.0 }
}

fn angle(rng: &mut Stream) -> f64 {
    PI * (2.0 * rng.unit() - 1.0)
}

/// The four pixels around a place in a line of so many, and their weights in the Catmull–Rom spline.
fn taps(place: f64, length: usize) -> [(usize, f64); 4] {
    let first = place.floor();
    let t = place - first;
    let weights = [
        t * (t * (2.0 - t) - 1.0) / 2.0,
        (t * t * (3.0 * t - 5.0) + 2.0) / 2.0,
        t * (t * (4.0 - 3.0 * t) + 1.0) / 2.0,
        t * t * (t - 1.0) / 2.0,
    ];
    std::array::from_fn(|k| (reflected(first as i64 + k as i64 - 1, length), weights[k]))
}

/// The pixel that a place beyond a line's ends mirrors.
fn reflected(place: i64, length: usize) -> usize {
    let last = length as i64 - 1;
    let place = if last == 0 { 0 } else { place.rem_euclid(2 * last) };
    place.min(2 * last - place) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use pmm_core::{Purpose, Streams};

    const NONE: Augmentation = Augmentation {
        mirrored: false,
        upside_down: false,
        scale: 0.0,
        rotation: 0.0,
        stretch: 0.0,
        direction: 0.0,
        shift: [0.0; 2],
    };

    fn drawn(p: f64, count: u64) -> Vec<Augmentation> {
        let streams = Streams::new(3);
        (0..count).map(|row| Augmentation::draw(p, &mut streams.stream(Purpose::DATA, 0, row))).collect()
    }

    fn noise(count: usize) -> Vec<f32> {
        let mut rng = Streams::new(5).stream(Purpose::DATA, 1, 0);
        (0..count).map(|_| rng.unit() as f32).collect()
    }

    #[test]
    fn without_a_change_the_image_stays() {
        let x = noise(3 * 5 * 7);
        assert_eq!(NONE.apply(x.clone(), [3, 5, 7]), x);
        assert_eq!(NONE.numbers(), [0.0; 9]);
        // With p = 0 nothing happens but mirrors.
        for change in drawn(0.0, 500) {
            let only = Augmentation { mirrored: change.mirrored, direction: change.direction, ..NONE };
            assert_eq!(change, only);
        }
    }

    /// Flips change places of pixels and no values, and are told.
    #[test]
    fn flips_by_hand() {
        let x: Vec<f32> = (0..12).map(|i| i as f32).collect(); // Two channels of two lines of three.
        let mirrored = Augmentation { mirrored: true, ..NONE };
        let expected = [2., 1., 0., 5., 4., 3., 8., 7., 6., 11., 10., 9.];
        assert_eq!(mirrored.apply(x.clone(), [2, 2, 3]), expected);
        assert_eq!(mirrored.numbers(), [1., 0., 0., 0., 0., 0., 0., 0., 0.]);
        let upside_down = Augmentation { upside_down: true, ..NONE };
        let expected = [3., 4., 5., 0., 1., 2., 9., 10., 11., 6., 7., 8.];
        assert_eq!(upside_down.apply(x, [2, 2, 3]), expected);
        assert_eq!(upside_down.numbers(), [0., 1., 0., 0., 0., 0., 0., 0., 0.]);
    }

    const SIDE: usize = 17;
    const MIDDLE: f64 = 8.0;

    /// Brightness that rises evenly to the right and a little downwards.
    fn slope(u: f64, v: f64) -> f64 {
        0.3 + 0.05 * u + 0.02 * v
    }

    /// On an even slope the spline is exact, so every pixel that comes from well inside has the brightness of where `from` says
    /// that it comes from: (right, down) from the middle, to the same.
    fn moves(change: Augmentation, from: impl Fn(f64, f64) -> (f64, f64)) {
        let place = |pixel: usize| ((pixel % SIDE) as f64, (pixel / SIDE) as f64);
        let x: Vec<f32> = (0..SIDE * SIDE)
            .map(|pixel| {
                let (u, v) = place(pixel);
                slope(u, v) as f32
            })
            .collect();
        let out = change.apply(x, [1, SIDE, SIDE]);
        let mut seen = 0;
        for (pixel, found) in out.iter().enumerate() {
            let (u, v) = place(pixel);
            let (u, v) = from(u - MIDDLE, v - MIDDLE);
            let (u, v) = (u + MIDDLE, v + MIDDLE);
            let inside = |place: f64| (1.0..SIDE as f64 - 2.0).contains(&place);
            if inside(u) && inside(v) {
                seen += 1;
                let expected = slope(u, v);
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-5,
                    "{change:?} {pixel}: {found} {expected}"
                );
            }
        }
        assert!(seen > 80, "{seen}");
    }

    #[test]
    fn scalings_by_their_formula() {
        let s = 2f64.powf(0.2 * 1.5);
        moves(Augmentation { scale: 1.5, ..NONE }, |u, v| (u / s, v / s));
        moves(Augmentation { stretch: 1.5, ..NONE }, |u, v| (u / s, v * s));
        // Along 90° what lies above and below moves away.
        let up = Augmentation { stretch: 1.5, direction: PI / 2.0, ..NONE };
        moves(up, |u, v| (u * s, v / s));
        // Along 45° a step to the right and up is longer than one to the right and down.
        let (wide, high) = ((1.0 / s + s) / 2.0, (s - 1.0 / s) / 2.0);
        let slanted = Augmentation { stretch: 1.5, direction: PI / 4.0, ..NONE };
        moves(slanted, |u, v| (wide * u + high * v, high * u + wide * v));
        assert!((slanted.numbers()[5] - 1.5 * 0.5f32.sqrt()).abs() < 1e-6);
        assert_eq!(slanted.numbers()[5], slanted.numbers()[6]);
        assert_eq!(up.numbers()[6], 1.5);
    }

    #[test]
    fn rotations_and_shifts_by_their_formula() {
        let (sin, cos) = 0.7f64.sin_cos();
        let rotated = Augmentation { rotation: 0.7, ..NONE };
        moves(rotated, |u, v| (cos * u - sin * v, sin * u + cos * v));
        assert_eq!(rotated.numbers(), [0., 0., 0., (cos - 1.0) as f32, sin as f32, 0., 0., 0., 0.]);
        let shifted = Augmentation { shift: [1.0, -0.6], ..NONE };
        moves(shifted, |u, v| (u - 0.125 * 17.0, v + 0.6 * 0.125 * 17.0));
        assert_eq!(shifted.numbers(), [0., 0., 0., 0., 0., 0., 0., 1., -0.6]);
    }

    /// All together: undone one after the other, last first.
    #[test]
    fn changes_come_in_order() {
        let all = Augmentation {
            scale: -0.5,
            rotation: 2.0,
            stretch: 0.8,
            direction: -0.4,
            shift: [0.3, 0.5],
            ..NONE
        };
        let turned = |angle: f64, (u, v): (f64, f64)| {
            (angle.cos() * u - angle.sin() * v, angle.sin() * u + angle.cos() * v)
        };
        let (s, k) = (2f64.powf(-0.1), 2f64.powf(0.16));
        moves(all, |u, v| {
            let (u, v) = turned(-0.4, (u - 0.3 * 0.125 * 17.0, v - 0.5 * 0.125 * 17.0));
            let (u, v) = turned(2.0, turned(0.4, (u / k, v * k)));
            (u / s, v / s)
        });
    }

    /// A quarter turn is a change of places, counterclockwise.
    #[test]
    fn a_quarter_turn() {
        let x = noise(2 * 36);
        let turned = Augmentation { rotation: PI / 2.0, ..NONE }.apply(x.clone(), [2, 6, 6]);
        for (i, found) in turned.iter().enumerate() {
            let (channel, row, column) = (i / 36, i / 6 % 6, i % 6);
            // What was on the right is now above.
            let expected = x[channel * 36 + column * 6 + 5 - row];
            assert!((found - expected).abs() < 1e-6, "{i}: {found} {expected}");
        }
    }

    /// A shift by whole pixels: beyond the border is what the border mirrors.
    #[test]
    fn borders_are_mirrors() {
        let x: Vec<f32> = (0..8).map(|i| i as f32).collect(); // A line.
        let shifted = |pixels: f64| {
            let change = Augmentation { shift: [pixels, 0.0], ..NONE };
            change.apply(x.clone(), [1, 1, 8])
        };
        assert_eq!(shifted(2.0), [2., 1., 0., 1., 2., 3., 4., 5.]);
        assert_eq!(shifted(-3.0), [3., 4., 5., 6., 7., 6., 5., 4.]);
        assert_eq!(shifted(14.0), x);
        assert_eq!(Augmentation { shift: [0.4, 0.4], ..NONE }.apply(vec![0.7], [1, 1, 1]), [0.7]);
    }

    /// Splines overshoot at edges; values stay within the image's.
    #[test]
    fn values_stay_on_the_support() {
        let x: Vec<f32> = (0..64).map(|i| if i % 8 < 4 { 0.0 } else { 4.0 }).collect();
        for change in drawn(1.0, 50) {
            let out = change.apply(x.clone(), [1, 8, 8]);
            assert!(out.iter().all(|x| (0.0..=4.0).contains(x)), "{out:?}");
            assert_eq!(change.apply(vec![0.3; 64], [1, 8, 8]), [0.3; 64]);
        }
    }

    /// A number is 0 if and only if the change is not made, and as often as p says: 20,000 draws, bounds of five standard
    /// deviations, so that one of the seven counts and three mean squares is off by chance about once in 100,000 seeds.
    #[test]
    fn how_often() {
        let (count, p) = (20_000, 0.12);
        let changes = drawn(p, count);
        let mut made = [0.0; 7];
        for change in &changes {
            let Augmentation { mirrored, upside_down, scale, rotation, stretch, direction, shift } = *change;
            let is =
                [mirrored, upside_down, scale != 0.0, rotation != 0.0, stretch != 0.0, shift != [0.0; 2]];
            let told = change.numbers().map(|number| number != 0.0);
            let told =
                [told[0], told[1], told[2], told[3] || told[4], told[5] || told[6], told[7] || told[8]];
            assert_eq!(told, is);
            is.iter().chain([&(direction != 0.0)]).zip(&mut made).for_each(|(is, made)| {
                *made += f64::from(u8::from(*is));
            });
        }
        for (kind, (made, p)) in made.iter().zip([0.5, p / 2.0, p, p, p, p, 0.5]).enumerate() {
            let off = (made - count as f64 * p) / (count as f64 * p * (1.0 - p)).sqrt();
            assert!(off.abs() < 5.0, "{kind}: {made}, {off}");
        }
        // Mean squares of the normal numbers: 1, with the deviation √(2/n).
        for place in [2, 7, 8] {
            let told = changes.iter().map(|change| f64::from(change.numbers()[place]));
            let made: Vec<f64> = told.filter(|z| *z != 0.0).collect();
            let square = made.iter().map(|z| z * z).sum::<f64>() / made.len() as f64;
            assert!((square - 1.0).abs() < 5.0 * (2.0 / made.len() as f64).sqrt(), "{square}");
        }
    }
}
