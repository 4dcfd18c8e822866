//! The command line.

use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Generative models of your data by Posterior Mean Matching.
///
/// Data are watched through noise on an information clock; a conjugate Bayesian model turns what has been seen into a
/// posterior mean. Letting that inference run on observations drawn from an estimate of the data makes new data.
#[derive(Debug, Parser)]
#[command(name = "pmm", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Fit(FitArgs),
    Sample(SampleArgs),
    Impute(ImputeArgs),
    Infill(InfillArgs),
    Predict(PredictArgs),
    Score(ScoreArgs),
    Eval(EvalArgs),
    Trace(TraceArgs),
    Info(InfoArgs),
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    #[cfg(feature = "serve")]
    Mcp(McpArgs),
    Completions(CompletionsArgs),
}

/// What every verb takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Fixes every random number, for any number of threads [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Where networks compute: cpu, or a graphics card by wgpu or cuda if pmm was built for it
    #[arg(long, value_name = "NAME", default_value = "cpu", value_parser = pmm::DEVICES)]
    pub(crate) device: String,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Common {
    /// The seed, where none is kept.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

/// Which rows of a database.
#[derive(Debug, Args)]
pub(crate) struct Query {
    /// For a table in a database: the rows that are meant, by a query. The data are then its address, such as sqlite:///file.db or
    /// postgresql://…
    #[arg(long, value_name = "QUERY")]
    pub(crate) sql: Option<String>,
}

/// By what rows are told apart, so that what is random does not depend on where they stand.
#[derive(Debug, Args)]
pub(crate) struct RowKeys {
    /// The number of the first row: what is random is keyed by row numbers, so that pieces of a table come out as the whole would
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) first_row: u64,
    /// A column that names each row, in place of its number: rows come out alike in any order and in any pieces
    #[arg(long, value_name = "COLUMN", conflicts_with = "first_row")]
    pub(crate) key: Option<String>,
}

/// Where rows go.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// The file to write [default: standard output]; for images a .png for all, or a folder for one file each. With --rows-per-file a name
    /// with a *, for which the numbers of files stand: 'part-*.parquet'
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Cut rows into files of so many, such as 1e6: row r goes to file r/N, whoever makes it, so that many jobs make one data set
    #[arg(long, value_name = "N", value_parser = count, requires = "out")]
    pub(crate) rows_per_file: Option<u64>,
    /// The format [default: by the name of the file, else csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Csv,
    Tsv,
    Parquet,
    Arrow,
    /// Texts as they are, with a line --- between them
    Txt,
    /// Texts, one JSON object {"text": …} a line
    Jsonl,
    /// Sequences, each under a line with its name
    Fasta,
}

/// How texts are drawn.
#[derive(Debug, Args)]
pub(crate) struct TextDrawing {
    /// For texts: the order in which an ordered network fills positions [default: left-to-right]
    #[arg(long, value_enum)]
    pub(crate) order: Option<TextOrder>,
    /// For texts: below 1 keeps closer to what is likely, 0 takes the likeliest [default: 1]
    #[arg(long, value_name = "T")]
    pub(crate) temperature: Option<f64>,
    /// For texts: draw among the K likeliest tokens only
    #[arg(long, value_name = "K")]
    pub(crate) top_k: Option<usize>,
    /// For texts: draw among the fewest tokens that hold this share of probability
    #[arg(long, value_name = "P")]
    pub(crate) top_p: Option<f64>,
}

impl TextDrawing {
    /// Whether anything is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.order.is_some() || self.temperature.is_some() || self.top_k.is_some() || self.top_p.is_some()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextOrder {
    /// From left to right, what is known first
    LeftToRight,
    /// In a random order, another for every text
    Random,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sampler {
    /// Exact: one token per call, each at its own time
    Events,
    /// Fixed steps of the clock; exact as they shrink
    Steps,
    /// Equally many tokens per call, in random order; approximate
    Parallel,
    /// Equally many tokens per call, the surest first; approximate
    Confident,
    /// For images: Algorithm 1 of the paper, with noise at every step
    Sde,
    /// For images: the same, second order: as good in a tenth of the calls
    Sde2,
    /// For images: the probability-flow ODE, first order
    Euler,
    /// For images: the ODE, second order, two calls a step
    Heun,
    /// For images: the ODE by DPM-Solver++(2M), second order, one call a step
    Dpm,
    /// For images of the Poisson pair: midpoint tau-leaping, two calls a step
    Leap,
}

/// How images are drawn.
#[derive(Debug, Args)]
pub(crate) struct ImageDrawing {
    /// For images: how strongly the class counts; 1 as learned, more for more typical images
    #[arg(long, value_name = "W")]
    pub(crate) guidance: Option<f64>,
    /// For images, with --given IMAGE: a picture whose bright pixels are to be filled in, or a folder with one of each image's name
    #[arg(long, value_name = "FILE")]
    pub(crate) mask: Option<PathBuf>,
    /// For images, with --sampler heun: noise put back on the way, such as 40
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) churn: Option<f64>,
    /// For images, with --sampler sde: what is taken at the end of the clock [default: estimate]
    #[arg(long = "final", value_enum, value_name = "WHAT")]
    pub(crate) ending: Option<Ending>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ending {
    /// What the network expects of the image, x̂, by one more call: without noise
    Estimate,
    /// The posterior mean μ, as in the paper: with what is left of the noise
    Mean,
}

impl ImageDrawing {
    /// Whether anything is asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.guidance.is_some() || self.mask.is_some() || self.churn.is_some() || self.ending.is_some()
    }
}

/// What `--valid` says: a number is a share, anything else a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum HeldOut {
    Share(f64),
    File(PathBuf),
}

impl From<OsString> for HeldOut {
    fn from(text: OsString) -> Self {
        match text.to_str().and_then(|text| text.parse().ok()) {
            Some(share) => Self::Share(share),
            None => Self::File(text.into()),
        }
    }
}

/// Fit a model to a table, a text or images.
///
/// A table is CSV, TSV (also gzipped, or with other delimiters), Parquet or Arrow; - reads standard input. Every column gets a
/// conjugate pair by what it holds; what was chosen, and why, is printed and stored. A text is a .txt file (also .gz, .xz), a
/// folder of them, or JSON lines; --set kind=text says so of any other file. Images are a folder of PNG, JPEG or WebP files (folders
/// in it are classes, or a labels.csv with lines file,label), IDX (MNIST), CIFAR-10 .bin, npy or npz, or a zip of pictures; --set size=32 makes them alike. The result is a folder NAME.pmm for the other verbs.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// The table, text or images; of a table also a folder or a quoted pattern of files, whose key=value folders are columns
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) query: Query,
    /// Settings by name: text8, openwebtext, cifar10, cifar10-poisson, ffhq64, afhqv2 (full size), text8-tiny, shakespeare,
    /// mnist, cifar10-tiny (two cores)
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The model's folder [default: DATA's name with .pmm]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// A column whose prediction matters most
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Training steps [default: by the size of the data, one to four minutes for a table, ten for a text,
    /// half an hour for images]
    #[arg(long, value_name = "N", conflicts_with = "minutes")]
    pub(crate) steps: Option<u64>,
    /// Training time, roughly; the number of steps is set by a trial
    #[arg(long, value_name = "M")]
    pub(crate) minutes: Option<f64>,
    /// What is held out to stop at the right time: a share of the rows or images, or of the text at its end; for a table also a
    /// file with other rows of it
    #[arg(long, value_name = "FRACTION|FILE")]
    pub(crate) valid: Option<HeldOut>,
    /// Go on with a fit that was stopped
    #[arg(long)]
    pub(crate) resume: bool,
    /// Replace a model that is already there
    #[arg(long, conflicts_with = "resume")]
    pub(crate) force: bool,
    /// Show columns, settings, size and time, and train nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Settings, as in a model's config.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// For a table in text: what stands for a missing cell, such as "NA;-", in place of what is known to be used for it; in Parquet and Arrow
    /// only null is missing
    #[arg(long, value_name = "TEXT;…")]
    pub(crate) missing: Option<String>,
    /// A rule that the rows keep, beside those that are found: "dropoff >= pickup", "total = fare + tip", "zone -> borough"; may be
    /// repeated
    #[arg(long, value_name = "RULE")]
    pub(crate) rule: Vec<String>,
    /// Leave out rules that are found: about a column, of a kind, or of a sentence as it is printed; may be repeated. --set
    /// rules=off leaves out all
    #[arg(long, value_name = "NAME")]
    pub(crate) no_rule: Vec<String>,
    /// Kinds and pairs of columns, as in a model's schema.json, edited
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// One setting, such as columns.age.pair=poisson, clock=gradual or net.width=128; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// With --dry-run: print as JSON
    #[arg(long, requires = "dry_run")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// A whole number, also written `1e9` or `2.5e6`.
fn count(text: &str) -> Result<u64, String> {
    let plain = text.parse::<u64>().ok();
    // Beyond 2^53 a number with an exponent may not be the one that is meant.
    let rounded = |number: &f64| number.fract() == 0.0 && (0.0..=9e15).contains(number);
    let number = || text.contains(['e', 'E']).then(|| text.parse::<f64>().ok().filter(rounded))?;
    plain
        .or_else(|| number().map(|number| number as u64))
        .ok_or_else(|| format!("{text:?} is no whole number"))
}

/// Numbers of rows, as in `1000..2000`.
fn row_range(text: &str) -> Result<std::ops::Range<u64>, String> {
    let (first, end) = text.split_once("..").ok_or("rows are given as A..B, such as 0..1000")?;
    let number = |text: &str| count(text.trim()).map_err(|_| format!("{text:?} is no row number"));
    let (first, end) = (number(first)?, number(end)?);
    if first < end { Ok(first..end) } else { Err(format!("there are no rows from {first} to {end}")) }
}

/// Draw new rows, texts or images.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// How many, such as 500 or 1e9 [default: 1000 rows, 1 text, 64 images]
    #[arg(short, value_name = "N", value_parser = count)]
    pub(crate) n: Option<u64>,
    /// For tables: rows A to B of the endless sample of the seed, B left out, counted from 0: pieces made anywhere fit together
    #[arg(long, value_name = "A..B", conflicts_with_all = ["n", "given_file"], value_parser = row_range)]
    pub(crate) rows: Option<std::ops::Range<u64>>,
    /// What is given: a cell (species=Adelie), a range (mass=3500..4000, year=2008..), a list (island=Dream|Biscoe), a missing cell
    /// (sex=); for a text, its beginning; for images, label=CLASS, or an image, or a folder of them, to be filled in where --mask
    /// is bright
    #[arg(long, value_name = "COLUMN=VALUE,…")]
    pub(crate) given: Vec<String>,
    /// For tables: a file of rows of which some cells are given, the others empty or not there; -n samples of each [default: 1]
    #[arg(long, value_name = "FILE")]
    pub(crate) given_file: Option<PathBuf>,
    /// For texts: how masks are lifted [default: left to right, one token at a time; events for a masked network; steps if --steps is
    /// given]. For images: how noise is taken away [default: sde2, by 20 calls
    /// of the network for the Normal pair and 40 for the Poisson pair]
    #[arg(long, value_enum)]
    pub(crate) sampler: Option<Sampler>,
    /// Network calls: per row of a table with clock=gradual [default: 100], per text [default: one per token], per image [default:
    /// see --sampler; 20 for an ODE, 250 for sde, 100 for leap]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) text: TextDrawing,
    /// For texts: tokens of each, its beginning among them; longer ones than the model's window slide on [default: the window]
    #[arg(long, value_name = "N")]
    pub(crate) length: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) image: ImageDrawing,
    /// Let repeated values (integers, prices) take values that were never seen
    #[arg(long)]
    pub(crate) no_snap: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Fill the missing cells of a table.
///
/// Every missing cell is drawn from its law given the cells that are there; all else stays as it is.
#[derive(Debug, Args)]
pub(crate) struct ImputeArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// The table with gaps: a file, a folder or a quoted pattern of files; - reads standard input
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) query: Query,
    /// Draw every gap so many times: so many completed tables, one after the other, numbered in a first column `draw`
    #[arg(long, value_name = "K")]
    pub(crate) draws: Option<NonZeroU64>,
    #[command(flatten)]
    pub(crate) keys: RowKeys,
    /// Network calls per row, for models with clock=gradual [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<NonZeroUsize>,
    /// Let repeated values take values that were never seen
    #[arg(long)]
    pub(crate) no_snap: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Complete the gaps of a text.
///
/// A gap is written ____ (three or more: one token for each; a token is a character unless the model has another tokenizer),
/// [MASK:12] for twelve tokens, or [MASK] for as many as fit. All else is kept to the byte.
#[derive(Debug, Args)]
pub(crate) struct InfillArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// The text with gaps; - reads standard input
    pub(crate) text: String,
    /// How many completions
    #[arg(short, value_name = "N", default_value_t = 1)]
    pub(crate) n: usize,
    /// Draw K completions and give the likeliest, the likeliest first
    #[arg(long, value_name = "K")]
    pub(crate) candidates: Option<NonZeroUsize>,
    /// The most tokens of a gap that is written [MASK] [default: 24]
    #[arg(long, value_name = "N")]
    pub(crate) longest: Option<NonZeroUsize>,
    /// Give such a gap the length that makes the whole the likeliest, not one that is drawn
    #[arg(long)]
    pub(crate) likeliest_length: bool,
    /// Words beside a gap stay as they are: no letter of a filling touches one of theirs
    #[arg(long)]
    pub(crate) whole_words: bool,
    /// How masks are lifted [default: left to right, one token at a time; events for a masked network; steps if --steps is given]
    #[arg(long, value_enum)]
    pub(crate) sampler: Option<Sampler>,
    /// Network calls [default: one per token]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) drawing: TextDrawing,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmptyCells {
    /// That the cell is known to be empty, where the training rows had such cells
    Missing,
    /// Nothing: it has a value that is not known. Columns that the file does not have always count so
    Unknown,
}

/// Predict a column from the others.
///
/// For numbers: mean, quantiles and, if asked for, draws of the law of the target given the rest of the row. For categories:
/// the most likely level and the probability of each.
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// Rows to predict for: a file, a folder or a quoted pattern of files; - reads standard input. What it says of the target is not looked at
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) query: Query,
    /// The column to predict [default: the model's target]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Add so many draws from the law
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    pub(crate) draws: u32,
    /// What an empty cell of the rows says: that there is nothing, or nothing
    #[arg(long, value_enum, default_value = "missing")]
    pub(crate) empty: EmptyCells,
    #[command(flatten)]
    pub(crate) keys: RowKeys,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Say how likely rows or texts are, and what in them is not.
///
/// For documents of a text (or sequences of FASTA): bits from left to right, in random orders and averaged over orders, and the rank by the first;
/// with --format jsonl also the surprise of every token. For rows: writes for every row its log-likelihood in nats with a standard error, the largest surprise of a cell, −log p(cell | the rest of
/// the row), the cells that surprise and the rules that are broken: errors in data, outliers, drift between two files.
#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// Rows or texts to score; of rows also a folder or a quoted pattern of files; - reads standard input
    pub(crate) data: PathBuf,
    #[command(flatten)]
    pub(crate) query: Query,
    /// What an empty cell of the rows says: that there is nothing, or nothing
    #[arg(long, value_enum, default_value = "missing")]
    pub(crate) empty: EmptyCells,
    #[command(flatten)]
    pub(crate) keys: RowKeys,
    #[command(flatten)]
    pub(crate) output: Output,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Score a model against rows, text or images it has not seen.
///
/// A table: makes as many rows as there are and compares: columns, dependences, a classifier that tries to tell real from made,
/// usefulness, privacy (with --train), prediction, likelihood in bits. A text: the likelihood bound in
/// bits per character, what an n-gram model of the same text needs, how samples differ from the text, how well gaps are filled. Images:
/// the likelihood bound in bits per dimension, samples beside their nearest training images and, with --features, Fréchet and
/// kernel distances of samples to training images, beside those of as many images of DATA.
/// Each score stands beside that of real data. Writes report.html to the model's folder.
#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// Real rows, text or images not used to fit
    pub(crate) data: PathBuf,
    /// What was used to fit, as a baseline [default: half of DATA stands in for rows; texts and images are kept by the model]
    #[arg(long, value_name = "FILE")]
    pub(crate) train: Option<PathBuf>,
    /// The column to predict [default: the model's target, or the last column]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// Score these samples, and nothing else: rows (any table, also of another program), texts (JSON lines, as pmm sample --format jsonl writes them) or images (a folder, as
    /// pmm sample --out FOLDER writes it, with labels.csv; else folders in it are classes). Of rows, a page is written with --out
    #[arg(long, value_name = "FILE")]
    pub(crate) samples: Option<PathBuf>,
    /// For images: weights of a feature network, to measure distances with: a ResNet of CIFAR-10, EfficientNet-Lite0 or the
    /// Inception of FID, in safetensors or in a file of PyTorch (.pth)
    #[arg(long, value_name = "FILE")]
    pub(crate) features: Option<PathBuf>,
    /// For images: how many are drawn [default: 64; with --features 1000, or as many as DATA has]
    #[arg(short, value_name = "N")]
    pub(crate) n: Option<NonZeroUsize>,
    /// For images: network calls for each [default: as pmm sample has it]
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<NonZeroUsize>,
    /// For texts: a folder with GPT-2's model.safetensors and its tokenizer, to judge samples by
    #[arg(long, value_name = "DIR")]
    pub(crate) judge: Option<PathBuf>,
    /// Where to write the report [default: the model's folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the scores as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: Common,
}

impl EvalArgs {
    /// Whether something is asked for that only images have.
    pub(crate) fn is_of_images(&self) -> bool {
        self.features.is_some() || self.n.is_some() || self.steps.is_some()
    }
}

/// Draw how data become known: the posterior mean converging, a text coming out of its masks, images out of noise.
///
/// A picture of two dozen rows in the making: what the model expects of a column, call by call, until the value is there.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// Columns to draw [default: the first numeric ones]
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,
    /// The picture, .png or .svg [default: trace.png in the model's folder; trace.svg, which moves, for a text;
    /// for images trace.png moves]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Say what a model is, how it was trained and how big it is.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// A model's folder
    pub(crate) model: PathBuf,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// See everything at work on a real table: no data, no set-up.
///
/// Fits the Palmer penguins (344 of them, part of the program), a fifth held out; makes new penguins, fills gaps, predicts weights,
/// scores it all, and shows the command behind each step. Writes a report with pictures, the model and all tables.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The folder to write to; it is made if need be
    #[arg(long, value_name = "DIR", default_value = "pmm-demo")]
    pub(crate) out: PathBuf,
    /// Show the mathematics instead: for each of the four conjugate pairs, posterior means on their way to a known target, and
    /// how far samples are from it as the number of steps grows
    #[arg(long)]
    pub(crate) method: bool,
    /// With --method: samples per cell of its table [default: 20000]
    #[arg(long, value_name = "N", requires = "method")]
    pub(crate) rows: Option<NonZeroUsize>,
    /// Fixes every random number, for any number of threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Print the scores as JSON, and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress and no notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Print a completion script for your shell.
///
/// For example: pmm completions bash > ~/.local/share/bash-completion/completions/pmm
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

/// Open the page and the API for the models and data of a folder, on this machine.
///
/// Prints an address with a token that a browser may open once, and opens it. Programs send the other token with every request, as
/// Authorization: Bearer TOKEN; /openapi.json says what they can ask. Ctrl-C ends it; fits are stopped and can go on.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The folder of models and data; nothing outside it is read or written
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The address to listen on; others than this machine's own let others in who have a token
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// The port; 0 takes one that is free
    #[arg(long, value_name = "N", default_value_t = 8787)]
    pub(crate) port: u16,
    /// What programs must send [default: made up and printed]
    #[arg(long, value_name = "TEXT")]
    pub(crate) token: Option<String>,
    /// Fit nothing and take no files
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Megabytes of a request, at most
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) max_body: u64,
    /// Rows, texts or images that a request may ask for
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    pub(crate) max_rows: u64,
    /// Seconds that a request may compute
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub(crate) max_seconds: u64,
    /// Requests that compute at a time; the others wait for their turn [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) max_jobs: Option<NonZeroUsize>,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}

/// Give the models and data of a folder to an assistant, as tools of the Model Context Protocol over standard input and output.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The folder of models and data; nothing outside it is read or written
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Fit nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
}
