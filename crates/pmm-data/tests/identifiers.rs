//! New identifiers: unique where the real ones are, none of the real, of the same shape, and the same in pieces as in one.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use pmm_core::{Purpose, Stream, Streams};
use pmm_data::rules::Pattern;
use pmm_data::{Cells, Coding, ColumnOverride, Kind, Overrides, ReadOptions, Schema, Source};
use proptest::prelude::*;

/// Quotes nothing: texts have no commas.
fn csv(texts: &[String]) -> Source {
    let rows: String = texts.iter().enumerate().map(|(i, text)| format!("{text},{}\n", i % 7)).collect();
    Source::from_bytes("t.csv", format!("key,x\n{rows}").into_bytes(), &ReadOptions::default()).unwrap()
}

fn infer(source: &Source) -> Schema {
    let kind = ColumnOverride { kind: Some(Kind::Identifier), ..ColumnOverride::default() };
    let mut overrides = Overrides::default();
    overrides.columns.insert("key".into(), kind);
    let schema = Schema::infer(source, &overrides).unwrap();
    assert!(matches!(schema.columns[0].coding, Coding::Out), "{}", schema.columns[0].reason);
    Schema::from_json(&schema.to_json().unwrap()).unwrap()
}

fn array(schema: &Schema, seed: u64, first: u64, rows: usize) -> ArrayRef {
    let decoder = schema.decoder().unwrap().with_identifiers(&Streams::new(seed));
    let cells = vec![Cells::new(); schema.columns.len()];
    decoder.batch_at(first, rows, &cells, |_, _| 0.5).unwrap().column(0).clone()
}

fn new_ones(schema: &Schema, seed: u64, first: u64, rows: usize) -> Vec<Option<String>> {
    let array = arrow_cast::cast(&array(schema, seed, first, rows), &DataType::Utf8).unwrap();
    array.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

/// What must hold of any column of unique identifiers.
fn check(real: &[String], rows: usize) -> Vec<String> {
    let schema = infer(&csv(real));
    let new = new_ones(&schema, 1, 0, rows);
    assert!(new.iter().all(Option::is_some), "{}", schema.columns[0].reason);
    let new: Vec<String> = new.into_iter().flatten().collect();
    let known: HashSet<&String> = real.iter().collect();
    let different: HashSet<&String> = new.iter().collect();
    assert_eq!(different.len(), rows, "{}", schema.columns[0].reason);
    assert!(different.is_disjoint(&known), "{}", schema.columns[0].reason);
    for (first, count) in [(0, 1), (1, 777), (4095, 2), (rows as u64 - 100, 100)] {
        let piece = new_ones(&schema, 1, first, count);
        let whole = &new[first as usize..first as usize + count];
        assert!(piece.iter().flatten().eq(whole), "{first}");
    }
    assert_ne!(new_ones(&schema, 2, 0, 50).into_iter().flatten().collect::<Vec<_>>(), new[..50]);
    new
}

/// Distinct texts.
fn made(n: usize, mut text: impl FnMut(&mut Stream) -> String) -> Vec<String> {
    let mut stream = Streams::new(9).stream(Purpose::custom(1), 0, 0);
    let (mut seen, mut texts) = (HashSet::new(), Vec::new());
    while texts.len() < n {
        let text = text(&mut stream);
        if seen.insert(text.clone()) {
            texts.push(text);
        }
    }
    texts
}

fn letters(stream: &mut Stream, first: u8, least: u64, most: u64) -> String {
    let length = least + stream.below(most - least + 1);
    (0..length).map(|_| char::from(first + stream.below(26) as u8)).collect()
}

#[test]
fn new_identifiers_of_many_patterns() {
    let hex = |s: &mut Stream, digits: usize| format!("{:016x}", s.word())[..digits].to_owned();
    let patterns: Vec<Vec<String>> = vec![
        made(500, |s| format!("{}-{:07}", ["AB", "CD", "EFG"][s.below(3) as usize], s.below(10_000_000))),
        made(500, |s| format!("+49 {:03} {:07}", s.below(1000), s.below(10_000_000))),
        made(300, |s| format!("({:03}) {:03}-{:04}", 200 + s.below(800), s.below(1000), s.below(10_000))),
        made(500, |s| (100_000_000 + s.below(900_000_000)).to_string()),
        made(500, |s| s.below(100_000_000).to_string()),
        made(500, |s| hex(s, 16)),
        made(500, |s| [(); 4].map(|()| hex(s, 16)).concat()),
        made(500, |s| [(); 4].map(|()| hex(s, 16)).concat().to_uppercase()),
        made(500, |s| {
            format!(
                "{}.{}@{}",
                letters(s, b'a', 3, 8),
                letters(s, b'a', 4, 9),
                ["a.org", "b.com"][s.below(2) as usize]
            )
        }),
        made(500, |s| {
            format!(
                "{}{} {}{}",
                letters(s, b'A', 1, 1),
                letters(s, b'a', 4, 7),
                letters(s, b'A', 1, 1),
                letters(s, b'a', 4, 9)
            )
        }),
        made(200, |s| format!("{}{:04}", letters(s, b'A', 2, 3), s.below(10_000))),
        made(500, |s| format!("X{}/{}_{}", s.below(100_000), letters(s, b'a', 1, 3), s.below(10))),
        made(3000, |s| format!("{:07}", s.below(200_000))),
    ];
    for real in &patterns {
        let new = check(real, 100_000);
        let shapes = Pattern::learn(real.iter().map(String::as_str));
        assert!(!shapes.is_empty(), "{}", real[0]);
        let fits = |text: &String| shapes.iter().any(|shape| shape.matches(text));
        let odd: Vec<&String> = new.iter().filter(|text| !fits(text)).take(3).collect();
        assert!(odd.is_empty(), "{odd:?} are not like {:?}", &real[..3]);
    }
}

#[test]
fn uuids_keep_version_and_variant() {
    let uuid = |s: &mut Stream| {
        let (a, b) = (s.word(), s.word());
        let variant = 0x8000 | b >> 48 & 0x3fff;
        format!(
            "{:08x}-{:04x}-4{:03x}-{variant:04x}-{:012x}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xfff,
            b & 0xffff_ffff_ffff
        )
    };
    let new = check(&made(400, uuid), 100_000);
    assert!(
        new.iter().all(|text| text.len() == 36 && &text[14..15] == "4" && "89ab".contains(&text[19..20]))
    );
}

#[test]
fn running_numbers_go_on() {
    let texts = |numbers: &mut dyn Iterator<Item = u64>| numbers.map(|n| n.to_string()).collect::<Vec<_>>();
    let real = texts(&mut (1..=250));
    let schema = infer(&csv(&real));
    assert_eq!(schema.columns[0].column_type().data_type(), &DataType::Int64);
    let numbers = array(&schema, 0, 10, 3);
    assert_eq!(numbers.as_primitive::<Int64Type>().values(), &[261, 262, 263]);
    let schema = infer(&csv(&texts(&mut (0..100).map(|i| 1000 + 25 * i))));
    assert_eq!(new_ones(&schema, 5, 0, 2), [Some("3500".into()), Some("3525".into())]);
    let invoices: Vec<String> = (1..60).map(|i| format!("INV-{i:05}")).collect();
    assert_eq!(new_ones(&infer(&csv(&invoices)), 0, 0, 1), [Some("INV-00060".into())]);
    // In order, with uneven steps.
    let uneven = texts(&mut (0..400).map(|i| 10_000 + 9 * i + i * i % 7));
    let new: Vec<u64> = check(&uneven, 100_000).iter().map(|text| text.parse().unwrap()).collect();
    assert!(new.windows(2).all(|pair| pair[0] < pair[1]) && new[0] > 13_591, "{}", new[0]);
}

#[test]
fn small_spaces_end_and_say_so() {
    // 40 of 52 texts are taken.
    let letter = |i: usize| char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i / 2]);
    let real: Vec<String> =
        (0..40).map(|i| format!("{}-{}", ["AX", "BY"][i % 2], letter(i * 23 % 52))).collect();
    let schema = infer(&csv(&real));
    let known: HashSet<String> = real.iter().cloned().collect();
    let new: Vec<Option<String>> = new_ones(&schema, 3, 0, 3000);
    let texts: Vec<&String> = new.iter().flatten().collect();
    let different: HashSet<String> = texts.iter().map(|text| (*text).clone()).collect();
    assert_eq!(different.len(), texts.len());
    assert!(different.is_disjoint(&known));
    assert!(new[texts.len()..].iter().all(Option::is_none), "the end is empty");
    assert!(texts.len() < 3000);
    assert!(
        schema.identifier_notes(3000).iter().any(|note| note.starts_with("key")),
        "{:?}",
        schema.identifier_notes(3000)
    );
}

#[test]
fn shares_of_empty_cells_and_repeats_are_kept() {
    // 4,000 rows of 1,500 customers, a tenth of them without.
    let mut stream = Streams::new(4).stream(Purpose::custom(2), 0, 0);
    let customers = made(1500, |s| format!("C{:08}", s.below(100_000_000)));
    let real: Vec<String> = (0..4000)
        .map(|_| match stream.below(10) {
            0 => String::new(),
            _ => customers[stream.below(1500) as usize].clone(),
        })
        .collect();
    let new = new_ones(&infer(&csv(&real)), 7, 0, 4000);
    let filled: Vec<&String> = new.iter().flatten().collect();
    let different: HashSet<&String> = filled.iter().copied().collect();
    // Deviations of 19 and about 17: beyond five of them once in a million.
    assert!((filled.len() as f64 - 3600.0).abs() < 130.0, "{}", filled.len());
    assert!((different.len() as f64 - 1364.0).abs() < 130.0, "{}", different.len());
    assert!(filled.iter().all(|text| !customers.contains(text)));
}

#[test]
fn types_stay() {
    let numbers: Vec<i64> = (0..300)
        .map(|i| 1_000_000_007 * (i * i + 3) % 900_001 + 100_000)
        .collect::<HashSet<i64>>()
        .into_iter()
        .collect();
    let keys: Vec<String> = numbers.iter().map(|i| format!("k{i}")).collect();
    let dictionary: DictionaryArray<arrow_array::types::Int32Type> =
        keys.iter().map(String::as_str).collect();
    for column in [
        Arc::new(Int64Array::from(numbers.clone())) as ArrayRef,
        Arc::new(StringArray::from(keys.clone())),
        Arc::new(dictionary),
    ] {
        let x = Arc::new(Int64Array::from_iter_values((0..numbers.len()).map(|i| i as i64 % 5))) as ArrayRef;
        let batch = RecordBatch::try_from_iter([("key", column.clone()), ("x", x)]).unwrap();
        let source = Source::from_batches("t", batch.schema(), vec![batch]).unwrap();
        let made = array(&infer(&source), 0, 0, 500);
        assert_eq!(made.data_type(), column.data_type());
        assert_eq!(made.null_count(), 0);
    }
}

#[test]
fn free_text_stays_empty() {
    let words = ["so", "it", "goes", "on and", "then?", "no!", "well (yes)"];
    let real =
        made(300, |s| (0..3 + s.below(9)).map(|_| words[s.below(7) as usize]).collect::<Vec<_>>().join(" "));
    let schema = infer(&csv(&real));
    assert!(schema.columns[0].identifiers.is_none());
    assert_eq!(schema.identifier_notes(10), ["not part of the model, so empty: key"]);
    // Also where it always goes the same way.
    let rows: String = (0..300)
        .map(|i| format!("the order number {} was sent to the wrong house,{}\n", 7919 * i, i % 7))
        .collect();
    let source =
        Source::from_bytes("t.csv", format!("remark,x\n{rows}").into_bytes(), &ReadOptions::default())
            .unwrap();
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    assert_eq!((schema.columns[0].kind, &schema.columns[0].identifiers), (Kind::Text, &None));
}

#[test]
fn damaged_identifiers_are_refused() {
    let real = made(300, |s| format!("C{:08}", s.below(100_000_000)));
    let json = infer(&csv(&real)).to_json().unwrap();
    let broken = json.replacen("\"ranges\": ", "\"ranges\": 9", 1);
    assert!(broken != json && Schema::from_json(&broken).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Random patterns of letters, digits and fixed parts, with spaces from hundreds to many.
    #[test]
    fn any_pattern(parts in prop::collection::vec((0_u8..4, 1_u64..4), 2..5), n in 30_usize..200, seed in any::<u64>()) {
        let mut stream = Streams::new(seed).stream(Purpose::custom(3), 0, 0);
        let one = |s: &mut Stream| -> String {
            parts.iter().map(|&(kind, length)| match kind {
                0 => letters(s, b'A', length, length),
                1 => letters(s, b'a', 1, length),
                2 => (0..length).map(|_| char::from(b'0' + s.below(10) as u8)).collect(),
                _ => "-".repeat(length as usize),
            }).collect()
        };
        let real: HashSet<String> = (0..n).map(|_| one(&mut stream)).filter(|text| !text.trim_matches('-').is_empty()).collect();
        prop_assume!(real.len() > 25);
        let real: Vec<String> = real.into_iter().collect();
        let schema = infer(&csv(&real));
        let new = new_ones(&schema, seed, 0, 5000);
        let texts: Vec<&String> = new.iter().flatten().collect();
        let different: HashSet<&String> = texts.iter().copied().collect();
        prop_assert_eq!(different.len(), texts.len());
        prop_assert!(real.iter().all(|text| !different.contains(text)));
        prop_assert_eq!(&new_ones(&schema, seed, 1234, 99)[..], &new[1234..1333]);
    }
}

/// More than are kept in memory: shapes come from some of them, and all are avoided.
#[test]
fn very_many_identifiers_are_avoided_too() {
    let real = made(130_000, |s| format!("{}{:06}", ["A", "B"][s.below(2) as usize], s.below(1_000_000)));
    let new = check(&real, 100_000);
    assert!(new.iter().all(|text| text.len() == 7 && "AB".contains(&text[..1])));
}
