//! Rules of a table, from its rows to new ones: kept in samples, gaps and predictions, whatever is given.
#![allow(clippy::unwrap_used)]

use std::sync::OnceLock;

use pmm::arrow::{Array, Float64Array, Int64Array, RecordBatch, StringArray};
use pmm::core::{Purpose, Streams};
use pmm::table::{Data, Fit, Model};

/// Orders: net + tax = total, paid at once in a third of the rows, sent and received on dates, a code of the town.
fn text(rows: usize) -> String {
    let mut rng = Streams::new(5).stream(Purpose::DATA, 0, 0);
    let mut text = String::from("net,tax,total,paid,sent,received,town,code\n");
    for _ in 0..rows {
        let (net, tax) = (rng.below(5000) as f64 / 10.0, rng.below(400) as f64 / 10.0);
        let total = net + tax;
        let paid = if rng.below(3) == 0 { total } else { rng.below(3000) as f64 / 10.0 };
        let sent = 19_000 + rng.below(700) as i64;
        let received = sent + 1 + rng.below(9) as i64;
        let date = |day: i64| {
            let (months, day) = (day - 19_000, 1 + day % 28);
            format!("{}-{:02}-{day:02}", 2022 + months / 336, 1 + months / 28 % 12)
        };
        let (sent, received) = (date(sent), date(received));
        let (sent, received) = if sent < received { (sent, received) } else { (received, sent) };
        let town = rng.below(4) as usize;
        text.push_str(&format!(
            "{net:.1},{tax:.1},{total:.1},{paid:.1},{sent},{received},{},{}\n",
            ["Oslo", "Rome", "Bern", "Kyiv"][town],
            ["NO", "IT", "CH", "UA"][town],
        ));
    }
    text
}

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Fit::new(Data::from_csv(text(1500))).steps(200).run(&mut ()).unwrap())
}

fn numbers(batch: &RecordBatch, name: &str) -> Vec<f64> {
    let array = batch.column_by_name(name).unwrap();
    match array.as_any().downcast_ref::<Float64Array>() {
        Some(floats) => floats.iter().map(|x| x.unwrap_or(f64::NAN)).collect(),
        None => panic!("{name}: {:?}", array.data_type()),
    }
}

fn texts(batch: &RecordBatch, name: &str) -> Vec<String> {
    let array = batch.column_by_name(name).unwrap();
    let array = array.as_any().downcast_ref::<StringArray>().unwrap();
    (0..array.len()).map(|row| array.value(row).to_owned()).collect()
}

/// Every row adds up, and every code is that of its town.
fn check(batch: &RecordBatch) {
    let (net, tax, total) = (numbers(batch, "net"), numbers(batch, "tax"), numbers(batch, "total"));
    for row in 0..batch.num_rows() {
        assert!(
            (net[row] + tax[row] - total[row]).abs() < 1e-9,
            "row {row}: {} {} {}",
            net[row],
            tax[row],
            total[row]
        );
        assert!(tax[row] >= 0.0 && net[row] >= 0.0);
    }
    for (town, code) in texts(batch, "town").iter().zip(texts(batch, "code")) {
        let right = match town.as_str() {
            "Oslo" => "NO",
            "Rome" => "IT",
            "Bern" => "CH",
            _ => "UA",
        };
        assert_eq!(code, right);
    }
    let day = |name: &str| -> Vec<i32> {
        let array = batch.column_by_name(name).unwrap();
        let array = array.as_any().downcast_ref::<pmm::arrow::Date32Array>().unwrap();
        (0..array.len()).map(|row| array.value(row)).collect()
    };
    assert!(day("sent").iter().zip(day("received")).all(|(sent, received)| *sent <= received));
}

fn sampled(sample: pmm::table::Sample<'_>) -> RecordBatch {
    sample.rows().unwrap().next().unwrap().unwrap()
}

#[test]
fn the_rules_are_found() {
    let sentences: Vec<String> = model().schema().rules.iter().map(|rule| rule.rule.sentence()).collect();
    for wanted in ["total is net + tax", "town and code determine each other"] {
        assert!(sentences.iter().any(|sentence| sentence == wanted), "{wanted}: {sentences:?}");
    }
    assert!(sentences.iter().any(|sentence| sentence.contains("received") && sentence.contains("sent")));
    assert!(model().schema().rules.iter().any(|rule| rule.derived.is_some()), "{sentences:?}");
}

/// Samples keep them; equal cells come in the share of the data: 1,000 rows, five standard errors.
#[test]
fn samples_keep_them() {
    let batch = sampled(model().sample(1000));
    check(&batch);
    let (paid, total) = (numbers(&batch, "paid"), numbers(&batch, "total"));
    let equal = paid.iter().zip(&total).filter(|(a, b)| a == b).count() as f64 / 1000.0;
    assert!((equal - 1.0 / 3.0).abs() < 0.08, "{equal}");
}

#[test]
fn whatever_is_given() {
    let model = model();
    let batch = sampled(model.sample(200).given("total", "100.5").given("code", "IT"));
    check(&batch);
    assert!(numbers(&batch, "total").iter().all(|total| *total == 100.5));
    assert!(texts(&batch, "town").iter().all(|town| town == "Rome"));
    let batch =
        sampled(model.sample(200).given_range("total", Some(50), Some(60)).given_any("code", ["NO", "UA"]));
    check(&batch);
    assert!(numbers(&batch, "total").iter().all(|total| (50.0..=60.0).contains(total)));
    assert!(texts(&batch, "town").iter().all(|town| town == "Oslo" || town == "Kyiv"));
    let refused = model.sample(1).given("town", "Oslo").given("code", "IT").rows().err().unwrap();
    assert!(refused.to_string().contains("town and code determine each other"), "{refused}");
    let refused = sampled_error(model.sample(1).given_range("total", Some(5000), None));
    assert!(refused.contains("no row meets"), "{refused}");
}

fn sampled_error(sample: pmm::table::Sample<'_>) -> String {
    match sample.rows() {
        Ok(mut rows) => rows.next().unwrap().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn gaps_and_predictions_keep_them() {
    let model = model();
    let gaps = "net,tax,total,paid,sent,received,town,code\n\
                10.0,,12.5,1.0,2022-03-01,,Rome,\n\
                ,2.0,30.0,1.0,,2022-03-09,,UA\n";
    let full = model.impute(Data::from_csv(gaps)).typed().rows().unwrap().next().unwrap().unwrap();
    check(&full);
    assert_eq!((numbers(&full, "tax")[0], numbers(&full, "net")[1]), (2.5, 28.0));
    let laws = model.predict(Data::from_csv(gaps), "tax").unwrap();
    assert_eq!((laws.quantile(0.05).unwrap()[0], laws.quantile(0.95).unwrap()[0]), (2.5, 2.5));
    // Paid at once with a probability near a third: an atom at the total.
    let row = "net,tax,total,paid,sent,received,town,code\n10.0,2.5,12.5,,2022-03-01,2022-03-04,Rome,IT\n";
    let law = model.predict(Data::from_csv(row), "paid").unwrap();
    let atom = law.cdf(&[12.5]).unwrap()[0] - law.cdf(&[12.499]).unwrap()[0];
    assert!((atom - 1.0 / 3.0).abs() < 0.2, "{atom}");
}

#[test]
fn partial_rows_get_samples() {
    let partial = Data::from_csv("town,total\nOslo,40.0\n,77.7\n");
    let batch = sampled(model().sample(3).given_rows(partial));
    check(&batch);
    assert_eq!(batch.num_rows(), 6);
    assert_eq!(numbers(&batch, "total"), [40.0, 40.0, 40.0, 77.7, 77.7, 77.7]);
    assert!(texts(&batch, "town")[..3].iter().all(|town| town == "Oslo"));
}

#[test]
fn scores_name_the_broken_rule() {
    let rows = "net,tax,total,paid,sent,received,town,code\n\
                10.0,2.5,12.5,1.0,2022-03-01,2022-03-04,Rome,IT\n\
                10.0,2.5,13.5,1.0,2022-03-01,2022-03-04,Rome,IT\n";
    let scores: Vec<_> =
        model().score(Data::from_csv(rows)).rows().unwrap().collect::<Result<_, _>>().unwrap();
    assert!(scores[0].broken.is_empty());
    assert_eq!(scores[1].broken, ["total is net + tax"]);
    assert!(scores[1].log_likelihood < scores[0].log_likelihood - 3.0);
    let batch = model().score_table(0, &scores).unwrap();
    let numbers = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
    assert_eq!(numbers.values(), &[0, 1]);
}

#[test]
fn rules_are_the_users() {
    let data = || Data::from_csv(text(300));
    let fit = |fit: Fit| fit.steps(5).run(&mut ());
    let without = fit(Fit::new(data()).without_rule("total")).unwrap();
    assert!(!without.schema().rules.iter().any(|rule| rule.rule.columns().contains(&"total")));
    let declared = fit(Fit::new(data()).rule("net >= 0")).unwrap();
    assert!(declared.schema().rules.iter().any(|rule| rule.rule.kind() == "range"));
    let refused = fit(Fit::new(data()).rule("paid = net")).unwrap_err().to_string();
    assert!(refused.contains("row ") && refused.contains("paid = net"), "{refused}");
    let refused = fit(Fit::new(data()).without_rule("nothing")).unwrap_err().to_string();
    assert!(refused.contains("no rule is meant"), "{refused}");
    let mut settings = pmm::Settings::default();
    settings.set("rules", "off").unwrap();
    let off = fit(Fit::new(data()).settings(&settings)).unwrap();
    assert!(off.schema().rules.is_empty());
}

/// A folder holds the rules: a model that is opened draws the same rows.
#[test]
fn folders_hold_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.pmm");
    model().save(&path).unwrap();
    let opened = Model::open(&path, &pmm::Device::flex()).unwrap();
    assert_eq!(opened.schema(), model().schema());
    assert_eq!(sampled(opened.sample(50)), sampled(model().sample(50)));
    // Pieces equal the whole.
    let whole = sampled(model().sample(40));
    assert_eq!(sampled(model().sample(15).first_row(25)), whole.slice(25, 15));
}

/// Days of which none comes twice: new ones do not come twice either, and the report says so.
#[test]
fn unique_days_stay_unique() {
    let day = |i: usize| {
        let i = i * 37 % 336;
        format!("2022-{:02}-{:02},{},{}\n", 1 + i / 28, 1 + i % 28, i % 7, i % 5 * 3)
    };
    let rows = |some: std::ops::Range<usize>| {
        Data::from_csv(format!("day,a,b\n{}", some.map(day).collect::<String>()))
    };
    let model = Fit::new(rows(0..250)).steps(40).run(&mut ()).unwrap();
    let batch = sampled(model.sample(250));
    let days = batch.column_by_name("day").unwrap();
    let days = days.as_any().downcast_ref::<pmm::arrow::Date32Array>().unwrap();
    let different: std::collections::HashSet<i32> = days.iter().flatten().collect();
    assert_eq!(different.len(), 250);
    let report = model.evaluate(rows(250..336)).run(&mut ()).unwrap();
    let unique: Vec<_> = report.rules.iter().filter(|rule| rule.rule == "day is unique").collect();
    assert!(unique.iter().all(|rule| rule.made == 0.0) && !unique.is_empty(), "{:?}", report.rules);
}
