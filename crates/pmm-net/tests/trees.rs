//! Boosted trees as the estimate of a table: laws, draws, shares beside a network.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use burn::tensor::Device;
use pmm_core::{Head, Purpose, Streams};
use pmm_data::{Cell, Overrides, ReadOptions, Schema, Source, Table};
use pmm_net::table::{
    Answers, BatchRows, CellCoordinates, ClockKind, Conditions, FillOptions, Law, Shares, Shown,
    TableDenoiser, TableNet, TableTrees, TreesConfig, TreesOfColumn,
};
use pmm_net::{TrunkConfig, TrunkKind};

fn read(text: String) -> (Arc<TableNet>, Table) {
    let source = Source::from_bytes("t.csv", text.into_bytes(), &ReadOptions::default()).unwrap();
    let schema = Arc::new(Schema::infer(&source, &Overrides::default()).unwrap());
    let (table, _) = Table::read(&source, &schema, usize::MAX, &Streams::new(0)).unwrap();
    let config = TrunkConfig { kind: TrunkKind::Trees, width: 8, blocks: 0, dropout: 0.0 };
    let net = TableNet::new(schema, ClockKind::Reveal, Head::Marginal, &config, Device::flex()).unwrap();
    (Arc::new(net), table)
}

/// A category, a column of few values that follows it, and a continuum with exact zeros and gaps.
fn weather() -> (Arc<TableNet>, Table) {
    let mut text = String::from("kind,size,rain\n");
    let mut rng = Streams::new(1).stream(Purpose::DATA, 0, 0);
    for _ in 0..1200 {
        let kind = if rng.unit() < 0.3 { "a" } else { "b" };
        let size = if kind == "a" { 1 + rng.below(2) } else { 7 + rng.below(2) };
        let rain = match rng.unit() {
            u if u < 0.4 => "0".to_owned(),
            u if u < 0.5 => String::new(),
            _ => format!("{:.3}", 5.0 + rng.normal() + if kind == "a" { 3.0 } else { 0.0 }),
        };
        text.push_str(&format!("{kind},{size},{rain}\n"));
    }
    read(text)
}

fn small() -> TreesConfig {
    TreesConfig { examples: 4_000, bins: 16, rounds: 100, rate: 0.1, ..TreesConfig::default() }
}

fn grown(net: &TableNet, table: &Table) -> Vec<TreesOfColumn> {
    let rows: Vec<u32> = (0..table.rows as u32).collect();
    let (learned, held_out) = rows.split_at(rows.len() * 4 / 5);
    let rows = ((table, learned), (table, held_out));
    (0..net.coordinates().columns.len())
        .map(|column| net.learn_column(column, rows, (None, 0.5), &small(), &Streams::new(0)))
        .collect()
}

fn seen(net: &TableNet, table: &Table, row: usize, known: &[usize]) -> Vec<CellCoordinates> {
    let cell = |column: usize| match known.contains(&column) {
        true => net.cell(table, row, column),
        false => CellCoordinates::default(),
    };
    (0..net.coordinates().columns.len()).map(cell).collect()
}

fn mass(law: &Law) -> f64 {
    let step = 1e-3;
    (-8_000..8_000).map(|i| law.log_density((f64::from(i) + 0.5) * step).exp() * step).sum()
}

/// Probabilities sum to 1, densities integrate to 1, and the distribution function is their integral; whatever is known.
#[test]
fn laws_are_whole() {
    let (net, table) = weather();
    let trees = TableTrees::new(&net, grown(&net, &table));
    for (row, known) in [(0, vec![]), (1, vec![0]), (2, vec![0, 1]), (3, vec![1, 2]), (4, vec![2])] {
        let seen = seen(&net, &table, row, &known);
        for column in (0..3).filter(|column| !known.contains(column)) {
            let law = trees.law(column, &seen);
            assert!((law.codes.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{law:?}");
            if !law.parts.is_empty() {
                assert!((mass(&law) - 1.0).abs() < 1e-3, "{}", mass(&law));
                let step = 1e-3;
                let below: f64 =
                    (-8_000..300).map(|i| law.log_density((f64::from(i) + 0.5) * step).exp() * step).sum();
                assert!((below - law.cdf(0.3)).abs() < 2e-3, "{below} {}", law.cdf(0.3));
            }
        }
    }
}

/// What trees draw goes together as in the rows. Shares of 1,000 rows: three standard errors are .05.
#[test]
fn trees_draw_what_belongs_together() {
    let (net, table) = weather();
    let trees = Arc::new(TableTrees::new(&net, grown(&net, &table)));
    let weights = net.initial(&Streams::new(0));
    let denoiser = TableDenoiser::new(net.clone(), weights).pooled(trees, &[Shares::TREES; 3]);
    let (unknown, free) = (vec![None; 1000 * 3], Conditions::default());
    let streams = Streams::new(3);
    let fill = |cells: &[Option<Cell>], first: u64| {
        denoiser.fill(cells, &free, first, FillOptions::default(), &streams, |_| ()).unwrap()
    };
    let drawn = fill(&unknown, 0);
    let kinds = net.schema().columns[0].clone();
    let is_a = |row: &[Cell]| kinds.text(row[0], 0.0) == "a";
    let size = |row: &[Cell]| if let Cell::Value(size) = row[1] { size } else { f64::NAN };
    let rows: Vec<&[Cell]> = drawn.chunks(3).collect();
    let agree = rows.iter().filter(|row| is_a(row) == (size(row) < 4.5)).count();
    assert!(agree > 970, "{agree} of 1000 sizes go with their kind");
    let share = |test: &dyn Fn(&&&[Cell]) -> bool| rows.iter().filter(test).count();
    let shares = [
        share(&|row| is_a(row)),
        share(&|row| row[2] == Cell::Special(0)),
        share(&|row| row[2] == Cell::Missing),
    ];
    assert!((245..355).contains(&shares[0]) && (345..455).contains(&shares[1]), "{shares:?}");
    assert!((60..140).contains(&shares[2]), "{shares:?}");
    // A row does not depend on those beside it.
    assert_eq!(fill(&unknown[..9], 500), drawn[1500..1509]);
    // The law that is asked for is the one that is drawn from: P(rain is an exact zero | kind).
    let cells = [Some(rows[0][0]), None, None];
    let pmm_net::table::CellLaw::Open { codes, .. } =
        &denoiser.cell_laws(&cells, 2, &Conditions::default())[0][0].1
    else {
        panic!("an open law")
    };
    let many = fill(&cells.repeat(4000), 0);
    let zeros = many.chunks(3).filter(|row| row[2] == Cell::Special(0)).count() as f64 / 4000.0;
    // The size is drawn before the rain in half of the rows, and tells nothing more: within the fit's own error.
    assert!((zeros - codes[1]).abs() < 0.05, "{zeros} {codes:?}");
}

/// Two threads, one thread, and a round trip through numbers: the same trees.
#[test]
fn trees_do_not_depend_on_threads_and_survive_a_file() {
    let (net, table) = weather();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| grown(&net, &table))
    };
    let (one, two) = (with(1), with(2));
    assert_eq!(one, two);
    for (column, trees) in one.iter().enumerate() {
        let mut lists: std::collections::HashMap<String, Vec<f32>> = trees.pack().into_iter().collect();
        let again = net.unpack_column(column, |list| lists.remove(list)).unwrap().unwrap();
        assert!(again == *trees && lists.is_empty());
    }
    // The trees of another column are refused.
    let mut lists: std::collections::HashMap<String, Vec<f32>> = one[2].pack().into_iter().collect();
    assert!(net.unpack_column(0, |list| lists.remove(list)).is_err());
}

/// A step: trees find it at once, a network that has hardly learned does not. Then a network that knows, against trees that were
/// grown on noise: the shares go to the one that is right.
#[test]
fn shares_go_to_the_one_that_is_right() {
    let mut rng = Streams::new(5).stream(Purpose::DATA, 0, 0);
    let mut rows = |noise: bool| -> String {
        let row = |_: usize| {
            let x = rng.unit();
            let told = if noise { rng.unit() } else { x };
            format!("{x:.4},{}\n", if ((told * 8.0) as u32).is_multiple_of(2) { "even" } else { "odd" })
        };
        "x,y\n".to_owned() + &(0..1000).map(row).collect::<String>()
    };
    let (net, table) = read(rows(false));
    let trees = TableTrees::new(&net, grown(&net, &table));
    let weights = net.initial(&Streams::new(0));
    let held_out: Vec<u32> = (800..1000).collect();
    let batch = net
        .batch(
            &table,
            &held_out,
            |_| Shown::Columns(vec![true, false]),
            &Streams::new(0),
            BatchRows::all(0, held_out.len()),
        )
        .unwrap();
    let answers = Answers::new(&trees, &net, std::slice::from_ref(&batch), 1);
    let (shares, loss) = net.pool(&weights, std::slice::from_ref(&batch), &answers, false);
    assert!(shares[1].codes > 0.9 && loss < 0.3, "{shares:?} {loss}");
    let alone: f64 = net.losses(&weights, batch.features.clone(), &batch.targets).iter().sum();
    assert!(loss < 0.5 * alone, "{loss} {alone}");
    // Trees that were grown on noise know nothing; a network whose biases are the shares is no worse than they.
    let (_, noise) = read(rows(true));
    let ignorant = TableTrees::new(&net, grown(&net, &noise));
    let mut sure = weights;
    let biases = net.parts().get(net.parts().iter().len() - 1).range.clone();
    let only: Vec<u32> =
        held_out.iter().copied().filter(|row| net.cell(&table, *row as usize, 1).token == Some(0)).collect();
    sure[biases][net.columns()[0].1] += 4.0;
    let batch = net
        .batch(
            &table,
            &only,
            |_| Shown::Columns(vec![true, false]),
            &Streams::new(0),
            BatchRows::all(0, only.len()),
        )
        .unwrap();
    let answers = Answers::new(&ignorant, &net, std::slice::from_ref(&batch), 1);
    let (shares, _) = net.pool(&sure, &[batch], &answers, false);
    assert!(shares[1].codes < 0.1, "{shares:?}");
}
