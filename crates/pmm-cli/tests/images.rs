//! Images: what a user sees of fit, sample, eval, trace and info.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;
use pmm::{Purpose, Streams};
use pmm_data::{grid_png, read_image};

/// A fit that is over in a blink.
const QUICK: &str =
    "--steps 8 -q --set batch=4 --set net.width=8 --set net.multipliers=[1,2] --set train.validate_every=4";

/// A folder `shapes` with two classes of small grey pictures: bars that lie and bars that stand.
fn place() -> Place {
    let place = Place::new();
    for class in ["lying", "standing"] {
        std::fs::create_dir_all(place.path(&format!("shapes/{class}"))).unwrap();
        for row in 0..30 {
            let mut rng = Streams::new(4).stream(Purpose::DATA, u64::from(class == "lying"), row);
            let at = rng.below(8) as usize;
            let is_bar = |i: usize| if class == "lying" { i / 8 == at } else { i % 8 == at };
            let pixels = (0..64).map(|i| if is_bar(i) { 220 } else { 20 + rng.below(9) as u8 }).collect();
            place.write(&format!("shapes/{class}/{row:02}.png"), grid_png(&[pixels], [1, 8, 8], 1).unwrap());
        }
    }
    place
}

/// With a model of it in `shapes.pmm`.
fn with_model(settings: &str) -> Place {
    let place = place();
    place.run(&format!("fit shapes {QUICK} {settings}")).ok();
    place
}

/// The pixels of a grid of 8×8 images, image by image.
fn tiles(place: &Place, name: &str, across: usize, down: usize) -> Vec<Vec<u8>> {
    let all = read_image(&place.path(name), [1, 8 * down, 8 * across]).unwrap();
    let pixel = |tile: usize, i: usize| {
        let (row, column) = (tile / across * 8 + i / 8, tile % across * 8 + i % 8);
        all[row * 8 * across + column]
    };
    (0..across * down).map(|tile| (0..64).map(|i| pixel(tile, i)).collect()).collect()
}

#[test]
fn fit_says_what_it_found() {
    let place = place();
    let run = place.run(&format!("fit shapes {}", QUICK.replace("-q ", ""))).ok();
    assert!(run.err.contains("60 images of 8×8 pixels, grey; classes: 2: lying, standing"), "{}", run.err);
    assert!(run.err.contains("learned: 57 images; held out: 3"), "{}", run.err);
    let info = String::from_utf8(place.run("info shapes.pmm").ok().out).unwrap();
    assert!(info.contains("2: lying, standing") && info.contains("8, the best at"), "{info}");
    let json: serde_json::Value =
        serde_json::from_slice(&place.run("info shapes.pmm --json").ok().out).unwrap();
    assert_eq!((json["kind"].as_str(), json["images"]["count"].as_u64()), (Some("image"), Some(60)));
    let card = String::from_utf8(place.read("shapes.pmm/README.md")).unwrap();
    assert!(card.contains("# A model of images") && card.contains("parametrisation = \"edm\""), "{card}");
    assert_eq!(tiles(&place, "shapes.pmm/preview.png", 4, 4).len(), 16);
}

/// Two fits with one seed are the same files, one thread or two; another seed is another model.
#[test]
fn one_seed_one_model() {
    let place = place();
    for (name, rest) in [("a", "--threads 1"), ("b", "--threads 2"), ("c", "--seed 1")] {
        place.run(&format!("fit shapes {QUICK} --out {name} {rest}")).ok();
    }
    assert_eq!(place.read("a/weights.safetensors"), place.read("b/weights.safetensors"));
    assert_eq!(place.read("a/preview.png"), place.read("b/preview.png"));
    assert_ne!(place.read("a/weights.safetensors"), place.read("c/weights.safetensors"));
}

/// An image is the same for the same seed and number, whatever the threads and however many are drawn with it.
#[test]
fn samples_depend_on_seed_and_number_only() {
    let place = with_model("");
    place.run("sample shapes.pmm -n 4 --steps 4 --out four.png -q").ok();
    place.run("sample shapes.pmm -n 81 --steps 4 --out many.png -q --threads 1").ok();
    place.run("sample shapes.pmm -n 4 --steps 4 --out other.png -q --seed 1").ok();
    let four = tiles(&place, "four.png", 2, 2);
    assert_eq!(tiles(&place, "many.png", 9, 9)[..4], four);
    assert_ne!(tiles(&place, "other.png", 2, 2), four);
    place.run("sample shapes.pmm -n 3 --steps 4 --out single -q").ok();
    assert_eq!(tiles(&place, "single/000002.png", 1, 1)[0], four[2]);
    assert!(!place.path("single/000003.png").exists());
    let piped = place.run("sample shapes.pmm -n 4 --steps 4 -q").ok();
    assert_eq!(piped.out, place.read("four.png"));
}

#[test]
fn samplers_of_both_pairs() {
    let place = with_model("");
    for sampler in ["sde", "euler", "heun", "dpm", "heun --churn 10"] {
        place.run(&format!("sample shapes.pmm -n 2 --steps 4 --sampler {sampler} --out x.png -q")).ok();
    }
    place.run("sample shapes.pmm --sampler leap --out x.png").fails(1, &["Normal pair", "sde, euler"]);
    place.run("sample shapes.pmm --sampler events --out x.png").fails(1, &["Normal pair"]);
    place.run("sample shapes.pmm --churn 3 --out x.png").fails(1, &["--churn is for --sampler heun"]);
    place.run("sample shapes.pmm --top-k 3 --out x.png").fails(1, &["for texts"]);
    place.run("sample shapes.pmm --out x.jpg").fails(1, &["not named .png"]);
    place.run("sample shapes.pmm --steps 1 --out x.png").fails(1, &["one network call"]);
    for pair in ["pair=poisson --out p", "parametrisation=eps --out e", "parametrisation=x --out x"] {
        place.run(&format!("fit shapes {QUICK} --set {pair}")).ok();
    }
    for model in ["p --sampler sde", "p --sampler leap", "e", "x"] {
        place.run(&format!("sample {model} -n 2 --steps 5 --out y.png -q")).ok();
    }
    place.run("sample p --sampler dpm --out y.png").fails(1, &["Poisson pair", "sde and leap"]);
}

#[test]
fn classes_and_pixels_are_kept() {
    let place = with_model("");
    place.run("sample shapes.pmm -n 4 --steps 3 --given label=lying --guidance 2 --out l.png -q").ok();
    place.run("sample shapes.pmm -n 4 --steps 3 --given label=standing --guidance 2 --out s.png -q").ok();
    assert_ne!(place.read("l.png"), place.read("s.png"));
    place
        .run("sample shapes.pmm --given label=flying --out l.png")
        .fails(1, &["\"flying\"", "lying, standing"]);
    place.run("sample shapes.pmm --given size=3 --out l.png").fails(1, &["no columns", "label=CLASS"]);
    // The right half is unknown.
    let mask = (0..64).map(|i| if i % 8 >= 4 { 255 } else { 0 }).collect();
    place.write("mask.png", grid_png(&[mask], [1, 8, 8], 1).unwrap());
    let given = "sample shapes.pmm -n 4 --steps 3 -q --given shapes/lying/00.png";
    place.run(&format!("{given} --mask mask.png --out filled.png")).ok();
    let real = tiles(&place, "shapes/lying/00.png", 1, 1).remove(0);
    let filled = tiles(&place, "filled.png", 2, 2);
    for image in &filled {
        assert!((0..64).filter(|i| i % 8 < 4).all(|i| image[i] == real[i]));
    }
    assert_ne!(filled[0], filled[1]);
    place.run(&format!("{given} --out x.png")).fails(1, &["which pixels of shapes/lying/00.png", "--mask"]);
    place.run("sample shapes.pmm --mask mask.png --out x.png").fails(1, &["mask.png has no image"]);
    place.run(&format!("fit shapes {QUICK} --set observed=0 --set label_dropout=0 --out plain")).ok();
    let plain = given.replace("shapes.pmm", "plain");
    place.run(&format!("{plain} --mask mask.png --out x.png")).fails(1, &["observed = 0", "observed=0.2"]);
    place.run("sample plain --guidance 2 --out x.png").fails(1, &["label_dropout = 0"]);
}

#[test]
fn eval_and_trace() {
    let place = with_model("");
    let run = place.run("eval shapes.pmm shapes --json -q").ok();
    let scores: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
    let bits = scores["bits_per_dimension"].as_f64().unwrap();
    // Eight steps: no better than what single pixels tell.
    assert!(bits > 1.0 && bits < 9.0, "{bits}");
    assert!(scores["standard_error"].as_f64().unwrap() < 0.5);
    assert_eq!(tiles(&place, "shapes.pmm/samples.png", 8, 8).len(), 64);
    place.run("trace shapes.pmm -q").ok();
    let moving = place.read("shapes.pmm/trace.png");
    assert_eq!(moving.windows(4).filter(|chunk| chunk == b"fcTL").count(), 40);
    place.run("trace shapes.pmm --out t.svg").fails(1, &["not named .png"]);
    place.run("trace shapes.pmm --columns x").fails(1, &["no columns"]);
    place.run("predict shapes.pmm shapes").fails(1, &["model of images"]);
    place.write("large.png", grid_png(&[vec![0; 81]], [1, 9, 9], 1).unwrap());
    place.run("eval shapes.pmm large.png").fails(1, &["9×9 pixels, grey, the model takes 8×8"]);
    place.run("eval shapes.pmm shapes/lying/00.png").fails(1, &["1 images, too few"]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let place = place();
    place.write("shapes/lying/zz.png", "not a picture");
    place.run(&format!("fit shapes {QUICK}")).fails(1, &["zz.png is not a whole picture", "hint:"]);
    place.write("shapes/lying/zz.png", grid_png(&[vec![0; 81]], [1, 9, 9], 1).unwrap());
    place.run(&format!("fit shapes {QUICK}")).fails(1, &["several sizes", "zz.png has 9×9", "--set size=32"]);
    place.run(&format!("fit shapes {QUICK} --set size=4 --out small")).ok();
    std::fs::remove_file(place.path("shapes/lying/zz.png")).unwrap();
    // Two frames of one pixel.
    let frame = "2c 00 00 00 00 01 00 01 00 00 02 02 44 01 00";
    let gif = format!("47 49 46 38 39 61 01 00 01 00 80 00 00 00 00 00 ff ff ff {frame} {frame} 3b");
    let gif: Vec<u8> = gif.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    place.write("shapes/lying/moving.gif", gif);
    place.run(&format!("fit shapes {QUICK}")).fails(1, &["moving.gif is a GIF file, which is not read"]);
    std::fs::create_dir(place.path("none")).unwrap();
    place.run("fit none --set kind=image").fails(1, &["none has no images"]);
    place.run("fit none").fails(1, &["none", "hint:"]);
    place.run("fit shapes/standing/00.png --preset mnist2").fails(1, &["no preset mnist2", "mnist ("]);
    place.run("fit shapes/standing --target x").fails(1, &["no columns"]);
    place.run("fit shapes/standing --set net.width=9").fails(1, &["net.width (9)"]);
    place.write("wide.png", grid_png(&[vec![0; 32]], [1, 4, 8], 1).unwrap());
    place.run("fit wide.png").fails(1, &["4×8 pixels", "--set size=4"]);
    for name in ["shapes", "wide", "standing"] {
        assert!(!place.path(&format!("{name}.pmm")).exists(), "{name}");
    }
}

/// One picture, of one pixel: nothing to learn, and no reason to fall.
#[test]
fn a_single_pixel() {
    let place = Place::new();
    place.write("dot.png", grid_png(&[vec![7, 8, 9]], [3, 1, 1], 1).unwrap());
    place.run("fit dot.png --steps 4 -q").ok();
    place.run("sample dot.pmm -n 3 --steps 3 --out x.png -q").ok();
}

/// The full-size presets resolve, and say how big they are.
#[test]
fn presets_say_how_big_they_are() {
    let place = place();
    for (preset, weights) in [("afhqv2", 295_000_000..296_000_000), ("mnist", 100_000..3_000_000)] {
        let run = place.run(&format!("fit shapes --preset {preset} --dry-run --json")).ok();
        let value: serde_json::Value = serde_json::from_slice(&run.out).unwrap();
        assert!(weights.contains(&value["weights"].as_u64().unwrap()), "{preset}: {}", value["weights"]);
        assert!(value["operations_per_step"].as_f64().unwrap() > 1e9);
    }
    assert!(!place.path("shapes.pmm").exists());
}

/// Killed in the middle and gone on: the same bits as undisturbed; other images are refused.
#[test]
#[cfg(unix)]
fn a_killed_fit_goes_on_bit_for_bit() {
    let settings =
        QUICK.replace("--steps 8", "--steps 40").replace("-q ", "-q --set train.checkpoint_seconds=0 ");
    let whole = place();
    whole.run(&format!("fit shapes {settings}")).ok();
    let place = place();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("pmm"))
        .current_dir(place.path(""))
        .args(format!("fit shapes {settings}").split_whitespace())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let step = || {
        let path = place.path("shapes.pmm/state/checkpoint.safetensors");
        path.exists().then(|| pmm_train::load_tensors(&path).unwrap().1["run.step"].parse::<u64>().unwrap())
    };
    let begun = Instant::now();
    while step().is_none_or(|step| step < 10) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no checkpoint comes");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let at = step().unwrap();
    assert!((10..40).contains(&at), "killed at {at}");
    place.run("fit shapes/lying --out shapes.pmm --resume -q").fails(1, &["hint:"]);
    place.run("fit shapes --resume -q --set net.width=16").fails(1, &["says net.width = 8, not 16"]);
    place.run("fit shapes --resume -q --threads 1").ok();
    assert_eq!(place.read("shapes.pmm/weights.safetensors"), whole.read("shapes.pmm/weights.safetensors"));
}
