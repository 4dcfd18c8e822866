//! Columns derived from rules that hold in a share of the rows.

use super::super::evidence::Evidence;
use super::super::rows::{Column, ColumnKind};
use super::super::rule::Rule;
use super::flag::{NO, YES};
use super::sum::{OTHER, constant_text};

/// The column that is derived from a rule: where it says something, and holds in a share of the rows, whether it holds; which
/// constant a sum has; with `difference`, by how much the higher of two columns is higher. None where there is none.
///
/// ```
/// use pmm_data::rules::{Evidence, Rule, derived_column};
/// let rule = Rule::Equal { left: "paid".into(), right: "due".into(), nonzero: false };
/// let evidence = Evidence { applies: 100, holds: 30, expected_breaks: None, exceptions: vec![] };
/// let column = derived_column(&rule, &evidence, &[], false).expect("the rule holds in 30 %");
/// assert_eq!(column.name, "paid = due");
/// ```
pub fn derived_column(
    rule: &Rule,
    evidence: &Evidence,
    columns: &[Column],
    difference: bool,
) -> Option<Column> {
    let partial = evidence.holds < evidence.applies;
    let levels = |name: String, texts: Vec<String>| Some(Column::new(name, ColumnKind::Levels { texts }));
    let yes_no = || vec![YES.to_owned(), NO.to_owned()];
    match rule {
        // Zeros are equal often without a rule, and then not: the column tells.
        Rule::Equal { left, right, nonzero } if partial || *nonzero => {
            levels(format!("{left} = {right}"), yes_no())
        }
        Rule::Determined { inputs, output, .. } if partial => {
            levels(format!("{output} as by {}", inputs.join(", ")), yes_no())
        }
        Rule::OneToOne { left, right, .. } if partial => levels(format!("{right} as by {left}"), yes_no()),
        Rule::DatePart { date, output, .. } if partial => levels(format!("{output} as by {date}"), yes_no()),
        Rule::Product { output, .. } if partial => levels(format!("{output} as computed"), yes_no()),
        Rule::Sum { output, constants, .. } if partial || constants.len() > 1 => {
            let mut texts: Vec<String> = constants.iter().map(|constant| constant_text(*constant)).collect();
            texts.push(OTHER.to_owned());
            levels(format!("{output} beyond its sum"), texts)
        }
        Rule::Order { low, high, .. } if difference => {
            let decimals = |name: &String| match columns.iter().find(|column| column.name == *name)?.kind {
                ColumnKind::Number { decimals } => decimals,
                _ => Some(0),
            };
            let decimals = decimals(low).zip(decimals(high)).map(|(a, b)| a.max(b));
            Some(Column::new(format!("{high} - {low}"), ColumnKind::Number { decimals }))
        }
        _ => None,
    }
}
