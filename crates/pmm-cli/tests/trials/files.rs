//! Data files that were damaged: each is read, or refused with an error, in memory of its own size.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use pmm_core::{Stream, Streams};
use pmm_data::{
    FileFormat, ImageOptions, ImageSource, Images, NamedArray, OutputColumn, Overrides, ReadOptions, Schema,
    Source, Table, TextOptions, TextSource, Tokenizer, Tokens, Writer, grid_png, read_npz, write_npz,
};

use crate::{count, random};

/// Small whole files of every format, by name.
fn corpus(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let odd = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pmm-data/tests/odd");
    let mut paths: Vec<_> = std::fs::read_dir(odd).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut files: Vec<(String, Vec<u8>)> = paths
        .iter()
        .filter(|path| path.extension().is_none_or(|ending| ending != "out"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()))
        .collect();
    let table = b"kind,x,n\na,1.5,2\nb,2.5,\na,0.5,7\nb,1.25,3\n".to_vec();
    let source = Source::from_bytes("t.csv", table.clone(), &ReadOptions::default()).unwrap();
    let columns = OutputColumn::of_schema(source.schema());
    for name in ["t.parquet", "t.arrow"] {
        let path = folder.join(name);
        let mut writer = Writer::create_as(&path, FileFormat::of(&path).unwrap(), &columns).unwrap();
        source.batches().unwrap().for_each(|rows| writer.write(&rows.unwrap().batch).unwrap());
        writer.finish().unwrap();
        files.push((name.into(), std::fs::read(path).unwrap()));
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&table).unwrap();
    files.push(("t.csv.gz".into(), gzip.finish().unwrap()));
    let pixels: Vec<u8> = (0..64).map(|i| i * 3).collect();
    files.push(("a.png".into(), grid_png(std::slice::from_ref(&pixels), [1, 8, 8], 1).unwrap()));
    let text = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 8, 8), }\n";
    let head = [&b"\x93NUMPY\x01\0"[..], &(text.len() as u16).to_le_bytes(), text].concat();
    files.push(("x.npy".into(), [&head[..], &pixels].concat()));
    let idx = [&[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 8][..], &pixels].concat();
    files.push(("x-images-idx3-ubyte".into(), idx));
    let path = folder.join("s.npz");
    write_npz(&path, &[NamedArray { name: "mu".into(), shape: vec![2, 2], values: vec![0.5; 4] }]).unwrap();
    files.push(("s.npz".into(), std::fs::read(&path).unwrap()));
    files.push(("t.txt".into(), "the cat sees the dög.\n".repeat(20).into_bytes()));
    files.push(("t.jsonl".into(), b"{\"text\": \"one\"}\n{\"text\": \"two\", \"n\": 3}\n".to_vec()));
    let source = TextSource::from_documents([b"abracadabra".to_vec()], &TextOptions::default());
    Tokens::write(&source, &Tokenizer::Bytes, &folder.join("tokens"), &mut |_| ()).unwrap();
    files.push(("tokens.bin".into(), std::fs::read(folder.join("tokens")).unwrap()));
    let image = folder.join("in.png");
    std::fs::write(&image, grid_png(&[pixels], [1, 8, 8], 1).unwrap()).unwrap();
    let source = ImageSource::open(&image, &ImageOptions::default()).unwrap();
    Images::write(&source, &folder.join("images"), &mut |_| ()).unwrap();
    files.push(("images.bin".into(), std::fs::read(folder.join("images")).unwrap()));
    files
}

fn damaged(mut bytes: Vec<u8>, rng: &mut Stream) -> Vec<u8> {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        match rng.below(6) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            2 if at < bytes.len() => bytes[at] = b"\0\xff,\"\n9-"[rng.below(7) as usize],
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => bytes.truncate(at),
            _ => {
                let piece = bytes[at.min(bytes.len())..]
                    .iter()
                    .copied()
                    .take(1 + rng.below(9) as usize)
                    .collect::<Vec<_>>();
                bytes.splice(at.min(bytes.len())..at.min(bytes.len()), piece);
            }
        }
    }
    bytes
}

/// Reads a file as all that it may be; says whether something came of it. What is written in a panic is the file.
fn read(path: &Path) -> bool {
    let table = || {
        let source = Source::open(path, &ReadOptions::default()).ok()?;
        let schema = Schema::infer(&source, &Overrides::default()).ok()?;
        let (table, _) = Table::read(&source, &schema, 10_000, &Streams::new(0)).ok()?;
        schema.decoder().ok()?.batch(table.rows, &table.columns, |_, _| 0.5).ok()
    };
    let image = || {
        let source = ImageSource::open(path, &ImageOptions::default()).ok()?;
        Images::read(&source, &mut |_| ()).ok()
    };
    let text = || {
        let source = TextSource::open(path, &TextOptions::default()).ok()?;
        let tokenizer = Tokenizer::characters(&source).ok()?;
        Tokens::read(&source, &tokenizer, &mut |_| ()).ok()
    };
    let binary = Tokens::open(path).is_ok_and(|tokens| tokens.check_contents().is_ok())
        || Images::open(path).is_ok_and(|images| images.check_contents().is_ok())
        || read_npz(path).is_ok();
    table().is_some() | image().is_some() | text().is_some() | binary
}

fn all_of(number: u64) {
    let folder = tempfile::tempdir().unwrap();
    let files = corpus(folder.path());
    let (mut came, mut refused) = (0_u64, 0_u64);
    for trial in 0..number {
        let mut rng = random(30_000 + trial);
        let (name, bytes) = &files[(trial % files.len() as u64) as usize];
        let path = folder.path().join(name);
        std::fs::write(&path, damaged(bytes.clone(), &mut rng)).unwrap();
        if read(&path) {
            came += 1
        } else {
            refused += 1
        }
        std::fs::remove_file(&path).unwrap();
    }
    println!(
        "{number} damaged files of {} formats and forms: {came} read, {refused} refused; no panic",
        files.len()
    );
    assert!(came > 0 && refused > 0, "the trial sees both outcomes");
}

#[test]
fn a_few() {
    all_of(300);
}

#[test]
#[ignore = "long: trials/run files"]
fn all() {
    all_of(count(50_000));
}
