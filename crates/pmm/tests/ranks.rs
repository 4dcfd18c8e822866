//! A model fitted by several ranks is the same file, to the bit, as one fitted by one; also where a fit is stopped and goes on with another
//! number of ranks. Ranks are threads here; `.ci/mpi` does the same with processes.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use pmm::{Event, Settings, Stop, Threads, Watcher, image, table, text};

/// Stops after a step.
struct Until(Option<u64>, Stop);

impl Watcher for Until {
    fn notice(&mut self, event: Event<'_>) {
        if let (Event::Step { step, .. }, Some(last)) = (event, self.0)
            && step >= last
        {
            self.1.now();
        }
    }
    fn wants_stop(&mut self) -> bool {
        self.1.is_set()
    }
}

/// Runs one job a rank, each on a thread.
fn on(ranks: usize, job: &(dyn Fn(pmm::AllRanks) -> Result<(), pmm::Error> + Sync)) {
    std::thread::scope(|scope| {
        for rank in Threads::group(ranks) {
            scope.spawn(move || job(Arc::new(rank)).unwrap());
        }
    });
}

fn settings(shards: usize, more: &[(&str, i64)]) -> Settings {
    let mut settings = Settings::new();
    settings.set("train.shards", shards as i64).unwrap();
    settings.set("train.validate_every", 5).unwrap();
    for (key, value) in more {
        settings.set(key, *value).unwrap();
    }
    settings
}

fn weights(folder: &Path) -> Vec<u8> {
    std::fs::read(folder.join("weights.safetensors")).unwrap()
}

/// Fits with some ranks, or with some and then with others.
type FitOn<'a> = &'a (dyn Fn(&Path, pmm::AllRanks, bool, Option<u64>) -> Result<(), pmm::Error> + Sync);

fn same_on_any_ranks(fit: FitOn<'_>) {
    let folder = tempfile::tempdir().unwrap();
    let whole = |ranks: usize| {
        let path = folder.path().join(format!("{ranks}.pmm"));
        on(ranks, &|ranks| fit(&path, ranks, false, None));
        weights(&path)
    };
    let one = whole(1);
    // Chunks of 16,384 weights are not cut: that several ranks have some, there must be several.
    assert!(one.len() > 4 * 2 * 16_384, "{} bytes", one.len());
    for ranks in [2, 3, 4] {
        assert!(whole(ranks) == one, "{ranks} ranks");
    }
    let path = folder.path().join("stopped.pmm");
    on(4, &|ranks| fit(&path, ranks, false, Some(7)));
    assert!(weights(&path) != one);
    on(3, &|ranks| fit(&path, ranks, true, None));
    assert!(weights(&path) == one, "stopped on 4 ranks, gone on with 3");
}

macro_rules! run {
    ($fit:expr, $settings:expr, $path:expr, $ranks:expr, $resume:expr, $until:expr) => {{
        let fit = $fit.ranks($ranks);
        let fit = if $resume { fit.resume($path) } else { fit.at($path).settings(&$settings).steps(20) };
        fit.run(&mut Until($until, Stop::new())).map(drop)
    }};
}

fn rows() -> String {
    let row =
        |i: usize| format!("{},{:.2},{}\n", i % 7, (i * i % 101) as f64 / 7.0, ["a", "b", "c"][i * 5 % 3]);
    "n,x,level\n".to_owned() + &(0..300).map(row).collect::<String>()
}

#[test]
fn tables() {
    for clock in ["reveal", "gradual"] {
        let mut settings = settings(4, &[("batch", 32), ("net.width", 96)]);
        settings.set("clock", clock).unwrap();
        same_on_any_ranks(&|path, ranks, resume, until| {
            run!(table::Fit::new(table::Data::from_csv(rows())), settings, path, ranks, resume, until)
        });
    }
}

/// Shards of unequal size, and tables of patterns of which a batch reads some rows.
#[test]
fn texts() {
    let text = "one two three four five, once I caught a fish alive. ".repeat(40);
    let net = [("batch", 8), ("net.width", 64), ("net.blocks", 1), ("net.heads", 2), ("net.length", 24)];
    let ordered = settings(3, &[&net[..], &[("net.window", 3), ("net.hash_bits", 8)]].concat());
    let mut masked = settings(3, &net);
    masked.set("net.kind", "masked").unwrap();
    for settings in [ordered, masked] {
        same_on_any_ranks(&|path, ranks, resume, until| {
            run!(text::Fit::new(text::Data::from_text(text.clone())), settings, path, ranks, resume, until)
        });
    }
}

#[test]
fn images() {
    let folder = tempfile::tempdir().unwrap();
    for row in 0..24u8 {
        let pixels = (0..64u8).map(|at| at.wrapping_mul(row.wrapping_mul(7)).wrapping_add(row)).collect();
        let png = image::grid_png(&[pixels], [1, 8, 8], 1).unwrap();
        std::fs::write(folder.path().join(format!("{row:02}.png")), png).unwrap();
    }
    let mut settings = settings(4, &[("batch", 10), ("net.width", 16)]);
    settings.set_text("net.multipliers", "[1, 2]").unwrap();
    settings.set("net.dropout", 0.1).unwrap();
    same_on_any_ranks(&|path, ranks, resume, until| {
        run!(image::Fit::new(image::Data::open(folder.path())), settings, path, ranks, resume, until)
    });
}

/// A shard is a part of the batch: the same rows and the same noise, so that losses differ in rounding only.
#[test]
fn shards_change_the_last_digits_only() {
    let fit = |shards: usize| {
        let settings = settings(shards, &[("batch", 32), ("net.width", 32)]);
        let fit = table::Fit::new(table::Data::from_csv(rows())).settings(&settings).steps(20);
        fit.run(&mut ()).unwrap().summary().held_out_loss.unwrap()
    };
    let (one, four) = (fit(1), fit(4));
    assert!(one != four && (one - four).abs() < 1e-3, "{one} {four}");
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let fit = |settings: &Settings| {
        table::Fit::new(table::Data::from_csv(rows())).settings(settings).steps(5).run(&mut ()).map(drop)
    };
    let error = fit(&settings(33, &[("batch", 32)])).unwrap_err();
    assert_eq!(error.to_string(), "train.shards = 33: it must be between 1 and 32");
}

/// A rank that fails is missed by the others, which end with a word about it.
#[test]
fn a_rank_that_fails_ends_the_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.pmm");
    let mut ranks = Threads::group(2);
    let last = ranks.pop().unwrap();
    let first: pmm::AllRanks = Arc::new(ranks.pop().unwrap());
    drop(last);
    let fit = table::Fit::new(table::Data::from_csv(rows())).steps(5).at(&path).ranks(first);
    let error = fit.run(&mut ()).map(drop).unwrap_err();
    assert_eq!(error.to_string(), "rank 1 is gone");
    // What was begun can go on.
    table::Fit::new(table::Data::from_csv(rows())).resume(&path).run(&mut ()).unwrap();
}
