//! Cells on their way from unknown to known: the paper's Figure 1 for a model of one's own.

use pmm_core::Streams;
use pmm_data::{Cell, Coding, Kind, Schema};
use pmm_eval::chart::{Axis, Chart, Figure, Style};
use pmm_net::table::ClockKind;
use serde::Serialize;

use super::columns::find_modelled;
use super::model::Model;
use super::paths::{self, Paths};
use crate::error::Error;

/// Columns drawn if none is asked for.
const COLUMNS: usize = 4;
/// Most colours by which levels are told apart.
const COLOURS: usize = 6;

/// A picture to draw: what the model expects of columns, call by call, until the values are there.
#[derive(Debug, Clone)]
pub struct Trace<'m> {
    model: &'m Model,
    columns: Vec<String>,
    seed: u64,
}

/// The picture.
#[derive(Debug, Clone)]
pub struct TracePicture {
    figure: Figure,
}

/// The same as numbers, for a picture of one's own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracePaths {
    /// Whether columns become known one by one; else all together, through noise that fades.
    pub reveals: bool,
    /// The columns that were asked for.
    pub columns: Vec<TracedColumn>,
    /// A column of few levels by which rows are told apart, and its levels.
    pub told_by: Option<(String, Vec<String>)>,
    /// The level of each row, as a place among those.
    pub levels: Vec<usize>,
}

/// A column in the making.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TracedColumn {
    /// Its name.
    pub name: String,
    /// What is expected of each row at each step, `[rows][steps]`; NaN where nothing is.
    pub means: Vec<Vec<f64>>,
    /// The step at which each row's value became known, and the value.
    pub arrivals: Vec<Option<(f64, f64)>>,
}

impl<'m> Trace<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, columns: Vec::new(), seed: 0 }
    }

    /// Columns to draw; the first numeric ones by default.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Fixes every random number; 0 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Lets rows be made, and draws them.
    pub fn draw(self) -> Result<TracePicture, Error> {
        let (chosen, paths) = self.walk()?;
        Ok(TracePicture { figure: figure(self.model, &chosen, &paths) })
    }

    /// Lets rows be made, and tells their ways.
    pub fn paths(self) -> Result<TracePaths, Error> {
        let (chosen, paths) = self.walk()?;
        let (places, clock) = (self.model.places(), self.model.denoiser.net().clock());
        let column = |(c, at): (usize, &usize)| TracedColumn {
            name: self.model.schema().columns[places[*at].column].name.clone(),
            means: (0..paths::ROWS)
                .map(|row| paths.line(c, row).into_iter().map(|(_, mean)| mean).collect())
                .collect(),
            arrivals: (0..paths::ROWS).map(|row| paths.arrival(c, row, clock)).collect(),
        };
        let colours = Colours::new(self.model, &paths);
        Ok(TracePaths {
            reveals: clock == ClockKind::Reveal,
            columns: chosen.iter().enumerate().map(column).collect(),
            told_by: colours.column.map(|column| (column, colours.names)),
            levels: colours.rows,
        })
    }

    fn walk(&self) -> Result<(Vec<usize>, Paths), Error> {
        let chosen = choose(self.model, &self.columns)?;
        // A path leads to a value.
        let denoiser = self.model.denoiser.clone().complete(true);
        let paths = paths::walk(self.model, &denoiser, &chosen, &Streams::new(self.seed))?;
        Ok((chosen, paths))
    }
}

impl TracePicture {
    /// As PNG.
    pub fn png(&self) -> Result<Vec<u8>, Error> {
        self.figure.png(2.0).map_err(|error| Error::Picture(error.to_string()))
    }

    /// As SVG, on white.
    pub fn svg(&self) -> String {
        standalone(&self.figure.svg())
    }
}

/// A picture that is opened by itself may be shown on any ground: white.
fn standalone(svg: &str) -> String {
    match svg.find('>') {
        Some(end) => format!(
            r##"{}><rect width="100%" height="100%" fill="#ffffff"/>{}"##,
            &svg[..end],
            &svg[end + 1..]
        ),
        None => svg.to_owned(),
    }
}

/// Places (among the modelled columns) of the columns to draw.
fn choose(model: &Model, asked: &[String]) -> Result<Vec<usize>, Error> {
    let places = model.places();
    let schema: &Schema = model.schema();
    let is_number = |column: usize| matches!(schema.columns[column].coding, Coding::Numbers(_));
    if asked.is_empty() {
        let drawn = |at: &usize| {
            let column = places[*at].column;
            is_number(column) && schema.columns[column].kind != Kind::DateTime
        };
        let chosen: Vec<usize> = (0..places.len()).filter(drawn).take(COLUMNS).collect();
        if chosen.is_empty() {
            return Err(Error::request(
                "no column holds numbers, so there is no mean to draw",
                "look at samples instead",
            ));
        }
        return Ok(chosen);
    }
    let mut chosen = Vec::new();
    for name in asked {
        let column = find_modelled(schema, name.trim())?;
        if !is_number(column) {
            return Err(Error::request(
                format!("the column {} holds no numbers, so it has no mean to draw", name.trim()),
                "name no column to see the first numeric ones",
            ));
        }
        chosen.extend(places.iter().position(|place| place.column == column));
    }
    Ok(chosen)
}

fn figure(model: &Model, chosen: &[usize], paths: &Paths) -> Figure {
    let places = model.places();
    let colours = Colours::new(model, paths);
    let wide: &[f64] = if chosen.len() == 1 { &[1.0] } else { &[1.0, 1.0] };
    let mut figure = Figure::new().columns(wide).size(960.0, 330.0).caption(caption(model, &colours));
    for (c, &at) in chosen.iter().enumerate() {
        let name = &model.schema().columns[places[at].column].name;
        figure = figure.panel(panel(name, model.denoiser.net().clock(), c, paths, &colours));
    }
    figure
}

fn panel(name: &str, clock: ClockKind, c: usize, paths: &Paths, colours: &Colours) -> Chart {
    let (x, y) = match clock {
        ClockKind::Reveal => ("columns known", "expected value"),
        ClockKind::Gradual => ("network calls", "posterior mean"),
    };
    let last = paths.steps.saturating_sub(1) as f64;
    let mut chart = Chart::new(name).x(Axis::linear(x).range(0.0, last.max(1.0))).y(Axis::linear(y));
    for row in 0..paths::ROWS {
        let line = paths.line(c, row);
        let colour = colours.of(row);
        chart = chart.line(&line, Style::new(colour).width(1.0).opacity(0.65));
    }
    for colour in 0..COLOURS {
        let marks: Vec<(f64, f64)> = (0..paths::ROWS)
            .filter(|&row| colours.of(row) == colour)
            .filter_map(|row| paths.arrival(c, row, clock))
            .collect();
        if !marks.is_empty() {
            let style = Style::new(colour).width(1.2).opacity(0.9);
            // One legend, in the first panel.
            let name = colours.names.get(colour).filter(|_| c == 0);
            chart = chart.points(&marks, name.map_or(style.clone(), |name| style.clone().label(name)));
        }
    }
    chart
}

/// Rows are told apart by the level that they end at in a column of few levels.
struct Colours {
    column: Option<String>,
    names: Vec<String>,
    rows: Vec<usize>,
}

impl Colours {
    fn new(model: &Model, paths: &Paths) -> Self {
        let places = model.places();
        let few = |at: &usize| {
            let column = &model.schema().columns[places[*at].column];
            matches!(column.coding, Coding::Levels(_)) && (2..=COLOURS).contains(&column.n_codes())
        };
        let Some(at) = (0..places.len()).find(few) else {
            return Self { column: None, names: Vec::new(), rows: vec![0; paths::ROWS] };
        };
        let column = &model.schema().columns[places[at].column];
        let names = (0..column.n_codes() as u32).map(|code| column.text(Cell::Level(code), 0.0)).collect();
        let rows = paths.tokens(at).iter().map(|&token| token as usize % COLOURS).collect();
        Self { column: Some(column.name.clone()), names, rows }
    }

    fn of(&self, row: usize) -> usize {
        self.rows.get(row).copied().unwrap_or(0)
    }
}

fn caption(model: &Model, colours: &Colours) -> String {
    let mut caption = match model.denoiser.net().clock() {
        ClockKind::Reveal => format!(
            "{} rows in the making. Columns become known one by one, in an order of its own for each row; a line is the expected value of the \
             column given what is known so far, until the column itself is drawn (mark).",
            paths::ROWS
        ),
        ClockKind::Gradual => format!(
            "{} rows in the making. All columns are watched through noise that fades; a line is the posterior mean of the \
             column, which converges to the value of the new row (mark).",
            paths::ROWS
        ),
    };
    if let Some(column) = &colours.column {
        caption += &format!(" Colours: {column}.");
    }
    caption
}
