//! Whether a path holds images: by content, where a user has not said so.

use std::fs;
use std::io::Read;
use std::path::Path;

use super::bytes::Bytes;
use super::error::ImageDataError;
use super::pictures::is_picture;
use super::zipped::ZippedPictures;
use super::{idx, npy};

/// Entries of a folder that are looked at, at most.
const MOST: usize = 20_000;

/// Whether a file or folder holds images: a picture, IDX, npy or npz; a zip of pictures; or a folder with such files, or with more pictures than
/// texts. Errors are left to whoever opens it.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("notes.txt"), "a text")?;
/// assert!(!pmm_data::holds_images(folder.path()));
/// for name in ["a.png", "b.gif"] {
///     std::fs::write(folder.path().join(name), "")?;
/// }
/// assert!(pmm_data::holds_images(folder.path()));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn holds_images(path: &Path) -> bool {
    if !path.is_dir() {
        return is_image_file(path);
    }
    let (mut pictures, mut texts, mut seen) = (0, 0, 0);
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().to_lowercase());
            if name.starts_with('.') || seen > MOST {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if name.contains("idx3") || (name.starts_with("data_batch_") && name.ends_with(".bin")) {
                return true;
            } else if is_picture(&path).unwrap_or(true) {
                pictures += 1;
            } else if [".txt", ".text", ".md", ".txt.gz", ".txt.xz"]
                .iter()
                .any(|ending| name.ends_with(ending))
            {
                texts += 1;
            }
        }
    }
    pictures > texts
}

fn is_image_file(path: &Path) -> bool {
    let ending = path.extension().map(|text| text.to_string_lossy().to_lowercase()).unwrap_or_default();
    if is_picture(path).unwrap_or(true) || ending == "npz" || ending == "npy" {
        return true;
    }
    if ending == "zip" {
        // Whoever opens it is told what is wrong with its labels.
        let is_labelled = |error| matches!(error, ImageDataError::Labels { .. });
        return ZippedPictures::open(path).map_or_else(is_labelled, |pictures| pictures.is_some());
    }
    let mut head = Vec::new();
    let read = |head: &mut Vec<u8>| -> Option<()> {
        Bytes::file(path).ok()?.reader(0).ok()?.take(16).read_to_end(head).ok().map(drop)
    };
    read(&mut head).is_some() && (npy::is_npy(&head) || idx::is_idx(&head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_by_content_and_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            path
        };
        assert!(holds_images(&at("a.JPG", b"")));
        assert!(holds_images(&at("x", &[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 7])));
        assert!(!holds_images(&at("t.csv", b"a,b\n1,2\n")));
        assert!(!holds_images(&at("t.txt", b"a text")));
        assert!(!holds_images(&folder.path().join("nowhere")));
    }
}
