//! How a long job looks in a terminal: a bar with the time left; Ctrl-C stops it.

use std::sync::OnceLock;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pmm::{Event, Stop, Watcher};

use crate::output::{is_silent, say};

/// Set by Ctrl-C; a second one ends the program at once.
pub(crate) fn interrupted() -> Stop {
    static STOP: OnceLock<Stop> = OnceLock::new();
    let stop = STOP.get_or_init(|| {
        let stop = Stop::new();
        let switch = stop.clone();
        let _ = ctrlc::set_handler(move || {
            if switch.now() {
                std::process::exit(130);
            }
        });
        stop
    });
    stop.clone()
}

/// Watches a job: a bar where its length is known, something that moves where it is not, on a terminal only; and Ctrl-C.
pub(crate) fn watcher(quiet: bool) -> (Bar, Stop) {
    (Bar::new(quiet), interrupted())
}

/// A bar on standard error.
pub(crate) struct Bar {
    bar: ProgressBar,
    quiet: bool,
    what: String,
    loss: f64,
    held_out: f64,
}

impl Bar {
    fn new(quiet: bool) -> Self {
        Self { bar: ProgressBar::hidden(), quiet, what: String::new(), loss: f64::NAN, held_out: f64::NAN }
    }

    fn start(&mut self, what: &str, total: Option<u64>) {
        self.bar.finish_and_clear();
        self.what = what.to_owned();
        let target = if self.quiet || is_silent() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        self.bar = ProgressBar::with_draw_target(total, target);
        match total {
            None => {
                self.bar.set_message(what.to_owned());
                self.bar.enable_steady_tick(std::time::Duration::from_millis(120));
            }
            Some(_) => {
                let template = "{prefix} {bar:24} {pos}/{len}  {per_sec}  {eta} left  {msg}";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    self.bar.set_style(style);
                }
                self.bar.set_prefix(what.to_owned());
            }
        }
    }

    fn progress(&mut self, done: u64) {
        match self.bar.length() {
            Some(_) => self.bar.set_position(done),
            None => self.bar.set_message(format!("{}: {done}", self.what)),
        }
    }

    fn step(&mut self, step: u64, steps: u64, loss: f64) {
        if self.loss.is_nan() {
            self.bar.reset_eta();
        }
        self.loss = if self.loss.is_nan() { loss } else { 0.98 * self.loss + 0.02 * loss };
        self.bar.set_length(steps);
        self.bar.set_position(step);
        if step.is_multiple_of(10) {
            let held_out = if self.held_out.is_nan() {
                String::new()
            } else {
                format!(", held out {:.4}", self.held_out)
            };
            self.bar.set_message(format!("loss {:.4}{held_out}", self.loss));
        }
    }
}

impl Watcher for Bar {
    fn notice(&mut self, event: Event<'_>) {
        match event {
            Event::Started { what, total } => self.start(what, total),
            Event::Progress { done } => self.progress(done),
            Event::Step { step, steps, loss } => self.step(step, steps, loss),
            Event::Validated { held_out_loss, .. } => self.held_out = held_out_loss,
            Event::Note(note) if !self.quiet => self.bar.suspend(|| say(format!("note: {note}"))),
            Event::Finished => self.bar.finish_and_clear(),
            _ => {}
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
