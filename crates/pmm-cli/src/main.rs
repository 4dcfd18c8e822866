//! The program `pmm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pmm_cli::main(std::env::args_os())
}
