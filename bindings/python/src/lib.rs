//! The native part of the Python package `pmm`: converts, calls the library, maps errors. What a Python programmer sees is written
//! in Python, in `python/pmm`.

mod arrays;
mod arrow_stream;
mod errors;
mod fit;
mod image;
mod job;
mod laws;
mod model;
mod program;
mod report;
mod settings;
mod table;
mod text;
mod threads;

use pyo3::prelude::*;

/// Native part of pmm.
#[pymodule]
mod _pmm {
    #[pymodule_export]
    use crate::arrow_stream::ArrowRows;
    #[pymodule_export]
    use crate::fit::{fit_images, fit_table, fit_text, open_model, recognise};
    #[pymodule_export]
    use crate::image::ImageModel;
    #[pymodule_export]
    use crate::laws::Laws;
    #[pymodule_export]
    use crate::model::AnyModel;
    #[pymodule_export]
    use crate::program::run_program;
    #[pymodule_export]
    use crate::table::TableModel;
    #[pymodule_export]
    use crate::text::TextModel;
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const version: &str = env!("CARGO_PKG_VERSION");
}
