//! `pmm impute`: gaps filled by draws from their law given the rest of the row.

use pmm::{Event, Watcher};

use crate::cli::ImputeArgs;
use crate::data::data;
use crate::output::{prepare, say, say_notes};
use crate::terminal::{interrupted, watcher};
use crate::write;

pub(crate) fn run(args: &ImputeArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    let model = pmm::open_on(&args.model, &device)?.into_table()?;
    let mut impute = model
        .impute(data(&args.data, args.query.sql.as_deref()))
        .seed(args.common.seed())
        .first_row(args.keys.first_row);
    if let Some(column) = &args.keys.key {
        impute = impute.key(column);
    }
    if let Some(draws) = args.draws {
        impute = impute.draws(draws.get());
    }
    if let Some(steps) = args.steps {
        impute = impute.steps(steps.get());
    }
    if args.no_snap {
        impute = impute.without_snapping();
    }
    if !write::is_delimited(&args.output)? {
        impute = impute.typed();
    }
    let mut rows = impute.rows()?;
    let mut writer = write::rows(&args.output, rows.delimiter(), &rows.columns(), args.keys.first_row)?;
    let mut watcher = watcher(args.common.quiet);
    watcher.notice(Event::Started { what: "cells filled", total: None });
    while let Some(batch) = rows.next() {
        writer.write(&batch?)?;
        watcher.notice(Event::Progress { done: rows.filled() });
        if interrupted().is_set() {
            return Err(pmm::Error::Stopped.into());
        }
    }
    watcher.notice(Event::Finished);
    writer.finish()?;
    say_notes(&rows.notes(), args.common.quiet);
    if !args.common.quiet {
        say(format!("{} cells filled", rows.filled()));
    }
    Ok(())
}
