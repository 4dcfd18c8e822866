//! What is given of the rows to draw: cells, ranges, lists.

use pmm_data::rules::{Allowed, Ranges};
use pmm_data::{Cell, CellError, Coding, Column};
use pmm_net::table::Conditions;

use super::columns::find_modelled;
use super::model::Model;
use crate::error::Error;

/// What a caller says about a column, in the texts of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wish {
    /// This cell; the empty text is a missing one.
    Is(String),
    /// From one value to another, both included.
    Between(Option<String>, Option<String>),
    /// One of these.
    AnyOf(Vec<String>),
}

/// What is given of every row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    /// Cells, by column of the schema.
    pub(crate) cells: Vec<GivenCell>,
    /// Ranges and lists.
    pub(crate) conditions: Conditions,
    /// Of levels that share a code, those that are listed: (column, ties of the listed levels of the code).
    ties: Vec<(usize, u32, Vec<f64>)>,
    /// Values outside what was seen.
    pub(crate) notes: Vec<String>,
}

/// A cell that is given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GivenCell {
    /// Its column of the schema.
    pub(crate) column: usize,
    pub(crate) cell: Cell,
    /// Among levels that share a code, which one.
    pub(crate) tie: f64,
}

impl Given {
    pub(crate) fn parse(model: &Model, wishes: &[(String, Wish)]) -> Result<Self, Error> {
        let mut given = Self::default();
        let mut seen = Vec::new();
        for (name, wish) in wishes {
            let column = find_modelled(model.schema(), name.trim())?;
            if seen.contains(&column) {
                return Err(Error::request(format!("the column {name} is given twice"), "give it once"));
            }
            seen.push(column);
            given.add(model, column, wish)?;
        }
        given.check_rules(model)?;
        Ok(given)
    }

    /// The given cells of a row of the modelled columns.
    pub(crate) fn row(&self, model: &Model) -> Vec<Option<Cell>> {
        let places = &model.denoiser.net().coordinates().columns;
        let cell = |column: usize| self.cells.iter().find(|given| given.column == column);
        places.iter().map(|place| cell(place.column).map(|given| given.cell)).collect()
    }

    /// The tie of a level that is drawn from a list, if its code is shared; `u` is uniform.
    pub(crate) fn tie(&self, column: usize, cell: Cell, u: f64) -> Option<f64> {
        let Cell::Level(code) = cell else { return None };
        let (.., ties) = self.ties.iter().find(|(at, shared, _)| (*at, *shared) == (column, code))?;
        ties.get((u * ties.len() as f64) as usize).copied()
    }

    fn add(&mut self, model: &Model, index: usize, wish: &Wish) -> Result<(), Error> {
        let column = &model.schema().columns[index];
        let allowed = match wish {
            Wish::Is(text) => {
                let cell = given_cell(model, index, text)?;
                self.note(column, cell, text);
                self.cells.push(GivenCell { column: index, cell, tie: column.tie(text) });
                return Ok(());
            }
            Wish::Between(low, high) => between(column, low.as_deref(), high.as_deref())?,
            Wish::AnyOf(texts) => self.any_of(model, index, texts)?,
        };
        let places = &model.denoiser.net().coordinates().columns;
        if let Some(at) = places.iter().position(|place| place.column == index) {
            self.conditions.set(at, allowed);
        }
        Ok(())
    }

    fn any_of(&mut self, model: &Model, index: usize, texts: &[String]) -> Result<Allowed<'static>, Error> {
        let column = &model.schema().columns[index];
        let mut numbers = Vec::new();
        let mut levels = vec![false; column.n_codes()];
        for text in texts {
            match given_cell(model, index, text)? {
                Cell::Level(code) => {
                    levels[code as usize] = true;
                    let tie = column.tie(text);
                    match self.ties.iter_mut().find(|(at, shared, _)| (*at, *shared) == (index, code)) {
                        Some((.., ties)) => ties.push(tie),
                        None => self.ties.push((index, code, vec![tie])),
                    }
                }
                cell => match column.number(cell) {
                    Some(number) => numbers.push(Ranges::point(number)),
                    None => {
                        let what = format!("{text:?} of the column {} cannot be one of several", column.name);
                        return Err(Error::request(what, "list numbers or levels, or give it alone"));
                    }
                },
            }
        }
        Ok(match column.coding {
            Coding::Levels(_) => Allowed::levels(levels),
            _ => Allowed::numbers(Ranges::union(numbers)),
        })
    }

    fn note(&mut self, column: &Column, cell: Cell, text: &str) {
        let (Coding::Numbers(numbers), Cell::Value(value)) = (&column.coding, cell) else { return };
        let values = numbers.grid.values();
        let (low, high) = (values[0], values[values.len() - 1]);
        if value < low || value > high {
            let [low, high] = [low, high].map(|value| column.text(Cell::Value(value), 0.5));
            let name = &column.name;
            self.notes.push(format!(
                "{name}={text} is outside what was seen ({low} to {high}): the model extrapolates"
            ));
        }
    }

    /// Given cells that contradict a rule are refused by its name.
    fn check_rules(&self, model: &Model) -> Result<(), Error> {
        let net = model.denoiser.net();
        let places = &net.coordinates().columns;
        let cell = |place: &pmm_net::table::ColumnPlace| {
            let given = self.cells.iter().find(|given| given.column == place.column)?;
            Some(net.schema().columns[place.column].rule_cell(given.cell))
        };
        let cells: Vec<Option<_>> = places.iter().map(cell).collect();
        let known: Vec<bool> = cells.iter().map(Option::is_some).collect();
        let cells: Vec<_> =
            cells.into_iter().map(|cell| cell.unwrap_or(pmm_data::rules::Cell::Missing)).collect();
        match net.keeper().broken(&cells, &known).first() {
            Some(rule) => Err(model.broken_rule(*rule)),
            None => Ok(()),
        }
    }
}

impl Model {
    /// What is given breaks a rule.
    pub(crate) fn broken_rule(&self, rule: usize) -> Error {
        let Some(kept) = self.schema().rules.get(rule) else {
            return Error::request("what is given breaks a rule of the table", "give other values");
        };
        Error::request(
            format!(
                "what is given breaks a rule that holds in {} of {} rows: {}",
                kept.evidence.holds,
                kept.evidence.applies,
                kept.rule.sentence()
            ),
            "give values that keep it, or fit without the rule",
        )
    }
}

/// A cell of a text, which must be one that the model can tell.
fn given_cell(model: &Model, index: usize, text: &str) -> Result<Cell, Error> {
    let column = &model.schema().columns[index];
    let refused = |source| Error::Given { column: column.name.clone(), value: text.to_owned(), source };
    let cell = column.parse(text).map_err(refused)?;
    let place = model.denoiser.net().coordinates().columns.iter().find(|place| place.column == index);
    let known = place.and_then(|place| place.tokens.as_ref()).map_or(&[][..], |tokens| &tokens.values);
    if let Cell::Value(value) = cell
        && !known.is_empty()
        && !known.contains(&value)
    {
        let nearest = known.iter().min_by(|a, b| (*a - value).abs().total_cmp(&(*b - value).abs()));
        let nearest = nearest.map_or_else(String::new, |value| column.text(Cell::Value(*value), 0.5));
        return Err(refused(CellError::OffGrid { text: text.trim().to_owned(), nearest }));
    }
    Ok(cell)
}

fn between(column: &Column, low: Option<&str>, high: Option<&str>) -> Result<Allowed<'static>, Error> {
    let bound = |text: Option<&str>, open: f64| match text {
        None => Ok(open),
        Some(text) => column.bound(text).map_err(|source| Error::Given {
            column: column.name.clone(),
            value: text.to_owned(),
            source,
        }),
    };
    let (low, high) = (bound(low, f64::NEG_INFINITY)?, bound(high, f64::INFINITY)?);
    if low > high {
        let what = format!("the range of the column {} ends before it begins", column.name);
        return Err(Error::request(what, "give the lower end first"));
    }
    let Coding::Levels(levels) = &column.coding else {
        return Ok(Allowed::numbers(Ranges::between(low, high)));
    };
    let number = |text: &str| text.trim().parse::<f64>().ok();
    if levels.levels().iter().any(|level| number(&level.text).is_none()) {
        let what = format!("the column {} holds categories, which have no ranges", column.name);
        return Err(Error::request(what, "list the levels, as in island=Dream|Biscoe"));
    }
    let within = |code: u32| {
        number(&column.text(Cell::Level(code), 0.0)).is_some_and(|number| (low..=high).contains(&number))
    };
    Ok(Allowed::levels((0..levels.n_codes() as u32).map(within).collect()))
}
