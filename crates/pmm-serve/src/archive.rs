//! A model as one file: a gzipped tar of its folder, without what only serves to go on training.

use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::problem::Problem;

/// The files of a model; nothing else is packed or unpacked.
const FILES: [&str; 10] = [
    "config.toml",
    "schema.json",
    "tokenizer.json",
    "images.json",
    "weights.safetensors",
    "log.csv",
    "README.md",
    "report.html",
    "report.json",
    "preview.png",
];
/// Bytes that an archive may unpack to, for each of its own.
const INFLATION: u64 = 200;

/// Packs the files of a model.
pub(crate) fn pack(folder: &Path, name: &str, out: impl Write) -> std::io::Result<()> {
    let mut archive = tar::Builder::new(GzEncoder::new(out, Compression::fast()));
    for file in FILES {
        let path = folder.join(file);
        if path.is_file() {
            archive.append_path_with_name(&path, format!("{name}.pmm/{file}"))?;
        }
    }
    archive.into_inner()?.finish()?.flush()
}

/// Unpacks a model into a folder: known names of plain files only, and no more bytes than are believable.
pub(crate) fn unpack(bytes: &[u8], folder: &Path) -> Result<(), Problem> {
    let damaged =
        |error: std::io::Error| Problem::refused(format!("the archive cannot be unpacked: {error}"));
    let most = (bytes.len() as u64).saturating_mul(INFLATION);
    let mut archive = tar::Archive::new(GzDecoder::new(bytes).take(most));
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let path = entry.path().map_err(damaged)?.into_owned();
        if entry.header().entry_type().is_dir() {
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
        if !entry.header().entry_type().is_file()
            || !FILES.contains(&name.as_str())
            || path.components().count() > 2
        {
            return Err(Problem::refused(format!("{} is no file of a model", path.display()))
                .remedy("send what a download of a model gives"));
        }
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents).map_err(damaged)?;
        pmm::write_file(&folder.join(&name), &contents)
            .map_err(|error| Problem::internal(format!("{name}: {error}")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(name: &str, kind: tar::EntryType) -> Vec<u8> {
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.set_mode(0o644);
        header.set_entry_type(kind);
        if kind.is_symlink() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        // Such names are refused by the methods that set them.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        builder.append(&header, &b"x"[..]).unwrap();
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn only_files_of_a_model_are_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("in");
        std::fs::create_dir(&inner).unwrap();
        for name in ["m.pmm/evil.sh", "../../config.toml", "m.pmm/state/config.toml", "x"] {
            assert_eq!(
                unpack(&archive(name, tar::EntryType::Regular), &inner).unwrap_err().status,
                422,
                "{name}"
            );
        }
        assert!(unpack(&archive("m.pmm/report.html", tar::EntryType::Symlink), &inner).is_err());
        assert!(unpack(b"no archive", &inner).is_err());
        assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 0);
        unpack(&archive("m.pmm/config.toml", tar::EntryType::Regular), &inner).unwrap();
        assert_eq!(std::fs::read(inner.join("config.toml")).unwrap(), b"x");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
