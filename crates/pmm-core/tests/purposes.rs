//! Every purpose of randomness is used where the registry says, and nowhere else; no crate makes up a number of its own.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use pmm_core::Purpose;

/// The Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The purposes that the code of a file names, without its tests and comments.
fn used(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = lines.flat_map(|line| line.split("Purpose::").skip(1));
    names
        .map(|rest| rest.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default())
        .collect()
}

#[test]
fn every_purpose_has_its_place() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path().join("src");
        if folder.is_dir() {
            sources(&folder, &mut files);
        }
    }
    assert!(files.len() > 100, "the sources are not where they should be: {}", crates.display());
    let mut seen = std::collections::BTreeSet::new();
    for file in files {
        let name = file.strip_prefix(crates).unwrap().to_string_lossy().replace('\\', "/");
        if name == "pmm-core/src/purpose.rs" {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for purpose in used(&text) {
            let entry = Purpose::REGISTRY.iter().find(|(known, ..)| *known == purpose);
            let (_, _, places) =
                entry.unwrap_or_else(|| panic!("{name} uses Purpose::{purpose}, which is not registered"));
            assert!(
                places.iter().any(|place| name.starts_with(place)),
                "{name} uses Purpose::{purpose} of {places:?}"
            );
            seen.insert(purpose.to_owned());
        }
    }
    let unused: Vec<_> = Purpose::REGISTRY.iter().filter(|(name, ..)| !seen.contains(*name)).collect();
    assert!(unused.is_empty(), "registered, but not used: {unused:?}");
}
