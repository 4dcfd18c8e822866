//! Sums over ranks, twice: by `MPI_Allreduce`, whose order of addition follows from the number of ranks, and by handing bytes round and adding
//! in the order of the shards. Prints a digest of each: `.ci/mpi` runs it on several numbers of ranks, and sees the first change and the second
//! stay.

use std::error::Error;

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::CommunicatorCollectives;
use pmm_core::{Purpose, Streams};
use pmm_train::{Shard, ranks};

const SHARDS: usize = 12;
const NUMBERS: usize = 100_000;

/// Numbers of very different size.
fn shard(index: usize) -> Vec<f32> {
    let mut rng = Streams::new(9).stream(Purpose::DATA, 0, index as u64);
    (0..NUMBERS).map(|_| (rng.normal() * 10f64.powf(3.0 * rng.unit())) as f32).collect()
}

fn added(mut sum: Vec<f32>, other: &[f32]) -> Vec<f32> {
    sum.iter_mut().zip(other).for_each(|(sum, x)| *sum += x);
    sum
}

fn digest(sum: &[f32]) -> String {
    blake3::hash(bytemuck::cast_slice(sum)).to_hex()[..16].to_owned()
}

fn main() -> Result<(), Box<dyn Error>> {
    let ranks = ranks::start()?;
    let own: Vec<Vec<f32>> = Shard::of_rank(SHARDS, ranks.rank(), ranks.size()).map(shard).collect();
    let sum = own.iter().fold(vec![0.0; NUMBERS], |sum, one| added(sum, one));
    let mut reduced = vec![0f32; NUMBERS];
    SimpleCommunicator::world().all_reduce_into(&sum[..], &mut reduced[..], SystemOperation::sum());
    let all = ranks.gather(bytemuck::cast_slice(&own.concat()))?.concat();
    let all: Vec<f32> = bytemuck::pod_collect_to_vec(&all);
    let fixed = all.chunks(NUMBERS).fold(vec![0.0; NUMBERS], added);
    if ranks.rank() == 0 {
        println!("allreduce {} handed {}", digest(&reduced), digest(&fixed));
    }
    ranks::finish();
    Ok(())
}
