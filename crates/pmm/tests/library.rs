//! The library as a caller sees it: data in memory, both ways; jobs side by side; answers that depend on their own row alone.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use pmm::arrow::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray, cast::AsArray, types::Int32Type, types::Int64Type,
};
use pmm::arrow::{DataType, Field, Schema};
use pmm::core::{Purpose, Streams};
use pmm::table::{Data, Empty, Fit, Model, Writer};
use pmm::{Error, Event, Settings, Stop, Watcher};

/// A small network, quickly fitted.
fn quick(data: impl Into<Data>) -> Fit {
    let mut settings = Settings::new();
    settings.set("net.width", 24).unwrap().set("net.blocks", 1).unwrap();
    Fit::new(data).settings(&settings).steps(60)
}

/// Rows of every type: a key beyond 2^53, a decimal, a dictionary with gaps, a truth, an instant with its zone, a number.
fn typed(rows: i64) -> RecordBatch {
    let streams = Streams::new(3);
    let draw = |row: i64, n: u64| streams.stream(Purpose::custom(1), 0, row as u64).below(n) as i64;
    let kinds = ["cat", "dog", "owl"];
    let kind: DictionaryArray<Int32Type> =
        (0..rows).map(|row| (row % 9 != 4).then(|| kinds[draw(row, 3) as usize])).collect();
    let prices = (0..rows).map(|row| (row % 11 != 3).then(|| 999 + 5 * i128::from(draw(row, 40))));
    let price = prices.collect::<Decimal128Array>().with_precision_and_scale(12, 2).unwrap();
    let key = Int64Array::from_iter_values((0..rows).map(|row| (1 << 53) + 1 + 2 * row));
    let instants = (0..rows).map(|row| 1_700_000_000_000_000 + 60_000_000 * draw(row, 5000));
    let instant = TimestampMicrosecondArray::from_iter_values(instants).with_timezone("Europe/Rome");
    let truth: BooleanArray = (0..rows).map(|row| Some(draw(row, 2) == 1)).collect();
    let weight: Float64Array = (0..rows).map(|row| Some(3.0 + draw(row, 3) as f64 + 0.25)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("key", Arc::new(key)),
        ("price", Arc::new(price)),
        ("kind", Arc::new(kind)),
        ("truth", Arc::new(truth)),
        ("instant", Arc::new(instant)),
        ("weight", Arc::new(weight)),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, array)| array).collect())
        .unwrap()
}

fn types(batch: &RecordBatch) -> Vec<DataType> {
    batch.schema().fields().iter().map(|field| field.data_type().clone()).collect()
}

#[test]
fn arrow_in_arrow_out() {
    let table = typed(300);
    let model = quick(table.clone()).run(&mut ()).unwrap();
    let made: Vec<RecordBatch> = model.sample(5000).rows().unwrap().map(Result::unwrap).collect();
    assert_eq!(made.iter().map(RecordBatch::num_rows).sum::<usize>(), 5000);
    assert!(made.len() > 1, "never all at once");
    assert_eq!(types(&made[0]), types(&table));
    let full: Vec<RecordBatch> = model.impute(table.clone()).rows().unwrap().map(Result::unwrap).collect();
    assert_eq!(types(&full[0]), types(&table));
    // What was there stays, to the bit: keys beyond 2^53, decimals, instants.
    for (column, (was, is)) in table.columns().iter().zip(full[0].columns()).enumerate() {
        assert_eq!(is.null_count(), 0, "column {column}");
        let (was, is) = (shown(was), shown(is));
        let kept = was.iter().zip(&is).filter(|(was, _)| was.is_some());
        assert!(kept.clone().all(|(was, is)| was == is), "column {column}");
        assert!(kept.count() > 200);
    }
}

/// Cells as text, to compare.
fn shown(array: &ArrayRef) -> Vec<Option<String>> {
    let batch = RecordBatch::try_from_iter([("x", array.clone())]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let mut writer = Writer::create(&path, &pmm::table::OutputColumn::of_schema(&batch.schema())).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let cell = |text: &str| Some(text.trim_matches('"').to_owned()).filter(|text| !text.is_empty());
    text.lines().skip(1).map(cell).collect()
}

#[test]
fn parquet_in_parquet_out() {
    let (table, folder) = (typed(200), tempfile::tempdir().unwrap());
    let [from, to] = ["from.parquet", "to.parquet"].map(|name| folder.path().join(name));
    let mut writer = Writer::create(&from, &pmm::table::OutputColumn::of_schema(&table.schema())).unwrap();
    writer.write(&table).unwrap();
    writer.finish().unwrap();
    let model = quick(from.as_path()).run(&mut ()).unwrap();
    let rows = model.impute(from.as_path()).rows().unwrap();
    let mut writer = Writer::create(&to, &rows.columns()).unwrap();
    rows.for_each(|rows| writer.write(&rows.unwrap()).unwrap());
    writer.finish().unwrap();
    let again = quick(to.as_path()).prepare(&mut ()).unwrap();
    let arrow: Vec<String> =
        again.schema().columns.iter().map(|column| column.column_type().to_string()).collect();
    assert_eq!(
        arrow,
        [
            "int64",
            "decimal128(12, 2)",
            "dictionary<int32, utf8>",
            "bool",
            "timestamp[us, Europe/Rome]",
            "float64"
        ]
    );
}

/// The same table cut into other batches, or in a file: the same weights.
#[test]
fn memory_and_files_are_the_same_data() {
    let table = typed(300);
    let weights = |model: &Model| {
        let folder = tempfile::tempdir().unwrap();
        model.save(folder.path().join("m.pmm")).unwrap();
        std::fs::read(folder.path().join("m.pmm/weights.safetensors")).unwrap()
    };
    let whole = weights(&quick(table.clone()).run(&mut ()).unwrap());
    let cut = vec![table.slice(0, 17), table.slice(17, 200), table.slice(217, 83)];
    let parts = quick(Data::from_batches(table.schema(), cut)).run(&mut ()).unwrap();
    assert_eq!(weights(&parts), whole);
}

/// A watcher that asks for a stop after some steps.
struct StopAfter(u64);

impl Watcher for StopAfter {
    fn notice(&mut self, event: Event<'_>) {
        if let Event::Step { .. } = event {
            self.0 = self.0.saturating_sub(1);
        }
    }
    fn wants_stop(&mut self) -> bool {
        self.0 == 0
    }
}

/// Two fits at the same time, one of them cancelled: the other's rows are those that it makes alone.
#[test]
fn two_fits_side_by_side() {
    let table = typed(300);
    let rows = |model: &Model| -> Vec<RecordBatch> {
        model.sample(50).rows().unwrap().map(Result::unwrap).collect()
    };
    let alone = rows(&quick(table.clone()).run(&mut ()).unwrap());
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| quick(table.clone()).run(&mut ()).unwrap());
        let other = scope.spawn(|| quick(table.clone()).seed(1).run(&mut StopAfter(7)).unwrap());
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_eq!(rows(&one), alone);
    assert_eq!((other.summary().steps, other.summary().outcome), (7, pmm::FitOutcome::Stopped));
    assert_ne!(rows(&other), alone, "the test can tell");
}

#[test]
fn a_stopped_fit_goes_on_bit_for_bit() {
    let (table, folder) = (typed(300), tempfile::tempdir().unwrap());
    let read = |name: &str| std::fs::read(folder.path().join(name).join("weights.safetensors")).unwrap();
    quick(table.clone()).at(folder.path().join("whole")).run(&mut ()).unwrap();
    quick(table.clone()).at(folder.path().join("cut")).run(&mut StopAfter(23)).unwrap();
    let model = Fit::new(table.clone()).resume(folder.path().join("cut")).run(&mut ()).unwrap();
    assert_eq!(read("cut"), read("whole"));
    assert_eq!(model.summary().outcome, pmm::FitOutcome::Finished);
    // Another fit may not take its place unasked, and other data may not go on.
    assert!(matches!(
        quick(table).at(folder.path().join("cut")).run(&mut ()),
        Err(Error::ModelExists { .. })
    ));
    let other = quick(typed(299)).resume(folder.path().join("cut")).run(&mut ());
    assert!(matches!(other, Err(Error::OtherData { .. })));
}

/// A watcher that asks for a stop once some trees are grown.
struct StopAmongTrees(bool);

impl Watcher for StopAmongTrees {
    fn notice(&mut self, event: Event<'_>) {
        self.0 |= matches!(event, Event::Progress { .. });
    }
    fn wants_stop(&mut self) -> bool {
        self.0
    }
}

/// Stopped between two columns' trees, and while the network learns: the same model as if it had not been.
#[test]
fn trees_go_on_where_they_were_left() {
    let (table, folder) = (typed(300), tempfile::tempdir().unwrap());
    let at = |name: &str| folder.path().join(name);
    let read = |name: &str| std::fs::read(at(name).join("weights.safetensors")).unwrap();
    for kind in ["pooled", "trees"] {
        let mut settings = Settings::new();
        settings.set("net.kind", kind).unwrap().set("trees.rounds", 8).unwrap();
        let fit = || quick(table.clone()).settings(&settings);
        let whole = format!("{kind}-whole");
        fit().at(at(&whole)).run(&mut ()).unwrap();
        let cut = format!("{kind}-cut");
        fit().at(at(&cut)).run(&mut StopAmongTrees(false)).unwrap();
        let trees = std::fs::metadata(at(&cut).join("state/trees.safetensors")).unwrap().len();
        Fit::new(table.clone()).resume(at(&cut)).run(&mut ()).unwrap();
        assert!(trees < std::fs::metadata(at(&cut).join("state/trees.safetensors")).unwrap().len());
        assert!(read(&cut) == read(&whole), "{kind}");
    }
    assert!(read("pooled-whole") != read("trees-whole"));
}

/// Every verb works with trees alone and with trees beside the network, and a model that is read again says the same.
#[test]
fn every_verb_works_with_trees() {
    let (table, folder) = (typed(300), tempfile::tempdir().unwrap());
    for kind in ["pooled", "trees"] {
        let mut settings = Settings::new();
        settings.set("net.kind", kind).unwrap().set("trees.rounds", 8).unwrap();
        let path = folder.path().join(kind);
        let model = quick(table.clone()).settings(&settings).at(&path).run(&mut ()).unwrap();
        let again = Model::open(&path, &pmm::Device::flex()).unwrap();
        let rows = |model: &Model| -> Vec<RecordBatch> {
            model.sample(40).rows().unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(rows(&model), rows(&again));
        let laws = again.predict(typed(20), "kind").unwrap();
        let shares = laws.probabilities().unwrap();
        assert!(shares.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9));
        let means = again.predict(typed(20), "price").unwrap().mean().unwrap();
        assert!(means.iter().all(|mean| mean.is_finite()), "{means:?}");
        assert_eq!(again.impute(typed(20)).rows().unwrap().count(), 1);
        assert!(again.score(typed(20)).rows().unwrap().all(|batch| batch.is_ok()));
        assert!(again.evaluate(typed(60)).run(&mut ()).is_ok());
        assert!(again.trace().draw().is_ok());
        // Trees whose numbers are out of place are refused, and so are shares that are none.
        let copy = folder.path().join(format!("{kind}-copy"));
        again.save(&copy).unwrap();
        assert_eq!(rows(&Model::open(&copy, &pmm::Device::flex()).unwrap()), rows(&model));
    }
}

#[test]
fn a_stop_before_the_first_step_leaves_a_model() {
    let stop = Stop::new();
    stop.now();
    let model = quick(typed(100)).run(&mut stop.clone()).unwrap();
    assert_eq!(model.summary().steps, 0);
    assert!(matches!(model.evaluate(typed(50)).run(&mut stop.clone()), Err(Error::Stopped)));
}

/// Levels and classes of titanic-like rows: the class decides, and is then unknown in three ways.
fn survivors() -> Model {
    let mut text = String::from("class,age,lived\n");
    let streams = Streams::new(2);
    for row in 0..1200 {
        let mut rng = streams.stream(Purpose::custom(0), 0, row);
        let class = ["first", "second", "third"][rng.below(3) as usize];
        let lives = rng.unit() < if class == "third" { 0.1 } else { 0.9 };
        text.push_str(&format!("{class},{},{}\n", 20 + rng.below(40), if lives { "yes" } else { "no" }));
    }
    quick(Data::from_csv(text)).steps(600).run(&mut ()).unwrap()
}

#[test]
fn what_is_absent_or_never_seen_is_unknown() {
    let model = survivors();
    let law = |text: &str| {
        let laws = model.predict(Data::from_csv(text), "lived").unwrap();
        let yes = laws.levels().iter().position(|level| level == "yes").unwrap();
        laws.probabilities().unwrap().iter().map(|row| row[yes]).collect::<Vec<f64>>()
    };
    let known = law("class,age\nthird,30\nfirst,30\n");
    assert!(known[0] < 0.25 && known[1] > 0.75, "{known:?}");
    // (.9 + .9 + .1) / 3 = .63: over what the class may be.
    for text in ["age\n30\n31\n", "class,age\nfifth,30\nfifth,31\n"] {
        assert!(law(text).iter().all(|p| (0.5..0.76).contains(p)), "{text}: {:?}", law(text));
    }
    // A row's answer is its own, whatever rows stand beside it.
    let beside = law("class,age\nthird,30\nfifth,30\nfirst,30\n");
    assert_eq!([beside[0], beside[2]], known[..]);
    let empty = model.predictions(Data::from_csv("class,age\n,30\n"), "lived").unwrap().empty(Empty::Unknown);
    assert_eq!(empty.all().unwrap().len(), 1);
}

#[test]
fn pieces_equal_the_whole() {
    let model = survivors();
    let whole: Vec<RecordBatch> = model.sample(30).rows().unwrap().map(Result::unwrap).collect();
    let piece: Vec<RecordBatch> =
        model.sample(10).first_row(12).rows().unwrap().map(Result::unwrap).collect();
    assert_eq!(whole[0].slice(12, 10), piece[0]);
    let gaps = "class,age,lived\n,30,yes\nthird,,no\n,44,no\nfirst,,\n";
    let rows = |first: u64, text: &str| -> RecordBatch {
        model.impute(Data::from_csv(text)).first_row(first).rows().unwrap().next().unwrap().unwrap()
    };
    let all = rows(0, gaps);
    let last = rows(2, "class,age,lived\n,44,no\nfirst,,\n");
    assert_eq!(all.slice(2, 2), last);
    // Predictions, too: of the gaps beside the target, and of draws.
    let laws = |first: u64, text: &str| {
        let laws = model.predictions(Data::from_csv(text), "age").unwrap().first_row(first).all().unwrap();
        (laws.quantile(0.5).unwrap(), laws.draws(3).unwrap())
    };
    let (middles, draws) = laws(0, gaps);
    let (last_middles, last_draws) = laws(2, "class,age,lived\n,44,no\nfirst,,\n");
    assert_eq!((&middles[2..], &draws[2..]), (&last_middles[..], &last_draws[..]));
    assert_ne!(draws, laws(1, gaps).1, "another number, other draws");
}

#[test]
fn rows_with_keys_come_out_alike_in_any_order_and_in_any_pieces() {
    let model = survivors();
    let rows = ["a-1,,30,yes", "a-2,third,,no", "12,,44,no", "b-9,first,,", "13,,50,yes", "a-3,second,,no"];
    let text = |order: &[usize]| {
        let lines: Vec<&str> = order.iter().map(|row| rows[*row]).collect();
        format!("id,class,age,lived\n{}\n", lines.join("\n"))
    };
    let filled = |order: &[usize]| -> Vec<RecordBatch> {
        let data = Data::from_csv(text(order));
        let all =
            model.impute(data).key("id").draws(2).rows().unwrap().map(Result::unwrap).collect::<Vec<_>>();
        // Of each draw the rows in their first order.
        let of_row = |row: usize| order.iter().position(|found| *found == row).unwrap();
        (0..order.len()).flat_map(|row| all.iter().map(move |batch| batch.slice(of_row(row), 1))).collect()
    };
    let forth = filled(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(forth, filled(&[3, 5, 0, 4, 2, 1]), "another order");
    let laws = |order: &[usize]| {
        let predict = model.predictions(Data::from_csv(text(order)), "age").unwrap().key("id");
        let laws = predict.all().unwrap();
        (laws.mean().unwrap(), laws.draws(3).unwrap())
    };
    let (means, draws) = laws(&[0, 1, 2, 3]);
    let (back_means, back_draws) = laws(&[3, 2, 1]);
    assert_eq!(means[1..], back_means.into_iter().rev().collect::<Vec<_>>());
    assert_eq!(draws[1..], back_draws.into_iter().rev().collect::<Vec<_>>());
    let scores = |order: &[usize]| -> Vec<f64> {
        let rows = model.score(Data::from_csv(text(order))).key("id").rows().unwrap();
        rows.map(|row| row.unwrap().log_likelihood).collect()
    };
    assert_eq!(scores(&[0, 1, 2]), scores(&[2, 1, 0]).into_iter().rev().collect::<Vec<_>>());
    // A key that is a number is the row's number.
    let numbered = model.impute(Data::from_csv("class,age,lived\n,44,no\n,50,yes\n")).first_row(12);
    let keyed = model.impute(Data::from_csv("id,class,age,lived\n12,,44,no\n13,,50,yes\n")).key("id");
    let class = |impute: pmm::table::Impute<'_>| {
        let batch = impute.rows().unwrap().next().unwrap().unwrap();
        batch.column_by_name("class").unwrap().clone()
    };
    assert_eq!(&class(numbered), &class(keyed));
}

#[test]
fn a_fit_that_learned_nothing_is_no_model_however_short_it_was() {
    let rows: String = (0..200).map(|i| format!("{}1.7e308,{}\n", ["", "-"][i % 2], i % 3)).collect();
    let data = || Data::from_csv(format!("a,b\n{rows}"));
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("m.pmm");
    let error = Fit::new(data()).steps(10).at(&place).run(&mut ()).unwrap_err();
    assert!(matches!(error, Error::Diverged { step: 10, in_a_row: 10, kept: false }), "{error}");
    assert!(pmm::open(&place).is_err(), "nothing that opens is left behind");
    let mut settings = Settings::new();
    settings.set("train.learning_rate", 1e10).unwrap();
    let sane: String = (0..200).map(|i| format!("{}.0,{}\n", 371 + i % 50, i % 3)).collect();
    let fit = Fit::new(Data::from_csv(format!("a,b\n{sane}"))).steps(20).settings(&settings);
    let error = fit.run(&mut ()).unwrap_err();
    assert!(matches!(error, Error::Diverged { step: 20, .. }), "{error}");
}

#[test]
fn a_key_that_names_no_row_or_two_is_refused() {
    let model = survivors();
    let refused = |text: &str, key: &str| {
        let impute = model.impute(Data::from_csv(text)).key(key);
        let rows = impute.rows().and_then(|rows| rows.collect::<Result<Vec<_>, _>>());
        rows.unwrap_err().to_string()
    };
    let twice = refused("id,class,age,lived\nx,,30,yes\ny,,30,yes\nx,,31,no\n", "id");
    assert_eq!(twice, "line 4: the key id is that of row 1 as well");
    let empty = refused("id,class,age,lived\nx,,30,yes\n,,30,yes\n", "id");
    assert_eq!(empty, "line 3: the key id is empty");
    let absent = refused("class,age,lived\n,30,yes\n", "id");
    assert_eq!(absent, "there is no column id");
    let both = model.score(Data::from_csv("id,class\n1,first\n")).key("id").first_row(3).batches();
    assert!(both.is_err());
}

#[test]
fn a_given_cell_is_what_the_row_says_or_an_error() {
    let rare: String = (0..3000)
        .map(|row| {
            format!(
                "{},{}\n",
                if row % 3 == 0 { format!("town{}", row / 3 % 400) } else { "city".into() },
                row % 5
            )
        })
        .collect();
    let model = quick(Data::from_csv(format!("place,floors\n{rare}"))).run(&mut ()).unwrap();
    for town in ["town3", "town250", "town399"] {
        let rows = model.sample(20).given("place", town).rows().unwrap().next().unwrap().unwrap();
        let places: &StringArray = rows.column(0).as_string();
        assert!(places.iter().all(|place| place == Some(town)), "{town}: {places:?}");
    }
    let rows = model.sample(20).given("floors", 3).rows().unwrap().next().unwrap().unwrap();
    assert!(rows.column(1).as_primitive::<Int64Type>().values().iter().all(|floors| *floors == 3));
    for (column, value) in [("floors", "1.5"), ("floors", "7"), ("place", "village"), ("height", "1")] {
        let error = model.sample(1).given(column, value).rows().map(drop).unwrap_err();
        assert!(error.to_string().contains(column) && error.remedy().is_some(), "{error}");
    }
}

#[test]
fn a_report_of_rows_in_memory() {
    let model = survivors();
    let test = "class,age,lived\n".to_owned() + &"third,30,no\nfirst,25,yes\nsecond,50,yes\n".repeat(30);
    let mut parts = HashMap::new();
    let mut watcher = pmm::listen(|event| {
        if let Event::Started { what, .. } = event {
            parts.insert(what.to_owned(), ());
        }
    });
    let report = model.evaluate(Data::from_csv(test)).target("lived").run(&mut watcher).unwrap();
    drop(watcher);
    assert!(parts.contains_key("making rows") && parts.contains_key("predicting lived"));
    assert!(report.html().contains("<html") && report.summary().len() > 4);
    assert_eq!(report.to_json()["target"], "lived");
}

#[test]
fn a_model_in_a_folder_is_the_model_in_memory() {
    let (model, folder) = (survivors(), tempfile::tempdir().unwrap());
    let path = folder.path().join("survivors.pmm");
    model.save(&path).unwrap();
    model.save(&path).unwrap(); // replaces its own
    let again = pmm::open(&path).unwrap().into_table().unwrap();
    let rows = |model: &Model| -> Vec<RecordBatch> {
        model.sample(100).rows().unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(rows(&again), rows(&model));
    assert!(matches!(pmm::open(&path).unwrap().into_text(), Err(Error::OtherKind { .. })));
    assert_eq!(again.info().fit, model.info().fit);
}

#[test]
fn failed_fits_leave_no_model() {
    let (folder, text) =
        (tempfile::tempdir().unwrap(), "a,b\n".to_owned() + &"1.5,2\n-3.25,4\n0.5,1\n".repeat(40));
    let mut settings = Settings::new();
    settings.set("train.learning_rate", 1e30).unwrap();
    let path = folder.path().join("m.pmm");
    let result = quick(Data::from_csv(text)).settings(&settings).at(&path).run(&mut ());
    assert!(matches!(result, Err(Error::Diverged { .. } | Error::NotFinite)), "{result:?}");
    let opened = pmm::open(&path);
    assert!(opened.is_err() || opened.unwrap().into_table().unwrap().sample(1).rows().is_ok());
}
