//! `pmm serve`: the page and the API.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use pmm_serve::{Limits, Options, Server, StartError};

use crate::cli::ServeArgs;
use crate::output::{prepare_threads, refuse, say};
use crate::terminal::interrupted;

pub(crate) fn run(args: &ServeArgs) -> anyhow::Result<()> {
    prepare_threads(args.threads)?;
    runtime()?.block_on(serve(args))
}

/// The threads that talk to clients.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")
}

async fn serve(args: &ServeArgs) -> anyhow::Result<()> {
    let stop = interrupted();
    let server = match Server::bind(options(args)).await {
        Ok(server) => server,
        Err(error @ StartError::Address { .. }) => {
            return refuse(error.to_string(), "choose another with --port, or --port 0 for any that is free");
        }
        Err(error @ StartError::Folder { .. }) => {
            return refuse(error.to_string(), "name a folder that is there");
        }
        Err(error) => return Err(error.into()),
    };
    let mut links = server.links();
    say(format!("page: {}", server.link()));
    if args.token.is_none() {
        say(format!("programs: Authorization: Bearer {}", server.token()));
    }
    if !server.address().ip().is_loopback() {
        say("note: whoever reaches this address and has a token can use it; what is sent is not encrypted");
    }
    if !args.no_open {
        open(&server.link());
    }
    tokio::spawn(async move {
        while links.changed().await.is_ok() {
            let link = links.borrow_and_update().clone();
            say(format!("the page was opened; for another browser: {link}"));
        }
    });
    server
        .run(async move {
            while !stop.is_set() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            say("ending: what is under way is finished, fits are stopped and can go on (Ctrl-C again ends at once)");
        })
        .await;
    Ok(())
}

fn options(args: &ServeArgs) -> Options {
    let usual = Limits::default();
    let limits = Limits {
        body: args.max_body.saturating_mul(1 << 20),
        rows: args.max_rows,
        seconds: args.max_seconds,
        workers: args.max_jobs.map_or(usual.workers, |jobs| jobs.get()),
        ..usual
    };
    Options {
        folder: args.folder.clone(),
        host: args.host,
        port: args.port,
        token: args.token.clone(),
        read_only: args.read_only,
        limits,
    }
}

/// Opens a browser, where there is one; the address is printed in any case.
fn open(link: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    };
    let _ = command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
