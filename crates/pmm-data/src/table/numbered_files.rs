//! Rows cut into files by their numbers, so that pieces made anywhere are one data set.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;

use super::error::WriteError;
use super::file_format::FileFormat;
use super::output_column::OutputColumn;
use super::writer::Writer;

/// Writes rows to files of equally many rows: row r goes to file r / `rows_per_file`, whose number stands in place of the `*` in the name.
/// Every file is whole or absent; a job that makes other rows makes other files.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch};
/// use arrow_schema::DataType;
/// use pmm_data::{NumberedFiles, OutputColumn};
/// let folder = tempfile::tempdir()?;
/// let columns = [OutputColumn::new("legs", DataType::Int64)];
/// // Rows 4 to 9 of a table, of which others may be written elsewhere.
/// let mut files = NumberedFiles::create(folder.path().join("part-*.csv"), &columns, 4, 4)?;
/// let schema = Arc::new(arrow_schema::Schema::new(vec![columns[0].field.clone()]));
/// files.write(&RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(vec![4, 5, 6, 7, 8, 9]))])?)?;
/// files.finish()?;
/// assert_eq!(std::fs::read_to_string(folder.path().join("part-00001.csv"))?, "legs\n4\n5\n6\n7\n");
/// assert_eq!(std::fs::read_to_string(folder.path().join("part-00002.csv"))?, "legs\n8\n9\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NumberedFiles {
    pattern: PathBuf,
    columns: Vec<OutputColumn>,
    rows_per_file: u64,
    /// The number of the next row.
    row: u64,
    writer: Option<Writer>,
}

impl NumberedFiles {
    /// From the row with a number on, which must begin a file.
    pub fn create(
        pattern: impl AsRef<Path>,
        columns: &[OutputColumn],
        rows_per_file: u64,
        first_row: u64,
    ) -> Result<Self, WriteError> {
        let pattern = pattern.as_ref();
        let path = || pattern.display().to_string();
        FileFormat::of(pattern)?;
        if !Self::is_pattern(pattern) {
            return Err(WriteError::NoNumber { path: path() });
        }
        if rows_per_file == 0 || !first_row.is_multiple_of(rows_per_file) {
            return Err(WriteError::InsideFile { first_row, rows_per_file });
        }
        let columns = columns.to_vec();
        Ok(Self { pattern: pattern.into(), columns, rows_per_file, row: first_row, writer: None })
    }

    /// Whether a path has one `*` in the name of its file, for the numbers of files.
    pub fn is_pattern(path: &Path) -> bool {
        path.file_name().is_some_and(|name| name.to_string_lossy().matches('*').count() == 1)
    }

    /// Writes some rows.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        let mut done = 0;
        while done < batch.num_rows() {
            let left = self.rows_per_file - self.row % self.rows_per_file;
            let rows = usize::try_from(left).unwrap_or(usize::MAX).min(batch.num_rows() - done);
            self.writer()?.write(&batch.slice(done, rows))?;
            done += rows;
            self.row += rows as u64;
            if self.row.is_multiple_of(self.rows_per_file)
                && let Some(writer) = self.writer.take()
            {
                writer.finish()?;
            }
        }
        Ok(())
    }

    /// Ends the last file.
    pub fn finish(self) -> Result<(), WriteError> {
        self.writer.map_or(Ok(()), Writer::finish)
    }

    /// The file of the next row.
    fn writer(&mut self) -> Result<&mut Writer, WriteError> {
        if self.writer.is_none() {
            let number = format!("{:05}", self.row / self.rows_per_file);
            let name = self.pattern.file_name().unwrap_or_default().to_string_lossy().replace('*', &number);
            self.writer = Some(Writer::create(self.pattern.with_file_name(name), &self.columns)?);
        }
        match &mut self.writer {
            Some(writer) => Ok(writer),
            None => Err(WriteError::NoNumber { path: self.pattern.display().to_string() }),
        }
    }
}
