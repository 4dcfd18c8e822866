//! The law of every column of a row of which something is given.

use pmm_core::Streams;
use pmm_data::Cell;
use pmm_net::table::ClockKind;

use super::given::Given;
use super::laws::{Laws, RowLaw};
use super::predict::Target;
use super::sample::Sample;
use crate::error::Error;

/// Draws over which a law is taken, where ranges or lists are given or clocks are gradual.
const DRAWS: usize = 32;

impl<'m> Sample<'m> {
    /// What such rows are like, column by column: the law of each that is not fixed, by itself. Where cells alone are given this
    /// asks the network and draws nothing, so that it is fast enough to follow a hand.
    ///
    /// ```
    /// use pmm::table::{Data, Fit};
    /// let text: String = (0..200).map(|i| format!("{},{}\n", i % 7, ["x", "y"][i % 7 / 4])).collect();
    /// let model = Fit::new(Data::from_csv(format!("a,b\n{text}"))).steps(300).run(&mut ())?;
    /// let laws = model.sample(0).given("a", 6).laws()?;
    /// assert_eq!((laws.len(), laws[0].column().name.as_str()), (1, "b"));
    /// assert!(laws[0].probabilities()?[0].iter().any(|p| *p > 0.9));
    /// # Ok::<(), pmm::Error>(())
    /// ```
    pub fn laws(self) -> Result<Vec<Laws<'m>>, Error> {
        let model = self.model;
        let given = Given::parse(model, &self.wishes)?;
        let (row, streams) = (given.row(model), Streams::new(self.seed));
        let ranged = given.conditions.columns();
        let gradual = model.denoiser.net().clock() == ClockKind::Gradual;
        let (columns, denoiser) = (row.len(), model.denoiser.clone().complete(true));
        // What is known of one row, or of as many as are drawn.
        let known: Vec<Option<Cell>> = if gradual {
            let many = row.repeat(DRAWS);
            let drawn = denoiser.fill(&many, &given.conditions, 0, self.options, &streams, |_| ())?;
            drawn.into_iter().map(Some).collect()
        } else if ranged.is_empty() {
            row.clone()
        } else {
            denoiser.draw_conditions(&row.repeat(DRAWS), &given.conditions, self.options, &streams)?
        };
        let open = model.places().iter().enumerate().filter(|(at, _)| row[*at].is_none());
        let law = |(at, place): (usize, &pmm_net::table::ColumnPlace)| {
            let target = Target::new(model, place.column);
            let law: RowLaw = if gradual || ranged.contains(&at) {
                target
                    .of_draws(&known.iter().skip(at).step_by(columns).flatten().copied().collect::<Vec<_>>())
            } else {
                target.over(&known)
            };
            Laws::new(target.column(), vec![0], streams, vec![law])
        };
        Ok(open.map(law).collect())
    }
}
