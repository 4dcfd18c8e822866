//! Files and coordinates: a table is read as records of text, typed by a [`Schema`], coded to [`Cells`] and written back;
//! text is read in pieces and coded to [`Tokens`]; pictures are made alike and kept as [`Images`].
//!
//! | step | by | what it knows |
//! |---|---|---|
//! | file → records of text | [`Source`], [`Records`] | formats, delimiters, quotes, gzip, encodings |
//! | records → schema | [`Schema::infer`], [`Overrides`] | kinds, pairs, gates, missing markers; one streaming pass |
//! | record → codes and values | [`Coder`], [`Table`] | matches columns by name, unseen levels, sampling of rows |
//! | value ⇄ normal score | [`Grid`] | the empirical distribution of a column |
//! | code and value → text | [`Column::decode`] | decimals, date formats, levels |
//! | text → file | [`Writer`] | quoting, gzip, Parquet and Arrow types, temporary names |
//! | files → pieces of text | [`TextSource`] | folders, JSON lines, gzip and xz, UTF-8 |
//! | text ⇄ tokens | [`Tokenizer`] | characters, bytes, byte-level BPE and its files |
//! | tokens → windows | [`Tokens`] | a memory-mapped file with a checked header |
//! | files → pictures of one size | [`ImageSource`] | PNG, JPEG, WebP, IDX, CIFAR-10, mosaics, npy and npz; classes |
//! | pictures → pixels and labels | [`Images`] | a memory-mapped file with a checked header |
//! | numbers ⇄ archive of arrays | [`read_npz`], [`write_npz`] | `numpy.savez` |
//! | pixels ⇄ picture | [`grid_png`], [`animated_png`], [`read_image`] | grids; animations; scaling and cropping |
//!
//! The schema is data: inferred, printed, edited as `schema.json` and read again. No file makes this crate panic; what cannot
//! be read is refused with its file, line, column and value, and [`ReadError::hint`], [`TextDataError::hint`] or
//! [`ImageDataError::hint`] says what to do.

mod image;
mod map;
mod table;
mod temporary;
mod text;

pub use self::image::{
    ArrayFileError, ImageDataError, ImageOptions, ImageSource, Images, NamedArray, animated_png, grid_png,
    holds_images, read_image, read_npz, write_npz,
};
pub use table::{
    CellError, CellType, Cells, CodedRow, Coder, Coding, Column, ColumnOverride, DateFormat, DateGrid,
    DateOrder, DressedForm, DurationForm, EMPTY, Field, FileFormat, FractionZeros, Grid, GridError, HalfDay,
    Header, Kind, LetterCase, Level, Levels, LevelsError, MISSING, MarkerCount, MarkerRole, MarkerUse,
    MonthFormat, Negative, NumberForm, NumberFormat, Numbers, OffsetStyle, OverrideError, Overrides,
    PairKind, ReadError, ReadNotes, ReadOptions, Record, Records, Schema, SchemaError, Source, Special,
    Table, TimeFormat, Unseen, WriteError, Writer, Zone,
};
pub use text::{Bpe, Characters, Piece, TextDataError, TextOptions, TextSource, Tokenizer, Tokens};
