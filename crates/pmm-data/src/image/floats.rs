//! Named arrays of numbers in an archive, as `numpy.savez` writes and `numpy.load` reads them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use flate2::Crc;
use thiserror::Error;

use super::bytes::Bytes;
use super::error::{ImageDataError, name};
use super::npy::Header;
use super::zip;

/// The most numbers of one array that is read.
const MOST: u64 = 1 << 28;

/// An array by name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedArray {
    /// Its name, without `.npy`.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its values; the last index runs fastest.
    pub values: Vec<f64>,
}

/// An archive of arrays that cannot be read or written.
#[derive(Debug, Error)]
pub enum ArrayFileError {
    /// The file cannot be opened, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file of another kind.
    #[error("{path} cannot be read as arrays of numbers: {reason}")]
    NotArrays {
        /// The file.
        path: String,
        /// The violated condition.
        reason: String,
    },
}

impl ArrayFileError {
    fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self::NotArrays { path: name(path), reason: reason.into() }
    }
}

/// Writes arrays of 64-bit numbers to an archive, which appears whole or not at all.
///
/// ```
/// use pmm_data::{NamedArray, read_npz, write_npz};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("statistics.npz");
/// let arrays = [NamedArray { name: "mu".into(), shape: vec![2], values: vec![0.5, -1.0] }];
/// write_npz(&path, &arrays)?;
/// assert_eq!(read_npz(&path)?, arrays);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_npz(path: &Path, arrays: &[NamedArray]) -> Result<(), ArrayFileError> {
    let failed = |source| ArrayFileError::Io { path: name(path), source };
    let bytes = archive(arrays).map_err(|reason| ArrayFileError::new(path, reason))?;
    pmm_store::write_whole(path, &bytes).map_err(failed)
}

/// Reads all arrays of an archive; they must hold floating-point numbers of 32 or 64 bits.
pub fn read_npz(path: &Path) -> Result<Vec<NamedArray>, ArrayFileError> {
    let failed = |source| ArrayFileError::Io { path: name(path), source };
    let members = zip::members(&mut File::open(path).map_err(failed)?).map_err(failed)?;
    let array = |member: zip::Member| {
        let array = member.name.strip_suffix(".npy")?.to_owned();
        Some(read(path, array, &Bytes::member(path, member)))
    };
    members.into_iter().filter_map(array).collect()
}

fn read(path: &Path, array: String, bytes: &Bytes) -> Result<NamedArray, ArrayFileError> {
    let other = |error| match error {
        ImageDataError::Io { path, source } => ArrayFileError::Io { path, source },
        ImageDataError::NotArray { path, reason } => ArrayFileError::NotArrays { path, reason },
        error => ArrayFileError::new(path, error.to_string()),
    };
    let header = Header::read(bytes).map_err(other)?;
    let width = match header.dtype.as_str() {
        "<f8" => 8,
        "<f4" => 4,
        dtype => return Err(ArrayFileError::new(path, format!("{array} holds numbers of type {dtype:?}"))),
    };
    let count = header.shape.iter().try_fold(1u64, |count, &side| count.checked_mul(side));
    let Some(count) = count.filter(|&count| count <= MOST) else {
        return Err(ArrayFileError::new(path, format!("{array} has the shape {:?}", header.shape)));
    };
    let mut content = Vec::new();
    let reader = bytes.reader(header.skip).map_err(other)?;
    let read = reader.take(count * width + 1).read_to_end(&mut content);
    read.map_err(|source| ArrayFileError::Io { path: name(path), source })?;
    if content.len() as u64 != count * width {
        return Err(ArrayFileError::new(path, format!("{array} does not hold {count} numbers")));
    }
    let values: Vec<f64> = match width {
        8 => content.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect(),
        _ => content.as_chunks().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect(),
    };
    let shape: Vec<usize> = header.shape.iter().map(|&side| side as usize).collect();
    let values = match shape[..] {
        _ if !header.fortran => values,
        [] | [_] => values,
        [rows, columns] => turned(&values, rows, columns),
        _ => return Err(ArrayFileError::new(path, format!("{array} is in Fortran order"))),
    };
    Ok(NamedArray { name: array, shape, values })
}

/// A matrix stored by columns, by rows.
fn turned(values: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..rows).flat_map(|row| (0..columns).map(move |column| values[column * rows + row])).collect()
}

/// The bytes of an archive whose members are stored as they are.
fn archive(arrays: &[NamedArray]) -> Result<Vec<u8>, String> {
    let (mut out, mut contents) = (Vec::new(), Vec::new());
    for array in arrays {
        let bytes = npy(array)?;
        let (file, start) = (format!("{}.npy", array.name), short(out.len())?);
        let mut crc = Crc::new();
        crc.update(&bytes);
        let size = short(bytes.len())?;
        // Method 0, and midnight of the first day that the format knows.
        let common = [
            &[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0],
            &crc.sum().to_le_bytes()[..],
            &size.to_le_bytes(),
            &size.to_le_bytes(),
            &(file.len() as u16).to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        out.extend([b"PK\x03\x04", &common[..], file.as_bytes(), &bytes].concat());
        let entry = [b"PK\x01\x02\x14\0", &common[..], &[0; 10], &start.to_le_bytes(), file.as_bytes()];
        contents.extend(entry.concat());
    }
    let count = u16::try_from(arrays.len()).map_err(|error| error.to_string())?.to_le_bytes();
    let places = [short(contents.len())?.to_le_bytes(), short(out.len())?.to_le_bytes()].concat();
    out.extend(contents);
    out.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &places, &[0, 0]].concat());
    Ok(out)
}

fn short(length: usize) -> Result<u32, String> {
    u32::try_from(length).map_err(|_| "it would be larger than 4 GB".into())
}

/// An array as `numpy.save` writes it.
fn npy(array: &NamedArray) -> Result<Vec<u8>, String> {
    let NamedArray { name, shape, values } = array;
    if name.is_empty() || name.len() > 1000 || shape.iter().product::<usize>() != values.len() {
        return Err(format!("the array {name:?} of {} numbers is not {shape:?}", values.len()));
    }
    let sides: String = shape.iter().map(|side| format!("{side}, ")).collect();
    let sides = if shape.len() == 1 { sides.trim_end() } else { sides.trim_end_matches(", ") };
    let mut text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({sides}), }}");
    // The header ends with a new line at a multiple of 64 bytes.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(length - 1 - text.len()));
    text.push('\n');
    let mut out = [b"\x93NUMPY\x01\0", &(length as u16).to_le_bytes()[..], text.as_bytes()].concat();
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::npy::tests::npy;
    use super::super::zip::tests::archive;
    use super::*;

    fn example() -> Vec<NamedArray> {
        let sigma = NamedArray {
            name: "sigma".into(),
            shape: vec![2, 3],
            values: vec![1.0, -0.0, f64::MIN_POSITIVE, 1e300, f64::NAN, -2.5],
        };
        let scalar = NamedArray { name: "n".into(), shape: vec![], values: vec![7.0] };
        vec![NamedArray { name: "mu".into(), shape: vec![3], values: vec![0.1, 0.2, 0.3] }, sigma, scalar]
    }

    #[test]
    fn arrays_come_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        write_npz(&path, &example()).unwrap();
        let read = read_npz(&path).unwrap();
        let bits = |arrays: &[NamedArray]| -> Vec<(String, Vec<usize>, Vec<u64>)> {
            let bits = |a: &NamedArray| a.values.iter().map(|v| v.to_bits()).collect();
            arrays.iter().map(|a| (a.name.clone(), a.shape.clone(), bits(a))).collect()
        };
        assert_eq!(bits(&read), bits(&example()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    fn of(members: &[(&str, Vec<u8>)], deflate: bool) -> Result<Vec<NamedArray>, ArrayFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npz");
        fs::write(&path, archive(members, deflate, true)).unwrap();
        read_npz(&path)
    }

    #[test]
    fn other_widths_and_orders_are_read() {
        let halves = npy("<f4", "(2,)", &[0.5f32, -2.0].map(f32::to_le_bytes).concat());
        let read = of(&[("a.npy", halves), ("readme.txt", vec![])], true).unwrap();
        assert_eq!(read, [NamedArray { name: "a".into(), shape: vec![2], values: vec![0.5, -2.0] }]);
        let values = [1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0].map(f64::to_le_bytes).concat();
        let mut columns = npy("<f8", "(2, 3)", &values);
        let place = columns.windows(5).position(|five| five == b"False").unwrap();
        columns[place..place + 5].copy_from_slice(b"True ");
        assert_eq!(of(&[("a.npy", columns)], false).unwrap()[0].values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn what_are_not_numbers_is_refused() {
        let refused = |content: Vec<u8>, reason: &str| {
            let message = of(&[("a.npy", content)], false).unwrap_err().to_string();
            assert!(
                message.contains("x.npz cannot be read as arrays") && message.contains(reason),
                "{message}"
            );
        };
        refused(npy("|u1", "(2,)", &[1, 2]), "numbers of type \"|u1\"");
        refused(npy("<f8", "(2,)", &[0; 15]), "does not hold 2 numbers");
        refused(npy("<f8", "(2,)", &[0; 17]), "does not hold 2 numbers");
        refused(npy("<f8", "(99999999, 99999999)", &[]), "has the shape");
        refused(b"text".to_vec(), "does not begin as an array");
        let missing = read_npz(Path::new("no/where.npz")).unwrap_err();
        assert!(matches!(missing, ArrayFileError::Io { .. }), "{missing}");
        let wrong = NamedArray { name: "a".into(), shape: vec![2], values: vec![] };
        assert!(write_npz(Path::new("x.npz"), &[wrong]).is_err());
    }
}
