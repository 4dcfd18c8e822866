//! What documents cost, and where: `cargo run --release -p pmm --example scores -- MODEL.pmm DATA`; without a model, of a small one.
//!
//! Prints a JSON object a document: its name, tokens, bits from left to right, in random orders and averaged over orders, and the surprise
//! of each token.

use std::error::Error;

use pmm::text::{Data, Fit, Model};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (model, data) = match &arguments[..] {
        [model, data] => (Model::open(model, &pmm::Device::flex())?, Data::open(data)),
        _ => {
            let mut small = pmm::Settings::new();
            small.set("net.width", 24)?.set("net.heads", 3)?.set("net.blocks", 1)?.set("net.length", 32)?;
            let text = Data::from_text("the cat sat on the mat and the dog lay on the log. ".repeat(60));
            let model = Fit::new(text).settings(&small).steps(100).run(&mut ())?;
            (model, Data::from_documents(["the dog sat on the mat.", "tam eht no tas god eht."]))
        }
    };
    for score in model.score(data).run(&mut ())? {
        let line = serde_json::json!({
            "name": score.name, "tokens": score.tokens, "left_to_right": score.left_to_right, "random": score.random,
            "order_averaged": score.order_averaged, "surprises": score.surprises,
        });
        println!("{line}");
    }
    Ok(())
}
