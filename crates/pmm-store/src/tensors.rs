//! Files of named tensors (safetensors) with facts about them and a checksum: whole and ours, or refused by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::identity::{Difference, FORMAT};
use crate::whole_file::WholeFile;

/// Why a file of tensors was not read or written.
#[derive(Debug, thiserror::Error)]
pub enum TensorFileError {
    /// The disk says no.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Truncated, altered or not of ours.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Of a version of pmm whose models this one does not read.
    #[error("{} was written by {version}, whose models this version does not read", path.display())]
    OldFormat {
        /// Which file.
        path: PathBuf,
        /// Who wrote it.
        version: String,
    },
    /// Whole, but made from something else.
    #[error("{} does not belong here: its {} is {}, not {}", path.display(), difference.what, difference.found, difference.expected)]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// In what it differs.
        difference: Difference,
    },
}

/// A tensor: name, shape, values.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<V = Vec<f32>> {
    /// Dotted path, such as `block.0.up.weight`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its values, row by row: its own, or those of someone else.
    pub values: V,
}

/// The one key of the header's metadata, whose value is an [`Envelope`] as JSON, so that equal contents are equal files.
const KEY: &str = "pmm";

/// Facts with a checksum over them and the tensors.
#[derive(Serialize, Deserialize)]
struct Envelope {
    checksum: String,
    /// The facts as JSON.
    facts: String,
}

/// Writes tensors and facts about them, with a checksum over both. The values are written from where they are: a model may be
/// as large as the memory.
pub fn save_tensors<V: AsRef<[f32]>>(
    path: &Path,
    tensors: &[Named<V>],
    facts: &impl Serialize,
) -> Result<(), TensorFileError> {
    let damaged = |error: &dyn std::fmt::Display| TensorFileError::Damaged {
        path: path.into(),
        why: error.to_string(),
    };
    let bytes: Vec<Cow<'_, [u8]>> =
        tensors.iter().map(|tensor| little_endian(tensor.values.as_ref())).collect();
    let mut views = BTreeMap::new();
    for (tensor, bytes) in tensors.iter().zip(&bytes) {
        let view =
            TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).map_err(|error| damaged(&error))?;
        views.insert(tensor.name.as_str(), view);
    }
    let facts = serde_json::to_string(facts).map_err(|error| damaged(&error))?;
    let envelope = Envelope { checksum: checksum(&facts, &views), facts };
    let envelope = serde_json::to_string(&envelope).map_err(|error| damaged(&error))?;
    let failed = |source| TensorFileError::Io { path: path.into(), source };
    let file = WholeFile::create(path).map_err(failed)?;
    let place = file.place().unwrap_or(path);
    let written = safetensors::serialize_to_file(views, Some([(KEY.to_owned(), envelope)].into()), place);
    written.map_err(|error| match error {
        SafeTensorError::IoError(source) => failed(source),
        error => damaged(&error),
    })?;
    file.finish().map_err(failed)
}

/// Numbers as the bytes of a file; on most processors they are just that.
fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }
}

/// Reads what [`save_tensors`] wrote. A file that is no regular file is refused: it might never end.
pub fn load_tensors<F: DeserializeOwned>(path: &Path) -> Result<(Vec<Named>, F), TensorFileError> {
    let failed = |source| TensorFileError::Io { path: path.into(), source };
    let data = std::fs::metadata(path).map_err(failed)?;
    if !data.is_file() {
        return Err(failed(std::io::Error::other("is not a regular file")));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    if let Some(version) = old_version(&bytes) {
        return Err(TensorFileError::OldFormat { path: path.into(), version });
    }
    parse_tensors(&bytes).map_err(|why| TensorFileError::Damaged { path: path.into(), why })
}

/// The version of pmm that wrote a file, where it is one whose files are not read.
fn old_version(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Old {
        version: String,
    }
    #[derive(Deserialize)]
    struct Format {
        identity: Number,
    }
    #[derive(Deserialize)]
    struct Number {
        format: u32,
    }
    let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
    let text = header.metadata().as_ref()?.get(KEY)?;
    // Before there was a format number, the facts stood side by side with the checksum.
    if let Ok(old) = serde_json::from_str::<Old>(text) {
        return Some(format!("pmm {}", old.version));
    }
    let envelope: Envelope = serde_json::from_str(text).ok()?;
    let Format { identity: Number { format } } = serde_json::from_str(&envelope.facts).ok()?;
    (format != FORMAT).then(|| format!("a pmm of format {format}"))
}

/// Reads the content of a file; the error says what is wrong with it.
pub fn parse_tensors<F: DeserializeOwned>(bytes: &[u8]) -> Result<(Vec<Named>, F), String> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let text = header.metadata().as_ref().and_then(|map| map.get(KEY)).ok_or("it was not written by pmm")?;
    let envelope: Envelope = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let views: BTreeMap<&str, TensorView<'_>> = file.iter().collect();
    if envelope.checksum != checksum(&envelope.facts, &views) {
        return Err("its checksum does not match its content".into());
    }
    let facts = serde_json::from_str(&envelope.facts).map_err(|error| error.to_string())?;
    let mut tensors = Vec::new();
    for (name, view) in views {
        if view.dtype() != Dtype::F32 {
            return Err(format!("tensor {name} holds {:?}, not 32-bit floats", view.dtype()));
        }
        let values = view.data().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        tensors.push(Named { name: name.to_owned(), shape: view.shape().to_vec(), values });
    }
    Ok((tensors, facts))
}

fn checksum(facts: &str, views: &BTreeMap<&str, TensorView<'_>>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut feed = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    feed(facts.as_bytes());
    for (name, view) in views {
        feed(name.as_bytes());
        view.shape().iter().for_each(|n| feed(&(*n as u64).to_le_bytes()));
        feed(view.data());
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Facts = BTreeMap<String, String>;

    fn example() -> (Vec<Named>, Facts) {
        let tensors = vec![
            Named {
                name: "a.weight".into(),
                shape: vec![2, 3],
                values: vec![1.0, -2.5, f32::MIN_POSITIVE, 0.0, 3.0, 4.0],
            },
            Named { name: "b".into(), shape: vec![1], values: vec![-0.0] },
        ];
        (tensors, [("kind".to_owned(), "test".to_owned())].into())
    }

    #[test]
    fn round_trip() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let (tensors, facts) = example();
        save_tensors(&path, &tensors, &facts).unwrap();
        assert_eq!(load_tensors::<Facts>(&path).unwrap(), (tensors.clone(), facts.clone()));
        let first = std::fs::read(&path).unwrap();
        save_tensors(&path, &tensors, &facts).unwrap();
        assert_eq!(first, std::fs::read(&path).unwrap());
    }

    /// Every truncation and every flipped byte is refused; none is read as something else.
    #[test]
    fn damage_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.safetensors");
        let (tensors, facts) = example();
        save_tensors(&path, &tensors, &facts).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for end in 0..bytes.len() {
            assert!(parse_tensors::<Facts>(&bytes[..end]).is_err(), "cut at {end}");
        }
        for i in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[i] ^= 0x20;
            // A flipped blank in the padding of the header may leave it valid JSON: then the content must be the same.
            if let Ok(read) = parse_tensors::<Facts>(&altered) {
                assert_eq!(read, (tensors.clone(), facts.clone()), "byte {i}");
            }
        }
    }

    #[test]
    fn files_of_old_versions_are_told_from_damaged_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.safetensors");
        let write = |text: &str| {
            let none: [(&str, TensorView<'_>); 0] = [];
            safetensors::serialize_to_file(none, Some([(KEY.to_owned(), text.to_owned())].into()), &path)
                .unwrap();
            load_tensors::<Facts>(&path).unwrap_err()
        };
        let error = write(r#"{"checksum":"0","version":"0.1.0"}"#);
        assert!(
            matches!(&error, TensorFileError::OldFormat { version, .. } if version == "pmm 0.1.0"),
            "{error}"
        );
        let error = write(r#"{"checksum":"0","facts":"{\"identity\":{\"format\":99}}"}"#);
        assert!(
            matches!(&error, TensorFileError::OldFormat { version, .. } if version.ends_with("99")),
            "{error}"
        );
        assert!(matches!(write("{}"), TensorFileError::Damaged { .. }));
    }
}
