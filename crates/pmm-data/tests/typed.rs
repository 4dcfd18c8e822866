//! Types survive: from Parquet, Arrow and memory to cells and back, and through filled gaps.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int64Array, ListArray, RecordBatch, StringArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{DataType, TimeUnit};
use pmm_core::Streams;
use pmm_data::{
    Cell, Cells, Coding, ColumnType, Kind, OutputColumn, Overrides, PairKind, ReadOptions, Schema, Source,
    Table, Writer,
};
use proptest::prelude::*;

fn memory(batch: &RecordBatch) -> Source {
    Source::from_batches("memory", batch.schema(), vec![batch.clone()]).unwrap()
}

fn infer(source: &Source) -> Schema {
    Schema::infer(source, &Overrides::default()).unwrap()
}

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true)))
        .unwrap()
}

fn whole(source: &Source) -> RecordBatch {
    let batches: Vec<RecordBatch> = source.batches().unwrap().map(|batch| batch.unwrap().batch).collect();
    arrow_select::concat::concat_batches(source.schema(), &batches).unwrap()
}

fn written(name: &str, batch: &RecordBatch) -> Source {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut writer = Writer::create(&path, &OutputColumn::of_schema(&batch.schema())).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    Source::from_bytes(name, std::fs::read(&path).unwrap(), &ReadOptions::default()).unwrap()
}

fn decoded(source: &Source, schema: &Schema) -> RecordBatch {
    let (cells, _) = Table::read(source, schema, usize::MAX, &Streams::new(0)).unwrap();
    schema.decoder().unwrap().batch(cells.rows, &cells.columns, |_, _| 0.5).unwrap()
}

/// Every type that can be modelled, from integers that it holds; every seventh cell is null.
fn every_type() -> Vec<(String, ArrayRef)> {
    use DataType::*;
    let unit = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    let mut types = vec![
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Date32,
        Date64,
        Decimal32(7, 2),
        Decimal64(12, 3),
        Decimal128(20, 4),
        Decimal256(50, 6),
        Time32(unit[0]),
        Time32(unit[1]),
        Time64(unit[2]),
        Time64(unit[3]),
        Dictionary(Box::new(Int8), Box::new(Utf8)),
        Dictionary(Box::new(UInt32), Box::new(LargeUtf8)),
        Dictionary(Box::new(Int32), Box::new(Int64)),
    ];
    types.extend(unit.map(Duration));
    types.extend(unit.map(|unit| Timestamp(unit, None)));
    types.extend(unit.map(|unit| Timestamp(unit, Some("Europe/Paris".into()))));
    types
        .into_iter()
        .map(|data_type| (ColumnType::new(data_type.clone()).to_string(), cells(&data_type)))
        .collect()
}

fn cells(data_type: &DataType) -> ArrayRef {
    use DataType::*;
    let small = |i: i64| (i % 7 != 3).then_some(i * 37 % 101);
    let integers: ArrayRef = Arc::new((0..120).map(small).collect::<Int64Array>());
    let large = |factor: i64| -> ArrayRef {
        Arc::new((0..120).map(|i| small(i).map(|cell| (cell + 18_000) * factor)).collect::<Int64Array>())
    };
    let cast = |array: &ArrayRef, to: &DataType| arrow_cast::cast(array, to).unwrap();
    match data_type {
        Boolean => Arc::new((0..120).map(|i| small(i).map(|cell| cell % 3 == 0)).collect::<BooleanArray>()),
        Utf8 | LargeUtf8 | Utf8View => {
            let text = |i| small(i).map(|cell| format!("  level {}", cell % 11));
            cast(&(Arc::new((0..120).map(text).collect::<StringArray>()) as ArrayRef), data_type)
        }
        Dictionary(_, values) => cast(&cells(values), data_type),
        Float16 | Float32 | Float64 => {
            let quarter = |i| small(i).map(|cell| cell as f64 * 0.25 - 3.0);
            cast(&(Arc::new((0..120).map(quarter).collect::<Float64Array>()) as ArrayRef), data_type)
        }
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => {
            let scaled = |i| small(i).map(|cell| cell as f64 * 1.5);
            cast(&(Arc::new((0..120).map(scaled).collect::<Float64Array>()) as ArrayRef), data_type)
        }
        Date64 => cast(&large(86_400_000), data_type),
        Timestamp(TimeUnit::Second, _) => cast(&large(86_400 + 60), data_type),
        Timestamp(TimeUnit::Millisecond, _) => cast(&large(86_400_000 + 1), data_type),
        Timestamp(TimeUnit::Microsecond, _) => cast(&large(86_400_000_001), data_type),
        // Nanoseconds are modelled to the microsecond.
        Timestamp(TimeUnit::Nanosecond, _) => cast(&large(86_400_000_001_000), data_type),
        Date32 | Time32(_) => cast(&cast(&large(1), &Int32), data_type),
        Time64(_) | Duration(_) => cast(&large(1_000), data_type),
        _ => cast(&integers, data_type),
    }
}

#[test]
fn every_type_comes_back() {
    let columns = every_type();
    let batch = table(columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    let sources = [
        memory(&batch),
        written("t.parquet", &batch),
        written("t.arrow", &batch),
        written("t.arrows", &batch),
    ];
    for source in &sources {
        let read = whole(source);
        let schema = Schema::from_json(&infer(source).to_json().unwrap()).unwrap();
        assert_eq!(schema, infer(source));
        let out = decoded(source, &schema);
        for (place, (name, column)) in columns.iter().enumerate() {
            assert_eq!(read.column(place).data_type(), column.data_type(), "{} {name}", source.name());
            assert_eq!(read.column(place), column, "{} {name}", source.name());
            let found = &schema.columns[place];
            assert_eq!(found.arrow.as_ref().unwrap().data_type(), column.data_type());
            assert!(found.is_modelled() && found.missing == 17, "{name}: {}", found.reason);
            assert_eq!(out.column(place).data_type(), column.data_type(), "{name}");
            assert_eq!(&same_values(out.column(place)), &same_values(column), "{name}: {}", found.reason);
        }
    }
}

/// Decimals of hundreds, which Parquet does not have.
#[test]
fn negative_scales_come_back() {
    let hundreds = cells(&DataType::Decimal128(9, -1));
    let batch = table(vec![("x", hundreds.clone())]);
    for source in [memory(&batch), written("t.arrow", &batch)] {
        let schema = infer(&source);
        assert_eq!((schema.columns[0].kind, decoded(&source, &schema).column(0)), (Kind::Count, &hundreds));
    }
    let folder = tempfile::tempdir().unwrap();
    let refused = Writer::create(folder.path().join("t.parquet"), &OutputColumn::of_schema(&batch.schema()));
    assert!(refused.is_err_and(|error| error.to_string().contains("Invalid DECIMAL scale")));
}

/// An array without its dictionary, whose order does not count.
fn same_values(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
        _ => array.clone(),
    }
}

/// Types say what their values are; a text is judged by what it holds.
#[test]
fn kinds_come_from_types() {
    let columns = every_type();
    let batch = table(columns.iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    let schema = infer(&memory(&batch));
    let kind = |name: &str| schema.columns[schema.position(name).unwrap()].kind;
    for name in ["int8", "uint64", "int64"] {
        assert_eq!(kind(name), Kind::Count, "{name}");
    }
    assert_eq!(
        (kind("bool"), kind("float32"), kind("decimal64(12, 3)")),
        (Kind::YesNo, Kind::Real, Kind::Real)
    );
    for name in ["date32", "date64", "timestamp[s]", "timestamp[ns, Europe/Paris]"] {
        assert_eq!(kind(name), Kind::DateTime, "{name}");
    }
    for name in ["time32[s]", "time64[ns]", "duration[ms]"] {
        assert_eq!(kind(name), Kind::Real, "{name}");
    }
    assert_eq!((kind("utf8"), kind("dictionary<int8, utf8>")), (Kind::Category, Kind::Category));
    let numerals: ArrayRef =
        Arc::new((0..90).map(|i| Some((i * 7 % 80).to_string())).collect::<StringArray>());
    let dictionary = arrow_cast::cast(
        &numerals,
        &DataType::Dictionary(Box::new(DataType::Int16), Box::new(DataType::Utf8)),
    );
    let schema = infer(&memory(&table(vec![("text", numerals), ("levels", dictionary.unwrap())])));
    assert_eq!((schema.columns[0].kind, schema.columns[1].kind), (Kind::Count, Kind::Category));
}

/// Whoever stores numbers or dates as a dictionary says that they are levels: they are no counts, and come back as what they were.
/// Where they hardly repeat they are numbers.
#[test]
fn dictionaries_of_numbers_are_categories() {
    let codes: ArrayRef =
        Arc::new((0..90).map(|i| (i % 9 != 4).then_some([7, 30, 500][i % 3])).collect::<Int64Array>());
    let halves: ArrayRef = Arc::new((0..90).map(|i| Some(0.5 * (i % 4) as f64)).collect::<Float64Array>());
    let days: ArrayRef = Arc::new((0..90).map(|i| Some(18_000 + 9 * (i % 5))).collect::<Date32Array>());
    let unlike: ArrayRef = Arc::new((0..90).map(|i| Some(i * i)).collect::<Int64Array>());
    let packed = |array: &ArrayRef| {
        let values = Box::new(array.data_type().clone());
        arrow_cast::cast(array, &DataType::Dictionary(Box::new(DataType::Int8), values)).unwrap()
    };
    let plain = [("codes", &codes), ("halves", &halves), ("days", &days), ("unlike", &unlike)];
    let batch = table(plain.iter().map(|(name, array)| (*name, packed(array))).collect());
    for source in [memory(&batch), written("t.parquet", &batch), written("t.arrow", &batch)] {
        let schema = infer(&source);
        let kinds: Vec<Kind> = schema.columns.iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [Kind::Category, Kind::Category, Kind::Category, Kind::Count]);
        assert_eq!(schema.columns[1].reason, "4 levels");
        let out = decoded(&source, &schema);
        for (place, (name, array)) in plain.iter().enumerate() {
            assert_eq!(&same_values(out.column(place)), *array, "{name}");
        }
    }
}

/// Truths in a dictionary, which Arrow itself does not pack.
#[test]
fn dictionaries_of_truths_come_back() {
    let keys = (0..60).map(|i| (i % 7 != 3).then_some(i8::from(i % 3 == 0)));
    let values: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let truths: ArrayRef = Arc::new(DictionaryArray::new(keys.collect::<arrow_array::Int8Array>(), values));
    let source = memory(&table(vec![("truth", truths.clone())]));
    let schema = infer(&source);
    assert_eq!(schema.columns[0].kind, Kind::YesNo);
    let out = decoded(&source, &schema).column(0).clone();
    assert_eq!((out.data_type(), &same_values(&out)), (truths.data_type(), &same_values(&truths)));
}

/// Of typed data only null is missing: markers are levels, an empty text is a text.
#[test]
fn only_null_is_missing() {
    let words = ["NA", "None", "-", "", ".", "nan", "x"];
    let texts: StringArray = (0..70).map(|i| (i % 10 != 9).then_some(words[i % 7])).collect();
    let nulls = texts.null_count() as u64;
    for source in [
        memory(&table(vec![("w", Arc::new(texts.clone()))])),
        written("t.parquet", &table(vec![("w", Arc::new(texts.clone()))])),
    ] {
        let schema = infer(&source);
        assert_eq!((schema.columns[0].missing, schema.columns[0].n_codes()), (nulls, 7));
        assert_eq!(decoded(&source, &schema).column(0).as_string::<i32>(), &texts);
        // In delimited text of the same table, what was a level there is one here.
        let csv =
            Source::from_bytes("t.csv", b"w,z\nNone,1\nNA,2\nnull,3\n".to_vec(), &ReadOptions::default());
        let (table, notes) = Table::read(&csv.unwrap(), &schema, 99, &Streams::new(0)).unwrap();
        assert!(matches!(table.columns[0].get(0), Cell::Level(_)));
        assert_eq!(table.columns[0].get(2), Cell::Missing);
        assert!(notes.unseen.is_empty());
    }
}

#[test]
fn not_a_number_is_special_and_infinity_refused() {
    let floats = |last: f64| -> RecordBatch {
        let float = |i: i32| match i % 10 {
            4 => None,
            7 => Some(f64::NAN),
            _ => Some(f64::from(i) * 0.37),
        };
        table(vec![("x", Arc::new((0..200).map(float).chain([Some(last)]).collect::<Float64Array>()))])
    };
    let source = memory(&floats(1.0));
    let schema = infer(&source);
    let column = &schema.columns[0];
    assert_eq!((column.missing, column.n_codes()), (20, 2), "{}", column.reason);
    let out = decoded(&source, &schema);
    let out = out.column(0).as_primitive::<arrow_array::types::Float64Type>();
    assert!(out.value(7).is_nan() && out.is_null(4) && out.value(10) == 3.7);
    let error = Schema::infer(&memory(&floats(f64::INFINITY)), &Overrides::default()).unwrap_err();
    assert_eq!(error.to_string(), "memory, row 201, column x: inf is not a finite number");
    // A NaN in another file of a column that never had one is no gap.
    let clean: ArrayRef = Arc::new((0..50).map(|i| Some(f64::from(i) * 1.1)).collect::<Float64Array>());
    let schema = infer(&memory(&table(vec![("x", clean)])));
    let error = Table::read(&source, &schema, 99_999, &Streams::new(0)).unwrap_err();
    assert_eq!(error.to_string(), "memory, row 8, column x: NaN is not a finite number");
    assert!(error.hint().unwrap().contains("only null is missing"));
}

#[test]
fn unseen_missing_special_absent() {
    let words: ArrayRef = Arc::new(StringArray::from(["a", "b"].repeat(50)));
    let amount = |i: i64| if i % 4 == 0 { 0 } else { i * 977 };
    let amounts: ArrayRef = Arc::new((0..100).map(|i| Some(amount(i))).collect::<Int64Array>());
    let flags: ArrayRef = Arc::new((0..100).map(|i| Some(i % 3 == 0)).collect::<BooleanArray>());
    let schema = infer(&memory(&table(vec![("w", words), ("n", amounts), ("f", flags)])));
    let other = table(vec![
        ("n", Arc::new(Int64Array::from(vec![Some(0), None, Some(977), Some(5)]))),
        ("w", Arc::new(StringArray::from(vec![Some("c"), None, Some("b"), Some("")]))),
    ]);
    let source = memory(&other);
    let mut coder = schema.coder(&source).unwrap();
    let cells = coder.code(&source.batches().unwrap().next().unwrap().unwrap()).unwrap();
    let row = |cells: &Cells| cells.iter().collect::<Vec<_>>();
    assert_eq!(row(&cells[0]), [Cell::Unseen, Cell::Missing, Cell::Level(1), Cell::Unseen]);
    assert_eq!(row(&cells[1]), [Cell::Special(0), Cell::Missing, Cell::Value(977.0), Cell::Value(5.0)]);
    assert!(cells[2].is_empty());
    assert_eq!((coder.absent(), coder.place(1)), (&[2][..], Some(0)));
    assert_eq!(coder.notes().unseen[0].examples, ["c", ""]);
    assert!(coder.notes().messages().iter().any(|note| note == "columns that are not given are unknown: f"));
    // A list where a number was is refused with its type.
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]));
    let error = schema.coder(&memory(&table(vec![("n", lists)]))).err().unwrap();
    assert_eq!(
        error.to_string(),
        "memory, row 1, column n: a value of the type List(Int32) is no cell of a table"
    );
}

/// What cannot be a cell is passed through; what f64 cannot hold is levels or left out.
#[test]
fn what_is_not_modelled_is_kept() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>((0..60).map(|i| Some(vec![Some(i), None])));
    let bytes: BinaryArray = (0..60).map(|i: u8| Some(vec![i, 255])).collect();
    let few: Int64Array = (0..60).map(|i| Some((1 << 60) + i % 3)).collect();
    let many: UInt64Array = (0..60).map(|i| Some(u64::MAX - i)).collect();
    let precise: ArrayRef = Arc::new(
        Decimal128Array::from((0..60).map(|i| Some(10i128.pow(30) + i % 2)).collect::<Vec<_>>())
            .with_precision_and_scale(38, 10)
            .unwrap(),
    );
    let wide = DataType::Decimal256(76, 0);
    let wide = arrow_cast::cast(&(Arc::new(StringArray::from(vec!["9".repeat(60); 60])) as ArrayRef), &wide)
        .unwrap();
    let batch = table(vec![
        ("list", Arc::new(lists)),
        ("bytes", Arc::new(bytes)),
        ("few", Arc::new(few.clone())),
        ("many", Arc::new(many)),
        ("precise", precise.clone()),
        ("wide", wide),
    ]);
    let source = written("t.parquet", &batch);
    assert_eq!(whole(&source), batch);
    let schema = infer(&source);
    let of = |name: &str| &schema.columns[schema.position(name).unwrap()];
    for name in ["list", "bytes", "wide"] {
        assert_eq!((of(name).kind, of(name).pair), (Kind::Other, PairKind::None));
        assert!(of(name).reason.contains("passed through"), "{}", of(name).reason);
    }
    let kinds = (of("few").kind, of("many").kind, of("precise").kind);
    assert_eq!(kinds, (Kind::Category, Kind::Identifier, Kind::Category));
    let schema = Schema::from_json(&schema.to_json().unwrap()).unwrap();
    let out = decoded(&source, &schema);
    assert_eq!(out.column(2).as_primitive::<Int64Type>(), &few, "integers beyond 2^53 are exact");
    assert_eq!(out.column(4), &precise);
    assert_eq!((out.column(0).data_type(), out.column(0).null_count()), (batch.column(0).data_type(), 60));
    let mut overrides = Overrides::default();
    overrides.set("columns.list.kind", "category").unwrap();
    let error = Schema::infer(&source, &overrides).unwrap_err().to_string();
    assert!(
        error.starts_with("column \"list\" cannot be category: values of the type List(Int32)"),
        "{error}"
    );
}

/// Gaps are filled in the array's own type; what is kept is kept to the bit.
#[test]
fn filling_keeps_the_rest() {
    let n = 90;
    let gap = |i: usize| i % 5 == 2;
    let nanos: ArrayRef = Arc::new(
        (0..n)
            .map(|i| (!gap(i)).then_some(1_600_000_000_000_000_001 + 3_600_000_000_000 * i as i64))
            .collect::<TimestampNanosecondArray>()
            .with_timezone("UTC"),
    );
    let large: ArrayRef = Arc::new(
        (0..n).map(|i| (!gap(i)).then_some((1 << 53) + 1 + 2 * (i as i64 % 4))).collect::<Int64Array>(),
    );
    let money = (0..n).map(|i| (!gap(i)).then_some(i as i128 * 125)).collect::<Vec<_>>();
    let money: ArrayRef = Arc::new(Decimal128Array::from(money).with_precision_and_scale(12, 2).unwrap());
    let words: ArrayRef = Arc::new(
        (0..n)
            .map(|i| (!gap(i)).then_some(["lo", "mid", "hi"][i % 3]))
            .collect::<DictionaryArray<Int8Type>>(),
    );
    let flags: ArrayRef = Arc::new((0..n).map(|i| (!gap(i)).then_some(i % 2 == 0)).collect::<BooleanArray>());
    let days: ArrayRef =
        Arc::new((0..n).map(|i| (!gap(i)).then_some(18_000 + i as i32 % 40)).collect::<Date32Array>());
    let batch =
        table(vec![("t", nanos), ("i", large), ("d", money), ("w", words), ("f", flags), ("day", days)]);
    let chosen: Vec<bool> = (0..n).map(gap).collect();
    for source in [memory(&batch), written("t.parquet", &batch), written("t.arrow", &batch)] {
        let schema = infer(&source);
        let rows = source.batches().unwrap().next().unwrap().unwrap();
        for (place, column) in schema.columns.iter().enumerate() {
            let original = rows.batch.column(place);
            let decoder = column.decoder_to(original.data_type()).unwrap();
            let cell = match &column.coding {
                Coding::Levels(_) => Cell::Level(1),
                Coding::Numbers(numbers) => Cell::Value(numbers.grid.values()[7] + 0.3),
                _ => panic!("{}", column.reason),
            };
            let filled = decoder.fill(original, &chosen, &Cells::filled(cell, n), |_| 0.5).unwrap();
            assert_eq!(
                (filled.data_type(), filled.null_count()),
                (original.data_type(), 0),
                "{}",
                column.name
            );
            let (plain, kept) = (same_values(&filled), same_values(original));
            for row in (0..n).filter(|&row| !gap(row)) {
                assert_eq!(&plain.slice(row, 1), &kept.slice(row, 1), "{} row {row}", column.name);
            }
            let drawn = decoder.array(1, &Cells::filled(cell, 1), |_| 0.5).unwrap();
            assert_eq!(&plain.slice(2, 1), &same_values(&drawn), "{}", column.name);
        }
        assert!(schema.columns[0].reason.contains("modelled to the microsecond"));
        let wrong = schema.columns[0].decoder_to(&DataType::Int64).unwrap();
        assert!(
            wrong.fill(rows.batch.column(0), &chosen, &Cells::filled(Cell::Missing, n), |_| 0.5).is_err()
        );
    }
}

/// A model of delimited text fills the gaps of a typed file, in that file's types.
#[test]
fn another_files_types_are_kept() {
    let text =
        (0..60).fold("n,w\n".to_owned(), |text, i| text + &format!("{},{}\n", i * 7 % 40, ["a", "b"][i % 2]));
    let schema = infer(&Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap());
    let small: ArrayRef = Arc::new(arrow_array::UInt8Array::from(vec![Some(3), None]));
    let words: ArrayRef =
        Arc::new([Some("never seen"), None].into_iter().collect::<DictionaryArray<Int8Type>>());
    let fill = |column: usize, array: &ArrayRef, cell: Cell| {
        let decoder = schema.columns[column].decoder_to(array.data_type()).unwrap();
        decoder.fill(array, &[false, true], &Cells::filled(cell, 2), |_| 0.5)
    };
    let filled = fill(0, &small, Cell::Value(11.6)).unwrap();
    assert_eq!(filled.as_primitive::<arrow_array::types::UInt8Type>().values(), &[3, 12]);
    let filled = same_values(&fill(1, &words, Cell::Level(1)).unwrap());
    assert_eq!(filled.as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["never seen", "b"]);
    let error = fill(1, &small, Cell::Level(1)).unwrap_err();
    assert_eq!(error.to_string(), "column w: \"b\" is no cell of the type uint8");
}

/// Values that were never seen stay what their column's cells are.
#[test]
fn drawn_values_stay_on_their_grid() {
    let batch = table(every_type().iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    let schema = infer(&memory(&batch));
    for column in &schema.columns {
        let Coding::Numbers(numbers) = &column.coding else { continue };
        let values = numbers.grid.values();
        let between: Cells =
            values.windows(2).map(|pair| Cell::Value(pair[0] * 0.7 + pair[1] * 0.3)).collect();
        let array = column.decoder().unwrap().array(between.len(), &between, |_| 0.5).unwrap();
        assert_eq!(array.data_type(), column.arrow.as_ref().unwrap().data_type());
        let again = infer(&memory(&table(vec![("x", array)])));
        let Coding::Numbers(new) = &again.columns[0].coding else { panic!("{}", again.columns[0].reason) };
        assert!(new.places.unwrap_or(0) <= numbers.places.unwrap_or(0), "{}", column.name);
        for value in new.grid.values() {
            let precision = match column.name.as_str() {
                "float16" => 1e-3,
                "float32" => 1e-6,
                _ => 1e-12,
            };
            let moved = (numbers.on_grid(*value) - value).abs();
            assert!(moved <= precision * value.abs(), "{} {value}", column.name);
        }
    }
}

#[test]
fn digests_do_not_depend_on_the_cut() {
    let batch = table(every_type().iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    let digest = |batches: Vec<RecordBatch>| {
        Source::from_batches("t", batch.schema(), batches).unwrap().digest().unwrap().to_owned()
    };
    let one = digest(vec![batch.clone()]);
    assert_eq!(digest((0..120).map(|row| batch.slice(row, 1)).collect()), one);
    assert_eq!(digest(vec![batch.slice(0, 50), batch.slice(50, 0), batch.slice(50, 70)]), one);
    assert_ne!(digest(vec![batch.slice(0, 119)]), one);
}

/// Large batches are given out in small ones that share their memory.
#[test]
fn batches_in_memory_are_sliced_not_copied() {
    let numbers = Int64Array::from_iter_values(0..20_000);
    let start = numbers.values().as_ptr();
    let source = memory(&table(vec![("n", Arc::new(numbers))]));
    let batches: Vec<_> = source.batches().unwrap().map(Result::unwrap).collect();
    assert_eq!(
        batches.iter().map(|batch| (batch.first, batch.rows())).collect::<Vec<_>>(),
        [(0, 8192), (8192, 8192), (16384, 3616)]
    );
    assert_eq!(batches[0].batch.column(0).as_primitive::<Int64Type>().values().as_ptr(), start);
    assert_eq!(batches[2].place(0).to_string(), "row 16385");
    assert_eq!(source.batches().unwrap().count(), 3, "as often as wanted");
    assert_eq!(infer(&source).columns[0].kind, Kind::Identifier);
}

#[test]
fn batches_that_do_not_go_together_are_refused() {
    let one = table(vec![("n", Arc::new(Int64Array::from(vec![1])))]);
    let two = table(vec![("n", Arc::new(StringArray::from(vec!["1"])))]);
    let error = Source::from_batches("t", one.schema(), vec![one.clone(), two]).unwrap_err();
    assert_eq!(error.to_string(), "t: batch 1 has other columns or types than the schema");
    for none in [vec![], vec![one.slice(0, 0)]] {
        let empty = Source::from_batches("t", one.schema(), none).unwrap();
        assert_eq!((empty.names(), empty.batches().unwrap().count()), (&["n".to_owned()][..], 0));
        assert_eq!(infer(&empty).rows, 0);
    }
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let twice = table(vec![("n", numbers.clone()), ("n", numbers)]);
    assert_eq!(memory(&twice).names(), ["n", "n_2"]);
}

/// Dictionaries that differ from batch to batch are one in an Arrow file.
#[test]
fn dictionaries_grow_over_batches() {
    let batch = |words: &[&str]| {
        table(vec![(
            "w",
            Arc::new(words.iter().map(|word| Some(*word)).collect::<DictionaryArray<Int8Type>>()),
        )])
    };
    let parts = [batch(&["b", "a"]), batch(&["c", "a"]), batch(&["d"])];
    for name in ["t.arrow", "t.arrows", "t.parquet"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let mut writer = Writer::create(&path, &OutputColumn::of_schema(&parts[0].schema())).unwrap();
        parts.iter().for_each(|part| writer.write(part).unwrap());
        writer.finish().unwrap();
        let source = Source::open(&path, &ReadOptions::default()).unwrap();
        let words = same_values(whole(&source).column(0));
        assert_eq!(
            words.as_string::<i32>().iter().flatten().collect::<Vec<_>>(),
            ["b", "a", "c", "a", "d"],
            "{name}"
        );
        assert_eq!(source.schema().field(0).data_type(), parts[0].schema().field(0).data_type());
    }
}

/// Parquet and Arrow as delimited text and back: exact texts.
#[test]
fn typed_cells_as_text() {
    let batch = table(every_type().iter().map(|(name, column)| (name.as_str(), column.clone())).collect());
    let csv = written("t.csv", &batch);
    let schema = infer(&memory(&batch));
    // The typed schema reads its own cells from the text.
    let streams = Streams::new(0);
    let (from_text, _) = Table::read(&csv, &schema, usize::MAX, &streams).unwrap();
    let (from_types, _) = Table::read(&memory(&batch), &schema, usize::MAX, &streams).unwrap();
    for (column, (text, typed)) in
        schema.columns.iter().zip(from_text.columns.iter().zip(&from_types.columns))
    {
        for (row, (text, typed)) in text.iter().zip(typed.iter()).enumerate() {
            let same = match (text, typed) {
                (Cell::Value(a), Cell::Value(b)) => (a - b).abs() <= 1e-12 * b.abs(),
                (a, b) => a == b,
            };
            assert!(same, "{} row {row}: {text:?} {typed:?}", column.name);
        }
    }
}

/// A random column: a type, and cells of which some are null.
fn any_column(rows: usize) -> impl Strategy<Value = ArrayRef> {
    let types = every_type().len();
    (0..types, prop::collection::vec(prop::option::weighted(0.85, -1_000i64..1_000), rows), any::<bool>())
        .prop_map(|(place, cells, few)| random_cells(every_type()[place].1.data_type(), &cells, few))
}

fn random_cells(data_type: &DataType, cells: &[Option<i64>], few: bool) -> ArrayRef {
    use DataType::*;
    let cell = |cell: &Option<i64>| cell.map(|cell| if few { cell % 4 } else { cell });
    let integers = |factor: i64, low: i64| -> ArrayRef {
        Arc::new(cells.iter().map(|c| cell(c).map(|cell| (cell + low) * factor)).collect::<Int64Array>())
    };
    let cast = |array: ArrayRef, to: &DataType| arrow_cast::cast(&array, to).unwrap();
    match data_type {
        Boolean => {
            Arc::new(cells.iter().map(|c| cell(c).map(|cell| cell % 2 == 0)).collect::<BooleanArray>())
        }
        Int8 | UInt8 | UInt16 | UInt32 | UInt64 => {
            let small = cells.iter().map(|c| cell(c).map(|cell| cell.rem_euclid(120)));
            cast(Arc::new(small.collect::<Int64Array>()), data_type)
        }
        Utf8 | LargeUtf8 | Utf8View => {
            let texts = cells
                .iter()
                .map(|c| cell(c).map(|cell| if few { format!(" {cell}é ") } else { cell.to_string() }));
            cast(Arc::new(texts.collect::<StringArray>()), data_type)
        }
        Dictionary(keys, values) => {
            let small: Vec<Option<i64>> = cells.iter().map(|c| c.map(|cell| cell.rem_euclid(100))).collect();
            cast(random_cells(values, &small, few || **keys == Int8), data_type)
        }
        Float16 | Float32 | Float64 | Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => {
            let floats = cells.iter().map(|c| cell(c).map(|cell| cell as f64 * 0.25));
            cast(Arc::new(floats.collect::<Float64Array>()), data_type)
        }
        Date32 => cast(cast(integers(1, 0), &Int32), data_type),
        Time32(_) => cast(cast(integers(7, 1_000), &Int32), data_type),
        Time64(_) => cast(integers(1_234_000, 1_000), data_type),
        Date64 => cast(integers(86_400_000, 0), data_type),
        Timestamp(TimeUnit::Nanosecond, _) => cast(integers(1_001_000, 1_000_000), data_type),
        Timestamp(..) | Duration(_) => cast(integers(1_001, 1_000_000), data_type),
        _ => cast(integers(1, 0), data_type),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    /// Any typed table: infer → code → decode gives the cells that are modelled, in their types, and null elsewhere.
    #[test]
    fn cells_come_back(columns in (1usize..60).prop_flat_map(|rows| prop::collection::vec(any_column(rows), 1..5))) {
        let names: Vec<String> = (0..columns.len()).map(|i| format!("column{i}")).collect();
        let batch = table(names.iter().map(String::as_str).zip(columns.iter().cloned()).collect());
        for source in [memory(&batch), written("t.parquet", &batch), written("t.arrow", &batch)] {
            let schema = infer(&source);
            prop_assert_eq!(&Schema::from_json(&schema.to_json().unwrap()).unwrap(), &schema);
            let out = decoded(&source, &schema);
            for (place, column) in schema.columns.iter().enumerate() {
                prop_assert_eq!(out.column(place).data_type(), columns[place].data_type());
                if !matches!(column.coding, Coding::Out) {
                    prop_assert_eq!(&same_values(out.column(place)), &same_values(&columns[place]), "{}", column.reason);
                }
            }
            for (column, cells) in schema.columns.iter().zip(&Table::read(&source, &schema, usize::MAX, &Streams::new(0)).unwrap().0.columns) {
                for cell in cells.iter().filter(|cell| *cell != Cell::Missing) {
                    let text = column.text(cell, 0.5);
                    prop_assert_eq!(column.parse(&text).unwrap(), cell, "{} {:?}", column.reason, text);
                }
            }
        }
    }
}
