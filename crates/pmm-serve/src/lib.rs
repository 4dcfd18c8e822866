//! The page and the API of `pmm`: models of your data on this machine, over HTTP and MCP.
//!
//! A [`Server`] looks after one folder: its models (`NAME.pmm`), its data files and the fits that make the one of the other. It
//! parses, calls the library `pmm` and shows; work runs off the threads that talk to clients. Nothing outside the folder is read
//! or written, whoever asks must have a token, and pages of other origins are refused.

mod api;
mod app;
mod archive;
mod arrow_json;
mod document;
mod fits;
mod given;
mod guard;
mod json;
mod mcp;
mod metrics;
mod options;
mod page;
mod problem;
mod reply;
mod secret;
mod server;
mod shelf;
mod stream;
mod table_body;
mod work;
mod workspace;

pub use mcp::Assistant;
pub use options::{Limits, Options};
pub use problem::Problem;
pub use server::{Server, StartError};
