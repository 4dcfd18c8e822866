//! Any pair, where pairs are mixed: one trait object per block, asked once for many rows.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use crate::bound::divergences;
use crate::denoise::Estimate;
use crate::elements::{Element, Elements};
use crate::error::SpaceError;
use crate::oracle::{PointTable, RowPosterior};
use crate::pair::{DataKind, Increments, MarginalLaw, Pair, Support};
use crate::rng::RowStreams;
use crate::space::{Values, check_block};
use crate::states::{
    BlockStates, advance_rows, draw_block, means, observe, observed, prior_stat, typed, typed_stat,
};

/// A pair of any type, this crate's or a caller's own; every [`Pair`] converts into it.
///
/// ```
/// use pmm_core::{AnyPair, Increments, Normal, Poisson, Support};
/// let pair = AnyPair::from(Normal::new(2.0, 0.5)?);
/// assert_eq!((pair.name(), pair.support(), pair.increments()), ("Normal", Support::Reals, Increments::Gaussian));
/// assert_eq!(pair.downcast_ref::<Normal>().map(Normal::precision), Some(2.0));
/// assert!(pair.downcast_ref::<Poisson>().is_none());
/// # Ok::<(), pmm_core::ParameterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AnyPair(Arc<dyn ErasedPair>);

impl<P: Pair> From<P> for AnyPair {
    fn from(pair: P) -> Self {
        Self(Arc::new(pair))
    }
}

impl AnyPair {
    /// The pair itself, if it is of this type.
    pub fn downcast_ref<P: Pair>(&self) -> Option<&P> {
        self.0.as_any().downcast_ref()
    }

    /// The pair's name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// Elements of x per coordinate.
    pub fn value_len(&self) -> usize {
        self.0.lengths()[0]
    }

    /// Elements of S per coordinate.
    pub fn stat_len(&self) -> usize {
        self.0.lengths()[1]
    }

    /// Elements of μ and x̂ per coordinate.
    pub fn mean_len(&self) -> usize {
        self.0.lengths()[2]
    }

    /// The values that x can have.
    pub fn support(&self) -> Support {
        self.0.support()
    }

    /// The kind of data that the pair is made for.
    pub fn kind(&self) -> DataKind {
        self.0.kind()
    }

    /// Whether data of a kind can be its values.
    pub fn serves(&self, kind: DataKind) -> bool {
        self.0.serves(kind)
    }

    /// How the increments depend on x.
    pub fn increments(&self) -> Increments {
        self.0.increments()
    }

    /// How a marginal head describes p(x | state).
    pub fn marginal_law(&self) -> MarginalLaw {
        self.0.marginal_law()
    }

    /// Whether x, S and μ are one number each, and S is an `f64`.
    pub(crate) fn is_scalar(&self) -> bool {
        self.0.lengths() == [1; 3] && self.0.stat_name() == f64::NAME
    }

    pub(crate) fn erased(&self) -> &dyn ErasedPair {
        &*self.0
    }
}

/// Moves the clocks of a row, the second argument, and writes by how much each moves, to the third.
type MoveClock<'a> = dyn Fn(usize, &mut [f64], &mut [f64]) + Sync + 'a;

/// What the crate asks of a block's pair without knowing its type. Every [`Pair`] has it; the loops over rows and coordinates are
/// inside, compiled for the type.
pub(crate) trait ErasedPair: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn name(&self) -> &'static str;
    /// `value_len`, `stat_len` and `mean_len`.
    fn lengths(&self) -> [usize; 3];
    /// The name of the statistic's element type.
    fn stat_name(&self) -> &'static str;
    fn support(&self) -> Support;
    fn kind(&self) -> DataKind;
    fn serves(&self, kind: DataKind) -> bool;
    fn increments(&self) -> Increments;
    fn marginal_law(&self) -> MarginalLaw;
    fn step_weight(&self, da: f64) -> f64;

    /// The number of rows, once all values of a block have been checked.
    fn check(&self, block: usize, width: usize, x: &Elements) -> Result<usize, SpaceError>;
    /// The statistics of so many unknown coordinates.
    fn prior_stat(&self, coordinates: usize) -> Elements;
    /// The posterior means of all coordinates.
    fn means(&self, clock: &[f64], stat: &Elements) -> Vec<f32>;
    /// The values of coordinates that are all observed.
    fn observed(&self, stat: &Elements) -> Elements;
    /// Sets the clock of chosen coordinates, by their number in the batch, to ∞.
    fn observe(
        &self,
        block: usize,
        width: usize,
        x: &Values,
        states: &mut BlockStates,
        chosen: &dyn Fn(usize) -> bool,
    ) -> Result<(), SpaceError>;
    /// Draws the statistic of every coordinate at its clock straight from x.
    fn draw(
        &self,
        block: usize,
        width: usize,
        x: &Values,
        states: &mut BlockStates,
        streams: RowStreams,
    ) -> Result<(), SpaceError>;
    /// Moves a block on: `move_clock` moves the clocks of a row and writes by how much.
    fn advance(
        &self,
        width: usize,
        estimate: &Estimate,
        states: &mut BlockStates,
        move_clock: &MoveClock<'_>,
        streams: RowStreams,
    );
    /// The remaining divergence of every coordinate.
    fn divergences(&self, stat: &Elements, x: &Elements, estimate: &Estimate) -> Vec<f64>;
    /// What an oracle needs of the points of a block.
    fn point_table(&self, width: usize, points: &Elements) -> PointTable;
    /// Adds what one row of a block says about each point of an oracle.
    fn add_to_posterior(
        &self,
        table: &PointTable,
        states: &BlockStates,
        row: usize,
        posterior: RowPosterior<'_>,
    );
}

impl<P: Pair> ErasedPair for P {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn name(&self) -> &'static str {
        Pair::name(self)
    }
    fn lengths(&self) -> [usize; 3] {
        [self.value_len(), self.stat_len(), self.mean_len()]
    }
    fn stat_name(&self) -> &'static str {
        P::Stat::NAME
    }
    fn support(&self) -> Support {
        Pair::support(self)
    }
    fn kind(&self) -> DataKind {
        Pair::kind(self)
    }
    fn serves(&self, kind: DataKind) -> bool {
        Pair::serves(self, kind)
    }
    fn increments(&self) -> Increments {
        Pair::increments(self)
    }
    fn marginal_law(&self) -> MarginalLaw {
        Pair::marginal_law(self)
    }
    fn step_weight(&self, da: f64) -> f64 {
        Pair::step_weight(self, da)
    }

    fn check(&self, block: usize, width: usize, x: &Elements) -> Result<usize, SpaceError> {
        check_block(self, block, width, x)
    }
    fn prior_stat(&self, coordinates: usize) -> Elements {
        prior_stat(self, coordinates)
    }
    fn means(&self, clock: &[f64], stat: &Elements) -> Vec<f32> {
        means(self, clock, stat)
    }
    fn observed(&self, stat: &Elements) -> Elements {
        observed(self, stat)
    }
    fn observe(
        &self,
        block: usize,
        width: usize,
        x: &Values,
        states: &mut BlockStates,
        chosen: &dyn Fn(usize) -> bool,
    ) -> Result<(), SpaceError> {
        observe(self, block, width, x, states, chosen)
    }
    fn draw(
        &self,
        block: usize,
        width: usize,
        x: &Values,
        states: &mut BlockStates,
        streams: RowStreams,
    ) -> Result<(), SpaceError> {
        let BlockStates { clock, stat, .. } = states;
        let x = typed(self, block, clock.len(), x)?;
        draw_block(self, x, clock, width, typed_stat(self, stat), |row| streams.row(row));
        Ok(())
    }
    fn advance(
        &self,
        width: usize,
        estimate: &Estimate,
        states: &mut BlockStates,
        move_clock: &MoveClock<'_>,
        streams: RowStreams,
    ) {
        let BlockStates { clock, stat, .. } = states;
        advance_rows(self, estimate, width, move_clock, clock, typed_stat(self, stat), |row| {
            streams.row(row)
        });
    }
    fn divergences(&self, stat: &Elements, x: &Elements, estimate: &Estimate) -> Vec<f64> {
        divergences(self, stat, x, estimate)
    }
    fn point_table(&self, width: usize, points: &Elements) -> PointTable {
        PointTable::new(self, width, points)
    }
    fn add_to_posterior(
        &self,
        table: &PointTable,
        states: &BlockStates,
        row: usize,
        posterior: RowPosterior<'_>,
    ) {
        table.add(self, states, row, posterior);
    }
}
