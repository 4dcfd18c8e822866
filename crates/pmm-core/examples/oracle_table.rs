//! Total variation between samples and target as steps grow, with a perfect denoiser: the mathematics at work.
//!
//! `cargo run --release -p pmm-core --example oracle_table` prints the tables of `docs/results.md`.

use pmm_core::{
    Block, Categorical, Elements, Exponential, Finish, FiniteTarget, Gamma, Head, Masked, Normal, Poisson,
    Space, States, Streams, TimeGrid, Values, online, total_variation, total_variation_error,
};

const ROWS: usize = 20_000;
const STEPS: [usize; 4] = [20, 100, 500, 3000];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    println!("One coordinate: {{0.5, 2, 6}} with weights {{.5, .3, .2}}");
    let x = || Elements::from(vec![0.5f32, 2.0, 6.0]);
    let one_hot = Elements::from(vec![1.0f32, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let weights = [0.5, 0.3, 0.2];
    let clock = Exponential::default();
    let counts = Poisson::new(0.5, 0.5)?.intensities();
    let line = |block: Block, store: Elements, head| -> Result<FiniteTarget> {
        Ok(FiniteTarget::new(&Space::new(vec![block]), Values::new(vec![store]), &weights)?.with_head(head))
    };
    table(&[
        ("Normal", line(Block::new(Normal::new(1.0, 0.0)?, 1, clock)?, x(), Head::Mean)?),
        ("Poisson", line(Block::new(counts, 1, clock)?, x(), Head::Mean)?),
        ("Categorical, K = 3", line(Block::new(Categorical::new(3, 3.0)?, 1, clock)?, one_hot, Head::Mean)?),
        ("Gamma, mean (the paper)", line(Block::new(Gamma::new(2.0, 2.0)?, 1, clock)?, x(), Head::Mean)?),
        ("Gamma, marginal", line(Block::new(Gamma::new(2.0, 2.0)?, 1, clock)?, x(), Head::Marginal)?),
    ])?;

    println!(
        "\nTwo coordinates that depend on each other: (.5, 6), (2, 2), (6, .5), (6, 6) with weights .4, .2, .1, .3"
    );
    let pair = || Elements::from(vec![0.5f32, 6.0, 2.0, 2.0, 6.0, 0.5, 6.0, 6.0]);
    let tokens = Elements::from(vec![0u32, 2, 1, 1, 2, 0, 2, 2]);
    let weights = [0.4, 0.2, 0.1, 0.3];
    let plane = |block: Block, store: Elements, head| -> Result<FiniteTarget> {
        Ok(FiniteTarget::new(&Space::new(vec![block]), Values::new(vec![store]), &weights)?.with_head(head))
    };
    table(&[
        ("Normal", plane(Block::new(Normal::new(1.0, 0.0)?, 2, clock)?, pair(), Head::Mean)?),
        ("Poisson", plane(Block::new(counts, 2, clock)?, pair(), Head::Mean)?),
        ("Masked", plane(Block::new(Masked::new(3)?, 2, clock)?, tokens, Head::Mean)?),
        ("Gamma, mean (the paper)", plane(Block::new(Gamma::new(2.0, 2.0)?, 2, clock)?, pair(), Head::Mean)?),
        ("Gamma, marginal", plane(Block::new(Gamma::new(2.0, 2.0)?, 2, clock)?, pair(), Head::Marginal)?),
    ])?;

    println!("\nMixed: real, count and category together (five points), then with a positive value as well");
    table(&[
        ("real + count + category, mean", mixed(false, Head::Mean)?),
        ("real + count + category, marginal", mixed(false, Head::Marginal)?),
        ("… + positive, mean", mixed(true, Head::Mean)?),
        ("… + positive, marginal", mixed(true, Head::Marginal)?),
    ])
}

/// Five points whose real, count, category (and positive) coordinates all depend on each other.
fn mixed(positive: bool, head: Head) -> Result<FiniteTarget> {
    let clock = Exponential::default();
    let mut blocks = vec![
        Block::new(Normal::new(1.0, 0.0)?, 1, clock)?,
        Block::new(Poisson::new(0.5, 0.5)?, 1, clock)?,
        Block::new(Masked::new(3)?, 1, clock)?,
    ];
    let mut stores = vec![
        Elements::from(vec![-1.0f32, -1.0, 1.0, 1.0, 0.0]),
        Elements::from(vec![0.0f32, 3.0, 3.0, 8.0, 0.0]),
        Elements::from(vec![0u32, 1, 2, 1, 2]),
    ];
    if positive {
        blocks.push(Block::new(Gamma::new(2.0, 2.0)?, 1, clock)?);
        stores.push(Elements::from(vec![0.5f32, 6.0, 0.5, 2.0, 6.0]));
    }
    let weights = [0.3, 0.1, 0.25, 0.2, 0.15];
    Ok(FiniteTarget::new(&Space::new(blocks), Values::new(stores), &weights)?.with_head(head))
}

/// Prints total variation ± standard error for every target and number of steps.
fn table(targets: &[(&str, FiniteTarget)]) -> Result<()> {
    println!("\n| steps | {} |", targets.iter().map(|target| target.0).collect::<Vec<_>>().join(" | "));
    println!("|---|{}", "---|".repeat(targets.len()));
    for steps in STEPS {
        let cells = targets.iter().map(|(_, target)| cell(target, steps)).collect::<Result<Vec<_>>>()?;
        println!("| {steps} | {} |", cells.join(" | "));
    }
    let exact: Vec<String> = targets.iter().map(|(_, target)| exact_draws(target)).collect();
    println!("| {ROWS} exact draws: mean, 95 % below | {} |", exact.join(" | "));
    Ok(())
}

fn cell(target: &FiniteTarget, steps: usize) -> Result<String> {
    let grid = TimeGrid::log_information(&Exponential::default(), 1e-3, steps)?;
    let states = States::prior(target.space(), 0, ROWS);
    let law = target.law_of(&online(target, states, &grid, &Streams::new(1), Finish::Estimate, &mut ())?)?;
    let tv = total_variation(&law, target.weights());
    Ok(format!("{tv:.4} ± {:.4}", total_variation_error(&law, target.weights(), ROWS)))
}

/// What exact draws show in 400 repetitions: less than this is noise.
fn exact_draws(target: &FiniteTarget) -> String {
    let distance = |seed: u64| {
        let mut law = vec![0.0; target.weights().len()];
        target.choose(&Streams::new(1000 + seed), 0, ROWS).iter().for_each(|&m| law[m] += 1.0 / ROWS as f64);
        total_variation(&law, target.weights())
    };
    let mut distances: Vec<f64> = (0..400).map(distance).collect();
    distances.sort_by(f64::total_cmp);
    format!("{:.4}, {:.4}", distances.iter().sum::<f64>() / 400.0, distances[380])
}
