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
        let given = Given::parse(self.model, &self.wishes)?;
        let row = given.row(self.model);
        let places = self.model.places();
        let open: Vec<Target<'m>> = (0..places.len())
            .filter(|at| row[*at].is_none())
            .map(|at| Target::new(self.model, places[at].column))
            .collect();
        let laws = match self.model.denoiser.net().clock() {
            ClockKind::Gradual => self.of_draws(&given, &row, &open)?,
            ClockKind::Reveal => self.of_network(&given, &row, &open)?,
        };
        let laws = open.iter().zip(laws);
        let of_one = |(target, law): (&Target<'m>, RowLaw)| {
            Laws::new(target.column(), vec![0], Streams::new(self.seed), vec![law])
        };
        Ok(laws.map(of_one).collect())
    }

    /// By what the network says of all columns at once, over draws of those with conditions.
    fn of_network(
        &self,
        given: &Given,
        row: &[Option<Cell>],
        open: &[Target<'m>],
    ) -> Result<Vec<RowLaw>, Error> {
        let (conditions, streams) = (&given.conditions, Streams::new(self.seed));
        let denoiser = self.model.denoiser.clone().complete(true);
        let ranged = conditions.columns();
        let rows = match ranged.len() {
            0 => row.to_vec(),
            _ => denoiser.draw_conditions(row, conditions, DRAWS, self.options, &streams)?,
        };
        let free: Vec<usize> =
            open.iter().map(|target| target.at).filter(|at| !ranged.contains(at)).collect();
        let mut laws = denoiser.open_laws(&rows, &free).into_iter();
        let law = |target: &Target<'m>| {
            let cases = match ranged.contains(&target.at) {
                false => laws.next().unwrap_or_default(),
                // What is drawn of the column itself is not looked at: alone it has one law.
                true if ranged.len() == 1 => denoiser.cell_laws(row, target.at, conditions),
                true => denoiser.cell_laws(&rows, target.at, conditions),
            };
            target.mixture(cases)
        };
        Ok(open.iter().map(law).collect())
    }

    /// By rows that are drawn whole.
    fn of_draws(
        &self,
        given: &Given,
        row: &[Option<Cell>],
        open: &[Target<'m>],
    ) -> Result<Vec<RowLaw>, Error> {
        let (many, streams) = (row.repeat(DRAWS), Streams::new(self.seed));
        let denoiser = self.model.denoiser.clone().complete(true);
        let drawn = denoiser.fill(&many, &given.conditions, 0, self.options, &streams, |_| ())?;
        let column = |at: usize| drawn.iter().skip(at).step_by(row.len()).copied().collect::<Vec<_>>();
        Ok(open.iter().map(|target| target.of_draws(&column(target.at))).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Data, Fit, Laws, Model};

    fn model() -> Model {
        let row = |i: usize| {
            format!("{},{},{:.1}\n", i % 8, ["low", "high"][i % 8 / 4], (i * 31 % 97) as f64 / 7.0)
        };
        let text: String = (0..400).map(row).collect();
        Fit::new(Data::from_csv(format!("a,b,c\n{text}"))).steps(150).run(&mut ()).unwrap()
    }

    fn shares(laws: &[Laws<'_>], name: &str) -> Vec<f64> {
        let law = laws.iter().find(|laws| laws.column().name == name).unwrap();
        law.shapes().unwrap()[0].shares.clone()
    }

    fn far(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// p(a | a in A) = p(a) / p(A), to the rounding of the network's sums: no draws.
    #[test]
    fn a_range_cuts_the_law_of_its_column() {
        let model = model();
        let free = shares(&model.sample(0).laws().unwrap(), "a");
        let within = shares(&model.sample(0).given_range("a", Some(5), None).laws().unwrap(), "a");
        let total: f64 = free[5..].iter().sum();
        let right: Vec<f64> = (0..8).map(|at| if at < 5 { 0.0 } else { free[at] / total }).collect();
        assert!(far(&within, &right) < 1e-5, "{within:?} {right:?}");
    }

    /// A range that holds one value says what the value does, for every other column.
    #[test]
    fn a_range_of_one_value_is_that_value() {
        let model = model();
        let fixed = model.sample(0).given("a", 6).given("c", 3).laws().unwrap();
        let narrow = model.sample(0).given_range("a", Some(6), Some(6)).given("c", 3).laws().unwrap();
        assert!(far(&shares(&fixed, "b"), &shares(&narrow, "b")) < 1e-5);
    }

    /// All columns at once are what each is by itself.
    #[test]
    fn laws_are_those_of_predictions() {
        let model = model();
        let laws = model.sample(0).given("a", 2).given("c", 3).laws().unwrap();
        let rows = Data::from_csv("a,c\n2,3\n".to_owned());
        let predicted = model.predict(rows, "b").unwrap();
        assert!(far(laws[0].probabilities().unwrap()[0], predicted.probabilities().unwrap()[0]) < 1e-5);
    }
}
