//! Files of PyTorch (`.pth`, `.pt`): the tensors in them, without running what else they say.
//!
//! Read are the zip archives of PyTorch 1.6 and later and the pickles of earlier ones. Tensors may lie in a dictionary, in
//! one called `state_dict` or under `module`, as checkpoints have them, or in a whole saved network.

use std::path::Path;

use burn::tensor::f16;
use pytorch_reader::{DType, PytorchReader, Tensor};

use crate::gpt2::NamedTensor;

/// Bytes of all tensors together, at most: a small file can claim large tensors. The largest network here has 100 MB.
const MOST: usize = 1 << 29;

/// Whether a file with this beginning is one of PyTorch: a zip archive, or a pickle, which begins with its protocol. A file of
/// safetensors may begin with the same byte, but has a brace after its first eight.
pub(super) fn is_pytorch(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || (head.starts_with(b"\x80") && head.get(8) != Some(&b'{'))
}

/// Tensors of 32-bit or 16-bit numbers; those of other types are no weights. The error says what is wrong with the file.
pub(super) fn read(path: &Path) -> Result<Vec<NamedTensor>, String> {
    let file = PytorchReader::new(path).map_err(|error| error.to_string())?;
    let is_weight = |tensor: &Tensor| matches!(tensor.dtype(), DType::F32 | DType::F16);
    let tensors: Vec<Tensor> = file.into_tensors().into_values().filter(is_weight).collect();
    let bytes = tensors.iter().try_fold(0usize, |sum, tensor| sum.checked_add(tensor.byte_len()));
    if bytes.is_none_or(|bytes| bytes > MOST) {
        return Err(format!("its tensors are larger than {} MB together", MOST >> 20));
    }
    tensors.iter().map(named).collect()
}

fn named(tensor: &Tensor) -> Result<NamedTensor, String> {
    let bytes = tensor.read().map_err(|error| error.to_string())?;
    let values = match tensor.dtype() {
        DType::F16 => bytes.as_chunks().0.iter().map(|b| f16::from_ne_bytes(*b).to_f32()).collect(),
        _ => bytes.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b)).collect(),
    };
    let name = tensor.name.strip_prefix("state_dict.").unwrap_or(&tensor.name);
    let name = name.strip_prefix("module.").unwrap_or(name);
    Ok((name.to_owned(), tensor.shape().to_vec(), values))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::PathBuf;

    use super::*;

    /// Made by `bench/images/make_pth_fixture.py`.
    const FILES: [&str; 2] = ["resnet8-zip.pth", "resnet8-legacy.pth"];

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
    }

    /// Every tensor by name, whatever its layout, and no counts of batches.
    #[test]
    fn both_forms_hold_the_same_tensors() {
        let [zip, legacy] = FILES.map(|name| {
            let tensors = read(&fixture(name)).unwrap();
            tensors
                .into_iter()
                .map(|(name, shape, values)| (name, (shape, values)))
                .collect::<HashMap<_, _>>()
        });
        assert!(zip == legacy);
        assert_eq!(zip.len(), 37);
        let (shape, values) = &zip["conv1.weight"];
        // Stored with the channels last: the script's numbers by their place in the tensor.
        assert_eq!((shape.as_slice(), values.len()), (&[16, 3, 3, 3][..], 432));
        assert!(values.iter().enumerate().all(|(place, value)| *value == place as f32 / 512.0 - 0.4));
        let (shape, values) = &zip["linear.weight"];
        assert_eq!(shape, &[10, 64]);
        assert!(values.iter().enumerate().all(|(place, value)| *value == (place / 64) as f32 / 8.0));
        // In 16 bits.
        assert_eq!(zip["linear.bias"], (vec![10], (0..10).map(|k| 0.5 - k as f32 / 4.0).collect()));
    }

    /// A file that is cut short is refused, wherever; one with a wrong byte is refused or read, and nothing falls.
    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.pth");
        let load = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read(&path)
        };
        for name in FILES {
            let whole = std::fs::read(fixture(name)).unwrap();
            assert!(is_pytorch(&whole) && load(&whole).is_ok());
            // Every place was tried once; these are over in seconds.
            for length in (0..whole.len()).step_by(13).chain([whole.len() - 1]) {
                assert!(load(&whole[..length]).is_err(), "{name}: {length} of {}", whole.len());
            }
            for place in (0..whole.len()).step_by(23) {
                let mut altered = whole.clone();
                altered[place] ^= 1 << (place % 8);
                let _ = load(&altered);
            }
        }
    }

    /// A wrong byte among the numbers of a zip archive is found by its checksum.
    #[test]
    fn wrong_numbers_are_found() {
        let mut bytes = std::fs::read(fixture(FILES[0])).unwrap();
        // The first two numbers of `conv1.weight`, as they are stored.
        let numbers = [0, 9].map(|place| (place as f32 / 512.0 - 0.4).to_le_bytes()).concat();
        let place = bytes.windows(8).position(|window| window == numbers).unwrap();
        bytes[place] ^= 1;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let error = read(file.path()).unwrap_err();
        assert!(error.contains("conv1.weight") && error.contains("checksum"), "{error}");
    }

    #[test]
    fn safetensors_are_not_taken_for_pickles() {
        let header = 0x280u64.to_le_bytes();
        assert!(!is_pytorch(&[&header[..], b"{\"a\""].concat()));
        assert!(is_pytorch(b"\x80\x02\x8a\nl\xfc\x9cF\xf9") && is_pytorch(b"\x80"));
    }
}
