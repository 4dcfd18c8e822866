//! `pmm predict`: the law of one column given the others.

use anyhow::bail;
use pmm_core::Streams;
use pmm_data::{CellType, Coding, Field};
use pmm_net::table::{Cell, ClockKind, Law, Plan};
use pmm_train::Model;
use rayon::prelude::*;

use crate::cli::PredictArgs;
use crate::columns;
use crate::output::{self, Advice};
use crate::rows::{self, Reader};

/// The quantiles that are printed.
pub(crate) const QUANTILES: [(f64, &str); 5] =
    [(0.05, "q05"), (0.25, "q25"), (0.5, "q50"), (0.75, "q75"), (0.95, "q95")];
/// Draws from which mean and quantiles are taken, where no closed form is at hand.
const INNER_DRAWS: usize = 512;

/// What is said about one row.
pub(crate) enum Forecast {
    /// Draws of a number.
    Draws(Vec<f64>),
    /// Probabilities of the levels, in the order of the schema's codes.
    Levels(Vec<f64>),
}

pub(crate) fn run(args: &PredictArgs) -> anyhow::Result<()> {
    output::prepare(&args.common)?;
    let model = output::load(&args.model)?;
    let target = match args.target.as_ref().or(model.config.target.as_ref()) {
        Some(name) => columns::find_modelled(&model.schema, name)?,
        None => bail!(Advice::new("no target".into(), "say which column to predict with --target COLUMN")),
    };
    let predictor = Predictor::new(model, target);
    let fields = predictor.fields(args.draws);
    let source = rows::open(&args.data, &predictor.model.schema)?;
    let mut reader = Reader::new(&source, &predictor.model.schema)?;
    let mut writer = rows::writer(&args.output, source.delimiter(), &fields)?;
    let streams = Streams::new(args.common.seed);
    let bar = output::spinner("predicting", args.common.quiet);
    let mut first = 0;
    while let Some(chunk) = reader.next()? {
        let forecasts = predictor.forecasts(&chunk.coded, first, args.draws.max(INNER_DRAWS), &streams)?;
        for forecast in &forecasts {
            writer.write(&predictor.record(forecast, args.draws))?;
        }
        first += forecasts.len() as u64;
        bar.set_message(format!("predicting: {first} rows"));
    }
    bar.finish_and_clear();
    reader.say(args.common.quiet);
    Ok(writer.finish()?)
}

/// A model that is asked for one column.
pub(crate) struct Predictor {
    pub(crate) model: Model,
    /// The target's place in the schema, and among the modelled columns.
    target: usize,
    place: usize,
}

impl Predictor {
    pub(crate) fn new(mut model: Model, target: usize) -> Self {
        // A forecast is of a value: that the cell might be missing is no forecast.
        model.denoiser = model.denoiser.complete(true);
        let places = &model.denoiser.net().coordinates().columns;
        let place = places.iter().position(|place| place.column == target).unwrap_or(0);
        Self { model, target, place }
    }

    /// Whether the target is a number.
    pub(crate) fn is_number(&self) -> bool {
        matches!(self.model.schema.columns[self.target].coding, Coding::Numbers(_))
    }

    /// The texts of the target's levels, by code.
    pub(crate) fn levels(&self) -> Vec<String> {
        let column = &self.model.schema.columns[self.target];
        (0..column.n_codes() as u32).map(|code| column.decode(code, f64::NAN, 0.0)).collect()
    }

    fn fields(&self, draws: usize) -> Vec<Field> {
        let column = self.model.schema.columns[self.target].field();
        if !self.is_number() {
            let levels =
                self.levels().into_iter().map(|level| Field::new(format!("p_{level}"), CellType::Float));
            return std::iter::once(Field::new("prediction", column.cell_type)).chain(levels).collect();
        }
        let date = column.cell_type == CellType::Text;
        let float = if date { CellType::Text } else { CellType::Float };
        let mut fields = vec![Field::new("mean", float)];
        fields.extend(QUANTILES.iter().map(|(_, name)| Field::new(*name, column.cell_type)));
        fields.extend((1..=draws).map(|k| Field::new(format!("draw_{k}"), column.cell_type)));
        fields
    }

    /// Forecasts for rows; the target's own cells are not looked at.
    pub(crate) fn forecasts(
        &self,
        coded: &[Vec<(u32, f64)>],
        first: u64,
        draws: usize,
        streams: &Streams,
    ) -> anyhow::Result<Vec<Forecast>> {
        let net = self.model.denoiser.net();
        let columns = net.coordinates().columns.len();
        let mut cells = rows::cells(&self.model, coded, false);
        cells.iter_mut().skip(self.place).step_by(columns).for_each(|cell| *cell = Cell::default());
        if net.clock() == ClockKind::Gradual {
            return self.by_sampling(&cells, first, draws, streams);
        }
        // A missing cell that training never saw is one more unknown: it is drawn first, several times.
        let unknown = |row: &[Cell]| row.iter().filter(|cell| cell.is_unknown()).count() > 1;
        if cells.chunks(columns).any(unknown) {
            return self.by_sampling(&cells, first, draws.min(128), streams);
        }
        let view = |row: usize, column: usize| pmm_net::table::View::of(&cells[row * columns + column]);
        let laws = self.model.denoiser.laws(coded.len(), view, self.place);
        let forecast = |(row, law): (usize, &Law)| {
            let mut rng = streams.stream(pmm_core::Purpose::FORECAST, 0, first + row as u64);
            self.of_law(law, draws, &mut rng)
        };
        Ok(laws.par_iter().enumerate().map(forecast).collect())
    }

    fn of_law(&self, law: &Law, draws: usize, rng: &mut pmm_core::Stream) -> Forecast {
        let place = &self.model.denoiser.net().coordinates().columns[self.place];
        let column = &self.model.schema.columns[self.target];
        if !self.is_number() {
            return Forecast::Levels(law.codes[..column.n_codes()].to_vec());
        }
        let draw = |_| {
            let token = place.tokens.as_ref().map(|_| law.draw_code(rng));
            let x = if place.value.is_some() { law.draw(rng) } else { f64::NAN };
            place.coded(column, token, x, true).1
        };
        Forecast::Draws((0..draws).map(draw).collect())
    }

    /// By completed rows: for gradual clocks, and where more than the target is unknown.
    fn by_sampling(
        &self,
        cells: &[Cell],
        first: u64,
        draws: usize,
        streams: &Streams,
    ) -> anyhow::Result<Vec<Forecast>> {
        let columns = self.model.denoiser.net().coordinates().columns.len();
        let rows = cells.len() / columns;
        let n_codes = self.model.schema.columns[self.target].n_codes();
        let mut values = vec![Vec::with_capacity(draws); rows];
        for draw in 0..draws {
            let streams = streams.child(pmm_core::Purpose::FORECAST_GAPS, draw as u64);
            let full = self.model.denoiser.fill(cells, first, Plan::default(), &streams, |_| ())?;
            for (row, values) in values.iter_mut().enumerate() {
                values.push(full[row * columns + self.place]);
            }
        }
        let forecast = |values: Vec<(u32, f64)>| {
            if self.is_number() {
                return Forecast::Draws(values.into_iter().map(|(_, value)| value).collect());
            }
            // One more of each: a level that was not drawn is not impossible.
            let mut shares = vec![1.0 / n_codes as f64; n_codes];
            values.iter().for_each(|(code, _)| shares[*code as usize] += 1.0);
            Forecast::Levels(shares.into_iter().map(|share| share / (draws as f64 + 1.0)).collect())
        };
        Ok(values.into_iter().map(forecast).collect())
    }

    fn record(&self, forecast: &Forecast, draws: usize) -> Vec<String> {
        let column = &self.model.schema.columns[self.target];
        match forecast {
            Forecast::Levels(shares) => {
                let best = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or(0);
                let shares = shares.iter().map(|share| format!("{share:.6}"));
                std::iter::once(column.decode(best as u32, f64::NAN, 0.0)).chain(shares).collect()
            }
            Forecast::Draws(values) => {
                let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
                let mut sorted = finite.clone();
                sorted.sort_by(f64::total_cmp);
                let mean = finite.iter().sum::<f64>() / finite.len().max(1) as f64;
                let text = |value: f64| column.decode(0, value, 0.0);
                let date = column.field().cell_type == CellType::Text;
                let mut record = vec![if date { text(mean) } else { format!("{mean}") }];
                record.extend(QUANTILES.iter().map(|(q, _)| text(quantile(&sorted, *q))));
                record.extend(values.iter().take(draws).map(|value| text(*value)));
                record
            }
        }
    }
}

/// The quantile of sorted values that at least a share q is not above.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
