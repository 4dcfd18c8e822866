//! The formats that tables are written in, and the endings of file names that ask for them.

use std::path::Path;

use super::error::WriteError;

/// A format that is written.
///
/// ```
/// use std::path::Path;
/// use pmm_data::FileFormat;
/// assert_eq!(FileFormat::of(Path::new("rows.csv.gz"))?, FileFormat::Gzip(','));
/// assert!(FileFormat::of(Path::new("rows.json")).is_err());
/// # Ok::<(), pmm_data::WriteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// Fields separated by a character: comma, tab, ….
    Delimited(char),
    /// The same, compressed.
    Gzip(char),
    /// Apache Parquet, with snappy compression.
    Parquet,
    /// An Arrow IPC file (Feather version 2).
    Arrow,
    /// An Arrow IPC stream, which can be read while it is written.
    ArrowStream,
}

impl FileFormat {
    /// What can be written, for messages.
    pub(crate) const ENDINGS: &str = "written are .csv (comma), .tsv, .tab and .txt (tab), these with .gz, .parquet or .pq, .arrow, .feather or .ipc, \
         and .arrows (stream)";

    /// The format of a file's name; case does not count:
    ///
    /// | ending | format |
    /// |---|---|
    /// | `.csv`, or none at all | commas |
    /// | `.tsv`, `.tab`, `.txt` | tabs, as spreadsheets write `.txt` |
    /// | one of these and `.gz` | compressed |
    /// | `.parquet`, `.pq` | Parquet |
    /// | `.arrow`, `.feather`, `.ipc` | Arrow IPC file |
    /// | `.arrows` | Arrow IPC stream |
    ///
    /// Any other ending is refused.
    pub fn of(path: &Path) -> Result<Self, WriteError> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (stem, gzip) = name.strip_suffix(".gz").map_or((name.as_str(), false), |name| (name, true));
        let ending =
            stem.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, ending)| ending);
        let delimiter = match ending {
            "" | "csv" => Some(','),
            "tsv" | "tab" | "txt" => Some('\t'),
            _ => None,
        };
        match (ending, delimiter) {
            (_, Some(delimiter)) if gzip => Ok(Self::Gzip(delimiter)),
            (_, Some(delimiter)) => Ok(Self::Delimited(delimiter)),
            ("parquet" | "pq", _) if !gzip => Ok(Self::Parquet),
            ("arrow" | "feather" | "ipc", _) if !gzip => Ok(Self::Arrow),
            ("arrows", _) if !gzip => Ok(Self::ArrowStream),
            _ => {
                let ending = format!("{ending}{}", if gzip { ".gz" } else { "" });
                Err(WriteError::UnknownFormat { path: path.display().to_string(), ending })
            }
        }
    }

    /// Whether it is delimited text, which has no types of its own.
    pub fn is_delimited(self) -> bool {
        matches!(self, Self::Delimited(_) | Self::Gzip(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_name() {
        let of = |name: &str| FileFormat::of(Path::new(name));
        for (name, format) in [
            ("a.b/x.csv", FileFormat::Delimited(',')),
            ("x", FileFormat::Delimited(',')),
            ("/dev/stdout", FileFormat::Delimited(',')),
            (".hidden", FileFormat::Delimited(',')),
            ("x.TSV.gz", FileFormat::Gzip('\t')),
            ("x.gz", FileFormat::Gzip(',')),
            ("x.txt", FileFormat::Delimited('\t')),
            ("x.pq", FileFormat::Parquet),
            ("x.feather", FileFormat::Arrow),
            ("x.arrows", FileFormat::ArrowStream),
        ] {
            assert_eq!(of(name).unwrap(), format, "{name}");
        }
        for name in ["x.json", "x.xlsx", "x.parquet.gz", "x.csv.bak", "x.csv.zip"] {
            let error = of(name).unwrap_err();
            assert!(error.hint().unwrap().contains(".parquet"), "{error}");
        }
        assert_eq!(of("x.json").unwrap_err().to_string(), "x.json: files that end in .json are not written");
    }
}
