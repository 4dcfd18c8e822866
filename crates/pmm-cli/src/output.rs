//! What the user reads: data on standard output, errors with a hint on standard error.

use std::io::{ErrorKind, Write};

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Whether whoever reads standard output has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// An error's context that says what was tried, and a hint what to do.
#[derive(Debug)]
pub(crate) struct Advice {
    what: String,
    hint: &'static str,
}

impl Advice {
    pub(crate) fn new(what: String, hint: &'static str) -> Self {
        Self { what, hint }
    }
}

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)
    }
}

/// What happened and why, then what to do.
pub(crate) fn report(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
    if let Some(advice) = error.downcast_ref::<Advice>() {
        eprintln!("hint: {}", advice.hint);
    }
}
