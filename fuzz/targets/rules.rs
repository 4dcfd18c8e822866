//! Rules in words: refused, or told as a sentence and kept as JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pmm_data::rules::{Column, ColumnKind, DateUnit, Rule};

fuzz_target!(|text: &str| {
    let number = ColumnKind::Number { decimals: Some(2) };
    let date = ColumnKind::Date { unit: DateUnit::Days };
    let levels = ColumnKind::Levels { texts: vec!["x".into(), "y, z".into(), "0".into()] };
    let columns = [
        ("a", &number),
        ("b", &number),
        ("total cost", &number),
        ("when", &date),
        ("then", &date),
        ("kind", &levels),
    ]
    .map(|(name, kind)| Column::new(name, kind.clone()));
    if let Ok(rule) = Rule::parse(text, &columns) {
        assert!(!rule.sentence().is_empty());
        let json = serde_json::to_string(&rule).expect("a rule can be written");
        assert_eq!(serde_json::from_str::<Rule>(&json).expect("and read"), rule, "{json}");
    }
});
