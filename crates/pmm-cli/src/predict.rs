//! `pmm predict`: the law of one column given the others.

use std::sync::Arc;

use pmm::arrow::{ArrayRef, DataType, Field, Float64Array, RecordBatch, Schema};
use pmm::table::{Empty, Laws, OutputColumn};
use pmm::{Event, Watcher};

use crate::cli::{EmptyCells, PredictArgs};
use crate::data::data;
use crate::output::{prepare, refuse, say_notes};
use crate::terminal::{interrupted, watcher};
use crate::write;

/// The quantiles that are printed.
const QUANTILES: [(f64, &str); 5] =
    [(0.05, "q05"), (0.25, "q25"), (0.5, "q50"), (0.75, "q75"), (0.95, "q95")];

pub(crate) fn run(args: &PredictArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    let model = pmm::open_on(&args.model, &device)?.into_table()?;
    let Some(target) = args.target.as_ref().or(model.config().target.as_ref()) else {
        return refuse("no target", "say which column to predict with --target COLUMN");
    };
    let empty = match args.empty {
        EmptyCells::Missing => Empty::Missing,
        EmptyCells::Unknown => Empty::Unknown,
    };
    let predict = model.predictions(data(&args.data, args.sql.as_deref()), target)?;
    let mut predict = predict.seed(args.common.seed()).first_row(args.first_row).empty(empty);
    if let Some(column) = &args.key {
        predict = predict.key(column);
    }
    let mut laws = predict.laws()?;
    let (mut writer, mut done) = (None, 0);
    let mut watcher = watcher(args.common.quiet);
    watcher.notice(Event::Started { what: "rows predicted", total: None });
    while let Some(batch) = laws.next() {
        let batch = batch?;
        let (columns, arrays) =
            table(&batch, args.draws as usize)?.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let writer = match &mut writer {
            Some(writer) => writer,
            None => writer.insert(write::rows(&args.output, laws.delimiter(), &columns, args.first_row)?),
        };
        let fields: Vec<Field> = columns.into_iter().map(|column| column.field).collect();
        writer.write(&RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)?;
        done += batch.len() as u64;
        watcher.notice(Event::Progress { done });
        if interrupted().is_set() {
            return Err(pmm::Error::Stopped.into());
        }
    }
    watcher.notice(Event::Finished);
    say_notes(&laws.notes(), args.common.quiet);
    match writer {
        Some(writer) => Ok(writer.finish()?),
        None => Ok(()),
    }
}

/// The columns that are written: mean, quantiles and draws of a number; the likeliest level and all probabilities else.
fn table(laws: &Laws<'_>, draws: usize) -> anyhow::Result<Vec<(OutputColumn, ArrayRef)>> {
    if !laws.is_number() {
        return levels(laws);
    }
    let named = |name: &str, values: Vec<f64>| -> anyhow::Result<(OutputColumn, ArrayRef)> {
        let (column, array) = laws.values_column(name, &values)?;
        Ok((column, array))
    };
    let mut columns = vec![mean(laws)?];
    for (q, name) in QUANTILES {
        columns.push(named(name, laws.quantile(q)?)?);
    }
    let drawn = if draws > 0 { laws.draws(draws)? } else { Vec::new() };
    for k in 0..draws {
        columns.push(named(&format!("draw_{}", k + 1), drawn.iter().map(|row| row[k]).collect())?);
    }
    Ok(columns)
}

/// A mean of dates is a date; any other mean is a number with all its digits.
fn mean(laws: &Laws<'_>) -> anyhow::Result<(OutputColumn, ArrayRef)> {
    let mean = laws.mean()?;
    if laws.is_date() {
        return Ok(laws.values_column("mean", &mean)?);
    }
    Ok((OutputColumn::new("mean", DataType::Float64), Arc::new(Float64Array::from(mean))))
}

fn levels(laws: &Laws<'_>) -> anyhow::Result<Vec<(OutputColumn, ArrayRef)>> {
    let shares = laws.probabilities()?;
    let mut columns = vec![laws.best_column("prediction")?];
    for (k, level) in laws.levels().iter().enumerate() {
        let column = OutputColumn::new(format!("p_{level}"), DataType::Float64);
        let rounded = |share: f64| (share * 1e6).round() / 1e6;
        let values: Float64Array = shares.iter().map(|row| Some(rounded(row[k]))).collect();
        columns.push((column, Arc::new(values)));
    }
    Ok(columns)
}
