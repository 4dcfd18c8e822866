//! `pmm sample`: new rows, texts or images.

use anyhow::bail;
use pmm_core::Streams;
use pmm_data::{Coding, Field, Kind, Schema};
use pmm_net::table::{Cell, Plan};
use pmm_train::Model;

use crate::cli::SampleArgs;
use crate::output::{self, Advice};
use crate::{columns, image, rows, text};

pub(crate) fn run(args: &SampleArgs) -> anyhow::Result<()> {
    output::prepare(&args.common)?;
    if pmm_train::is_image_model(&args.model) {
        return image::sample::run(args);
    }
    if args.picturing.is_given() {
        bail!(Advice::new("--guidance, --mask, --churn and --final are for images".into(), "leave them out"));
    }
    if pmm_train::is_text_model(&args.model) {
        return text::sample::run(args);
    }
    if args.drawing.is_of_text() || args.drawing.sampler.is_some() {
        bail!(Advice::new(
            "--sampler, --temperature, --top-k and --top-p are not for tables".into(),
            "leave them out"
        ));
    }
    let n = args.n.unwrap_or(1000);
    let model = output::load(&args.model)?;
    let given = given(&model.schema, &args.given)?;
    let fields: Vec<Field> = model.schema.columns.iter().map(pmm_data::Column::field).collect();
    let mut writer = rows::writer(&args.output, model.schema.delimiter, &fields)?;
    if !args.common.quiet {
        notes(&model.schema, &given);
    }
    let streams = Streams::new(args.common.seed);
    let plan = plan(args.drawing.steps, args.no_snap);
    let row = row_of(&model, &given);
    let bar = output::bar(n as u64, "sampling", args.common.quiet);
    for first in (0..n).step_by(rows::CHUNK) {
        let count = rows::CHUNK.min(n - first);
        let cells: Vec<Cell> = std::iter::repeat_n(&row, count).flatten().copied().collect();
        let coded = model.denoiser.fill(&cells, first as u64, plan, &streams, |rows| bar.inc(rows as u64))?;
        for (r, coded) in coded.chunks(row.len()).enumerate() {
            writer.write(&record(&model, coded, (first + r) as u64, &streams))?;
        }
    }
    bar.finish_and_clear();
    Ok(writer.finish()?)
}

pub(crate) fn plan(steps: Option<std::num::NonZeroUsize>, no_snap: bool) -> Plan {
    let default = Plan::default();
    Plan { steps: steps.map_or(default.steps, |steps| steps.get()), snap: !no_snap }
}

/// A drawn row as texts; row numbers for columns that number the rows.
pub(crate) fn record(model: &Model, coded: &[(u32, f64)], row: u64, streams: &Streams) -> Vec<String> {
    let mut texts: Vec<String> = model
        .schema
        .columns
        .iter()
        .map(|column| match (&column.coding, column.kind) {
            (Coding::Constant { text }, _) => text.clone(),
            _ => String::new(),
        })
        .collect();
    for (place, cell) in model.denoiser.net().coordinates().columns.iter().zip(coded) {
        texts[place.column] = rows::text(model, place.column, *cell, row, streams);
    }
    texts
}

/// `a=1,b=x` as (column, code, value).
fn given(schema: &Schema, texts: &[String]) -> anyhow::Result<Vec<(usize, u32, f64)>> {
    let mut given: Vec<(usize, u32, f64)> = Vec::new();
    for pair in texts.iter().flat_map(|text| pieces(text)) {
        let Some((name, value)) = pair.split_once('=') else {
            bail!(Advice::new(format!("--given {pair} has no ="), "write --given column=value,column=value"));
        };
        let index = columns::find_modelled(schema, name.trim())?;
        let (code, number) = schema.columns[index].parse(value).map_err(|error| {
            let hint = error.hint();
            let error = anyhow::Error::new(error);
            let what = format!("--given {}", pair.trim());
            match hint {
                Some(hint) => error.context(Advice::new(what, hint)),
                None => error.context(what),
            }
        })?;
        if given.iter().any(|(other, ..)| *other == index) {
            bail!("--given names {} twice", name.trim());
        }
        given.push((index, code, number));
    }
    Ok(given)
}

/// Splits at commas that are followed by another `name=`: values may have commas.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for part in text.split(',') {
        match pieces.last_mut() {
            Some(last) if !part.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => pieces.push(part.to_owned()),
        }
    }
    pieces
}

/// The cells of a row of which this much is given.
fn row_of(model: &Model, given: &[(usize, u32, f64)]) -> Vec<Cell> {
    let places = &model.denoiser.net().coordinates().columns;
    let cell = |place: &pmm_net::table::ColumnPlace| {
        let found = given.iter().find(|(column, ..)| *column == place.column);
        found.map_or(Cell::default(), |&(_, code, value)| {
            place.cell(&model.schema.columns[place.column], code, value)
        })
    };
    places.iter().map(cell).collect()
}

fn notes(schema: &Schema, given: &[(usize, u32, f64)]) {
    let out: Vec<&str> = schema
        .columns
        .iter()
        .filter(|column| {
            matches!(column.kind, Kind::Identifier | Kind::Text) || matches!(column.coding, Coding::Out)
        })
        .map(|column| column.name.as_str())
        .collect();
    if !out.is_empty() {
        eprintln!("note: not part of the model, so empty: {}", out.join(", "));
    }
    for &(index, _, value) in given {
        let Coding::Numbers(numbers) = &schema.columns[index].coding else { continue };
        let values = numbers.grid.values();
        if value < values[0] || value > values[values.len() - 1] {
            eprintln!(
                "note: {}={} is outside what was seen ({} to {}): the model extrapolates",
                schema.columns[index].name,
                value,
                values[0],
                values[values.len() - 1]
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_have_commas() {
        assert_eq!(pieces("a=1,b=x, y,c=2"), ["a=1", "b=x, y", "c=2"]);
        assert_eq!(pieces("a=1"), ["a=1"]);
    }
}
