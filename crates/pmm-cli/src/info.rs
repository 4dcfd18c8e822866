//! `pmm info`: what a model is, how it was trained, how big it is.

use comfy_table::Table;
use pmm::Model;

use crate::cli::InfoArgs;
use crate::columns;
use crate::output::print;

pub(crate) fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let model = pmm::open(&args.model)?;
    let info = model.info();
    if args.json {
        return print(format!("{:#}\n", serde_json::to_value(&info)?).as_bytes());
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    for (name, value) in info.facts() {
        table.add_row([name.to_owned(), value]);
    }
    let columns = match &model {
        Model::Table(model) => format!("{}\n\n", columns::table(model.schema())),
        _ => String::new(),
    };
    let settings: String = info.config_toml.lines().map(|line| format!("  {line}\n")).collect();
    print(format!("{table}\n\n{columns} settings (config.toml)\n{settings}").as_bytes())
}
