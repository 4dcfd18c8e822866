//! Rules of a table: found or declared, then kept by its model.

use std::convert::Infallible;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field};
use pmm_core::Streams;
use pmm_data::rules::{
    Cell as RuleCell, CodedRows, Column as RuleColumn, ColumnKind, CountError, Evidence, Found, Keeper, Kept,
    KeptRule, Options, Rows, Rule, count, derived_column, find, learn_tables,
};
use pmm_data::{
    Cells, Column, ColumnOverride, Kind, Overrides, PairKind, Schema, Source, Table as CodedTable,
};

use super::shorter::difference_is_shorter;
use crate::error::Error;

/// Rows in which rules are sought: more would tell no more.
const MOST_ROWS: usize = 200_000;
/// Derived columns, at least as many as may be; never more than there are columns beyond that.
const DERIVED: usize = 8;
/// A declared rule must hold in this share of the rows.
const DECLARED: f64 = 0.9;
/// Rows of which it is asked whether a difference is shorter to say than a number.
const MOST_COMPARED: usize = 10_000;

/// What a user says about rules.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RuleWishes {
    /// Rules that are to be kept.
    pub(crate) declared: Vec<String>,
    /// Columns, kinds or sentences whose rules are not.
    pub(crate) without: Vec<String>,
}

/// The rules of coded rows, with their evidence.
pub(crate) fn find_rules(schema: &Schema, columns: &[Cells], rows: usize) -> Vec<Found> {
    let rows = CodedRows::new(&schema.columns, columns, rows.min(MOST_ROWS));
    find(&rows, &Options::default()).unwrap_or_else(|error: Infallible| match error {})
}

/// In what share of the rows to which it applies each rule is broken; none where it cannot be told.
pub(crate) fn broken(schema: &Schema, columns: &[Cells], rows: usize, rules: &[Rule]) -> Vec<Option<f64>> {
    let rows = CodedRows::new(&schema.columns, columns, rows);
    let one = |rule: &Rule| {
        let evidence = count(&rows, std::slice::from_ref(rule), 0).ok()?.into_iter().next()?;
        (evidence.applies > 0).then(|| 1.0 - evidence.share())
    };
    rules.iter().map(one).collect()
}

/// Finds the rules of a table and takes the declared ones; puts them into the schema, and their derived columns behind those of the
/// table.
pub(crate) fn take_rules(
    schema: &mut Schema,
    table: &mut CodedTable,
    wishes: &RuleWishes,
) -> Result<(), Error> {
    let mut rules = declared(schema, table, &wishes.declared)?;
    for found in find_rules(schema, &table.columns, table.rows) {
        if !rules.iter().any(|rule| rule.rule == found.rule) {
            rules.push(found);
        }
    }
    let unwanted = |found: &Found| {
        let sentence = found.rule.sentence();
        let columns = found.rule.columns();
        let named = |name: &String| {
            *name == sentence || *name == found.rule.kind() || columns.contains(&name.as_str())
        };
        wishes.without.iter().any(named)
    };
    for name in &wishes.without {
        let meant = |found: &&Found| {
            *name == found.rule.sentence()
                || *name == found.rule.kind()
                || found.rule.columns().contains(&name.as_str())
        };
        if !rules.iter().any(|found| meant(&found)) {
            return Err(Error::request(
                format!("no rule is meant by \"{name}\""),
                "name a column of the rule, its kind, or its sentence as it is printed",
            ));
        }
    }
    rules.retain(|found| !unwanted(found));
    schema.rules = kept(schema, table, rules)?;
    Ok(())
}

/// The rules that a user declares: each must hold.
fn declared(schema: &Schema, table: &CodedTable, texts: &[String]) -> Result<Vec<Found>, Error> {
    let rows = CodedRows::new(&schema.columns, &table.columns, table.rows);
    let mut found = Vec::new();
    for text in texts {
        let refuse = |what: String| {
            Error::request(what, "write it as in `total = fare + tip`, `a <= b`, `zone -> borough`")
        };
        let rule = Rule::parse(text, rows.columns()).map_err(|error| refuse(error.to_string()))?;
        let filled = learn_tables(&rows, &[rule], Options::default().table);
        let rule = match filled {
            Ok(rules) => rules.into_iter().next().flatten(),
            Err(CountError::Rule(error)) => return Err(refuse(error.to_string())),
            Err(CountError::Rows(never)) => match never {},
        };
        let Some(rule) = rule else {
            return Err(refuse(format!("the rule \"{text}\" has too many cases to be listed")));
        };
        let evidence = match count(&rows, std::slice::from_ref(&rule), 5) {
            Ok(counted) => counted.into_iter().next(),
            Err(CountError::Rule(error)) => return Err(refuse(error.to_string())),
            Err(CountError::Rows(never)) => match never {},
        };
        let Some(evidence) = evidence else { continue };
        if evidence.applies == 0 || evidence.share() < DECLARED {
            return Err(contradicted(text, &evidence, table));
        }
        found.push(Found { rule, evidence });
    }
    Ok(found)
}

/// A declared rule that the rows break, with the first rows that do.
fn contradicted(text: &str, evidence: &Evidence, table: &CodedTable) -> Error {
    let row = |row: u64| table.origin.get(row as usize).map_or(row, |origin| *origin) + 1;
    let examples: Vec<String> = evidence
        .exceptions
        .iter()
        .take(3)
        .map(|exception| {
            let values: Vec<String> = exception.values.iter().map(ToString::to_string).collect();
            format!("row {}: {}", row(exception.row), values.join(", "))
        })
        .collect();
    Error::request(
        format!(
            "the rule \"{text}\" holds in {} of {} rows ({})",
            evidence.holds,
            evidence.applies,
            examples.join("; ")
        ),
        "mend those rows, or leave the rule out",
    )
}

/// Rules with their derived columns, whose cells are put behind those of the table.
fn kept(schema: &Schema, table: &mut CodedTable, rules: Vec<Found>) -> Result<Vec<KeptRule>, Error> {
    let modelled = schema.columns.iter().filter(|column| column.is_modelled()).count();
    let rows = CodedRows::new(&schema.columns, &table.columns, table.rows);
    let columns = rows.columns().to_vec();
    drop(rows);
    let mut free = DERIVED.max(modelled);
    let mut names: Vec<String> = schema.columns.iter().map(|column| column.name.clone()).collect();
    let mut derived: Vec<Option<RuleColumn>> = Vec::with_capacity(rules.len());
    for found in &rules {
        let difference = is_shorter(&found.rule, &rules, schema, table);
        let column = derived_column(&found.rule, &found.evidence, &columns, difference);
        let column = column.filter(|column| free > 0 && !names.contains(&column.name));
        if let Some(column) = &column {
            free -= 1;
            names.push(column.name.clone());
        }
        derived.push(column);
    }
    let coded = code_derived(schema, table, &columns, &rules, &derived)?;
    let mut coded = coded.into_iter();
    let mut kept = Vec::with_capacity(rules.len());
    for (found, derived) in rules.into_iter().zip(derived) {
        let column = if derived.is_some() { coded.next().flatten() } else { None };
        let derived = column.map(|(column, cells)| {
            table.columns.push(cells);
            column
        });
        let evidence = Evidence { exceptions: Vec::new(), ..found.evidence };
        kept.push(KeptRule { rule: found.rule, evidence, derived });
    }
    Ok(kept)
}

/// Whether the difference of two ordered columns is to be learned: it is shorter to say than the second of them, and no column says it
/// already. Where a column says whether they are equal, only the others count.
fn is_shorter(rule: &Rule, rules: &[Found], schema: &Schema, table: &CodedTable) -> bool {
    let Rule::Order { low, high, .. } = rule else { return false };
    let about_both = |found: &&Found| {
        let names = found.rule.columns();
        names.contains(&low.as_str()) && names.contains(&high.as_str())
    };
    let mut related = rules.iter().filter(about_both).map(|found| &found.rule);
    if related.clone().any(|rule| matches!(rule, Rule::Sum { .. } | Rule::Duration { .. })) {
        return false;
    }
    let flagged = related.any(|rule| matches!(rule, Rule::Equal { .. }));
    let (Some(mut first), Some(mut second)) = (schema.position(low), schema.position(high)) else {
        return false;
    };
    if second < first {
        std::mem::swap(&mut first, &mut second);
    }
    let number = |place: usize, row: usize| {
        let (column, cells) = (&schema.columns[place], &table.columns[place]);
        let cell = (row < cells.len()).then(|| cells.get(row))?;
        Some(column.number(cell)? * column.described().seconds())
    };
    let rows = (0..table.rows).step_by((table.rows / MOST_COMPARED).max(1));
    let pairs = rows.filter_map(|row| Some((number(first, row)?, number(second, row)?)));
    difference_is_shorter(pairs.filter(|pair| !flagged || pair.0 != pair.1).collect())
}

/// The columns that are derived, coded as any other; none for one that is the same in all rows.
fn code_derived(
    schema: &Schema,
    table: &CodedTable,
    columns: &[RuleColumn],
    rules: &[Found],
    derived: &[Option<RuleColumn>],
) -> Result<Vec<Option<(Column, Cells)>>, Error> {
    let new: Vec<RuleColumn> = derived.iter().flatten().cloned().collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<RuleColumn> = columns.iter().chain(&new).cloned().collect();
    let mut next = columns.len();
    let kept = rules.iter().zip(derived).filter_map(|(found, derived)| {
        derived.as_ref()?;
        next += 1;
        Some(Kept { rule: &found.rule, share: found.evidence.share(), derived: Some(next - 1) })
    });
    let spans = vec![(f64::NEG_INFINITY, f64::INFINITY); all.len()];
    let keeper = Keeper::new(&all, kept, spans).map_err(rule_error)?;
    let cells = derived_cells(&keeper, schema, table, columns.len(), new.len());
    let arrays = new.iter().zip(&cells).map(|(column, cells)| array(column, cells));
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = arrays.unzip();
    let fields = Arc::new(arrow_schema::Schema::new(fields));
    let batch = RecordBatch::try_new(fields.clone(), arrays).map_err(|error| {
        Error::request(format!("derived columns cannot be put together: {error}"), "report this as a bug")
    })?;
    let source = Source::from_batches("derived columns", fields, vec![batch])?;
    let mut overrides = Overrides::default();
    for column in &new {
        let (kind, pair) = match column.kind {
            ColumnKind::Levels { .. } => (Kind::Category, PairKind::Categorical),
            _ => (Kind::Real, PairKind::Normal),
        };
        let wish = ColumnOverride { kind: Some(kind), pair: Some(pair), specials: None };
        overrides.columns.insert(column.name.clone(), wish);
    }
    let inferred = Schema::infer(&source, &overrides)?;
    let (coded, _) = CodedTable::read(&source, &inferred, usize::MAX, &Streams::new(0))?;
    let coded = inferred.columns.into_iter().zip(coded.columns);
    Ok(coded.map(|(column, cells)| column.is_modelled().then_some((column, cells))).collect())
}

/// The cells of derived columns, `[columns][rows]`, from those of a table.
fn derived_cells(
    keeper: &Keeper,
    schema: &Schema,
    table: &CodedTable,
    columns: usize,
    derived: usize,
) -> Vec<Vec<RuleCell<'static>>> {
    let modelled: Vec<(&Column, &Cells)> =
        schema.columns.iter().zip(&table.columns).filter(|(column, _)| column.is_modelled()).collect();
    let mut cells = vec![Vec::with_capacity(table.rows); derived];
    let mut row_cells = vec![RuleCell::Missing; columns + derived];
    let mut known = vec![false; columns + derived];
    for row in 0..table.rows {
        known.fill(false);
        for (at, (column, cells)) in modelled.iter().enumerate() {
            let present = !cells.is_empty();
            row_cells[at] = if present { column.rule_cell(cells.get(row)) } else { RuleCell::Missing };
            known[at] = true;
        }
        keeper.settle(&mut row_cells, &mut known, keeper.active());
        for (at, cells) in cells.iter_mut().enumerate() {
            let at = columns + at;
            cells.push(if known[at] { row_cells[at] } else { RuleCell::Missing });
        }
    }
    cells
}

fn array(column: &RuleColumn, cells: &[RuleCell<'static>]) -> (Field, ArrayRef) {
    match &column.kind {
        ColumnKind::Levels { texts } => {
            let text = |cell: &RuleCell<'_>| match cell {
                RuleCell::Level(code) => texts.get(*code as usize).map(String::as_str),
                _ => None,
            };
            let array: StringArray = cells.iter().map(text).collect();
            (Field::new(&column.name, DataType::Utf8, true), Arc::new(array))
        }
        _ => {
            let number = |cell: &RuleCell<'_>| match cell {
                RuleCell::Number(number) => Some(*number),
                _ => None,
            };
            let array: Float64Array = cells.iter().map(number).collect();
            (Field::new(&column.name, DataType::Float64, true), Arc::new(array))
        }
    }
}

/// Puts the cells of a schema's derived columns behind those of a table of its columns.
pub(crate) fn extend(schema: &Schema, table: &mut CodedTable) -> Result<(), Error> {
    let derived: Vec<&Column> = schema.rules.iter().filter_map(|rule| rule.derived.as_ref()).collect();
    if derived.is_empty() {
        return Ok(());
    }
    let keeper = schema.keeper().map_err(rule_error)?;
    let columns = schema.columns.iter().filter(|column| column.is_modelled()).count();
    let cells = derived_cells(&keeper, schema, table, columns, derived.len());
    table.columns.truncate(schema.columns.len());
    for (column, cells) in derived.into_iter().zip(cells) {
        table.columns.push(cells.into_iter().map(|cell| column.coded_cell(cell)).collect());
    }
    Ok(())
}

/// Rules that a schema holds fit its columns: this is not to be expected.
pub(crate) fn rule_error(error: pmm_data::rules::RuleError) -> Error {
    Error::request(error.to_string(), "rules speak of columns that the table has")
}
