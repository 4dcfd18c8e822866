//! The shape of a column, for a small picture: shares of its levels, or of bins of its numbers.

use pmm_data::{Cell, Cells, Coding, Column, Numbers};
use serde::Serialize;

use super::data::Data;
use super::laws::Laws;
use super::model::Model;
use super::rows::Reader;
use crate::error::Error;

/// Bins of a number, at most; as many levels are told apart.
const BINS: usize = 24;
/// The share of values that lies beyond the first and the last edge, at most.
const TAIL: f64 = 0.005;

/// Shares of the levels of a category or of bins of a number. Shapes of one column have the same bins, whatever they are of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// The levels, most frequent first, the rest as `…`; or the bins, each by its least and greatest value.
    pub labels: Vec<String>,
    /// The ends of the bins, one more than there are; the first and the last bin hold all that lies beyond. None for levels.
    pub edges: Option<Vec<f64>>,
    /// A share for each.
    pub shares: Vec<f64>,
}

impl Shape {
    /// The shape of a column in the data that its schema is of; none if it is not modelled.
    ///
    /// ```
    /// use pmm::table::{Data, Fit, Shape};
    /// let text: String = (0..100).map(|i| format!("{},{}\n", ["x", "y", "x"][i % 3], i)).collect();
    /// let fit = Fit::new(Data::from_csv(format!("a,b\n{text}"))).prepare(&mut ())?;
    /// let shape = Shape::of(&fit.schema().columns[0]).unwrap();
    /// assert_eq!((shape.labels, shape.shares), (vec!["x".into(), "y".into()], vec![0.67, 0.33]));
    /// # Ok::<(), pmm::Error>(())
    /// ```
    pub fn of(column: &Column) -> Option<Self> {
        let mut shape = Self::empty(column)?;
        match &column.coding {
            Coding::Levels(levels) => {
                for (place, level) in levels.levels().iter().enumerate() {
                    shape.count(place, level.count as f64);
                }
            }
            Coding::Numbers(numbers) => {
                for (value, count) in values(numbers) {
                    shape.count_value(value, count as f64);
                }
            }
            _ => return None,
        }
        Some(shape.settled())
    }

    pub(super) fn empty(column: &Column) -> Option<Self> {
        match &column.coding {
            Coding::Levels(levels) => {
                let mut labels: Vec<String> =
                    levels.levels().iter().take(BINS).map(|level| level.text.clone()).collect();
                if levels.levels().len() > BINS {
                    labels.push("…".into());
                }
                Some(Self { shares: vec![0.0; labels.len()], labels, edges: None })
            }
            Coding::Numbers(numbers) => {
                let (edges, ends) = bins(numbers);
                let text = |value: f64| column.text(Cell::Value(value), 0.5);
                let label = |&(low, high): &(f64, f64)| match low == high {
                    true => text(low),
                    false => format!("{} – {}", text(numbers.on_grid(low)), text(numbers.on_grid(high))),
                };
                let labels: Vec<String> = ends.iter().map(label).collect();
                Some(Self { shares: vec![0.0; labels.len()], labels, edges: Some(edges) })
            }
            _ => None,
        }
    }

    fn count(&mut self, place: usize, count: f64) {
        let last = self.shares.len() - 1;
        self.shares[place.min(last)] += count;
    }

    fn count_value(&mut self, value: f64, count: f64) {
        self.count(self.bin_of(value), count);
    }

    fn bin_of(&self, value: f64) -> usize {
        let inner = self.edges.as_deref().map_or(&[][..], |edges| &edges[1..edges.len() - 1]);
        inner.partition_point(|edge| *edge < value)
    }

    /// The bin of a cell; none if nothing is there.
    pub(super) fn bin(&self, column: &Column, cell: Cell) -> Option<usize> {
        match cell {
            Cell::Level(code) => Some((code as usize).min(self.shares.len() - 1)),
            cell => column.number(cell).map(|value| self.bin_of(value)),
        }
    }

    /// Sums to 1.
    fn settled(mut self) -> Self {
        let total: f64 = self.shares.iter().sum();
        if total > 0.0 {
            self.shares.iter_mut().for_each(|share| *share /= total);
        }
        self
    }
}

impl Laws<'_> {
    /// The shape of the law in each row, on the bins of the column's own.
    pub fn shapes(&self) -> Result<Vec<Shape>, Error> {
        let Some(empty) = Shape::empty(self.column()) else { return Ok(Vec::new()) };
        let Some(edges) = &empty.edges else {
            let shape = |shares: &[f64]| {
                let mut shape = empty.clone();
                shares.iter().enumerate().for_each(|(place, share)| shape.count(place, *share));
                shape.settled()
            };
            return Ok(self.probabilities()?.into_iter().map(shape).collect());
        };
        let bins = empty.shares.len();
        self.numbers(|law, numbers, _| {
            let up_to = |bin: usize| if bin == bins { 1.0 } else { law.cdf(numbers, edges[bin]) };
            let mut shape = empty.clone();
            let mut below = 0.0;
            for bin in 1..=bins {
                let here = up_to(bin);
                shape.shares[bin - 1] = (here - below).max(0.0);
                below = here;
            }
            shape.settled()
        })
    }
}

impl Model {
    /// The shapes of the columns of other rows, on the same bins as those of the data: one for each column of the schema, none for
    /// those that are not modelled or not there.
    pub fn shapes(&self, rows: impl Into<Data>) -> Result<Vec<Option<Shape>>, Error> {
        let schema = self.schema();
        let mut shapes: Vec<Option<Shape>> = schema.columns.iter().map(Shape::empty).collect();
        let mut reader = Reader::open(&rows.into(), schema)?;
        while let Some((_, cells)) = reader.next()? {
            for ((column, shape), cells) in schema.columns.iter().zip(&mut shapes).zip(&cells) {
                if let Some(shape) = shape {
                    add(shape, column, cells);
                }
            }
        }
        let settled = |(place, shape): (usize, Option<Shape>)| {
            shape.filter(|_| reader.place(place).is_some()).map(Shape::settled)
        };
        Ok(shapes.into_iter().enumerate().map(settled).collect())
    }
}

fn add(shape: &mut Shape, column: &Column, cells: &Cells) {
    for cell in cells.iter() {
        if let Some(bin) = shape.bin(column, cell) {
            shape.count(bin, 1.0);
        }
    }
}

/// The values of a column with their counts, special ones among them, increasing.
fn values(numbers: &Numbers) -> Vec<(f64, u64)> {
    let grid = numbers.grid.values().iter().copied().zip(numbers.grid.counts());
    let specials = numbers.specials.iter().filter_map(|special| Some((special.value?, special.count)));
    let mut all: Vec<(f64, u64)> = grid.chain(specials).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The edges of a number's bins, and the least and greatest value that each stands for: a bin for each value where they are few,
/// else bins of one width between the tails.
fn bins(numbers: &Numbers) -> (Vec<f64>, Vec<(f64, f64)>) {
    let all = values(numbers);
    if all.len() <= BINS {
        let mut edges = vec![all[0].0];
        edges.extend(all.windows(2).map(|pair| 0.5 * (pair[0].0 + pair[1].0)));
        edges.push(all[all.len() - 1].0);
        return (edges, all.iter().map(|(value, _)| (*value, *value)).collect());
    }
    let total: u64 = all.iter().map(|(_, count)| count).sum();
    let quantile = |share: f64| {
        let mut below = 0;
        let reached = all.iter().find(|(_, count)| {
            below += count;
            below as f64 >= share * total as f64
        });
        reached.map_or(all[all.len() - 1].0, |(value, _)| *value)
    };
    let (mut low, mut high) = (quantile(TAIL), quantile(1.0 - TAIL));
    if low >= high {
        (low, high) = (all[0].0, all[all.len() - 1].0);
    }
    let edges: Vec<f64> = (0..=BINS).map(|k| low + (high - low) * k as f64 / BINS as f64).collect();
    let ends = edges.windows(2).map(|pair| (pair[0], pair[1])).collect();
    (edges, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Fit;

    fn data() -> Data {
        let text: String = (0..600).map(|i| format!("{},{:.2}\n", i % 5, (i as f64 * 0.37).sin())).collect();
        Data::from_csv(format!("few,many\n{text}"))
    }

    #[test]
    fn the_data_have_the_shape_of_their_schema() {
        let model = Fit::new(data()).steps(5).run(&mut ()).unwrap();
        let found = model.shapes(data()).unwrap();
        for (column, found) in model.schema().columns.iter().zip(found) {
            let (shape, found) = (Shape::of(column).unwrap(), found.unwrap());
            assert_eq!((&shape.labels, &shape.edges), (&found.labels, &found.edges));
            for (a, b) in shape.shares.iter().zip(&found.shares) {
                assert!((a - b).abs() < 1e-9, "{}: {a} {b}", column.name);
            }
        }
    }

    #[test]
    fn laws_are_shaped_on_the_same_bins() {
        let model = Fit::new(data()).steps(5).run(&mut ()).unwrap();
        for laws in model.sample(0).laws().unwrap() {
            let shape = &laws.shapes().unwrap()[0];
            assert_eq!(shape.labels, Shape::of(laws.column()).unwrap().labels);
            assert!((shape.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }

    /// What is given in a range is taken into account: b is a copy of a.
    #[test]
    fn a_range_changes_the_laws_of_the_others() {
        let text: String = (0..400).map(|i| format!("{},{}\n", i % 8, ["low", "high"][i % 8 / 4])).collect();
        let model = Fit::new(Data::from_csv(format!("a,b\n{text}"))).steps(300).run(&mut ()).unwrap();
        let laws = model.sample(0).given_range("a", Some(5), None).laws().unwrap();
        let of = |name: &str| laws.iter().find(|laws| laws.column().name == name).unwrap();
        let high = of("b").levels().iter().position(|level| level == "high").unwrap();
        assert!(of("b").probabilities().unwrap()[0][high] > 0.9);
        assert!(of("a").quantile(0.01).unwrap()[0] >= 5.0);
    }
}
