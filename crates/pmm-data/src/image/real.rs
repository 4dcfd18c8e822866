//! Real sets of images, where they are.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::npy::tests::npy;
use super::zip::tests::archive;
use super::{ImageDataError, ImageOptions, ImageSize, ImageSource, Images};

/// A path in the data beside the repository.
fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/images").join(name)
}

fn written(path: &Path, options: &ImageOptions) -> Images {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("images");
    let source = ImageSource::open(path, options).unwrap();
    Images::write(&source, &file, &mut |_| ()).unwrap();
    let images = Images::open(&file).unwrap();
    assert_eq!((images.len() as u64, images.shape()), (source.count(), source.shape()));
    images
}

fn labels(images: &Images) -> [Option<u32>; 5] {
    std::array::from_fn(|index| images.label(index))
}

fn mean(images: &Images) -> f64 {
    let sum = |index| images.pixels(index).iter().map(|&value| u64::from(value)).sum::<u64>();
    let size: usize = images.shape().iter().product();
    (0..images.len()).map(sum).sum::<u64>() as f64 / (images.len() * size) as f64
}

#[test]
#[ignore = "needs ../shared/data"]
fn mnist() {
    let folder = shared("mnist");
    let train = written(&folder, &ImageOptions::default());
    assert_eq!((train.len(), train.shape(), train.classes().len()), (60_000, [1, 28, 28], 10));
    assert_eq!(labels(&train), [5, 0, 4, 1, 9].map(Some));
    // The mean by which everyone normalises MNIST, 0.1307.
    assert!((mean(&train) / 255. - 0.1307).abs() < 5e-5, "{}", mean(&train) / 255.);
    let test = folder.join("t10k-images-idx3-ubyte.gz");
    let small = ImageOptions { size: ImageSize::Fixed((14, 14)), grey: Some(false) };
    let test = written(&test, &small);
    assert_eq!((test.len(), test.shape()), (10_000, [3, 14, 14]));
    assert_eq!(labels(&test), [7, 2, 1, 0, 4].map(Some));
}

#[test]
#[ignore = "needs ../shared/data"]
fn cifar10() {
    let folder = shared("cifar10");
    let train = written(&folder, &ImageOptions::default());
    assert_eq!((train.len(), train.shape(), train.classes().len()), (20_000, [3, 32, 32], 10));
    assert_eq!(labels(&train), [6, 9, 9, 4, 1].map(Some));
    // keras.datasets.cifar10.load_data()[0][0][0, 0, 0]
    assert_eq!([0, 1024, 2048].map(|place| train.pixels(0)[place]), [59, 62, 63]);
    let test = written(&folder.join("test.webp"), &ImageOptions::default());
    assert_eq!((test.len(), labels(&test)), (10_000, [3, 8, 8, 0, 6].map(Some)));
    assert_eq!([0, 1024, 2048].map(|place| test.pixels(0)[place]), [158, 112, 49]);
}

#[test]
#[ignore = "needs ../shared/data"]
fn digits() {
    let folder = shared("digits");
    // A table of pixels is not read as images, and said to be none.
    let error = ImageSource::open(&folder, &ImageOptions::default()).unwrap_err();
    assert!(matches!(error, ImageDataError::NoImages { .. }), "{error}");
    let mut text = String::new();
    let file = std::fs::File::open(folder.join("digits.csv.gz")).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let rows: Vec<Vec<u8>> =
        text.lines().map(|line| line.split(',').map(|value| value.parse().unwrap()).collect()).collect();
    let pixels: Vec<u8> = rows.iter().flat_map(|row| row[..64].iter().map(|value| value * 15)).collect();
    let classes: Vec<u8> = rows.iter().map(|row| row[64]).collect();
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("digits.npz");
    let images = npy("|u1", &format!("({}, 8, 8)", rows.len()), &pixels);
    let members = [("x.npy", images), ("y.npy", npy("|u1", &format!("({},)", rows.len()), &classes))];
    std::fs::write(&path, archive(&members, true, true)).unwrap();
    let digits = written(&path, &ImageOptions::default());
    assert_eq!((digits.len(), digits.shape()), (1797, [1, 8, 8]));
    for index in 0..digits.len() {
        assert_eq!(digits.pixels(index), &pixels[index * 64..][..64]);
        assert_eq!(digits.label(index), Some(classes[index].into()));
    }
}
