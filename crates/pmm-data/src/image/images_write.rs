//! Images → a file of pixels and labels that appears whole or not at all.

use std::io::{BufWriter, Seek, Write};
use std::path::Path;

use pmm_store::WholeFile;

use super::error::{ImageDataError, in_file};
use super::images_header::{Header, UNLABELLED, names};
use super::source::ImageSource;
use crate::sealed_header::HEADER;

/// Writes images; see [`Images::write`](super::Images::write).
pub(super) fn write(
    source: &ImageSource,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ImageDataError> {
    let file = in_file(path, || WholeFile::create(path))?;
    let output = in_file(path, || file.handle())?;
    write_to(BufWriter::with_capacity(1 << 16, output), path, source, progress)?;
    in_file(path, || file.finish())
}

/// The bytes of such a file, in memory.
pub(super) fn read(source: &ImageSource, progress: &mut dyn FnMut(u64)) -> Result<Vec<u8>, ImageDataError> {
    let mut output = std::io::Cursor::new(Vec::new());
    write_to(&mut output, Path::new("memory"), source, progress)?;
    Ok(output.into_inner())
}

fn write_to<W: Write + Seek>(
    mut output: W,
    path: &Path,
    source: &ImageSource,
    progress: &mut dyn FnMut(u64),
) -> Result<(), ImageDataError> {
    in_file(path, || output.write_all(&[0; HEADER]))?;
    let mut content = Content::new(source.shape());
    let (mut labels, mut contents) = (Vec::new(), blake3::Hasher::new());
    source.read(&mut |pixels, label| {
        let label = label.unwrap_or(UNLABELLED);
        content.add(pixels, label);
        contents.update(pixels);
        labels.extend_from_slice(&label.to_le_bytes());
        in_file(path, || output.write_all(pixels))?;
        progress((labels.len() / 4) as u64);
        Ok(())
    })?;
    let (shape, classes) = (source.shape(), source.classes().to_vec());
    let source = content.digest(&classes);
    let header = Header { shape, count: (labels.len() / 4) as u64, classes, source };
    let names = names(&header.classes);
    let labels = if names.is_empty() { vec![] } else { labels };
    let head = header.to_bytes(&contents.update(&labels).update(&names).finalize());
    in_file(path, || {
        output.write_all(&labels)?;
        output.write_all(&names)?;
        output.flush()?;
        output.rewind()?;
        output.write_all(&head)?;
        output.flush()
    })
}

/// What images are recognised by: BLAKE3 of their shape, pixels, labels and classes, whatever files they came from.
struct Content(blake3::Hasher);

impl Content {
    fn new(shape: [usize; 3]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&shape.map(|side| (side as u64).to_le_bytes()).concat());
        Self(hasher)
    }

    fn add(&mut self, pixels: &[u8], label: u32) {
        self.0.update(pixels).update(&label.to_le_bytes());
    }

    fn digest(&self, classes: &[String]) -> String {
        let mut hasher = self.0.clone();
        hasher.update(&names(classes)).finalize().to_hex()[..32].to_owned()
    }
}
