//! Conditions, rules and scores, against enumeration and against the law that a table was drawn from.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use burn::tensor::Device;
use pmm_core::{Head, Streams};
use pmm_data::rules::{Allowed, Evidence, KeptRule, Ranges, Rule};
use pmm_data::{Cell, Overrides, ReadOptions, Schema, Source, Table};
use pmm_net::TrunkConfig;
use pmm_net::table::{BatchRows, ClockKind, Conditions, FillOptions, Shown, TableDenoiser, TableNet};

/// P(a, b): a of three levels, b of two, far from independent.
const LAW: [[f64; 2]; 3] = [[0.30, 0.05], [0.10, 0.20], [0.05, 0.30]];

/// Rows of the law: a, b, and a number n = 10 a + b + noise of 0 or 1.
fn text(rows: usize) -> String {
    let mut rng = Streams::new(7).stream(pmm_core::Purpose::DATA, 0, 0);
    let mut text = String::from("a,b,n\n");
    for _ in 0..rows {
        let mut u = rng.unit();
        let at = (0..6).find(|at| {
            u -= LAW[at / 2][at % 2];
            u < 0.0
        });
        let (a, b) = (at.unwrap_or(5) / 2, at.unwrap_or(5) % 2);
        let n = 10 * a + b + rng.below(2) as usize;
        text.push_str(&format!("{},{},{n}\n", ["x", "y", "z"][a], ["p", "q"][b]));
    }
    text
}

fn learned(text: String, rules: Vec<KeptRule>) -> TableDenoiser {
    let source = Source::from_bytes("t.csv", text.into_bytes(), &ReadOptions::default()).unwrap();
    let mut schema = Schema::infer(&source, &Overrides::default()).unwrap();
    schema.rules = rules;
    let (table, _) = Table::read(&source, &schema, usize::MAX, &Streams::new(0)).unwrap();
    let config = TrunkConfig { width: 32, blocks: 1, dropout: 0.0, ..TrunkConfig::default() };
    let net =
        TableNet::new(Arc::new(schema), ClockKind::Reveal, Head::Marginal, &config, Device::flex()).unwrap();
    let streams = Streams::new(3);
    let columns = net.coordinates().columns.len();
    let mut weights = net.initial(&streams);
    let (mut m, mut v) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
    let mut gradient = vec![0.0; weights.len()];
    for step in 0..1500u64 {
        let rows: Vec<u32> = (0..256).map(|i| ((step * 256 + i) % table.rows as u64) as u32).collect();
        let known = |row: usize| {
            let mut rng = streams.stream(pmm_core::Purpose::custom(50), step, row as u64);
            Shown::Columns((0..columns).map(|_| rng.unit() < 0.5).collect())
        };
        let batch = net.batch(&table, &rows, known, &streams, BatchRows::all(step, rows.len())).unwrap();
        net.gradient(&weights, batch.features, vec![], &batch.targets, &mut gradient);
        let rate = 4e-3 * (1.0 - step as f32 / 1500.0);
        for i in 0..weights.len() {
            m[i] = 0.9 * m[i] + 0.1 * gradient[i];
            v[i] = 0.99 * v[i] + 0.01 * gradient[i] * gradient[i];
            weights[i] -= rate * m[i] / (v[i].sqrt() + 1e-8);
        }
    }
    TableDenoiser::new(Arc::new(net), weights)
}

fn level(denoiser: &TableDenoiser, column: usize, text: &str) -> u32 {
    let Cell::Level(code) = denoiser.net().schema().columns[column].parse(text).unwrap() else {
        panic!("a level")
    };
    code
}

fn number(cell: Cell) -> f64 {
    if let Cell::Value(value) = cell { value } else { f64::NAN }
}

fn draw(denoiser: &TableDenoiser, conditions: &Conditions, rows: usize, seed: u64) -> Vec<Vec<Cell>> {
    let cells = vec![None; 3 * rows];
    let streams = Streams::new(seed);
    let drawn = denoiser.fill(&cells, conditions, 0, FillOptions::default(), &streams, |_| ()).unwrap();
    drawn.chunks(3).map(<[Cell]>::to_vec).collect()
}

/// One condition, and two that depend on each other, beside exact enumeration of P(a | conditions) by the law of the table.
/// Allowed: five standard errors of the draws and .02 for what the network has not learned.
#[test]
fn conditions_agree_with_enumeration() {
    let denoiser = learned(text(6000), Vec::new());
    let n = 4000;
    let check = |conditions: &Conditions, exact: [f64; 3], fits: &dyn Fn(&[Cell]) -> bool| {
        let rows = draw(&denoiser, conditions, n, 1);
        assert!(rows.iter().all(|row| fits(row)));
        for (a, exact) in ["x", "y", "z"].iter().zip(exact) {
            let code = Cell::Level(level(&denoiser, 0, a));
            let share = rows.iter().filter(|row| row[0] == code).count() as f64 / n as f64;
            let error = 5.0 * (exact * (1.0 - exact) / n as f64).sqrt() + 0.02;
            assert!((share - exact).abs() < error, "{a}: {share} {exact}");
        }
    };
    // n in 1..11 is x with a sum of 1 or 2, or y with none.
    let mut one = Conditions::default();
    one.set(2, Allowed::numbers(Ranges::between(1.0, 10.0)));
    let (x, y) = (LAW[0][0] / 2.0 + LAW[0][1], LAW[1][0] / 2.0);
    check(&one, [x / (x + y), y / (x + y), 0.0], &|row| (1.0..=10.0).contains(&number(row[2])));
    // a is x or z, and b is q: what a is depends on how often b is q there.
    let mut two = Conditions::default();
    let (x_code, z_code) = (level(&denoiser, 0, "x"), level(&denoiser, 0, "z"));
    two.set(0, Allowed::levels((0..3).map(|code| code == x_code || code == z_code).collect()));
    let q = level(&denoiser, 1, "q");
    two.set(1, Allowed::levels((0..2).map(|code| code == q).collect()));
    let (x, z) = (LAW[0][1], LAW[2][1]);
    check(&two, [x / (x + z), 0.0, z / (x + z)], &|row| row[1] == Cell::Level(q));
    // Nothing meets these two together.
    let mut none = Conditions::default();
    none.set(2, Allowed::numbers(Ranges::between(1000.0, 2000.0)));
    let cells = [None; 3];
    let refused = denoiser.fill(&cells, &none, 0, FillOptions::default(), &Streams::new(0), |_| ());
    assert!(refused.unwrap_err().to_string().contains("no row meets"));
}

/// log p of every row of the law, to .1 nats in the mean over the law; and a pair that never occurs stands out.
#[test]
fn scores_are_log_probabilities() {
    let denoiser = learned(text(6000), Vec::new());
    let mut off = 0.0;
    for (a, a_text) in ["x", "y", "z"].iter().enumerate() {
        for (b, b_text) in ["p", "q"].iter().enumerate() {
            for noise in 0..2 {
                let cells = [
                    Some(Cell::Level(level(&denoiser, 0, a_text))),
                    Some(Cell::Level(level(&denoiser, 1, b_text))),
                    Some(Cell::Value((10 * a + b + noise) as f64)),
                ];
                let scores = denoiser.row_scores(&cells, 8, 0, &[], &Streams::new(0), |_| ()).unwrap();
                let p = LAW[a][b] / 2.0;
                off += p * (scores[0].log_p - p.ln()).abs();
            }
        }
    }
    assert!(off < 0.1, "{off}");
    let wrong = [Some(Cell::Level(level(&denoiser, 0, "x"))), None, Some(Cell::Value(21.0))];
    let cells = denoiser.cell_scores(&wrong, &[], |_| ());
    assert!(cells[1].is_none());
    assert!(cells[0].as_ref().unwrap().log_p < -4.0 && cells[2].as_ref().unwrap().log_p < -4.0, "{cells:?}");
}

/// A rule that the network knows nothing of is kept in every drawn row, whatever the order, and counts in scores by its penalty.
#[test]
fn rules_are_kept_and_counted() {
    let rule = Rule::Determined {
        inputs: vec!["a".into()],
        output: "b".into(),
        table: serde_json::from_str(
            r#"[{"inputs":["x"],"output":"p"},{"inputs":["y"],"output":"q"},{"inputs":["z"],"output":"q"}]"#,
        )
        .unwrap(),
    };
    let evidence = Evidence { applies: 100, holds: 100, expected_breaks: None, exceptions: vec![] };
    let denoiser = learned(text(600), vec![KeptRule { rule, evidence, derived: None }]);
    let (x, p) = (Cell::Level(level(&denoiser, 0, "x")), Cell::Level(level(&denoiser, 1, "p")));
    let rows = draw(&denoiser, &Conditions::default(), 500, 2);
    assert!(rows.iter().all(|row| (row[0] == x) == (row[1] == p)));
    // b is given: a must be one of those that give it.
    let cells = [None, Some(p), None].repeat(200);
    let free = Conditions::default();
    let drawn = denoiser.fill(&cells, &free, 0, FillOptions::default(), &Streams::new(0), |_| ()).unwrap();
    assert!(drawn.chunks(3).all(|row| row[0] == x && row[1] == p));
    let q = Cell::Level(level(&denoiser, 1, "q"));
    let score = |b: Cell| {
        let cells = [Some(x), Some(b), Some(Cell::Value(1.0))];
        denoiser.row_scores(&cells, 2, 0, &[7.0], &Streams::new(0), |_| ()).unwrap()[0].clone()
    };
    assert!(score(p).broken.is_empty());
    assert_eq!(score(q).broken, [0]);
    assert!(score(q).log_p < score(p).log_p - 5.0, "{:?} {:?}", score(p), score(q));
}
