//! Which files a folder or a pattern means, and what their folders say about them.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::error::ReadError;
use super::file_format::FileFormat;
use super::remote;

/// A file of a table, and the `key=value` folders that it lies in, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) keys: Vec<(String, Option<String>)>,
}

/// What Hive calls a value that is missing.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// The files of a folder, or those that a pattern such as `year=*/part-*.parquet` matches, by their names; none if the path is one file.
pub(crate) fn find_files(path: &Path) -> Result<Option<Vec<FoundFile>>, ReadError> {
    let (files, above) = if path.is_dir() {
        let mut files = Vec::new();
        walk(path, &mut files)
            .map_err(|source| ReadError::Io { path: path.display().to_string(), source })?;
        (files, path.components().count())
    } else if is_pattern(path) && !path.exists() {
        let fixed = path.components().take_while(|part| !is_pattern(Path::new(part))).count();
        (matching(path)?, fixed)
    } else {
        return Ok(None);
    };
    let files = files.into_iter().map(|path| found(path, above)).collect();
    in_order(&path.display().to_string(), files).map(Some)
}

/// The same in a store, where the folder ends in `/`.
pub(crate) fn found_addresses(address: &str) -> Result<Option<Vec<FoundFile>>, ReadError> {
    let Some(addresses) = remote::list(address)? else { return Ok(None) };
    let fixed = address.split(['*', '?', '[']).next().unwrap_or_default();
    let above = fixed.rsplit_once('/').map_or(0, |(folder, _)| Path::new(folder).components().count());
    let hidden = |part: Component<'_>| part.as_os_str().to_string_lossy().starts_with(['.', '_']);
    let is_data = |path: &PathBuf| is_table_name(path) && !path.components().skip(above).any(hidden);
    let paths = addresses.into_iter().map(PathBuf::from).filter(is_data);
    in_order(address, paths.map(|path| found(path, above)).collect()).map(Some)
}

fn in_order(name: &str, mut files: Vec<FoundFile>) -> Result<Vec<FoundFile>, ReadError> {
    files.sort_by(|a, b| a.path.cmp(&b.path));
    if files.is_empty() { Err(ReadError::NoFiles { path: name.to_owned() }) } else { Ok(files) }
}

/// Whether a folder holds files of tables, by their names.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// assert!(!pmm_data::holds_tables(folder.path()));
/// std::fs::create_dir(folder.path().join("year=2020"))?;
/// std::fs::write(folder.path().join("year=2020/part-0.csv"), "a\n1\n")?;
/// assert!(pmm_data::holds_tables(folder.path()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn holds_tables(folder: &Path) -> bool {
    let mut files = Vec::new();
    folder.is_dir() && walk(folder, &mut files).is_ok() && !files.is_empty()
}

/// Whether a path is a pattern: `*`, `?` or `[…]` stand for parts of names.
pub fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?', '['])
}

/// Files that end as tables do. What begins with a dot or an underscore is somebody's note, not data.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with(['.', '_']) {
            continue;
        }
        if path.is_dir() {
            walk(&path, files)?;
        } else if is_table_name(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// Texts end in `.txt`, too: a folder of those is no table.
fn is_table_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let plain = name.strip_suffix(".gz").unwrap_or(&name);
    plain.contains('.') && !plain.ends_with(".txt") && FileFormat::of(Path::new(&name)).is_ok()
}

fn matching(pattern: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let path = || pattern.display().to_string();
    let wrong = |why: String| ReadError::Columnar { path: path(), reason: format!("is no pattern: {why}") };
    let found = glob::glob(&pattern.to_string_lossy()).map_err(|error| wrong(error.msg.to_owned()))?;
    let mut files = Vec::new();
    for file in found {
        let file = file.map_err(|error| ReadError::Io {
            path: error.path().display().to_string(),
            source: io::Error::new(error.error().kind(), error.error().to_string()),
        })?;
        // A pattern may name folders of which all files are meant.
        if file.is_dir() {
            walk(&file, &mut files)
                .map_err(|source| ReadError::Io { path: file.display().to_string(), source })?;
        } else {
            files.push(file);
        }
    }
    Ok(files)
}

fn found(path: PathBuf, above: usize) -> FoundFile {
    let folders = path.parent().into_iter().flat_map(Path::components).skip(above);
    let keys = folders.filter_map(|part| match part {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            let (key, value) = name.split_once('=').filter(|(key, _)| !key.is_empty())?;
            Some((unescaped(key), (value != NO_VALUE).then(|| unescaped(value))))
        }
        _ => None,
    });
    let keys = keys.collect();
    FoundFile { path, keys }
}

/// Signs that a file system does not like are written `%2F` and the like.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match code.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_what_their_folders_say() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "a\n1\n").unwrap();
        };
        let names = [
            "year=2021/place=a%2Fb/p-1.csv",
            "year=2020/place=__HIVE_DEFAULT_PARTITION__/p-0.csv.gz",
            "year=2020/_SUCCESS.csv",
            ".hidden/x.csv",
            "notes.txt",
            "README",
        ];
        names.iter().for_each(|name| make(name));
        let files = find_files(folder.path()).unwrap().unwrap();
        let keys: Vec<_> = files.iter().map(|file| file.keys.clone()).collect();
        let pair = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
        assert_eq!(
            keys,
            [
                vec![pair("year", Some("2020")), pair("place", None)],
                vec![pair("year", Some("2021")), pair("place", Some("a/b"))]
            ]
        );
        let pattern = folder.path().join("year=20*/*/p-*.csv");
        let found = find_files(&pattern).unwrap().unwrap();
        assert_eq!((found.len(), found[0].keys[0].clone()), (1, pair("year", Some("2021"))));
        let error = find_files(&folder.path().join("year=19*")).unwrap_err();
        assert!(error.to_string().contains("year=19*") && error.hint().is_some(), "{error}");
        assert_eq!(find_files(&folder.path().join("notes.txt")).unwrap(), None);
    }
}
