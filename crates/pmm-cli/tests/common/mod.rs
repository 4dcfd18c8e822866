//! What the tests share: the program run in a folder of its own, tables made and read back.
// Every test program uses a part of it.
#![allow(dead_code, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assert_cmd::Command;
use pmm_core::{Purpose, Stream, Streams};
use pmm_data::{FileFormat, Header, OutputColumn, ReadOptions, Source, Writer};

/// What no run of a test takes: beyond it the program hangs.
const HANGS: Duration = Duration::from_secs(120);
/// A fit that is over in a blink.
pub(crate) const QUICK: &str = "--steps 30 --set net.width=32 --set net.blocks=1";

/// The program, without colours and with an end.
pub(crate) fn pmm() -> Command {
    let mut command = Command::cargo_bin("pmm").unwrap();
    command.env("NO_COLOR", "1").timeout(HANGS);
    command
}

/// A folder with tables and models, gone at the end.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

/// What a run left.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With the small table of [`pets`] in `pets.csv`.
    pub(crate) fn with_pets() -> Self {
        let place = Self::new();
        place.write("pets.csv", pets(300));
        place
    }

    /// With a model of it in `pets.pmm`.
    pub(crate) fn with_model(settings: &str) -> Self {
        let place = Self::with_pets();
        place.run(&format!("fit pets.csv {QUICK} --quiet {settings}")).ok();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the program here; arguments are separated by blanks.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        self.run_with(arguments, "")
    }

    /// Likewise, with something on standard input.
    pub(crate) fn run_with(&self, arguments: &str, stdin: impl Into<Vec<u8>>) -> Run {
        let output = pmm()
            .current_dir(self.folder.path())
            .args(arguments.split_whitespace())
            .write_stdin(stdin)
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("panicked"), "pmm {arguments}: {err}");
        assert!(output.status.code().is_some(), "pmm {arguments} hangs: {err}");
        Run { code: output.status.code(), out: output.stdout, err }
    }

    pub(crate) fn sheet(&self, name: &str) -> Sheet {
        Sheet::of(Source::open(self.path(name), &header()).unwrap())
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// Fails with this exit code, says all of these words, and writes no data.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in {}", self.err);
        }
        assert!(self.out.is_empty(), "{}", String::from_utf8_lossy(&self.out));
        self
    }

    pub(crate) fn sheet(&self) -> Sheet {
        Sheet::of(Source::from_bytes("standard output", self.out.clone(), &header()).unwrap())
    }
}

/// A table as texts.
#[derive(Debug, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Sheet {
    fn of(source: Source) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("texts.csv");
        convert(&source, &path);
        let mut reader = csv::ReaderBuilder::new().from_path(&path).unwrap();
        let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        Self { names: source.names().to_vec(), rows }
    }

    /// Writes it as comma-separated text.
    pub(crate) fn save(&self, path: &Path) {
        let mut writer = csv::Writer::from_path(path).unwrap();
        writer.write_record(&self.names).unwrap();
        self.rows.iter().for_each(|row| writer.write_record(row).unwrap());
        writer.flush().unwrap();
    }

    #[track_caller]
    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        let at = self.names.iter().position(|n| n == name).unwrap_or_else(|| panic!("no column {name}"));
        self.rows.iter().map(|row| row[at].as_str()).collect()
    }

    /// Those of its cells that are not missing, as numbers.
    #[track_caller]
    pub(crate) fn numbers(&self, name: &str) -> Vec<f64> {
        let cells = self.column(name).into_iter().filter(|cell| !cell.is_empty());
        cells.map(|cell| cell.parse().unwrap_or_else(|_| panic!("{name}: {cell} is no number"))).collect()
    }

    /// The share of cells of a column that are so.
    pub(crate) fn share(&self, name: &str, is: impl Fn(&str) -> bool) -> f64 {
        self.column(name).into_iter().filter(|cell| is(cell)).count() as f64 / self.rows.len() as f64
    }
}

/// Writes a table in the format of another file's name; its cells keep their types.
pub(crate) fn convert(source: &Source, path: &Path) {
    let columns = OutputColumn::of_schema(source.schema());
    let mut writer = Writer::create_as(path, FileFormat::of(path).unwrap(), &columns).unwrap();
    source.batches().unwrap().for_each(|rows| writer.write(&rows.unwrap().batch).unwrap());
    writer.finish().unwrap();
}

/// The step of a checkpoint; none while there is none. One that is there must be whole.
pub(crate) fn step(path: &Path) -> Option<u64> {
    path.exists().then(|| pmm_store::load_tensors::<pmm_store::Checkpoint>(path).unwrap().1.step())
}

fn header() -> ReadOptions {
    ReadOptions { header: Header::Yes, ..Default::default() }
}

/// The columns of [`pets`].
pub(crate) const PETS: [&str; 9] =
    ["name", "species", "age", "weight", "rain", "visits", "sex", "born", "planet"];

/// A table with every kind of column: identifier, category, count, decimals with gaps, zeros among decimals, count,
/// category with gaps, date, constant.
pub(crate) fn pets(rows: u64) -> String {
    let mut text = PETS.join(",") + "\n";
    for row in 0..rows {
        let mut rng = Streams::new(5).stream(Purpose::DATA, 0, row);
        let species = rng.below(3) as usize;
        let age = 1 + rng.below(4 + 5 * species as u64);
        let weight = if rng.unit() < 0.15 {
            String::new()
        } else {
            format!("{:.1}", 3.0 + 10.0 * species as f64 + age as f64 + rng.normal())
        };
        let rain = if rng.unit() < 0.4 { 0.0 } else { 0.05 + 9.0 * rng.unit() };
        let sex = if rng.unit() < 0.1 { "" } else { pick(&mut rng, &["female", "male"]) };
        let (month, day) = (1 + rng.below(12), 1 + rng.below(28));
        let _ = writeln!(
            text,
            "P{row:04}x,{},{age},{weight},{rain:.2},{},{sex},20{:02}-{month:02}-{day:02},Earth",
            ["cat", "dog", "guinea pig"][species],
            rng.below(40),
            10 + rng.below(12),
        );
    }
    text
}

pub(crate) fn pick<'a>(rng: &mut Stream, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u64) as usize]
}
