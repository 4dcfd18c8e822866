//! Labels that are numbers: their classes are named by the numbers.

use std::path::Path;

use super::error::{ImageDataError, name};

/// The most classes.
const MOST: u64 = 1 << 16;

/// The names of classes 0 to the greatest label.
pub(super) fn numbered_classes<'a>(labels: impl IntoIterator<Item = &'a u32>) -> Vec<String> {
    let most = labels.into_iter().max();
    most.map_or(vec![], |&most| (0..=most).map(|label| label.to_string()).collect())
}

/// A label, if it is in range.
pub(super) fn label(path: &Path, images: u64, value: i128) -> Result<u32, ImageDataError> {
    let refused = |_| {
        let reason = format!("label {value} is not in 0..{MOST}");
        ImageDataError::Labels { path: name(path), images, reason }
    };
    u16::try_from(value).map(u32::from).map_err(refused)
}

/// An error if there are not as many labels as images.
pub(super) fn check_count(path: &Path, images: u64, labels: u64) -> Result<(), ImageDataError> {
    if images == labels {
        return Ok(());
    }
    Err(ImageDataError::Labels { path: name(path), images, reason: format!("it holds {labels} labels") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbers_from_zero_on() {
        assert_eq!(numbered_classes(&[2, 0]), ["0", "1", "2"]);
        assert!(numbered_classes(&[]).is_empty());
        assert_eq!(label(Path::new("y"), 3, 65_535).unwrap(), 65_535);
        let error = label(Path::new("y"), 3, -1).unwrap_err();
        assert_eq!(error.to_string(), "y does not hold the labels of 3 images: label -1 is not in 0..65536");
        assert!(check_count(Path::new("y"), 3, 3).is_ok() && check_count(Path::new("y"), 3, 4).is_err());
    }
}
