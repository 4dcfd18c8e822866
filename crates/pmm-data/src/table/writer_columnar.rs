//! Record batches → Parquet and Arrow.

use std::io::{BufWriter, Write};

use arrow_array::RecordBatch;
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::dictionaries::Dictionaries;
use super::file_format::FileFormat;
use super::writer::Watched;

/// Rows of a Parquet file that are held until they are written.
const GROUP: usize = 1 << 17;

type Output = BufWriter<Watched>;

/// A Parquet or Arrow file in the making.
pub(crate) struct ColumnarWriter {
    sink: Sink,
    dictionaries: Dictionaries,
}

enum Sink {
    Parquet(Box<ArrowWriter<Output>>),
    Arrow(Box<FileWriter<Output>>),
    Stream(Box<StreamWriter<Output>>),
}

impl ColumnarWriter {
    pub(crate) fn new(output: Output, format: FileFormat, schema: &SchemaRef) -> Result<Self, ArrowError> {
        // An Arrow file has one dictionary a column, which may only grow.
        let growing = || IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
        let sink = match format {
            FileFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_max_row_group_row_count(Some(GROUP))
                    .build();
                Sink::Parquet(Box::new(ArrowWriter::try_new(output, schema.clone(), Some(properties))?))
            }
            FileFormat::ArrowStream => {
                Sink::Stream(Box::new(StreamWriter::try_new_with_options(output, schema, growing())?))
            }
            _ => Sink::Arrow(Box::new(FileWriter::try_new_with_options(output, schema, growing())?)),
        };
        Ok(Self { sink, dictionaries: Dictionaries::default() })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match &mut self.sink {
            Sink::Parquet(writer) => Ok(writer.write(batch)?),
            Sink::Arrow(writer) => writer.write(&self.dictionaries.unify(batch)?),
            Sink::Stream(writer) => writer.write(&self.dictionaries.unify(batch)?),
        }
    }

    pub(crate) fn finish(self) -> Result<(), ArrowError> {
        let mut output = match self.sink {
            Sink::Parquet(writer) => writer.into_inner()?,
            Sink::Arrow(writer) => writer.into_inner()?,
            Sink::Stream(writer) => writer.into_inner()?,
        };
        Ok(output.flush()?)
    }
}
