//! Random small tables through every job: no given cell changes, and what is written is of its column's kind and grid.

use std::fmt::Write as _;
use std::path::Path;

use pmm::arrow::RecordBatch;
use pmm::table::{Data, Fit, Model, OutputColumn, Writer};
use pmm::{Error, Settings};
use pmm_core::Stream;
use pmm_data::{Cell, Cells, Coding, Header, ReadOptions, Source};

use crate::{count, one_of, random};

/// A random table: its text, and its cells as they stand in it.
struct Random {
    text: String,
    cells: Vec<Vec<String>>,
    /// Cells that are gaps.
    gaps: Vec<Vec<bool>>,
}

/// A value of a kind of column.
fn value(kind: u64, comma: bool, rng: &mut Stream) -> String {
    let number = rng.below(1000) as f64;
    match kind {
        0 => rng.below(90).to_string(),
        1 => format!("{}.0", rng.below(400)),
        2 => format!("{:.2}", number / 7.0),
        3 => format!("{:.1}", -number / 3.0),
        4 if comma => format!("{:.2}", number / 7.0).replace('.', ","),
        4 => format!("{:e}", (number + 1.0) * 1e-7),
        5 => format!("20{:02}-{:02}-{:02}", 10 + rng.below(12), 1 + rng.below(12), 1 + rng.below(28)),
        6 => format!("{:02}/{:02}/20{:02}", 1 + rng.below(28), 1 + rng.below(12), 10 + rng.below(12)),
        7 => format!(
            "2021-03-{:02} {:02}:{:02}:{:02}",
            1 + rng.below(28),
            rng.below(24),
            rng.below(60),
            rng.below(60)
        ),
        8 => one_of(rng, &["yes", "no"]).to_owned(),
        9 => one_of(rng, &["red", "green", "blue ", " pale blue"]).to_owned(),
        10 => one_of(rng, &["a,b", "c;d", "say \"hi\"", "x|y\tz", "ü€"]).to_owned(),
        11 => format!("{:03}", rng.below(40)),
        12 => format!("${},{:03}", 1 + rng.below(8), rng.below(1000)),
        13 => format!("{}%", rng.below(100)),
        14 => format!("{:02}:{:02}", rng.below(24), rng.below(60)),
        15 => format!("{}.5 kg", rng.below(60)),
        16 => "same".to_owned(),
        _ => format!("{:.3}", rng.normal()),
    }
}

impl Random {
    fn new(rng: &mut Stream) -> Self {
        let (columns, rows) = (2 + rng.below(4) as usize, 30 + rng.below(50) as usize);
        let delimiter = one_of(rng, &[",", ";", "\t", "|"]);
        let end = one_of(rng, &["\n", "\r\n"]);
        let kinds: Vec<u64> = (0..columns).map(|_| rng.below(18)).collect();
        let share = [0.0, 0.1, 0.4][rng.below(3) as usize];
        let markers: Vec<&str> = kinds
            .iter()
            // Among levels a marker would be one, so their gaps are empty.
            .map(
                |kind| {
                    if matches!(kind, 9 | 10 | 11 | 16) { "" } else { one_of(rng, &["", "NA", "NaN", "?"]) }
                },
            )
            .collect();
        let (mut cells, mut gaps) = (vec![Vec::new(); columns], vec![Vec::new(); columns]);
        let names: Vec<String> = (0..columns).map(|column| format!("name {column}")).collect();
        let mut text = names.join(delimiter) + end;
        for _ in 0..rows {
            let mut line = Vec::new();
            for column in 0..columns {
                let gap = rng.unit() < share;
                let cell = if gap {
                    markers[column].to_owned()
                } else {
                    value(kinds[column], delimiter == ";", rng)
                };
                let must = cell.contains([',', ';', '\t', '|', '"', '\n', '\r']);
                let quoted = must || !cell.is_empty() && rng.below(12) == 0;
                line.push(if quoted { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() });
                cells[column].push(cell);
                gaps[column].push(gap);
            }
            let _ = write!(text, "{}{end}", line.join(delimiter));
        }
        Self { text, cells, gaps }
    }
}

fn options() -> ReadOptions {
    ReadOptions { header: Header::Yes, ..Default::default() }
}

fn quick(text: &str) -> Result<Model, Error> {
    let mut settings = Settings::new();
    settings.set("net.width", 8)?.set("net.blocks", 1)?;
    Fit::new(Data::from_csv(text).reading(options())).settings(&settings).steps(3).run(&mut ())
}

/// The coded cells of a source, column by column.
fn coded(model: &Model, source: &Source) -> Vec<Vec<Cell>> {
    let mut coder = model.schema().coder(source).unwrap();
    let mut all = vec![Vec::new(); model.schema().columns.len()];
    for rows in source.batches().unwrap() {
        let cells: Vec<Cells> = coder.code(&rows.unwrap()).unwrap();
        all.iter_mut().zip(cells).for_each(|(all, cells)| all.extend(cells.iter()));
    }
    all
}

fn write(path: &Path, columns: &[OutputColumn], batches: &[RecordBatch]) -> Source {
    let mut writer = Writer::create(path, columns).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    Source::open(path, &ReadOptions { delimiter: Some(','), ..options() }).unwrap()
}

fn texts(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().from_path(path).unwrap();
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// Every given cell comes out of `impute` as it went in, and no gap is left.
fn check_imputed(table: &Random, model: &Model, folder: &Path) {
    let data = Data::from_csv(table.text.clone()).reading(options());
    let rows = model.impute(data).rows().unwrap();
    let (columns, path) = (rows.columns(), folder.join("full.csv"));
    let batches: Vec<RecordBatch> = rows.map(Result::unwrap).collect();
    write(&path, &columns, &batches);
    let full = texts(&path);
    assert_eq!(full.len(), table.cells[0].len(), "{}", table.text);
    for (column, described) in model.schema().columns.iter().enumerate() {
        for (row, line) in full.iter().enumerate() {
            let (was, is) = (&table.cells[column][row], &line[column]);
            let kept = !table.gaps[column][row] || !described.is_modelled();
            assert!(
                !kept || was == is,
                "row {row}, {}: {was:?} became {is:?}\n{}",
                described.name,
                table.text
            );
            let filled = kept || described.parse(is).is_ok_and(|cell| cell != Cell::Missing);
            assert!(filled, "row {row}, {}: a gap became {is:?}\n{}", described.name, table.text);
        }
    }
}

/// New rows are the same in three formats, with types, and of their columns' kinds and grids.
fn check_sampled(table: &Random, model: &Model, folder: &Path) {
    let rows = model.sample(40);
    let columns = rows.columns();
    let batches: Vec<RecordBatch> = rows.rows().unwrap().map(Result::unwrap).collect();
    let from_text = coded(model, &write(&folder.join("x.csv"), &columns, &batches));
    for name in ["x.parquet", "x.arrow"] {
        let source = write(&folder.join(name), &columns, &batches);
        for (field, column) in source.schema().fields().iter().zip(&columns) {
            assert_eq!(
                field.data_type(),
                column.field.data_type(),
                "{name}: {}\n{}",
                field.name(),
                table.text
            );
        }
        assert_eq!(coded(model, &source), from_text, "{name}\n{}", table.text);
    }
    for (column, cells) in
        model.schema().columns.iter().zip(&from_text).filter(|(column, _)| column.is_modelled())
    {
        for cell in cells {
            let fits = match (&column.coding, *cell) {
                (Coding::Numbers(numbers), Cell::Value(value)) => {
                    value.is_finite() && numbers.on_grid(value) == value
                }
                (_, Cell::Unseen) => false,
                _ => true,
            };
            assert!(fits, "{}: {cell:?} is off its grid\n{}", column.name, table.text);
        }
    }
}

/// Predictions are laws: shares that add up, quantiles in order and on the grid.
fn check_predicted(table: &Random, model: &Model, rng: &mut Stream) {
    let modelled: Vec<&str> = model
        .schema()
        .columns
        .iter()
        .filter(|column| column.is_modelled())
        .map(|column| column.name.as_str())
        .collect();
    let target = one_of(rng, &modelled);
    let laws = model.predict(Data::from_csv(table.text.clone()).reading(options()), target).unwrap();
    assert_eq!(laws.len(), table.cells[0].len());
    if !laws.is_number() {
        for shares in laws.probabilities().unwrap() {
            let sum: f64 = shares.iter().sum();
            assert!(
                (sum - 1.0).abs() < 1e-6 && shares.iter().all(|share| *share >= 0.0),
                "{sum}\n{}",
                table.text
            );
        }
        return;
    }
    let [lows, middles, highs] = [0.05, 0.5, 0.95].map(|q| laws.quantile(q).unwrap());
    for ((low, middle), high) in lows.into_iter().zip(middles).zip(highs) {
        assert!(
            low <= middle && middle <= high && low.is_finite() && high.is_finite(),
            "{target}\n{}",
            table.text
        );
    }
}

fn all_of(tables: u64) {
    let folder = tempfile::tempdir().unwrap();
    let (mut fitted, mut refused, mut cells) = (0, 0, 0);
    for trial in 0..tables {
        let mut rng = random(20_000 + trial);
        let table = Random::new(&mut rng);
        let model = match quick(&table.text) {
            Ok(model) => model,
            Err(error) => {
                assert!(matches!(error, Error::NothingToLearn { .. }), "{error}\n{}", table.text);
                refused += 1;
                continue;
            }
        };
        check_imputed(&table, &model, folder.path());
        check_sampled(&table, &model, folder.path());
        check_predicted(&table, &model, &mut rng);
        fitted += 1;
        cells += table.cells.iter().map(Vec::len).sum::<usize>();
    }
    println!(
        "{tables} tables, {cells} cells: {fitted} fitted, sampled, imputed and predicted; {refused} with nothing to learn; no given cell changed"
    );
    assert!(fitted * 10 >= tables * 8, "most tables can be learned");
}

#[test]
fn a_few() {
    all_of(30);
}

#[test]
#[ignore = "long: trials/run tables"]
fn all() {
    all_of(count(1000));
}
