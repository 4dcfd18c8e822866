//! Pictures, IDX, npy and npz, and the file in which images are kept: read or refused.
#![no_main]

mod file;

use libfuzzer_sys::fuzz_target;
use pmm_data::{ImageOptions, ImageSize, ImageSource, Images, read_npz};

fuzz_target!(|bytes: &[u8]| {
    let path = file::file(".bin", bytes);
    let _ = read_npz(&path);
    if let Ok(images) = Images::open(&path) {
        let _ = images.check_contents();
        for image in 0..images.len().min(3) {
            let _ = (images.pixels(image).len(), images.label(image));
        }
    }
    if let Ok(source) = ImageSource::open(&path, &ImageOptions { size: ImageSize::Fixed((4, 4)), grey: None })
        && source.count() < 1000
    {
        let _ = Images::read(&source, &mut |_| ());
    }
    let _ = std::fs::remove_file(path);
});
