//! Two columns together, for a small picture: shares of pairs of their bins; and which two depend on each other most.

use pmm_core::Streams;
use pmm_data::rules::Rule;
use pmm_data::{Cells, Table as CodedTable};
use pmm_eval::table::associations;
use serde::Serialize;

use super::columns::find_modelled;
use super::data::Data;
use super::frames::frame;
use super::model::Model;
use super::rows::Reader;
use super::shape::Shape;
use crate::error::Error;

/// Rows among which the two columns are looked for, at most.
const MOST_ROWS: usize = 20_000;

/// Shares of pairs of bins of two columns, those of their [`Shape`]s. Rows in which one of the two is missing do not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Joint {
    /// The names of the two columns.
    pub columns: [String; 2],
    /// The bins of each, by their labels.
    pub labels: [Vec<String>; 2],
    /// `[bins of the second][bins of the first]`; they sum to 1, if there is any row.
    pub shares: Vec<Vec<f64>>,
}

impl Model {
    /// Two columns of other rows together.
    ///
    /// ```
    /// use pmm::table::{Data, Fit};
    /// let text: String = (0..200).map(|i| format!("{},{}\n", i % 4, ["x", "y"][i % 4 / 2])).collect();
    /// let data = Data::from_csv(format!("a,b\n{text}"));
    /// let model = Fit::new(data.clone()).steps(5).run(&mut ())?;
    /// let joint = model.joint(data, "a", "b")?;
    /// assert_eq!(joint.labels, [vec!["0", "1", "2", "3"], vec!["x", "y"]]);
    /// assert_eq!(joint.shares, [[0.25, 0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25]]);
    /// # Ok::<(), pmm::Error>(())
    /// ```
    pub fn joint(&self, rows: impl Into<Data>, first: &str, second: &str) -> Result<Joint, Error> {
        let schema = self.schema();
        let mut counts = Counts::new(self, [find_modelled(schema, first)?, find_modelled(schema, second)?])?;
        let mut reader = Reader::open(&rows.into(), schema)?;
        while let Some((_, cells)) = reader.next()? {
            counts.add(&cells);
        }
        Ok(counts.settled())
    }

    /// The two columns of other rows that depend on each other most, together; none if there are not two. Those of which a rule
    /// makes one from the other are left out: they are never wrong. Of very many rows some are looked at.
    pub fn most_dependent(&self, rows: impl Into<Data>) -> Result<Option<Joint>, Error> {
        let (schema, places) = (self.schema(), self.places());
        let source = rows.into().source_like(schema)?;
        let most = MOST_ROWS * places.len();
        let (table, found) = CodedTable::read(&source, schema, most, &Streams::new(0))?;
        let absent: Vec<usize> = found.absent.iter().filter_map(|name| schema.position(name)).collect();
        let present: Vec<usize> =
            places.iter().map(|place| place.column).filter(|column| !absent.contains(column)).collect();
        let strength = associations(&frame(self, &table.columns, &absent)?);
        let name = |at: usize| schema.columns[present[at]].name.as_str();
        let best = (0..present.len())
            .flat_map(|j| (0..j).map(move |i| (i, j)))
            .filter(|&(i, j)| !schema.rules.iter().any(|kept| makes(&kept.rule, name(i), name(j))))
            .max_by(|a, b| strength[a.0][a.1].abs().total_cmp(&strength[b.0][b.1].abs()));
        let Some((i, j)) = best else { return Ok(None) };
        let mut counts = Counts::new(self, [present[i], present[j]])?;
        counts.add(&table.columns);
        Ok(Some(counts.settled()))
    }
}

/// Whether a rule makes one of two columns from the other alone.
fn makes(rule: &Rule, first: &str, second: &str) -> bool {
    let makes = matches!(
        rule,
        Rule::Determined { .. }
            | Rule::OneToOne { .. }
            | Rule::Equal { .. }
            | Rule::DatePart { .. }
            | Rule::Sum { .. }
            | Rule::Product { .. }
    );
    let columns = rule.columns();
    makes && columns.len() == 2 && columns.contains(&first) && columns.contains(&second)
}

/// Rows of each pair of bins.
struct Counts<'m> {
    model: &'m Model,
    columns: [usize; 2],
    shapes: [Shape; 2],
    /// `[bins of the second][bins of the first]`
    rows: Vec<Vec<f64>>,
}

impl<'m> Counts<'m> {
    fn new(model: &'m Model, columns: [usize; 2]) -> Result<Self, Error> {
        let shape = |at: usize| {
            let column = &model.schema().columns[at];
            let unmodelled = || Error::NotModelled { name: column.name.clone(), why: column.reason.clone() };
            Shape::empty(column).ok_or_else(unmodelled)
        };
        let shapes = [shape(columns[0])?, shape(columns[1])?];
        let rows = vec![vec![0.0; shapes[0].shares.len()]; shapes[1].shares.len()];
        Ok(Self { model, columns, shapes, rows })
    }

    fn add(&mut self, cells: &[Cells]) {
        let [first, second] = self.columns.map(|at| (&self.model.schema().columns[at], &cells[at]));
        for (x, y) in first.1.iter().zip(second.1.iter()) {
            let bins = (self.shapes[0].bin(first.0, x), self.shapes[1].bin(second.0, y));
            if let (Some(x), Some(y)) = bins {
                self.rows[y][x] += 1.0;
            }
        }
    }

    fn settled(self) -> Joint {
        let total: f64 = self.rows.iter().flatten().sum();
        let share = |count: f64| if total > 0.0 { count / total } else { 0.0 };
        Joint {
            columns: self.columns.map(|at| self.model.schema().columns[at].name.clone()),
            labels: self.shapes.map(|shape| shape.labels),
            shares: self.rows.into_iter().map(|line| line.into_iter().map(share).collect()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Fit;

    /// b follows a but for noise, c is alone; d is made from a, which a rule says.
    fn data() -> Data {
        let row = |i: usize| {
            let a = i * 7 % 12;
            format!("{},{},{},{}\n", i * 31 % 17, a, a + i % 3, 10 * a + 5)
        };
        let text: String = (0..600).map(row).collect();
        Data::from_csv(format!("c,a,b,d\n{text}"))
    }

    #[test]
    fn the_two_that_go_together_are_found_and_rules_are_left_out() {
        let model = Fit::new(data()).steps(5).run(&mut ()).unwrap();
        let rules = &model.schema().rules;
        assert!(rules.iter().any(|kept| makes(&kept.rule, "a", "d")), "{rules:?}");
        let found = model.most_dependent(data()).unwrap().unwrap();
        assert_eq!(found.columns.iter().filter(|name| ["a", "b", "d"].contains(&name.as_str())).count(), 2);
        assert!(found.columns.contains(&"b".to_owned()), "{:?}", found.columns);
        let [first, second] = &found.columns;
        assert_eq!(found, model.joint(data(), first, second).unwrap());
        // The sums over the one are the shape of the other.
        let at = model.schema().position(first).unwrap();
        let shape = Shape::of(&model.schema().columns[at]).unwrap();
        for (bin, share) in shape.shares.iter().enumerate() {
            let sum: f64 = found.shares.iter().map(|line| line[bin]).sum();
            assert!((sum - share).abs() < 1e-9, "{bin}: {sum} {share}");
        }
    }

    #[test]
    fn one_column_is_no_pair() {
        let data = || Data::from_csv((0..100).fold("a\n".to_owned(), |text, i| format!("{text}{}\n", i % 7)));
        let model = Fit::new(data()).steps(5).run(&mut ()).unwrap();
        assert!(model.most_dependent(data()).unwrap().is_none());
        assert!(matches!(model.joint(data(), "a", "z"), Err(Error::NoColumn { .. })));
    }
}
