//! Fit a text, write more of it, fill a gap: `cargo run --release -p pmm --example text -- book.txt`; without a file, of a made one.

use std::error::Error;

use pmm::text::{Data, Fit};

fn main() -> Result<(), Box<dyn Error>> {
    let fit = match std::env::args().nth(1) {
        Some(path) => Fit::new(Data::open(path)).minutes(10.0),
        None => {
            let mut small = pmm::Settings::new();
            small.set("net.width", 32)?.set("net.heads", 4)?.set("net.blocks", 2)?.set("net.length", 32)?;
            Fit::new(Data::from_text("the cat sat on the mat and the dog lay on the log. ".repeat(60)))
                .settings(&small)
                .steps(200)
        }
    };
    let model = fit.run(&mut ())?;
    for text in model.sample(2).texts()? {
        println!("{}", String::from_utf8_lossy(&text?));
    }
    for text in model.infill("the ___ sat on the ___").completions(3).texts(&mut ())? {
        println!("{}", String::from_utf8_lossy(&text));
    }
    Ok(())
}
