//! What a model keeps of its data is whole, or said not to be; what unpacks to more than there is room for is refused.
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use pmm_data::grid_png;

const TEXT: &str = "--steps 6 -q --set batch=2 --set net.width=16 --set net.blocks=1 --set net.heads=2 --set net.length=16 \
                    --set net.condition=8";
const IMAGES: &str =
    "--steps 4 -q --set batch=2 --set net.width=8 --set net.multipliers=[1] --set train.validate_every=2";

/// A place with a text and its model, or images and theirs: the data, their settings, the file in which the model keeps them.
fn places() -> [(Place, &'static str, &'static str, &'static str); 2] {
    let text = Place::new();
    text.write("data", "the cat sees the dog.\n".repeat(40));
    text.run(&format!("fit data {TEXT} --set kind=text --out m.pmm")).ok();
    let images = Place::new();
    std::fs::create_dir(images.path("data")).unwrap();
    for row in 0..12_u8 {
        let pixels = (0..64).map(|i| i * 3 + row).collect();
        images.write(&format!("data/{row:02}.png"), grid_png(&[pixels], [1, 8, 8], 1).unwrap());
    }
    images.run(&format!("fit data {IMAGES} --out m.pmm")).ok();
    [(text, "data", TEXT, "m.pmm/state/tokens.bin"), (images, "data", IMAGES, "m.pmm/state/images.bin")]
}

#[test]
fn altered_and_truncated_contents_are_told() {
    for (place, data, _, file) in places() {
        let whole = place.read(file);
        let weights = place.read("m.pmm/weights.safetensors");
        let mut altered = whole.clone();
        let middle = altered.len() - 20;
        altered[middle] ^= 1;
        for (bytes, why) in
            [(&altered[..], "its contents were altered"), (&whole[..whole.len() - 9], "instead of")]
        {
            place.write(file, bytes);
            place.run(&format!("eval m.pmm {data} -q")).fails(1, &[file, why, "hint:"]);
        }
        // A fit that goes on makes them again from the data.
        place.write(file, &altered);
        place.run(&format!("fit {data} --resume --out m.pmm -q")).ok();
        assert_eq!((place.read(file), place.read("m.pmm/weights.safetensors")), (whole, weights));
    }
}

#[test]
fn images_that_no_disk_holds_are_refused() {
    let place = Place::new();
    let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000, 64, 64), }\n";
    let head =
        [&b"\x93NUMPY\x01\0"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes(), &[7; 4096]].concat();
    place.write("x.npy", head);
    place
        .run(&format!("fit x.npy {IMAGES}"))
        .fails(1, &["x.npy unpacks to 4096000000000000 bytes", "free on the disk", "hint:"]);
    assert!(!place.path("x.pmm").exists(), "nothing is left behind");
}

/// A reader of Arrow files that panics says that the file is damaged, and no more.
#[test]
fn a_damaged_arrow_file_is_an_error() {
    let place = Place::with_pets();
    place.run("fit pets.csv --steps 3 --set net.width=8 --set net.blocks=1 -q").ok();
    place.run("sample pets.pmm -n 20 -q --out x.arrow").ok();
    let whole = place.read("x.arrow");
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut bytes = whole.clone();
        bytes[at..(at + 4).min(whole.len())].fill(0xff);
        place.write("y.arrow", bytes);
        // `run` refuses whoever says "panicked".
        place.run("impute pets.pmm y.arrow -q");
    }
}

/// The library says what to do in words, the program in flags.
#[test]
fn hints_are_flags() {
    let place = Place::new();
    place.write("latin.txt", b"caf\xe9 au lait, ".repeat(100));
    place.run("fit latin.txt").fails(1, &["hint: --set tokenizer=bytes", "iconv"]);
    place.write("carets.csv", "a^b\n1^2\n2^3\n3^4\n1^1\n");
    place.run("fit carets.csv").fails(1, &["hint: --set delimiter='^'"]);
}
