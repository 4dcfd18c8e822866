//! Which images are learned and which are held out.

use pmm_core::{Purpose, Streams};

/// More images than this tell no more about when to stop.
const MOST_HELD_OUT: usize = 4_000;
/// Below so many images none is held out: validation then looks at the images it learns from.
const LEAST_TO_HOLD_OUT: usize = 40;

/// Images to learn from and images held out, the same for the same seed.
pub fn split(count: usize, share: f64, streams: &Streams) -> (Vec<u32>, Vec<u32>) {
    let mut all: Vec<u32> = (0..count as u32).collect();
    let held_out = (share * count as f64).round() as usize;
    if count < LEAST_TO_HOLD_OUT || held_out == 0 {
        return (all.clone(), all);
    }
    streams.stream(Purpose::IMAGE_SPLIT, 0, 0).shuffle(&mut all);
    let held_out = all.split_off(count - held_out.min(MOST_HELD_OUT));
    (all, held_out)
}
