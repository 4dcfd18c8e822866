//! `pmm predict`: the law of one column given the others.

use pmm::table::Empty;
use pmm::{Event, Watcher};

use crate::cli::{EmptyCells, PredictArgs};
use crate::data::data;
use crate::output::{prepare, refuse, say_notes};
use crate::terminal::{interrupted, watcher};
use crate::write;

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
    let predict = model.predictions(data(&args.data, args.query.sql.as_deref()), target)?;
    let mut predict = predict.seed(args.common.seed()).first_row(args.keys.first_row).empty(empty);
    if let Some(column) = &args.keys.key {
        predict = predict.key(column);
    }
    let mut laws = predict.laws()?;
    let (mut writer, mut done) = (None, 0);
    let mut watcher = watcher(args.common.quiet);
    watcher.notice(Event::Started { what: "rows predicted", total: None });
    while let Some(batch) = laws.next() {
        let batch = batch?;
        let (columns, rows) = batch.table(args.draws as usize)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            None => {
                writer.insert(write::rows(&args.output, laws.delimiter(), &columns, args.keys.first_row)?)
            }
        };
        writer.write(&rows)?;
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
