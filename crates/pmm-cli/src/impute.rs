//! `pmm impute`: gaps filled by draws from their law given the rest of the row.

use pmm_core::Streams;
use pmm_data::{CellType, EMPTY, Field};

use crate::cli::ImputeArgs;
use crate::rows::{self, Chunk, Reader};
use crate::{output, sample};

pub(crate) fn run(args: &ImputeArgs) -> anyhow::Result<()> {
    output::prepare(&args.common)?;
    let mut model = output::load(&args.model)?;
    model.denoiser = model.denoiser.complete(true);
    let source = rows::open(&args.data, &model.schema)?;
    let names = source.names().to_vec();
    let mut fields: Vec<Field> = names
        .iter()
        .map(|name| {
            let column = model.schema.position(name).map(|index| model.schema.columns[index].field());
            column.unwrap_or_else(|| Field::new(name.clone(), CellType::Text))
        })
        .collect();
    if args.draws.is_some() {
        fields.insert(0, Field::new("draw", CellType::Integer));
    }
    let mut reader = Reader::new(&source, &model.schema)?;
    let mut writer = rows::writer(&args.output, source.delimiter(), &fields)?;
    let plan = sample::plan(args.steps, args.no_snap);
    let streams = Streams::new(args.common.seed);
    let bar = output::spinner("imputing", args.common.quiet);
    let mut filled = 0;
    for draw in 0..args.draws.map_or(1, |draws| draws.get()) {
        if draw > 0 {
            reader = Reader::new(&source, &model.schema)?;
        }
        let streams = streams.child(pmm_core::Purpose::IMPUTATION, draw as u64);
        let mut first = 0;
        while let Some(Chunk { mut records, coded }) = reader.next()? {
            let cells = rows::cells(&model, &coded, true);
            let full = model.denoiser.fill(&cells, first, plan, &streams, |_| ())?;
            let places = &model.denoiser.net().coordinates().columns;
            for (r, (record, full)) in records.iter_mut().zip(full.chunks(places.len())).enumerate() {
                for (place, cell) in places.iter().zip(full) {
                    let name = &model.schema.columns[place.column].name;
                    // A cell whose level the model does not know is not empty: it stays.
                    let at = names.iter().position(|n| n == name);
                    if let (Some(at), EMPTY) = (at, coded[r][place.column].0)
                        && is_gap(&model.schema, &record.cells[at])
                    {
                        record.cells[at] =
                            rows::text(&model, place.column, *cell, first + r as u64, &streams);
                        filled += 1;
                    }
                }
                if args.draws.is_some() {
                    record.cells.insert(0, (draw + 1).to_string());
                }
                writer.write(&record.cells)?;
            }
            first += records.len() as u64;
            bar.set_message(format!("imputing: {filled} cells"));
        }
    }
    bar.finish_and_clear();
    reader.say(args.common.quiet);
    if !args.common.quiet {
        eprintln!("{filled} cells filled");
    }
    Ok(writer.finish()?)
}

fn is_gap(schema: &pmm_data::Schema, text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || schema.missing.iter().any(|marker| marker.eq_ignore_ascii_case(text))
}
