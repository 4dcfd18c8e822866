//! `pmm score`: how likely rows are, and which of their cells are not.

use pmm::table::{Empty, Model};
use pmm::{Event, Watcher};

use crate::cli::{EmptyCells, ScoreArgs};
use crate::data::data;
use crate::output::{prepare, say, say_notes};
use crate::terminal::{interrupted, watcher};
use crate::{score_texts, write};

pub(crate) fn run(args: &ScoreArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    let model = match pmm::open_on(&args.model, &device)? {
        pmm::Model::Text(model) => return score_texts::run(args, &model),
        model => model.into_table()?,
    };
    let empty = match args.empty {
        EmptyCells::Missing => Empty::Missing,
        EmptyCells::Unknown => Empty::Unknown,
    };
    let score = model.score(data(&args.data, args.query.sql.as_deref())).seed(args.common.seed());
    let mut score = score.first_row(args.keys.first_row).empty(empty);
    if let Some(column) = &args.keys.key {
        score = score.key(column);
    }
    let mut scores = score.batches()?;
    let mut writer =
        write::rows(&args.output, scores.delimiter(), &Model::score_columns(), args.keys.first_row)?;
    let mut watcher = watcher(args.common.quiet);
    watcher.notice(Event::Started { what: "rows scored", total: None });
    let (mut rows, mut sum, mut broken) = (0u64, 0.0, 0u64);
    for batch in scores.by_ref() {
        let batch = batch?;
        writer.write(&model.score_table(args.keys.first_row + rows, &batch)?)?;
        rows += batch.len() as u64;
        sum += batch.iter().map(|row| row.log_likelihood).sum::<f64>();
        broken += batch.iter().filter(|row| !row.broken.is_empty()).count() as u64;
        watcher.notice(Event::Progress { done: rows });
        if interrupted().is_set() {
            return Err(pmm::Error::Stopped.into());
        }
    }
    watcher.notice(Event::Finished);
    say_notes(&scores.notes(), args.common.quiet);
    if !args.common.quiet && rows > 0 {
        let mean = sum / rows as f64;
        say(format!("{rows} rows: {mean:.2} nats a row in the mean; {broken} break a rule"));
    }
    Ok(writer.finish()?)
}
