//! Core.
mod bound;
mod clock;
mod denoise;
mod distance;
mod draw;
mod error;
mod oracle;
mod pair;
mod rng;
mod sample;
mod sde;
mod space;
mod states;
mod store;
mod text_bound;

pub use bound::{Bound, MonteCarlo, Terminal, Times, bound};
pub use clock::{Clock, Exponential, Grid, Linear, LogLinear, SemiAutoregressive, Staircase};
pub use denoise::{Denoiser, Estimate, Estimates, Head, Mixture, Place, Texts, TokenDenoiser};
pub use distance::{sliced_wasserstein, total_variation, wasserstein};
pub use error::{ParameterError, SpaceError, ValueError};
pub use oracle::{FiniteTarget, MarkovChain, TargetError};
pub use pair::{Categorical, Gamma, MASK, Masked, Normal, Pair, Poisson, ScalarPair};
pub use rng::{Purpose, Stream, Streams};
pub use sample::{
    Churn, Filter, Finish, Observer, Order, Prompt, Solver, TextError, TextSamples, events, leap, ode,
    online, parallel, steps,
};
pub use sde::{normal_sde, poisson_sde};
pub use space::{AnyPair, Block, Space, Values};
pub use states::{States, advance_block, draw_block};
pub use store::{Element, Store};
pub use text_bound::{TextBound, text_bound};
