//! Files of named tensors (safetensors) with facts about them and a checksum: whole and ours, or refused by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::files::write_atomically_by;

/// Facts about a file, by name.
pub type Facts = BTreeMap<String, String>;

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
    /// Whole, but made from something else.
    #[error("{} does not belong here: {what} was {found}, is {expected}", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Which fact differs.
        what: String,
        /// What the file says.
        found: String,
        /// What was asked for.
        expected: String,
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

/// The one key of the header's metadata: a map of our own inside, in order, so that equal contents are equal files.
const KEY: &str = "pmm";
const CHECKSUM: &str = "checksum";

/// Writes tensors and facts, with a checksum over both. The values are written from where they are: a model may be as large as the memory.
pub fn save_tensors<V: AsRef<[f32]>>(
    path: &Path,
    tensors: &[Named<V>],
    facts: &Facts,
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
    let mut facts = facts.clone();
    facts.insert(CHECKSUM.into(), checksum(&facts, &views));
    let facts = serde_json::to_string(&facts).map_err(|error| damaged(&error))?;
    let written = write_atomically_by(path, |place| {
        safetensors::serialize_to_file(views, Some([(KEY.to_owned(), facts)].into()), place)
    });
    written.map_err(|error| match error {
        SafeTensorError::IoError(source) => TensorFileError::Io { path: path.into(), source },
        error => damaged(&error),
    })
}

/// Numbers as the bytes of a file; on most processors they are just that.
fn little_endian(values: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(values))
    } else {
        Cow::Owned(values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }
}

/// Reads what [`save_tensors`] wrote.
pub fn load_tensors(path: &Path) -> Result<(Vec<Named>, Facts), TensorFileError> {
    let bytes = std::fs::read(path).map_err(|source| TensorFileError::Io { path: path.into(), source })?;
    parse_tensors(&bytes).map_err(|why| TensorFileError::Damaged { path: path.into(), why })
}

/// Reads the content of a file; the error says what is wrong with it.
pub fn parse_tensors(bytes: &[u8]) -> Result<(Vec<Named>, Facts), String> {
    let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let facts = header.metadata().as_ref().and_then(|map| map.get(KEY)).ok_or("it was not written by pmm")?;
    let mut facts: Facts = serde_json::from_str(facts).map_err(|error| error.to_string())?;
    let written = facts.remove(CHECKSUM);
    let views: BTreeMap<&str, TensorView<'_>> = file.iter().collect();
    if written != Some(checksum(&facts, &views)) {
        return Err("its checksum does not match its content".into());
    }
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

fn checksum(facts: &Facts, views: &BTreeMap<&str, TensorView<'_>>) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut feed = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    for (name, value) in facts {
        feed(name.as_bytes());
        feed(value.as_bytes());
    }
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
        assert_eq!(load_tensors(&path).unwrap(), (tensors.clone(), facts.clone()));
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
            assert!(parse_tensors(&bytes[..end]).is_err(), "cut at {end}");
        }
        for i in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[i] ^= 0x20;
            // A flipped blank in the padding of the header may leave it valid JSON: then the content must be the same.
            if let Ok(read) = parse_tensors(&altered) {
                assert_eq!(read, (tensors.clone(), facts.clone()), "byte {i}");
            }
        }
    }
}
