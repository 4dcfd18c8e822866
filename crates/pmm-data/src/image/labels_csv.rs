//! The classes of pictures in a `labels.csv` beside them, as `pmm sample --out FOLDER` writes it: a line `file,label` for each.

use std::collections::HashMap;
use std::path::Path;

use super::error::{ImageDataError, name};

/// What the file is called.
pub(super) const LABELS_CSV: &str = "labels.csv";

const HEADER: [&str; 2] = ["file", "label"];

/// The class of each file, by its name below the folder in which `labels.csv` is. Every line names a file, and every file has one line.
pub(super) fn read_labels(path: &Path, text: &[u8], files: &[&str]) -> Result<Vec<String>, ImageDataError> {
    let refused =
        |reason: String| Err(ImageDataError::Labels { path: name(path), images: files.len() as u64, reason });
    let mut lines = csv::Reader::from_reader(text);
    let header = match lines.headers() {
        Ok(header) => header,
        Err(error) => return refused(error.to_string()),
    };
    if !header.iter().map(str::trim).eq(HEADER) {
        let header = header.iter().collect::<Vec<_>>().join(",");
        return refused(format!("its first line is {header:?}, not {:?}", HEADER.join(",")));
    }
    let places: HashMap<&str, usize> = files.iter().enumerate().map(|(place, file)| (*file, place)).collect();
    let mut labels: Vec<Option<String>> = vec![None; files.len()];
    for line in lines.records() {
        let line = match line {
            Ok(line) => line,
            Err(error) => return refused(error.to_string()),
        };
        let number = line.position().map_or(0, csv::Position::line);
        let [file, label] = [0, 1].map(|cell| line.get(cell).unwrap_or_default().trim());
        let Some(&place) = places.get(file) else {
            return refused(format!("line {number} names {file:?}, and there is no such picture"));
        };
        if label.is_empty() {
            return refused(format!("line {number} has no label for {file}"));
        }
        if labels[place].replace(label.to_owned()).is_some() {
            return refused(format!("line {number} is the second one for {file}"));
        }
    }
    let without: Vec<&str> =
        files.iter().zip(&labels).filter(|(_, label)| label.is_none()).map(|(file, _)| *file).collect();
    match without[..] {
        [] => Ok(labels.into_iter().flatten().collect()),
        [one] => refused(format!("it has no line for {one}")),
        [first, ..] => refused(format!("it has no line for {first} and {} more", without.len() - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, String> {
        let labels = read_labels(Path::new("x/labels.csv"), text.as_bytes(), &["a.png", "b/c, d.png"]);
        labels.map_err(|error| {
            assert!(error.hint().is_some());
            let message = error.to_string();
            let reason = message.strip_prefix("x/labels.csv does not hold the labels of 2 images: ");
            reason.unwrap_or(&message).to_owned()
        })
    }

    #[test]
    fn each_file_has_the_label_of_its_line() {
        let labels = ["7".to_owned(), "a, b".to_owned()];
        assert_eq!(read("file,label\n\"b/c, d.png\",\"a, b\"\na.png,7\n").unwrap(), labels);
    }

    #[test]
    fn every_line_names_a_file_and_every_file_has_a_label() {
        let line = "\"b/c, d.png\",x";
        for (text, reason) in [
            ("id,label\na.png,1\n", "its first line is \"id,label\", not \"file,label\""),
            ("", "its first line is \"\", not \"file,label\""),
            ("file,label\na.png,1\nno.png,1\n", "line 3 names \"no.png\", and there is no such picture"),
            ("file,label\na.png,\n", "line 2 has no label for a.png"),
            ("file,label\na.png,1\na.png,1\n", "line 3 is the second one for a.png"),
            ("file,label\n", "it has no line for a.png and 1 more"),
            (&format!("file,label\n{line}\n"), "it has no line for a.png"),
        ] {
            assert_eq!(read(text).unwrap_err(), reason, "{text}");
        }
        assert!(read("file,label\na.png\n").unwrap_err().contains("record 1"), "too few cells");
    }
}
