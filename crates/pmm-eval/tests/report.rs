//! A report on a made-up table, from scores to page.
#![allow(clippy::unwrap_used)]

use pmm_core::{Purpose, Streams};
use pmm_eval::table::{Frame, FrameColumn, calibration, class_calibration, scores};
use pmm_eval::{Prediction, PredictionScore, RuleLine, TableReport, TrainingPoint};

const ISLANDS: [&str; 3] = ["Biscoe", "Dream", "Torgersen <&>"];

/// Penguins of a sort; `blur` weakens what ties the columns together.
fn penguins(rows: usize, row: u64, blur: f64) -> Frame {
    let mut stream = Streams::new(11).stream(Purpose::DATA, 0, row);
    let mut numbers = [(); 5].map(|()| Vec::new());
    let (mut island, mut species) = (Vec::new(), Vec::new());
    for i in 0..rows {
        let kind = stream.below(3) as usize;
        let size = stream.normal();
        let mut noisy = |scale: f64| scale * (1.0 + blur) * stream.normal();
        let mass = 3700.0 + 900.0 * kind as f64 + 350.0 * size + noisy(120.0);
        let flipper = 190.0 + 12.0 * kind as f64 + 5.0 * size + noisy(3.0);
        let bill = 39.0 + 5.0 * f64::from(u8::from(kind > 0)) + 1.5 * size + noisy(1.5);
        let eggs = (stream.exponential() * 1.5).floor();
        let rain = if stream.unit() < 0.4 { 0.0 } else { 4.0 * stream.exponential() };
        let values = [mass.round(), flipper, if i % 11 == 0 { f64::NAN } else { bill }, eggs, rain];
        numbers.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        let moved = stream.unit() < 0.2 + 0.3 * blur;
        island.push(if moved { ISLANDS[stream.below(3) as usize] } else { ISLANDS[kind] });
        species.push(["Adelie", "Chinstrap", "Gentoo"][kind]);
    }
    let names = ["body mass, g", "flipper length, mm", "bill length, mm", "eggs", "rain, mm"];
    let mut columns: Vec<FrameColumn> =
        names.into_iter().zip(numbers).map(|(name, values)| FrameColumn::numbers(name, values)).collect();
    columns.push(FrameColumn::named("island", island));
    columns.push(FrameColumn::named("species", species));
    Frame::new(columns).unwrap()
}

fn predictions() -> Vec<Prediction> {
    let mut stream = Streams::new(12).stream(Purpose::DATA, 0, 0);
    let (mut draws, mut truth, mut marginal) = (Vec::new(), Vec::new(), Vec::new());
    let (mut probabilities, mut classes) = (Vec::new(), Vec::new());
    for _ in 0..600 {
        let mean = 4000.0 + 800.0 * stream.normal();
        draws.extend((0..100).map(|_| mean + 240.0 * stream.normal()));
        truth.push(mean + 300.0 * stream.normal());
        marginal.push(4000.0 + 850.0 * stream.normal());
        let p = stream.unit();
        probabilities.extend([p, 1.0 - p]);
        classes.push(u32::from(stream.unit() > 0.1 + 0.8 * p));
    }
    let numbers = calibration(&draws, &truth, &marginal, 0).unwrap();
    let levels = class_calibration(&probabilities, &classes, &[0.5, 0.5]).unwrap();
    vec![
        Prediction { target: "body mass, g".into(), score: PredictionScore::Numbers(numbers) },
        Prediction { target: "sex".into(), score: PredictionScore::Levels(levels) },
    ]
}

fn report() -> TableReport {
    let (train, test, synth) = (penguins(800, 1, 0.0), penguins(400, 2, 0.0), penguins(400, 3, 0.5));
    let point = |i: u32| {
        let x = f64::from(i) / 60.0;
        TrainingPoint {
            step: u64::from(i) * 25,
            train: 9.0 + 6.0 * (-4.0 * x).exp() + 0.2 * (f64::from(i) * 1.7).sin(),
            valid: i.is_multiple_of(4).then(|| 9.3 + 6.0 * (-4.0 * x).exp() + 0.4 * x * x),
        }
    };
    TableReport {
        title: "penguins.csv".into(),
        lead: "A model of 800 rows and 7 columns, and how far its rows can be trusted.".into(),
        facts: vec![("rows".into(), "800 to learn from, 400 held out".into()), ("seed".into(), "0".into())],
        scores: scores(&test, &synth, &train, &["body mass, g", "species"], 0).unwrap(),
        real: Some(test),
        synth: Some(synth),
        predictions: predictions(),
        training: (0..60).map(point).collect(),
        loss_unit: "bits per row".into(),
        rules: vec![RuleLine { rule: "species decides island".into(), real: 0.0, made: 0.25 }],
        warnings: vec!["these are the rows of the fit".into()],
        notes: vec!["3 cells are unknown".into()],
    }
}

/// The page and its pictures; kept in `PMM_REPORT_DIR`, if that is set, for a look at them.
#[test]
fn a_whole_report_is_written() {
    let report = report();
    let html = report.html();
    for part in
        ["Verdict", "Rules", "Notes", "Columns", "Pairs of columns", "Predictions", "Training", "Model"]
    {
        assert!(html.contains(&format!("<h2>{part}</h2>")), "{part}");
    }
    assert!(html.contains("real against real gives") && html.contains("bits per row"));
    assert!(html.contains("break 1 of the 1 rules") && html.contains("Mind: these are the rows of the fit."));
    assert!(!html.contains("NaN") && !html.contains("Torgersen <"));
    let names: Vec<String> = report.pictures().iter().map(|picture| picture.name.clone()).collect();
    assert_eq!(names, ["columns", "dependence", "pairs", "calibration-1", "calibration-2", "training"]);
    let summary = report.summary();
    assert!(summary.iter().any(|row| row.name == "told apart") && summary.len() == 12, "{summary:?}");
    assert!(serde_json::to_string(&report.scores).unwrap().contains("\"two_sample\":{\"auc\":"));
    if let Ok(dir) = std::env::var("PMM_REPORT_DIR") {
        std::fs::write(format!("{dir}/report.html"), html).unwrap();
        for picture in report.pictures() {
            let png = picture.figure.png(1.5).unwrap();
            std::fs::write(format!("{dir}/{}.png", picture.name), png).unwrap();
        }
        summary.iter().for_each(|row| println!("{row:?}"));
    }
}

#[test]
fn an_empty_report_is_a_page() {
    let report = TableReport { title: "nothing".into(), ..TableReport::default() };
    assert!(
        report.html().contains("<h1>nothing</h1>")
            && report.pictures().is_empty()
            && report.summary().is_empty()
    );
}
