//! Fit a table and sample it: `cargo run --release -p pmm --example table -- penguins.csv new.parquet`.

use std::error::Error;

use pmm::table::{Data, Fit, Writer};

fn main() -> Result<(), Box<dyn Error>> {
    let mut paths = std::env::args().skip(1);
    let (from, to) = (paths.next().ok_or("which table?")?, paths.next().ok_or("where to?")?);

    // A watcher of two: one shows losses, the other stops after a minute. What is learned by then is kept.
    let show = pmm::listen(|event| {
        if let pmm::Event::Validated { step, held_out_loss, .. } = event {
            println!("step {step}: {held_out_loss:.4} nats per column");
        }
    });
    let mut watcher = (show, pmm::Deadline::after(std::time::Duration::from_secs(60)));
    let model = Fit::new(Data::open(&from)).run(&mut watcher)?;

    let sample = model.sample(10_000);
    let mut writer = Writer::create(&to, &sample.columns())?;
    for rows in sample.rows()? {
        writer.write(&rows?)?;
    }
    writer.finish()?;
    Ok(())
}
