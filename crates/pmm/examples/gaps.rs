//! Condition on some cells, fill gaps, predict with intervals: `cargo run --release -p pmm --example gaps`.

use std::error::Error;

use pmm::table::{Data, Fit};

fn main() -> Result<(), Box<dyn Error>> {
    let model = Fit::new(Data::from_csv(roads(600))).steps(400).target("minutes").run(&mut ())?;

    // Rows in which some cells are given.
    let rows: usize = model
        .sample(5)
        .given("road", "motorway")
        .rows()?
        .map(|rows| rows.map(|rows| rows.num_rows()))
        .sum::<Result<_, _>>()?;
    println!("{rows} journeys by motorway");

    // Gaps, each filled three times: multiple imputation.
    let gaps = "road,kilometres,minutes\nlane,12,\n,90,60\n";
    for rows in model.impute(Data::from_csv(gaps)).draws(3).rows()? {
        println!("{:?}", rows?);
    }

    // The law of one column given the others.
    let law = model.predict(Data::from_csv("road,kilometres\nlane,20\nmotorway,20\n"), "minutes")?;
    let (low, middle, high) = (law.quantile(0.05)?, law.quantile(0.5)?, law.quantile(0.95)?);
    for row in 0..law.len() {
        println!("20 km: {} minutes, between {} and {}", middle[row], low[row], high[row]);
    }
    assert!(middle[0] > middle[1], "lanes are slower");
    Ok(())
}

/// Journeys: lanes are slow, motorways quick.
fn roads(rows: u64) -> String {
    let streams = pmm::core::Streams::new(1);
    let mut text = String::from("road,kilometres,minutes\n");
    for row in 0..rows {
        let mut rng = streams.stream(pmm::core::Purpose::custom(0), 0, row);
        let (road, speed) = if rng.unit() < 0.5 { ("lane", 40.0) } else { ("motorway", 110.0) };
        let kilometres = 5 + rng.below(95);
        let minutes = 60.0 * kilometres as f64 / speed * (0.15 * rng.normal()).exp();
        text.push_str(&format!("{road},{kilometres},{minutes:.0}\n"));
    }
    text
}
