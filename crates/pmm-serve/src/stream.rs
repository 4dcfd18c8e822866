//! Bytes on their way to a client, as they are made and no faster than it takes them.

use std::io::{self, Write};
use std::task::Poll;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::app::Shared;
use crate::problem::Problem;
use crate::work::Turn;

/// Bytes that are sent together.
const CHUNK: usize = 1 << 16;

/// What `make` writes, on a thread that may take its time. What goes wrong before the first bytes is told as a problem; later the
/// connection is cut, so that nobody takes a part for the whole.
pub(crate) async fn streamed(
    app: &Shared,
    make: impl FnOnce(Chunks, Turn) -> Result<(), Problem> + Send + 'static,
) -> Result<Body, Problem> {
    let turn = app.workers.turn().await?;
    let (sender, mut receiver) = mpsc::channel::<Result<Bytes, Problem>>(4);
    let patience = Duration::from_secs(app.limits.patience);
    let out = Chunks { sender: sender.clone(), handle: Handle::current(), patience, buffer: Vec::new() };
    let work = tokio::task::spawn_blocking(move || {
        if let Err(problem) = make(out, turn) {
            let _ = sender.blocking_send(Err(problem));
        }
    });
    let mut first = match receiver.recv().await {
        Some(Ok(bytes)) => Some(bytes),
        Some(Err(problem)) => return Err(problem),
        None if work.await.is_err() => {
            return Err(Problem::internal("this is a bug: the work ended in a panic"));
        }
        None => return Ok(Body::empty()),
    };
    Ok(Body::from_stream(stream::poll_fn(move |context| match first.take() {
        Some(bytes) => Poll::Ready(Some(Ok(bytes))),
        None => receiver.poll_recv(context),
    })))
}

/// Bytes for a client, which are sent when they are many or flushed: a job that fails before has sent nothing. A client that takes
/// nothing for too long is given up.
pub(crate) struct Chunks {
    sender: mpsc::Sender<Result<Bytes, Problem>>,
    handle: Handle,
    patience: Duration,
    buffer: Vec<u8>,
}

impl Chunks {
    fn send(&mut self) -> io::Result<()> {
        let bytes = Bytes::from(std::mem::take(&mut self.buffer));
        let sending = self.sender.send_timeout(Ok(bytes), self.patience);
        match self.handle.block_on(sending) {
            Ok(()) => Ok(()),
            Err(_) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client is gone")),
        }
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() { Ok(()) } else { self.send() }
    }
}
