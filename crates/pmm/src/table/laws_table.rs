//! Predictive laws as columns of a table.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use pmm_data::OutputColumn;

use super::laws::Laws;
use crate::error::Error;

/// The quantiles that are written.
const QUANTILES: [(f64, &str); 5] =
    [(0.05, "q05"), (0.25, "q25"), (0.5, "q50"), (0.75, "q75"), (0.95, "q95")];

impl Laws<'_> {
    /// The laws as columns for a writer: mean, quantiles and so many draws of a number; else the likeliest level and the
    /// probabilities of all.
    pub fn table(&self, draws: usize) -> Result<(Vec<OutputColumn>, RecordBatch), Error> {
        let columns = if self.is_number() { self.number_columns(draws)? } else { self.level_columns()? };
        let (columns, arrays): (Vec<OutputColumn>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).map_err(|error| {
            Error::request(format!("the laws cannot be put together: {error}"), "report this as a bug")
        })?;
        Ok((columns, batch))
    }

    fn number_columns(&self, draws: usize) -> Result<Vec<(OutputColumn, ArrayRef)>, Error> {
        let mut columns = vec![self.mean_column()?];
        for (q, name) in QUANTILES {
            columns.push(self.values_column(name, &self.quantile(q)?)?);
        }
        let drawn = if draws > 0 { self.draws(draws)? } else { Vec::new() };
        for k in 0..draws {
            let values: Vec<f64> = drawn.iter().map(|row| row[k]).collect();
            columns.push(self.values_column(&format!("draw_{}", k + 1), &values)?);
        }
        Ok(columns)
    }

    /// A mean of dates is a date; any other mean is a number with all its digits.
    fn mean_column(&self) -> Result<(OutputColumn, ArrayRef), Error> {
        let mean = self.mean()?;
        if self.is_date() {
            return self.values_column("mean", &mean);
        }
        Ok((OutputColumn::new("mean", DataType::Float64), Arc::new(Float64Array::from(mean))))
    }

    fn level_columns(&self) -> Result<Vec<(OutputColumn, ArrayRef)>, Error> {
        let shares = self.probabilities()?;
        let mut columns = vec![self.best_column("prediction")?];
        for (k, level) in self.levels().iter().enumerate() {
            let column = OutputColumn::new(format!("p_{level}"), DataType::Float64);
            let rounded = |share: f64| (share * 1e6).round() / 1e6;
            let values: Float64Array = shares.iter().map(|row| Some(rounded(row[k]))).collect();
            columns.push((column, Arc::new(values)));
        }
        Ok(columns)
    }
}
