//! A table's network: cells there and back, what is seen, what is learned, what is drawn.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use burn::tensor::Device;
use pmm_core::{Head, Streams};
use pmm_data::{Cell, Overrides, ReadOptions, Schema, Source, Table};
use pmm_net::table::{BatchRows, ClockKind, Conditions, FillOptions, Shown, TableDenoiser, TableNet};
use pmm_net::{TrunkConfig, TrunkKind};

/// A category, a column of few values that follows it, and a continuum with exact zeros and gaps.
fn table() -> (Arc<Schema>, Table) {
    let mut text = String::from("kind,size,rain\n");
    let mut rng = Streams::new(1).stream(pmm_core::Purpose::DATA, 0, 0);
    for _ in 0..2000 {
        let kind = if rng.unit() < 0.3 { "a" } else { "b" };
        let size = if kind == "a" { 1 + rng.below(2) } else { 7 + rng.below(2) };
        let rain = match rng.unit() {
            u if u < 0.4 => "0".to_owned(),
            u if u < 0.5 => String::new(),
            _ => format!("{:.3}", 5.0 + rng.normal() + if kind == "a" { 3.0 } else { 0.0 }),
        };
        text.push_str(&format!("{kind},{size},{rain}\n"));
    }
    let source = Source::from_bytes("t.csv", text.into_bytes(), &ReadOptions::default()).unwrap();
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    let (table, _) = Table::read(&source, &schema, usize::MAX, &Streams::new(0)).unwrap();
    (Arc::new(schema), table)
}

fn net(schema: &Arc<Schema>, clock: ClockKind, head: Head) -> TableNet {
    net_of(TrunkKind::Mlp, schema, clock, head)
}

fn net_of(kind: TrunkKind, schema: &Arc<Schema>, clock: ClockKind, head: Head) -> TableNet {
    let config = TrunkConfig { kind, width: 32, blocks: 1, dropout: 0.0 };
    TableNet::new(schema.clone(), clock, head, &config, Device::flex()).unwrap()
}

#[test]
fn cells_there_and_back() {
    let (schema, table) = table();
    let net = net(&schema, ClockKind::Reveal, Head::Marginal);
    for row in 0..200 {
        for (column, place) in net.coordinates().columns.iter().enumerate() {
            let cells = &table.columns[place.column];
            let cell = net.cell(&table, row, column);
            let x = cell
                .value
                .map_or(f64::NAN, |value| place.from_value(&schema.columns[place.column], value, 0.9));
            let found = place.cell(&schema.columns[place.column], cell.token, x, true);
            match (found, cells.get(row)) {
                // A continuum whose values hardly repeat is interpolated: close, not equal.
                (Cell::Value(found), Cell::Value(value)) => assert!((found - value).abs() < 0.2),
                (found, cell) => assert_eq!(found, cell),
            }
        }
    }
}

/// Plain gradient descent for some steps: the loss falls well below that of independent columns, and draws keep what
/// belongs together.
#[test]
fn learns_and_draws_what_belongs_together() {
    let (schema, table) = table();
    for (kind, clock, head) in [
        (TrunkKind::Mlp, ClockKind::Reveal, Head::Marginal),
        (TrunkKind::Mlp, ClockKind::Gradual, Head::Marginal),
        (TrunkKind::Mlp, ClockKind::Gradual, Head::Mean),
        (TrunkKind::Attention, ClockKind::Reveal, Head::Marginal),
    ] {
        let net = Arc::new(net_of(kind, &schema, clock, head));
        let streams = Streams::new(3);
        let mut weights = net.initial(&streams);
        let (mut m, mut v) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
        let mut gradient = vec![0.0; weights.len()];
        for step in 0..400u64 {
            let rows: Vec<u32> = (0..128).map(|i| ((step * 128 + i) % 2000) as u32).collect();
            let known = |row: usize| {
                let mut rng = streams.stream(pmm_core::Purpose::custom(50), step, row as u64);
                Shown::Columns((0..3).map(|_| rng.unit() < 0.4).collect())
            };
            let batch = net.batch(&table, &rows, known, &streams, BatchRows::all(step, rows.len())).unwrap();
            net.gradient(&weights, batch.features, vec![], &batch.targets, &mut gradient);
            for i in 0..weights.len() {
                m[i] = 0.9 * m[i] + 0.1 * gradient[i];
                v[i] = 0.99 * v[i] + 0.01 * gradient[i] * gradient[i];
                weights[i] -= 3e-3 * m[i] / (v[i].sqrt() + 1e-8);
            }
        }
        let denoiser = TableDenoiser::new(net.clone(), weights);
        let (unknown, free) = (vec![None; 1000 * 3], Conditions::default());
        let plan = FillOptions { steps: 50, snap: true };
        let drawn = denoiser.fill(&unknown, &free, 0, plan, &streams, |_| ()).unwrap();
        let size = |row: &[Cell]| if let Cell::Value(size) = row[1] { size } else { f64::NAN };
        let kinds = schema.columns[0].clone();
        let is_a = |row: &[Cell]| kinds.text(row[0], 0.0) == "a";
        let rows: Vec<&[Cell]> = drawn.chunks(3).collect();
        let agree = rows.iter().filter(|row| is_a(row) == (size(row) < 4.5)).count();
        assert!(agree > 940, "{kind:?} {clock:?} {head:?}: {agree} of 1000 sizes go with their kind");
        let share = rows.iter().filter(|row| is_a(row)).count();
        assert!((220..380).contains(&share), "{kind:?} {clock:?} {head:?}: {share}");
        let zeros = rows.iter().filter(|row| row[2] == Cell::Special(0)).count();
        let gaps = rows.iter().filter(|row| row[2] == Cell::Missing).count();
        assert!(
            (310..490).contains(&zeros) && (50..160).contains(&gaps),
            "{kind:?} {clock:?} {head:?}: {zeros} {gaps}"
        );
        // What is given stays; a chunk of its own draws the same rows.
        let Cell::Level(kind) = rows[0][0] else { panic!("a level") };
        let given = [Some(Cell::Level(kind)), None, None];
        let two = denoiser.fill(&[given, given].concat(), &free, 600, plan, &streams, |_| ()).unwrap();
        let alone = denoiser.fill(&given, &free, 601, plan, &streams, |_| ()).unwrap();
        assert_eq!(two[3..], alone);
        assert_eq!(two[0], rows[0][0]);
        let full = denoiser.clone().complete(true);
        let full = full.fill(&unknown[..300], &free, 0, plan, &streams, |_| ()).unwrap();
        assert!(full.iter().all(|cell| *cell != Cell::Missing));
    }
}

/// Laws that are too sure are widened, laws that are right are left.
#[test]
fn calibration_widens_what_is_too_sure() {
    let (schema, table) = table();
    let net = net(&schema, ClockKind::Reveal, Head::Marginal);
    let streams = Streams::new(5);
    let rows: Vec<u32> = (0..512).collect();
    let batch = net
        .batch(&table, &rows, |_| Shown::Columns(vec![false; 3]), &streams, BatchRows::all(0, rows.len()))
        .unwrap();
    let weights = net.initial(&streams);
    let loss =
        |weights: &[f32]| net.losses(weights, batch.features.clone(), &batch.targets).iter().sum::<f64>();
    let calm = net.calibrated(&weights, std::slice::from_ref(&batch), None);
    let last = net.parts().iter().len() - 1;
    let mut sure = weights.clone();
    // The last eight outputs are the log standard deviations of `rain`.
    let biases = net.parts().get(last).range.clone();
    sure[biases.end - 8..biases.end].iter_mut().for_each(|log_sd| *log_sd -= 0.6);
    let mended = net.calibrated(&sure, std::slice::from_ref(&batch), None);
    assert!(loss(&calm) <= loss(&weights) + 1e-6 && loss(&mended) < loss(&sure) - 1e-3);
    assert!(mended[biases.end - 1] > sure[biases.end - 1] + 0.2);
}
