//! `pmm infill`: a text with its gaps completed.

use std::io::Read;

use anyhow::{Context, bail};

use crate::cli::InfillArgs;
use crate::output::{self, Advice};
use crate::text;

pub(crate) fn run(args: &InfillArgs) -> anyhow::Result<()> {
    output::prepare(&args.common)?;
    if !pmm_train::is_text_model(&args.model) {
        // Says what is wrong with the folder, if it is no model at all.
        output::load(&args.model)?;
        bail!(Advice::new(
            format!("{} is a model of a table", args.model.display()),
            "pmm impute fills the gaps of a table"
        ));
    }
    let mut given = args.text.clone();
    if given == "-" {
        given.clear();
        std::io::stdin().read_to_string(&mut given).context("cannot read standard input as text")?;
    }
    text::gaps::run(args, &given)
}
