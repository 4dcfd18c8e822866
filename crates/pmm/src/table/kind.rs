//! Tables as a kind of model.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use pmm_core::{Head, ParameterError};
use pmm_data::{PairKind, Schema};
use pmm_net::table::{ClockKind, ColumnPlace, Shares, TableNet, TableTrees, TreesOfColumn};
use pmm_net::{Device, Parts, SettingError};
use pmm_store::Named;
use pmm_train::table::TableConfig;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fitted::Fitted;
use crate::kind::{DataKind, Kind};

use super::trees::{columns_of, tensors_of};

/// The kind `table`.
#[derive(Debug)]
pub(crate) enum Table {}

/// What is known about a fitted table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableFacts {
    /// Rows that were kept.
    pub(crate) rows: usize,
    /// How far below its share a code counts as impossible, column by column.
    pub(crate) trims: Vec<f64>,
    /// The trees' shares of every column's law, where there are trees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) shares: Vec<Shares>,
}

impl Kind for Table {
    const KIND: DataKind = DataKind::Table;
    const DESCRIPTION_FILE: &'static str = "schema.json";
    const LOSS_UNIT: &'static str = "nats per column";
    type Config = TableConfig;
    type Description = Schema;
    type Net = TableNet;
    type More = Option<Arc<TableTrees>>;
    type Facts = TableFacts;

    fn write_description(schema: &Schema) -> Result<String, Error> {
        schema.to_json().map_err(|source| Error::Schema { path: Self::DESCRIPTION_FILE.into(), source })
    }

    fn read_description(text: &str, path: &Path) -> Result<Schema, Error> {
        Schema::from_json(text).map_err(|source| Error::Schema { path: path.into(), source })
    }

    fn check_description(schema: &Schema, config: &TableConfig) -> Result<(), SettingError> {
        let known = config.target.as_deref().is_none_or(|target| schema.position(target).is_some());
        SettingError::unless(
            known,
            "target",
            config.target.as_deref().unwrap_or(""),
            "a column of schema.json",
        )
    }

    fn network(
        config: &TableConfig,
        schema: &Arc<Schema>,
        device: &Device,
    ) -> Result<TableNet, ParameterError> {
        config.network(schema, device)
    }

    fn parts(net: &TableNet) -> &Parts {
        net.parts()
    }

    fn more_tensors(more: &Self::More) -> Vec<Named> {
        more.iter().flat_map(|trees| tensors_of(trees.columns().iter().enumerate())).collect()
    }

    fn read_more(net: &TableNet, tensors: Vec<Named>) -> Result<Self::More, String> {
        if tensors.is_empty() {
            return Ok(None);
        }
        let columns: Result<Vec<TreesOfColumn>, String> = columns_of(net, tensors)?
            .into_iter()
            .enumerate()
            .map(|(column, trees)| trees.ok_or_else(|| format!("no trees of column {column}")))
            .collect();
        Ok(Some(Arc::new(TableTrees::new(net, columns?))))
    }

    fn card(model: &Fitted<Self>) -> String {
        let schema = &model.description;
        let mut text = String::from("# A model of a table, by Posterior Mean Matching\n\n");
        let _ = writeln!(
            text,
            "Fitted by pmm {} to {} rows (of {}) and {} columns; seed {}; {} weights; {}.\n",
            model.fit.version,
            model.facts.rows,
            schema.rows,
            schema.columns.len(),
            model.config.seed,
            model.weights.len(),
            model.fit.sentence(Self::LOSS_UNIT),
        );
        text.push_str("| column | kind | pair | missing | why |\n|---|---|---|---|---|\n");
        for column in &schema.columns {
            let pair = if column.pair == PairKind::None { "left out" } else { column.pair.name() };
            let cell = |text: &str| text.replace('|', "\\|");
            let (name, kind) = (cell(&column.name), column.kind.name());
            let _ = writeln!(
                text,
                "| {name} | {kind} | {pair} | {} | {} |",
                column.missing,
                cell(&column.reason)
            );
        }
        text + "\n"
            + &model.card_end()
            + "\nSamples of columns whose values repeat keep to values that were seen in the data, unless they are told not to; the \
               schema holds the levels and values of the data. Whoever has this folder can see them.\n"
    }

    fn about(model: &Fitted<Self>) -> Vec<(&'static str, String)> {
        let (schema, net) = (&model.description, &model.net);
        let rows = match model.facts.rows {
            kept if kept as u64 == schema.rows => kept.to_string(),
            kept => format!("{kept} of {}", schema.rows),
        };
        let head = if net.head() == Head::Mean { "mean" } else { "marginal: the whole law of a cell" };
        let modelled = net.coordinates().columns.len();
        vec![
            ("rows", rows),
            ("columns", format!("{}, {modelled} in the model", schema.columns.len())),
            ("target", model.config.target.clone().unwrap_or_else(|| "–".into())),
            ("clock", clock_name(net.clock()).to_owned()),
            ("estimate", estimate_name(model)),
            ("head", head.to_owned()),
        ]
    }

    fn details(model: &Fitted<Self>) -> serde_json::Value {
        let column = |column: &pmm_data::Column| {
            serde_json::json!({
                "name": column.name, "kind": column.kind.name(), "pair": column.pair.name(),
                "missing": column.missing, "modelled": column.is_modelled(), "reason": column.reason,
            })
        };
        let columns: Vec<_> = model.description.columns.iter().map(column).collect();
        serde_json::json!({ "rows": model.description.rows, "rows_kept": model.facts.rows, "columns": columns })
    }

    fn seed(config: &TableConfig) -> u64 {
        config.seed
    }
}

/// What estimates a cell, in words.
fn estimate_name(model: &Fitted<Table>) -> String {
    let Some(trees) = &model.more else { return "network".to_owned() };
    let part = |(place, shares): (&ColumnPlace, &Shares)| match (&place.tokens, &place.value) {
        (Some(_), Some(_)) => 0.5 * (shares.codes + shares.value),
        (None, Some(_)) => shares.value,
        _ => shares.codes,
    };
    let places = &model.net.coordinates().columns;
    let mean = places.iter().zip(&model.facts.shares).map(part).sum::<f64>() / places.len().max(1) as f64;
    format!("{} trees, with {:.0} % of the say; the rest is the network's", trees.trees(), 100.0 * mean)
}

/// How the clocks run, in words.
pub(crate) fn clock_name(clock: ClockKind) -> &'static str {
    match clock {
        ClockKind::Reveal => "reveal: one column after the other",
        ClockKind::Gradual => "gradual: all columns together",
    }
}
