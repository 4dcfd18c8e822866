//! `pmm trace`: how data become known, as a picture.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pmm::Model;

use crate::cli::TraceArgs;
use crate::output::{prepare, refuse, say};
use crate::terminal::watcher;
use crate::write;

pub(crate) fn run(args: &TraceArgs) -> anyhow::Result<()> {
    let device = prepare(&args.common)?;
    let seed = args.common.seed();
    match pmm::open_on(&args.model, &device)? {
        Model::Table(model) => {
            let path = path(args, "trace.png");
            let picture =
                model.trace().columns(args.columns.iter().map(|name| name.trim())).seed(seed).draw()?;
            let bytes = if has_ending(&path, "svg") { picture.svg().into_bytes() } else { picture.png()? };
            finish(args, &path, &bytes, "")
        }
        Model::Text(model) => {
            refuse_columns(args, "a text has no columns")?;
            let path = path(args, "trace.svg");
            if !has_ending(&path, "svg") {
                let what = format!(
                    "{} is not named .svg: the picture of a text moves, which a PNG cannot",
                    path.display()
                );
                return refuse(what, "--out FILE.svg");
            }
            let live = !args.common.quiet && std::io::stderr().is_terminal();
            let mut shown = 0;
            let picture = model.trace().seed(seed).draw(|lines| {
                if live {
                    redraw(lines, shown);
                    shown = lines.len();
                }
            })?;
            finish(args, &path, picture.svg().as_bytes(), " (open it in a browser: it moves)")
        }
        Model::Image(model) => {
            refuse_columns(args, "images have no columns")?;
            let path = path(args, "trace.png");
            if !has_ending(&path, "png") {
                return refuse(format!("{} is not named .png", path.display()), "--out FILE.png (it moves)");
            }
            let picture = model.trace().seed(seed).draw(&mut watcher(args.common.quiet))?;
            let how = " (open it in a browser: it moves). Above the posterior means, below what the network expects";
            finish(args, &path, picture.png(), how)
        }
    }
}

fn path(args: &TraceArgs, name: &str) -> PathBuf {
    args.out.clone().unwrap_or_else(|| args.model.join(name))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn refuse_columns(args: &TraceArgs, why: &str) -> anyhow::Result<()> {
    if args.columns.is_empty() { Ok(()) } else { refuse(why, "leave out --columns") }
}

fn finish(args: &TraceArgs, path: &Path, bytes: &[u8], how: &str) -> anyhow::Result<()> {
    write::file(path, bytes)?;
    if !args.common.quiet {
        say(format!("picture: {}{how}", path.display()));
    }
    Ok(())
}

/// Draws lines over those before.
fn redraw(lines: &[String], before: usize) {
    let mut text = String::new();
    if before > 0 {
        let _ = write!(text, "\x1b[{before}A");
    }
    for line in lines {
        let _ = writeln!(text, "\x1b[2K{line}");
    }
    let _ = std::io::stderr().write_all(text.as_bytes());
    std::thread::sleep(Duration::from_millis(15));
}
