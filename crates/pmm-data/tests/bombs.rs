//! Small files that unpack to a great deal are refused before they fill anything.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use pmm_data::{
    ImageOptions, ImageSource, Images, Overrides, ReadOptions, Schema, Source, TextOptions, TextSource,
    Tokenizer, Tokens,
};

/// What one line unpacks to, many times over: 100 MB in some hundred kilobytes.
fn gzip_bomb(path: &Path, head: &[u8], line: &[u8]) {
    let mut file = GzEncoder::new(std::fs::File::create(path).unwrap(), Compression::best());
    file.write_all(head).unwrap();
    let block = line.repeat((1 << 16) / line.len());
    for _ in 0..1600 {
        file.write_all(&block).unwrap();
    }
    file.finish().unwrap();
}

#[track_caller]
fn refused(error: impl std::fmt::Display) {
    let error = error.to_string();
    assert!(error.contains("over 200 times its size"), "{error}");
}

#[test]
fn a_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv.gz");
    gzip_bomb(&path, b"a,b\n", b"1,2\n");
    let source = Source::open(&path, &ReadOptions::default()).unwrap();
    refused(Schema::infer(&source, &Overrides::default()).unwrap_err());
}

#[test]
fn a_text() {
    let folder = tempfile::tempdir().unwrap();
    let (path, tokens) = (folder.path().join("t.txt.gz"), folder.path().join("tokens"));
    gzip_bomb(&path, b"", b"aaaa\n");
    let source = TextSource::open(&path, &TextOptions::default()).unwrap();
    refused(Tokens::write(&source, &Tokenizer::Bytes, &tokens, &mut |_| ()).unwrap_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
fn images() {
    let folder = tempfile::tempdir().unwrap();
    let (path, images) = (folder.path().join("x-images-idx3-ubyte.gz"), folder.path().join("images"));
    let head =
        [&[0, 0, 8, 3][..], &1_000_000u32.to_be_bytes(), &10u32.to_be_bytes(), &10u32.to_be_bytes()].concat();
    gzip_bomb(&path, &head, &[0; 64]);
    let source = ImageSource::open(&path, &ImageOptions::default()).unwrap();
    refused(Images::write(&source, &images, &mut |_| ()).unwrap_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}
