//! Who watches a long job: hears how far it is, and says when to stop.
//!
//! A job is handed one watcher; watchers combine. `(bar, Deadline::after(…))` is a watcher that shows a bar and stops in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Something that a long job tells.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A part of the job begins.
    Started {
        /// What is done, such as `reading`.
        what: &'a str,
        /// How many [`Progress`](Event::Progress) will count, where that is known.
        total: Option<u64>,
    },
    /// So much of the part is done.
    Progress {
        /// How much, of `total`.
        done: u64,
    },
    /// A training step was taken.
    Step {
        /// Steps taken.
        step: u64,
        /// Steps in all, as far as is known.
        steps: u64,
        /// The loss of this step.
        loss: f64,
    },
    /// Held-out data were looked at.
    Validated {
        /// Steps taken.
        step: u64,
        /// The mean training loss since the last look.
        train_loss: f64,
        /// The loss on held-out data.
        held_out_loss: f64,
        /// Whether it is the lowest so far.
        is_best: bool,
    },
    /// Something that a person should know.
    Note(&'a str),
    /// The part is over.
    Finished,
}

/// Watches a job. `()` watches in silence.
///
/// ```
/// use pmm::{Event, Stop, Watcher};
///
/// struct Count(u64);
/// impl Watcher for Count {
///     fn notice(&mut self, event: Event<'_>) {
///         self.0 += u64::from(matches!(event, Event::Step { .. }));
///     }
/// }
/// let stop = Stop::new();
/// let mut both = (Count(0), stop.clone());
/// both.notice(Event::Step { step: 1, steps: 10, loss: 0.5 });
/// assert!(both.0.0 == 1 && !both.wants_stop());
/// stop.now();
/// assert!(both.wants_stop());
/// ```
pub trait Watcher {
    /// Hears what happens.
    fn notice(&mut self, event: Event<'_>) {
        let _ = event;
    }

    /// Says whether the job should stop: asked often, so it must be quick. What has been done by then is kept.
    fn wants_stop(&mut self) -> bool {
        false
    }
}

impl Watcher for () {}

impl<W: Watcher + ?Sized> Watcher for &mut W {
    fn notice(&mut self, event: Event<'_>) {
        (**self).notice(event);
    }
    fn wants_stop(&mut self) -> bool {
        (**self).wants_stop()
    }
}

impl<W: Watcher + ?Sized> Watcher for Box<W> {
    fn notice(&mut self, event: Event<'_>) {
        (**self).notice(event);
    }
    fn wants_stop(&mut self) -> bool {
        (**self).wants_stop()
    }
}

/// Both watch; either may stop.
impl<A: Watcher, B: Watcher> Watcher for (A, B) {
    fn notice(&mut self, event: Event<'_>) {
        self.0.notice(event);
        self.1.notice(event);
    }
    fn wants_stop(&mut self) -> bool {
        self.0.wants_stop() | self.1.wants_stop()
    }
}

/// Stops a job from anywhere: another thread, a signal, a socket. Clones are the same switch.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// A switch that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the job to stop; true if it had been asked before.
    pub fn now(&self) -> bool {
        self.0.swap(true, Ordering::Relaxed)
    }

    /// Whether it was asked to.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Watcher for Stop {
    fn wants_stop(&mut self) -> bool {
        self.is_set()
    }
}

/// Stops a job when its time is over.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(Instant);

impl Deadline {
    /// So long from now on.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }
}

impl Watcher for Deadline {
    fn wants_stop(&mut self) -> bool {
        Instant::now() >= self.0
    }
}

/// A watcher of a function that hears every event.
pub fn listen<F: FnMut(Event<'_>)>(hear: F) -> impl Watcher {
    struct Listen<F>(F);
    impl<F: FnMut(Event<'_>)> Watcher for Listen<F> {
        fn notice(&mut self, event: Event<'_>) {
            (self.0)(event);
        }
    }
    Listen(hear)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_stops_and_a_listener_hears() {
        assert!(Deadline::after(Duration::ZERO).wants_stop());
        assert!(!Deadline::after(Duration::from_secs(3600)).wants_stop());
        let mut heard = Vec::new();
        let mut watcher = listen(|event| heard.push(format!("{event:?}")));
        watcher.notice(Event::Note("x"));
        assert!(!watcher.wants_stop());
        drop(watcher);
        assert_eq!(heard, ["Note(\"x\")"]);
    }
}
