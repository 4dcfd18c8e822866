//! The program `pmm`.

fn main() {}
