//! The requests of `/v1`, one file for each thing that is asked about.

pub(crate) mod ask;
pub(crate) mod beside;
pub(crate) mod data;
pub(crate) mod fits;
pub(crate) mod images;
pub(crate) mod laws;
pub(crate) mod method;
pub(crate) mod models;
pub(crate) mod sample;
pub(crate) mod server;
pub(crate) mod tables;
pub(crate) mod texts;
pub(crate) mod trace;
