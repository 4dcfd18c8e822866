//! The program `pmm`, which comes with the package.

use std::ffi::OsString;
use std::process::ExitCode;

use pyo3::prelude::*;

/// Runs the program with a command line; returns its exit code.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    let code = py.detach(|| pmm_cli::main(arguments));
    i32::from(code != ExitCode::SUCCESS)
}
