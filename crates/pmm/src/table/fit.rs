//! Fitting a model to a table.

use std::path::PathBuf;
use std::sync::Arc;

use pmm_core::Streams;
use pmm_data::rules::KeptRule;
use pmm_data::{
    Cells, Column, Header, Overrides, ReadError, ReadOptions, Schema, Source, Table as CodedTable,
};
use pmm_net::table::{ClockKind, TableTrees, TreesConfig};
use pmm_net::{Device, TrunkKind};
use pmm_train::table::{BatchConfig, MOST_HELD_OUT, TableConfig, TableTask, split};

use super::data::Data;
use super::kind::{Table, TableFacts};
use super::model::Model;
use super::rules::{RuleWishes, extend, take_rules};
use super::trees::Growing;
use crate::error::Error;
use crate::fitted::load_settings;
use crate::fitting::{Options, Prepared, check_data, fit_options};
use crate::folder::{TREES, WorkFolder};
use crate::settings::Settings;
use crate::watch::{Event, Watcher};

/// Modelled cells that are kept in memory, at most.
const MOST_CELLS: usize = 160_000_000;
/// More columns than trees can tell apart.
const MOST_TREE_COLUMNS: usize = 5_000;
/// With fewer held-out rows of another file, its loss would be noise.
const FEWEST_HELD_OUT: usize = 10;

/// A fit of a table, with its settings.
///
/// ```
/// use pmm::table::{Data, Fit};
/// let text: String = (0..200).map(|i| format!("{},{}\n", i % 7, 2 * (i % 7))).collect();
/// let model = Fit::new(Data::from_csv(format!("a,b\n{text}"))).steps(20).run(&mut ())?;
/// assert_eq!(model.schema().columns.len(), 2);
/// # Ok::<(), pmm::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Fit {
    data: Data,
    held_out: Option<Data>,
    overrides: Overrides,
    rules: RuleWishes,
    options: Options,
}

/// What a fit would be: columns, settings, size and time. [`run`](Self::run) begins it.
pub struct PreparedFit {
    prepared: Prepared<Table>,
    table: Arc<CodedTable>,
    held_out: Option<CodedTable>,
    given: Settings,
    minutes: Option<f64>,
    name: String,
    notes: Vec<String>,
}

impl Fit {
    /// A fit of a table.
    pub fn new(data: impl Into<Data>) -> Self {
        let overrides = Overrides::default();
        let rules = RuleWishes::default();
        Self { data: data.into(), held_out: None, overrides, rules, options: Options::default() }
    }

    fit_options!();

    /// A column whose prediction matters most.
    pub fn target(mut self, column: &str) -> Self {
        // A text under a plain name: nothing can go wrong.
        let _ = self.options.settings.set("target", column);
        self
    }

    /// Rows to validate on, in place of some of the table.
    pub fn held_out(mut self, data: impl Into<Data>) -> Self {
        self.held_out = Some(data.into());
        self
    }

    /// Wishes about columns: their kinds, pairs and special values.
    pub fn columns(mut self, overrides: Overrides) -> Self {
        self.overrides = overrides;
        self
    }

    /// A rule that rows keep, in words: `dropoff >= pickup`, `total = fare + tip`, `zone -> borough`; see [`Rule::parse`](super::Rule::parse).
    pub fn rule(mut self, rule: &str) -> Self {
        self.rules.declared.push(rule.to_owned());
        self
    }

    /// Leaves out the rules that are found about a column, of a kind, or of a sentence.
    pub fn without_rule(mut self, name: &str) -> Self {
        self.rules.without.push(name.to_owned());
        self
    }

    /// Fits, and leaves a model. A watcher that stops it early gets the best model so far.
    pub fn run(self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        self.prepare(watcher)?.run(watcher)
    }

    /// Reads the data and settles everything, without training. Nothing is written.
    pub fn prepare(mut self, watcher: &mut dyn Watcher) -> Result<PreparedFit, Error> {
        self.options.check()?;
        self.options = self.options.of_rank()?;
        if self.options.follows() {
            (self.overrides, self.rules) = Default::default();
        }
        if let Some(name) = &self.options.preset {
            return Err(Error::UnknownPreset {
                name: name.clone(),
                kind: crate::DataKind::Table,
                known: vec![],
            });
        }
        let work = match &self.options.place {
            Some(place) => Some(place.take()?),
            None => None,
        };
        watcher.notice(Event::Started { what: "reading", total: None });
        let source = self.data.source()?;
        let other = match &self.held_out {
            Some(data) => Some(open_like(data, &source)?),
            None => None,
        };
        let digest = digest(&source, other.as_ref())?;
        let stored = self.stored(work.as_ref(), &digest)?;
        let mut schema = match &stored {
            Some((_, schema)) if self.overrides == Overrides::default() => schema.clone(),
            _ => Schema::infer(&source, &self.overrides)?,
        };
        refuse_unlearnable(&source, &schema)?;
        watcher.notice(Event::Started { what: "coding", total: None });
        // Which rows of a very large file are kept does not depend on the seed: a fit that goes on must see the same.
        let (mut table, noticed) = CodedTable::read(&source, &schema, MOST_CELLS, &Streams::new(0))?;
        let mut notes: Vec<String> = source.notes().iter().cloned().chain(noticed.messages()).collect();
        let mut given = self.options.given()?;
        if other.is_some() {
            // All rows of the data are learned.
            given.set("valid", 0.0)?;
        }
        self.settle_rules(&mut schema, &mut table, stored.is_some(), &given, watcher)?;
        let held_out = match &other {
            Some(other) => Some(held_out_rows(other, &schema, &mut notes)?),
            None => None,
        };
        watcher.notice(Event::Finished);
        let schema = Arc::new(schema);
        let config = match &stored {
            Some((config, _)) => self.options.resolve_stored(config, &given)?,
            None => self.recommended(&schema, table.rows, &given)?,
        };
        if let Some(target) = &config.target {
            super::columns::find_modelled(&schema, target)?;
        }
        Ok(PreparedFit {
            prepared: Prepared::new(work, &self.options, config, schema, &digest)?,
            table: Arc::new(table),
            held_out,
            given,
            minutes: self.options.minutes.filter(|_| stored.is_none()),
            name: source.name().to_owned(),
            notes,
        })
    }

    /// The rules of the table: those of a fit that goes on, or those that are found.
    fn settle_rules(
        &self,
        schema: &mut Schema,
        table: &mut CodedTable,
        resumed: bool,
        given: &Settings,
        watcher: &mut dyn Watcher,
    ) -> Result<(), Error> {
        let plain: TableConfig = given.over(&TableConfig::default())?;
        let wished = self.rules != RuleWishes::default();
        let keeps = plain.rules && plain.clock == ClockKind::Reveal;
        if wished && (!keeps || resumed) {
            let remedy = "rules are kept by fits that begin, with clock = \"reveal\" and rules = \"on\"";
            return Err(Error::request("this fit cannot take rules", remedy));
        }
        if resumed {
            return extend(schema, table);
        }
        if keeps {
            watcher.notice(Event::Started { what: "looking for rules", total: None });
            take_rules(schema, table, &self.rules)?;
        }
        Ok(())
    }

    /// Settings and schema of a fit that goes on, if it was begun with these data.
    fn stored(
        &self,
        work: Option<&WorkFolder>,
        digest: &str,
    ) -> Result<Option<(TableConfig, Schema)>, Error> {
        let (Some(work), Some(place)) = (work.filter(|_| self.options.is_resumed()), &self.options.place)
        else {
            return Ok(None);
        };
        check_data(work, &place.folder, digest)?;
        load_settings::<Table>(&work.path).map(Some)
    }

    /// The settings for a table of this size: once over the plain defaults, to know the network; once over those of its size.
    fn recommended(&self, schema: &Arc<Schema>, rows: usize, given: &Settings) -> Result<TableConfig, Error> {
        let mut plain: TableConfig = given.over(&TableConfig::default())?;
        if given.has("trees") && !given.has("net.kind") {
            plain.net.kind = TrunkKind::Pooled;
        }
        plain.check()?;
        let net = plain.network(schema, &self.options.device())?;
        let columns = net.columns().len();
        let kind = plain.net.kind;
        if kind.has_trees() && columns > MOST_TREE_COLUMNS {
            let remedy = "fit a network: net.kind = \"mlp\"";
            return Err(Error::request(format!("{columns} columns are too many for trees"), remedy));
        }
        let sized = TableConfig::for_table(rows as u64, kind, net.columns());
        self.options.resolve(sized, given)
    }
}

impl PreparedFit {
    /// The columns, as they will be modelled.
    pub fn schema(&self) -> &Schema {
        &self.prepared.description
    }

    /// The settings.
    pub fn config(&self) -> &TableConfig {
        &self.prepared.config
    }

    /// The name of the data.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a person should know about the data.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Rows that are kept in memory, and rows of another file that are held out.
    pub fn rows(&self) -> (usize, Option<usize>) {
        (self.table.rows, self.held_out.as_ref().map(|rows| rows.rows))
    }

    /// The rules that hold in the rows, with their evidence: the model keeps them.
    pub fn rules(&self) -> &[KeptRule] {
        &self.schema().rules
    }

    /// What it would take.
    pub fn cost(&self) -> crate::Cost {
        let config = &self.prepared.config;
        let weights = self.prepared.weights();
        let columns = self.prepared.net.columns();
        let cells: usize = self.table.columns.iter().map(Cells::len).sum();
        crate::Cost {
            weights,
            megabytes: (cells * 8 + weights * 4 * 8) as f64 / 1e6,
            operations_per_step: 2.0 * config.multiplications(columns),
            minutes: config.minutes(columns),
        }
    }

    /// What the ranks of this job would gain, by a few steps that all of them take; none where there is one.
    pub fn gain(&self, ranks: crate::AllRanks) -> Result<Option<crate::Gain>, Error> {
        Ok(pmm_train::measure_gain(&self.task()?, &self.prepared.config.train, ranks)?)
    }

    /// Trains, and leaves a model.
    pub fn run(mut self, watcher: &mut dyn Watcher) -> Result<Model, Error> {
        self.notes.iter().for_each(|note| watcher.notice(Event::Note(note)));
        if let Some(minutes) = self.minutes {
            let task = self.task()?;
            self.prepared.set_minutes(minutes, &task, &self.given)?;
        }
        let mut task = self.task()?;
        if let Some(config) = self.prepared.config.trees.clone() {
            self.prepared.begin(&task)?;
            if let Some(trees) = self.grow(&config, watcher)? {
                task = task.with_trees(&trees);
                self.prepared.more = Some(trees);
            }
        }
        let rows = self.table.rows;
        let finish = |weights: &[f32]| {
            let weights = task.calibrated(weights);
            let shares = task.shares(&weights);
            let facts = TableFacts { rows, trims: task.trims(&weights, &shares), shares };
            (weights, facts)
        };
        Ok(Model::new(self.prepared.run(&task, &finish, watcher)?))
    }

    /// Rows to learn, and rows to validate on.
    fn split(&self) -> (Vec<u32>, Vec<u32>) {
        let all = |rows: usize| (0..rows as u32).collect::<Vec<u32>>();
        match &self.held_out {
            Some(held_out) => (all(self.table.rows), all(held_out.rows)),
            None => {
                let config = &self.prepared.config;
                split(self.table.rows, config.valid, &Streams::new(config.seed))
            }
        }
    }

    /// The place of the target among the modelled columns.
    fn target(&self) -> Option<usize> {
        let Prepared { config, description: schema, net, .. } = &self.prepared;
        let index = schema.position(config.target.as_deref()?)?;
        net.coordinates().columns.iter().position(|place| place.column == index)
    }

    /// The task: rows to learn and rows to validate on.
    fn task(&self) -> Result<TableTask, Error> {
        let Prepared { config, net, .. } = &self.prepared;
        let (learned, held_out) = self.split();
        let held_out = (self.held_out.as_ref().unwrap_or(&self.table), &held_out[..]);
        let batch = BatchConfig {
            rows: config.batch,
            dropout: config.net.dropout,
            target: self.target(),
            in_order: config.in_order,
            trees_alone: config.net.kind == TrunkKind::Trees,
        };
        let streams = Streams::new(config.seed);
        Ok(TableTask::new(net.clone(), self.table.clone(), learned, held_out, batch, streams)?)
    }

    /// The trees of all columns; none if the watcher wants a stop before they are grown.
    fn grow(
        &self,
        config: &TreesConfig,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Arc<TableTrees>>, Error> {
        let Prepared { net, identity, .. } = &self.prepared;
        let (learned, held_out) = self.split();
        let held_out = (self.held_out.as_ref().unwrap_or(&self.table), &held_out[..]);
        let growing = Growing {
            net,
            rows: ((&self.table, &learned), held_out),
            target: self.target(),
            in_order: self.prepared.config.in_order,
            config,
            streams: Streams::new(self.prepared.config.seed),
            path: self.prepared.folder().map(|folder| folder.join(TREES)),
            identity,
        };
        growing.run(watcher)
    }
}

/// A second file of the same table, read as the first.
fn open_like(data: &Data, first: &Source) -> Result<Source, Error> {
    let header = if first.header() { Header::Yes } else { Header::No };
    let source = data.clone().reading(ReadOptions { header, ..ReadOptions::default() }).source()?;
    let missing = first.names().iter().find(|name| !source.names().contains(name));
    match missing {
        None => Ok(source),
        Some(name) => Err(Error::request(
            format!("{} has no column {name}, which {} has", source.name(), first.name()),
            "held-out rows must have the columns of the table",
        )),
    }
}

/// What all data of a fit are known by.
fn digest(data: &Source, held_out: Option<&Source>) -> Result<String, Error> {
    let data = data.digest()?;
    Ok(match held_out {
        Some(held_out) => format!("{data}+{}", held_out.digest()?),
        None => data.to_owned(),
    })
}

fn refuse_unlearnable(source: &Source, schema: &Schema) -> Result<(), Error> {
    if schema.rows == 0 {
        return Err(ReadError::NoRows { path: source.name().to_owned() }.into());
    }
    if schema.columns.iter().any(Column::is_modelled) {
        return Ok(());
    }
    let why: Vec<String> =
        schema.columns.iter().map(|column| format!("{}: {}", column.name, column.reason)).collect();
    Err(Error::NothingToLearn {
        data: source.name().to_owned(),
        why: format!("no column can be learned ({})", why.join("; ")),
        remedy: "say that a column is a category, if its values are to be learned as they are".into(),
    })
}

/// The rows of a file to hold out, coded by the schema of the training rows.
fn held_out_rows(source: &Source, schema: &Schema, notes: &mut Vec<String>) -> Result<CodedTable, Error> {
    let modelled = schema.columns.iter().filter(|column| column.is_modelled()).count();
    let (mut table, found) = CodedTable::read(source, schema, MOST_HELD_OUT * modelled, &Streams::new(0))?;
    if table.rows < FEWEST_HELD_OUT {
        return Err(Error::TooFew {
            data: source.name().to_owned(),
            found: table.rows as u64,
            unit: "rows",
            needed: FEWEST_HELD_OUT as u64,
        });
    }
    let noticed = source.notes().iter().cloned().chain(found.messages());
    notes.extend(noticed.map(|note| format!("{}: {note}", source.name())));
    extend(schema, &mut table)?;
    Ok(table)
}
