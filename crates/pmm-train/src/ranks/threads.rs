//! Ranks that are threads of one process: what tests use in place of a cluster.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::{Ranks, RanksError};

/// A rank that is a thread. A rank that is dropped is gone: the others are told.
///
/// ```
/// use pmm_train::{Ranks, Threads};
/// let threads: Vec<_> = Threads::group(3)
///     .into_iter()
///     .map(|rank| std::thread::spawn(move || rank.gather(&[rank.rank() as u8])))
///     .collect();
/// for thread in threads {
///     assert_eq!(thread.join().unwrap(), Ok(vec![vec![0], vec![1], vec![2]]));
/// }
/// ```
#[derive(Debug)]
pub struct Threads {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Mutex<Vec<Receiver<Vec<u8>>>>,
}

impl Threads {
    /// So many ranks that know each other.
    pub fn group(size: usize) -> Vec<Self> {
        let mut to: Vec<Vec<Sender<Vec<u8>>>> = (0..size).map(|_| Vec::new()).collect();
        let mut from: Vec<Vec<Receiver<Vec<u8>>>> = (0..size).map(|_| Vec::new()).collect();
        for senders in &mut to {
            for receivers in &mut from {
                let (sender, receiver) = channel();
                senders.push(sender);
                receivers.push(receiver);
            }
        }
        let ends = to.into_iter().zip(from).enumerate();
        ends.map(|(rank, (to, from))| Self { rank, to, from: Mutex::new(from) }).collect()
    }
}

impl Ranks for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn exchange(&self, to: &[&[u8]]) -> Result<Vec<Vec<u8>>, RanksError> {
        for (rank, (sender, bytes)) in self.to.iter().zip(to).enumerate() {
            sender.send(bytes.to_vec()).map_err(|_| RanksError::Gone { rank })?;
        }
        let from = self.from.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let receive = |(rank, receiver): (usize, &Receiver<Vec<u8>>)| {
            receiver.recv().map_err(|_| RanksError::Gone { rank })
        };
        from.iter().enumerate().map(receive).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_that_ends_is_missed() {
        let mut ranks = Threads::group(2);
        drop(ranks.pop());
        assert_eq!(ranks[0].gather(&[1]), Err(RanksError::Gone { rank: 1 }));
    }

    #[test]
    fn what_one_asks_all_hear() {
        let all = |bits: [u8; 3]| -> Vec<u8> {
            let run = |(rank, bits): (Threads, u8)| std::thread::spawn(move || rank.any(bits));
            let threads: Vec<_> = Threads::group(3).into_iter().zip(bits).map(run).collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        };
        assert_eq!(all([0, 2, 1]), [3; 3]);
        assert_eq!(all([0, 2, 0]), [2; 3]);
        assert_eq!(all([0; 3]), [0; 3]);
    }
}
