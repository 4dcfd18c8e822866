//! `pmm demo --method`: the method at work on known targets, in pictures and in a table.

mod measure;
mod pictures;

use std::num::NonZeroUsize;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pmm::core::Streams;
use pmm::method::{Scene, scenes};
use pmm_eval::Page;
use pmm_eval::chart::Figure;

use crate::cli::DemoArgs;
use crate::{output, write};
use measure::{STEPS, Series};

/// Samples per cell of the table.
fn row_count(args: &DemoArgs) -> usize {
    args.rows.map_or(20_000, NonZeroUsize::get)
}

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let threads = args.threads.map_or(0, |n| n.get());
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().context("cannot start threads")?;
    write::folder(&args.out)?;
    let scenes = scenes()?;
    let (figures, series) = pool.install(|| compute(args, &scenes))?;
    let noise = pmm::core::total_variation_noise(scenes[0].target.weights(), row_count(args));
    let errors = pictures::errors(&series, noise);
    write(args, &scenes, &figures, &errors, &series, noise)?;
    let table = if args.json { json(&series, noise, args) } else { text(&series, noise, args) };
    output::print(table.as_bytes())?;
    output::say(format!("pictures and page: open {}", args.out.join("index.html").display()));
    Ok(())
}

fn compute(args: &DemoArgs, scenes: &[Scene]) -> anyhow::Result<(Vec<Figure>, Vec<Series>)> {
    let streams = Streams::new(args.seed);
    let columns = measure::columns(scenes);
    // Work is counted in steps of one row.
    let rows = row_count(args);
    let cells = columns.len() * STEPS.iter().sum::<usize>() * rows;
    let bar = progress(scenes.len() * pictures::WORK + cells, args.quiet);
    let mut figures = Vec::new();
    for scene in scenes {
        bar.set_message(format!("drawing {}", scene.name));
        figures.push(pictures::scene(scene, &streams)?);
        bar.inc(pictures::WORK as u64);
    }
    let mut series = Vec::new();
    for (name, target) in columns {
        bar.set_message(format!("sampling {name}"));
        let mut distance = Vec::new();
        for steps in STEPS {
            distance.push(measure::distance(&target, steps, rows, &streams)?);
            bar.inc((steps * rows) as u64);
        }
        series.push(Series { name, distance });
    }
    bar.finish_and_clear();
    Ok((figures, series))
}

/// A bar on standard error, where that is a terminal.
fn progress(work: usize, quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(work as u64), target);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {eta:>4} left  {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(200));
    bar
}

fn write(
    args: &DemoArgs,
    scenes: &[Scene],
    figures: &[Figure],
    errors: &Figure,
    series: &[Series],
    noise: f64,
) -> anyhow::Result<()> {
    let mut page = Page::new("Posterior Mean Matching at work").lead(
        "A conjugate Bayesian model watches data through noise; its posterior mean converges to the data. Run on observations drawn \
         from an estimate of the data instead, the same inference makes new data. Here the estimate is exact, so what you see \
         is the method itself, for each kind of data.",
    );
    for (scene, figure) in scenes.iter().zip(figures) {
        write::file(&args.out.join(format!("{}.png", scene.name)), &figure.png(2.0)?)?;
        page = page.section(scene.title).text(scene.story).figure(&figure.svg(), scene.story);
    }
    write::file(&args.out.join("error.png"), &errors.png(2.0)?)?;
    let explanation = format!(
        "Total variation between the target and {} samples, by the number of steps. Exact draws would show {noise:.4} on \
         average. Plugging the mean into the Gamma process keeps a bias: its jumps are not linear in the value.",
        row_count(args)
    );
    page = page.section("How many steps?").text(&explanation).figure(&errors.svg(), &explanation);
    let (header, rows) = cells(series);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    write::file(&args.out.join("index.html"), page.table(&header, &rows).html().as_bytes())
}

fn cells(series: &[Series]) -> (Vec<String>, Vec<Vec<String>>) {
    let header = std::iter::once("steps".to_owned()).chain(series.iter().map(|series| series.name.clone()));
    let row = |(i, steps): (usize, &usize)| {
        let numbers = series.iter().map(|series| format!("{:.4}", series.distance[i].0));
        std::iter::once(steps.to_string()).chain(numbers).collect()
    };
    (header.collect(), STEPS.iter().enumerate().map(row).collect())
}

fn text(series: &[Series], noise: f64, args: &DemoArgs) -> String {
    let (header, rows) = cells(series);
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::UTF8_HORIZONTAL_ONLY).set_header(header).add_rows(rows);
    table.column_iter_mut().for_each(|column| column.set_cell_alignment(comfy_table::CellAlignment::Right));
    format!(
        "Total variation between target and samples, by number of steps\n{table}\n{} samples a cell; exact draws show {noise:.4} on average\n",
        row_count(args)
    )
}

fn json(series: &[Series], noise: f64, args: &DemoArgs) -> String {
    let columns: serde_json::Map<String, serde_json::Value> = series
        .iter()
        .map(|series| {
            (
                series.name.clone(),
                serde_json::json!(series.distance.iter().map(|d| d.0).collect::<Vec<f64>>()),
            )
        })
        .collect();
    let value = serde_json::json!({
        "steps": STEPS,
        "total_variation": columns,
        "exact_draws": noise,
        "rows": row_count(args),
        "seed": args.seed,
    });
    format!("{value:#}\n")
}
