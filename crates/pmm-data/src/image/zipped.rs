//! Pictures in a zip archive, in which subfolders or a `labels.csv` are classes, as in a folder. Nothing is unpacked to a disk, so that names in
//! the archive lead nowhere; what unpacks to too much for its size is refused.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use super::broken::each;
use super::decode::{MOST, decode_at, look_at};
use super::error::{ImageDataError, in_file, name};
use super::found::{Classed, Found};
use super::labels_csv::LABELS_CSV;
use super::pictures::is_picture;
use super::store::{Item, See, Sink, Store};
use super::zip::{self, Member};

/// The pictures of an archive, by name.
#[derive(Debug)]
pub(super) struct ZippedPictures {
    archive: PathBuf,
    members: Classed<Member>,
}

impl ZippedPictures {
    /// The pictures of an archive; none if it holds arrays, or no picture.
    ///
    /// Folders that all of them are in say nothing; those below are the classes, unless a `labels.csv` there says them. Hidden
    /// files are passed over, as are those in which a Mac keeps its notes.
    pub(super) fn open(archive: &Path) -> Result<Option<Self>, ImageDataError> {
        let mut members = in_file(archive, || zip::members(&mut File::open(archive)?))?;
        if members.iter().any(|member| member.name.ends_with(".npy")) {
            return Ok(None);
        }
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let (mut pictures, mut others) = (Vec::new(), Vec::new());
        each(members, |member| {
            let parts: Vec<String> = member.name.split(['/', '\\']).map(str::to_owned).collect();
            let is_hidden = parts.iter().any(|part| part.starts_with('.') || part == "__MACOSX");
            let is_file = parts.last().is_some_and(|last| !last.is_empty());
            if is_file && !is_hidden {
                let to = if is_picture(Path::new(&member.name))? { &mut pictures } else { &mut others };
                to.push((parts, member));
            }
            Ok(())
        })?;
        if pictures.is_empty() {
            return Ok(None);
        }
        let shared = shared_folders(pictures.iter().map(|(parts, _)| &parts[..]));
        let labels = [&pictures[0].0[..shared], &[LABELS_CSV.to_owned()]].concat();
        let labels = others.iter().position(|(parts, _)| *parts == labels).map(|at| others.remove(at).1);
        // What messages call the folder in which all pictures are.
        let place = format!("{}/{}", archive.display(), pictures[0].0[..shared].join("/"));
        let mut found = Found {
            pictures: pictures
                .into_iter()
                .map(|(parts, member)| (parts[shared..].join("/"), member))
                .collect(),
            others: others
                .iter()
                .map(|(_, member)| format!("{}/{}", archive.display(), member.name))
                .collect(),
            labels: None,
        };
        if let Some(member) = labels {
            found.labels = Some(content(archive, &member)?.1);
        }
        Ok(Some(Self { archive: archive.to_owned(), members: found.classed(Path::new(&place))? }))
    }

    /// Whether the classes are those of `labels.csv`.
    pub(super) fn has_labels(&self) -> bool {
        self.members.has_labels
    }

    /// The bytes of a picture, and what to call it.
    fn picture(&self, member: &Member) -> Result<(PathBuf, Cursor<Vec<u8>>), ImageDataError> {
        let (path, bytes) = content(&self.archive, member)?;
        Ok((path, Cursor::new(bytes)))
    }
}

/// The bytes of a member, and what to call it.
fn content(archive: &Path, member: &Member) -> Result<(PathBuf, Vec<u8>), ImageDataError> {
    let path = PathBuf::from(format!("{}/{}", archive.display(), member.name));
    let mut bytes = Vec::new();
    in_file(&path, || member.reader(File::open(archive)?)?.take(MOST + 1).read_to_end(&mut bytes))?;
    if bytes.len() as u64 > MOST {
        return Err(ImageDataError::TooLarge { path: name(&path), most: MOST });
    }
    Ok((path, bytes))
}

/// How many folders, from the outermost on, all files are in.
fn shared_folders<'a>(mut files: impl Iterator<Item = &'a [String]>) -> usize {
    let Some(first) = files.next() else { return 0 };
    files.fold(first.len() - 1, |shared, file| {
        let alike = file[..file.len() - 1].iter().zip(first).take_while(|(a, b)| a == b).count();
        shared.min(alike)
    })
}

impl Store for ZippedPictures {
    fn count(&self) -> u64 {
        self.members.pictures.len() as u64
    }

    fn classes(&self) -> &[String] {
        &self.members.classes
    }

    fn notes(&self) -> &[String] {
        &self.members.notes
    }

    fn looks(&self, see: &mut See<'_>) -> Result<(), ImageDataError> {
        each(&self.members.pictures, |(member, _)| {
            let (path, bytes) = self.picture(member)?;
            see(&name(&path), look_at(&path, bytes)?)
        })
    }

    fn read(&self, sink: &mut Sink<'_>) -> Result<(), ImageDataError> {
        each(&self.members.pictures, |(member, label)| {
            let (path, bytes) = self.picture(member)?;
            sink(Item { file: &name(&path), picture: decode_at(&path, bytes)?, label: *label })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::idx::tests::all;
    use super::super::zip::tests::archive;
    use super::*;

    fn png(value: u8) -> Vec<u8> {
        crate::grid_png(&[vec![value]], [1, 1, 1], 1).unwrap()
    }

    type Read = (Vec<(Vec<u8>, Option<u32>)>, Vec<String>);

    fn read(members: &[(&str, Vec<u8>)]) -> Result<Option<Read>, ImageDataError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        fs::write(&path, archive(members, true, false)).unwrap();
        let Some(pictures) = ZippedPictures::open(&path)? else { return Ok(None) };
        pictures.looks(&mut |_, look| {
            assert_eq!((look.height, look.width), (1, 1));
            Ok(())
        })?;
        let read = all(&pictures)?;
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is unpacked");
        Ok(Some((read, pictures.members.classes)))
    }

    #[test]
    fn subfolders_are_classes() {
        let members = [
            ("pets/", vec![]),
            ("pets/dog/b.png", png(2)),
            ("pets/cat/a.png", png(1)),
            ("pets/notes.txt", vec![7]),
            ("pets/.hidden.png", vec![]),
            ("__MACOSX/pets/cat/._a.png", vec![]),
        ];
        let (pictures, classes) = read(&members).unwrap().unwrap();
        assert_eq!(classes, ["cat", "dog"]);
        assert_eq!(pictures, [(vec![1], Some(0)), (vec![2], Some(1))]);
        let (pictures, classes) = read(&[("all/b.png", png(2)), ("all/a.png", png(1))]).unwrap().unwrap();
        assert_eq!((pictures, classes), (vec![(vec![1], None), (vec![2], None)], vec![]));
    }

    #[test]
    fn labels_csv_says_the_classes() {
        let labels = |text: &str| ("made/labels.csv", text.as_bytes().to_vec());
        let pictures = [("made/b.png", png(2)), ("made/a.png", png(1))];
        let with = |text: &str| read(&[&pictures[..], &[labels(text)]].concat());
        let (pictures, classes) = with("file,label\nb.png,dog\na.png,cat\n").unwrap().unwrap();
        assert_eq!(
            (pictures, classes),
            (vec![(vec![1], Some(0)), (vec![2], Some(1))], vec!["cat".into(), "dog".into()])
        );
        let error = with("file,label\nb.png,dog\n").unwrap_err().to_string();
        assert!(error.contains("x.zip/made/labels.csv") && error.contains("no line for a.png"), "{error}");
    }

    /// Names are looked at, never followed.
    #[test]
    fn names_lead_nowhere() {
        let members = [("../../evil.png", png(3)), ("/etc/evil.png", png(4)), ("..\\evil.png", png(5))];
        // Two dots are hidden names; an absolute one is a name as any other.
        assert_eq!(read(&members).unwrap().unwrap().0, [(vec![4], None)]);
    }

    #[test]
    fn what_is_no_archive_of_pictures_is_left_to_others() {
        assert!(read(&[("a.npy", vec![1]), ("b.png", png(1))]).unwrap().is_none());
        assert!(read(&[("a.csv", vec![1])]).unwrap().is_none());
        let error = read(&[("a.png", png(1)), ("b.gif", vec![])]).unwrap_err().to_string();
        assert!(error.contains("b.gif is a GIF file"), "{error}");
        let error = read(&[("a.png", b"no picture".to_vec())]).unwrap_err().to_string();
        assert!(error.contains("x.zip/a.png is not a whole picture"), "{error}");
    }
}
