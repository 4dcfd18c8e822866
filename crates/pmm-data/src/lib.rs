//! Files and coordinates: a table is read as typed batches, described by a [`Schema`], coded to [`Cells`] and written back;
//! text is read in pieces and coded to [`Tokens`]; pictures are made alike and kept as [`Images`].
//!
//! | step | by | what it knows |
//! |---|---|---|
//! | file or batches in memory → rows in their own types | [`Source`], [`RowBatch`] | formats, delimiters, quotes, gzip, encodings |
//! | rows → schema | [`Schema::infer`], [`Overrides`] | kinds, pairs, gates, what is missing; one streaming pass |
//! | rows → cells | [`Coder`], [`Table`] | matches columns by name, unseen levels, sampling of rows |
//! | value ⇄ normal score | [`Grid`] | the empirical distribution of a column |
//! | cells → arrays | [`Decoder`], [`RowsDecoder`] | types, grids, levels; gaps filled, the rest as it was |
//! | arrays → file | [`Writer`] | Parquet, Arrow, delimited text and its formats; temporary names, pipes |
//! | rows → rules that hold in them | [`rules`] | functions, sums, orders, gates, keys, grids; with evidence |
//! | files → pieces of text | [`TextSource`] | folders, JSON lines, gzip and xz, UTF-8 |
//! | text ⇄ tokens | [`Tokenizer`] | characters, bytes, byte-level BPE and its files |
//! | tokens → windows | [`Tokens`] | a file with checksums, read where it lies if it is large |
//! | files → pictures of one size | [`ImageSource`] | PNG, JPEG, WebP, IDX, CIFAR-10, mosaics, npy and npz; classes |
//! | pictures → pixels and labels | [`Images`] | a file with checksums, read where it lies if it is large |
//! | numbers ⇄ archive of arrays | [`read_npz`], [`write_npz`] | `numpy.savez` |
//! | pixels ⇄ picture | [`grid_png`], [`animated_png`], [`read_image`] | grids; animations; scaling and cropping |
//!
//! The schema is data: inferred, printed, edited as `schema.json` and read again. No file makes this crate panic; what cannot
//! be read is refused with its file, line, column and value, and [`ReadError::hint`], [`TextDataError::hint`] or
//! [`ImageDataError::hint`] says what to do.

mod image;
mod map;
pub mod rules;
mod sealed_header;
mod table;
mod text;
mod unpacked;

pub use self::image::{
    ArrayFileError, ImageArray, ImageDataError, ImageOptions, ImageSize, ImageSource, Images, NamedArray,
    animated_png, grid_png, holds_images, image_count, read_image, read_npz, write_npz,
};
pub use table::{
    Batches, Cell, CellError, Cells, Coder, Coding, Column, ColumnMarkers, ColumnOverride, ColumnType,
    ColumnTypeError, DateFormat, DateGrid, DateOrder, Decoder, DressedForm, DurationForm, FileFormat,
    FractionZeros, Grid, GridError, HalfDay, Header, IdentifierPattern, Identifiers, Kind, LetterCase, Level,
    Levels, LevelsError, MISSING, MarkerCount, MarkerRole, MarkerUse, MonthFormat, Negative, NumberForm,
    NumberFormat, NumberedFiles, Numbers, OffsetStyle, OutputColumn, OverrideError, Overrides, PairKind,
    Place, ReadError, ReadNotes, ReadOptions, RealRanges, RowBatch, RowsDecoder, Running, Schema,
    SchemaError, Source, Special, Table, Tail, TextFormat, TimeFormat, UniqueCells, Unseen, WriteError,
    Writer, Zone, holds_tables, is_pattern, is_reading_guarded, row_keys,
};
pub use text::{
    Alphabet, Bpe, Characters, Document, FASTA_ENDINGS, Piece, SequenceSummary, TextDataError, TextOptions,
    TextSource, Tokenizer, Tokens,
};
