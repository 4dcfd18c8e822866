//! A conjugate pair of a user's own: over-dispersed counts, seen through negative-binomial observations.
//!
//! Given x, S over a clock of a is negative binomial with size r a and mean a x. Sizes add up, so increments do too, and with
//! p = x/(x + r) its log-probability is S log p + r a log(1 − p) + …: η = log p, ψ = r log(1 + x/r), Var(x) = x + x²/r. The conjugate
//! prior is p ~ Beta(α, β), after which p ~ Beta(α + S, β + r a). Since E[p/(1 − p)] = α/(β − 1), the posterior mean of
//! x = r p/(1 − p) is μ = (α + S)/((β − 1)/r + a), of the same form as for every pair, for β > 1. The mean is **not** enough for
//! Algorithm 1: jumps of size k arrive at rate r pᵏ/k, which is not linear in x, so that it needs the marginal head. (As r → ∞ the
//! pair becomes Gamma–Poisson, where the mean suffices.) `cargo run --release -p pmm-core --example negative_binomial`

use pmm_core::laws::{Case, Violations};
use pmm_core::{
    Block, Elements, Exponential, Finish, FiniteTarget, GammaLaw, Head, ScalarPair, Space, States, Stream,
    Streams, Support, TimeGrid, Values, online, total_variation, total_variation_noise,
};

type Error = Box<dyn std::error::Error>;

/// Prior p ~ Beta(α, β); D = x log(x/x̂) − (x + r) log((x + r)/(x̂ + r)), which the natural parameter gives by default.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NegativeBinomial {
    alpha: f64,
    beta: f64,
    size: f64,
}

impl ScalarPair for NegativeBinomial {
    const NAME: &'static str = "NegativeBinomial";
    type Step = GammaLaw;

    fn support(&self) -> Support {
        Support::Counts
    }
    fn prior(&self) -> (f64, f64) {
        (self.alpha, (self.beta - 1.0) / self.size)
    }
    fn step(&self, da: f64) -> GammaLaw {
        GammaLaw::new(self.size * da)
    }
    /// A Poisson draw whose mean is x/r times a Gamma draw of shape r Δa.
    fn increment(&self, x: f64, law: &GammaLaw, rng: &mut Stream) -> f64 {
        let mean = x / self.size * law.draw(rng);
        rng.poisson(mean)
    }
    fn natural(&self, x: f64) -> (f64, f64) {
        ((x / (x + self.size)).ln(), self.size * (x / self.size).ln_1p())
    }
    fn variance(&self, x: f64) -> f64 {
        x + x * x / self.size
    }
    /// r G/H with Gamma draws of shape α and β: mean m = r α/(β − 1), variance m (m + r)/(β − 2).
    fn component(&self, mean: f64, sd: f64, rng: &mut Stream) -> f64 {
        let beta = 2.0 + mean * (mean + self.size) / (sd * sd);
        self.size * rng.gamma((beta - 1.0) * mean / self.size) / rng.gamma(beta)
    }
}

/// Γ(s + k)/(Γ(k) s!) pˢ (1 − p)ᵏ with k = r a, its logarithm as a sum over s.
fn log_density(size: f64, s: &[f64], x: &[f32], a: f64) -> f64 {
    let (k, x) = (size * a, f64::from(x[0]));
    let factor = |i: u32| (k + f64::from(i)) / f64::from(i + 1) * x / (x + size);
    (0..s[0] as u32).map(|i| factor(i).ln()).sum::<f64>() - k * (x / size).ln_1p()
}

pub(crate) const PAIR: NegativeBinomial = NegativeBinomial { alpha: 1.0, beta: 3.0, size: 2.0 };

/// The public suite of laws, with the density above and the law of x where p ~ Beta(α, β), up to a constant.
pub(crate) fn check_laws(x: f32, y: f32) -> Result<usize, Violations> {
    let NegativeBinomial { alpha, beta, size } = PAIR;
    let case = Case::new(PAIR, vec![x], vec![y], move |s, x, a| log_density(size, s, x, a));
    let case = case.prior(move |x| (alpha - 1.0) * x.ln() - (alpha + beta) * (size + x).ln());
    Ok(case.run()?.len())
}

/// Counts 0, 2 and 9 with weights .4, .35 and .25: a perfect denoiser of them.
pub(crate) fn target(head: Head) -> Result<FiniteTarget, Error> {
    let space = Space::new(vec![Block::new(PAIR, 1, Exponential::default())?]);
    let points = Values::new(vec![Elements::from(vec![0.0f32, 2.0, 9.0])]);
    Ok(FiniteTarget::new(&space, points, &[0.4, 0.35, 0.25])?.with_head(head))
}

/// The law of samples by Algorithm 1.
pub(crate) fn sample(target: &FiniteTarget, steps: usize, rows: usize) -> Result<Vec<f64>, Error> {
    let grid = TimeGrid::log_information(&Exponential::default(), 1e-3, steps)?;
    let states = States::prior(target.space(), 0, rows);
    Ok(target.law_of(&online(target, states, &grid, &Streams::new(1), Finish::Estimate, &mut ())?)?)
}

fn main() -> Result<(), Error> {
    println!("{} laws hold at 2 and 5, {} at 3 and 0", check_laws(2.0, 5.0)?, check_laws(3.0, 0.0)?);
    let (mean, marginal, rows) = (target(Head::Mean)?, target(Head::Marginal)?, 20_000);
    let distance = |law: Vec<f64>| total_variation(&law, mean.weights());
    println!("\n| steps | total variation, mean head | marginal head |\n|---|---|---|");
    for steps in [20, 100, 500, 3000] {
        let [plugged, drawn] = [&mean, &marginal].map(|target| sample(target, steps, rows).map(distance));
        println!("| {steps} | {:.4} | {:.4} |", plugged?, drawn?);
    }
    println!("| {rows} exact draws | {:.4} | |", total_variation_noise(mean.weights(), rows));
    Ok(())
}
