//! What a server can be told.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// How a server is set up. The default serves the current folder on this machine alone.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of models and data.
    pub folder: PathBuf,
    /// The address it listens on.
    pub host: IpAddr,
    /// The port; 0 for any that is free.
    pub port: u16,
    /// What programs must show, as `Authorization: Bearer …`; made up if none is given.
    pub token: Option<String>,
    /// Refuses whatever would write to the folder.
    pub read_only: bool,
    /// How much is done for a request.
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            folder: ".".into(),
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            token: None,
            read_only: false,
            limits: Limits::default(),
        }
    }
}

/// How much is done for a request, and for all of them together. What is beyond is refused with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: u64,
    /// Rows (texts, images) that a request asks for.
    pub rows: u64,
    /// Seconds that a request computes.
    pub seconds: u64,
    /// Requests that compute at a time.
    pub workers: usize,
    /// Requests that wait for their turn.
    pub waiting: usize,
    /// Connections at a time.
    pub connections: usize,
    /// Seconds for which a client may send or take nothing.
    pub patience: u64,
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        Self {
            body: 1 << 30,
            rows: 10_000_000,
            seconds: 600,
            workers: cores.max(2),
            waiting: 1024,
            connections: 2048,
            patience: 30,
        }
    }
}
