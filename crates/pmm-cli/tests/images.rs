//! Images: what a user sees of fit, sample, eval, trace and info.
#![allow(clippy::unwrap_used)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Place;
use pmm_core::{Purpose, Streams};
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
    assert!(info.contains("2: lying, standing") && info.contains("8 steps, the best at"), "{info}");
    let json: serde_json::Value =
        serde_json::from_slice(&place.run("info shapes.pmm --json").ok().out).unwrap();
    assert_eq!((json["kind"].as_str(), json["images"]["count"].as_u64()), (Some("image"), Some(60)));
    // The settings are an object, as those of a dry run, and in words they are those of config.toml.
    let dry: serde_json::Value =
        serde_json::from_slice(&place.run(&format!("fit shapes {QUICK} --dry-run --json")).ok().out).unwrap();
    assert_eq!(json["config"], dry["config"]);
    assert!(json["config"]["train"]["steps"] == 8 && info.contains("  [train]\n"), "{json}");
    let card = String::from_utf8(place.read("shapes.pmm/README.md")).unwrap();
    assert!(card.contains("# A model of images") && card.contains("parametrisation = \"edm\""), "{card}");
    assert_eq!(tiles(&place, "shapes.pmm/preview.png", 4, 4).len(), 16);
}

/// Two fits with one seed are the same files, one thread or two; another seed or another optimiser is another model.
#[test]
fn one_seed_one_model() {
    let place = place();
    for (name, rest) in
        [("a", "--threads 1"), ("b", "--threads 2"), ("c", "--seed 1"), ("d", "--set muon.rate=0.01")]
    {
        place.run(&format!("fit shapes {QUICK} --set augment=0.5 --out {name} {rest}")).ok();
    }
    assert_eq!(place.read("a/weights.safetensors"), place.read("b/weights.safetensors"));
    assert_eq!(place.read("a/preview.png"), place.read("b/preview.png"));
    for other in ["c", "d"] {
        assert_ne!(place.read("a/weights.safetensors"), place.read(&format!("{other}/weights.safetensors")));
    }
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
    let labels = String::from_utf8(place.read("single/labels.csv")).unwrap();
    let lines: Vec<&str> = labels.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, "file,label"), "{labels}");
    assert!(lines[3] == "000002.png,lying" || lines[3] == "000002.png,standing", "{labels}");
    let piped = place.run("sample shapes.pmm -n 4 --steps 4 -q").ok();
    assert_eq!(piped.out, place.read("four.png"));
}

#[test]
fn samplers_of_both_pairs() {
    let place = with_model("");
    for sampler in ["sde", "sde2", "euler", "heun", "dpm", "heun --churn 10"] {
        place.run(&format!("sample shapes.pmm -n 2 --steps 4 --sampler {sampler} --out x.png -q")).ok();
    }
    place.run("sample shapes.pmm --sampler leap --out x.png").fails(1, &["Normal pair", "sde, sde2, euler"]);
    place
        .run("sample shapes.pmm --sampler events --out x.png")
        .fails(1, &["is for texts", "sde, sde2, euler"]);
    place.run("sample shapes.pmm --churn 3 --out x.png").fails(1, &["churn is for the sampler heun"]);
    place.run("sample shapes.pmm --top-k 3 --out x.png").fails(1, &["not for images"]);
    place.run("sample shapes.pmm --out x.jpg").fails(1, &["not named .png"]);
    place.run("sample shapes.pmm --steps 1 --out x.png").fails(1, &["one network call"]);
    for pair in ["pair=poisson --out p", "parametrisation=eps --out e", "parametrisation=x --out x"] {
        place.run(&format!("fit shapes {QUICK} --set {pair}")).ok();
    }
    for model in ["p --sampler sde", "p --sampler leap", "p --sampler sde2", "e", "x"] {
        place.run(&format!("sample {model} -n 2 --steps 5 --out y.png -q")).ok();
    }
    place.run("sample p --sampler dpm --out y.png").fails(1, &["Poisson pair", "sde, sde2 and leap"]);
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
    // A folder of images, each filled in twice: the first as it would be alone.
    place.run("sample shapes.pmm -n 2 --steps 3 -q --given shapes/lying --mask mask.png --out all").ok();
    let count = std::fs::read_dir(place.path("shapes/lying")).unwrap().count();
    let second = tiles(&place, "all/000002.png", 1, 1).remove(0);
    let real = tiles(&place, "shapes/lying/01.png", 1, 1).remove(0);
    assert!((0..64).filter(|i| i % 8 < 4).all(|i| second[i] == real[i]));
    assert_eq!(tiles(&place, "all/000001.png", 1, 1)[0], filled[1]);
    assert!(place.path(&format!("all/{:06}.png", 2 * count - 1)).exists());
    assert!(!place.path(&format!("all/{:06}.png", 2 * count)).exists());
    // No class is made up where pixels are given: the same as with a class that does not count.
    for (label, same) in [("--given label=standing --guidance 0", true), ("--given label=standing", false)] {
        place.run(&format!("{given} {label} --mask mask.png --out told.png")).ok();
        assert_eq!(tiles(&place, "told.png", 2, 2) == filled, same, "{label}");
    }
    place.run(&format!("{given} --out x.png")).fails(1, &["which pixels of shapes/lying/00.png", "--mask"]);
    place.run("sample shapes.pmm --mask mask.png --out x.png").fails(1, &["mask.png has no image"]);
    place.run(&format!("fit shapes {QUICK} --set observed=0 --set label_dropout=0 --out plain")).ok();
    let plain = given.replace("shapes.pmm", "plain");
    place.run(&format!("{plain} --mask mask.png --out x.png")).fails(1, &["observed = 0", "observed = 0.2"]);
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
    assert!((1.0..8.0).contains(&scores["plain_bits"].as_f64().unwrap()));
    assert_eq!(tiles(&place, "shapes.pmm/samples.png", 8, 8).len(), 64);
    place.run("trace shapes.pmm -q").ok();
    let moving = place.read("shapes.pmm/trace.png");
    assert_eq!(moving.windows(4).filter(|chunk| chunk == b"fcTL").count(), 40);
    place.run("trace shapes.pmm --out t.svg").fails(1, &["not named .png"]);
    place.run("trace shapes.pmm --columns x").fails(1, &["no columns"]);
    place.run("predict shapes.pmm shapes").fails(1, &["model of images"]);
    place.write("large.png", grid_png(&[vec![0; 81]], [1, 9, 9], 1).unwrap());
    place.run("eval shapes.pmm large.png").fails(1, &["9×9 pixels, grey, the model takes 8×8"]);
    place.run("eval shapes.pmm shapes/lying/00.png").fails(1, &["1 image, too few"]);
}

/// Weights of a ResNet with eight layers, in safetensors. It sees class 3 of CIFAR-10, a cat, in everything.
fn resnet(seed: u64) -> Vec<u8> {
    let mut shapes = vec![("conv1.weight".to_owned(), vec![16, 3, 3, 3]), ("bn1".to_owned(), vec![16])];
    for (layer, inputs, outputs) in [(1, 16, 16), (2, 16, 32), (3, 32, 64)] {
        for (part, inputs) in [(1, inputs), (2, outputs)] {
            shapes.push((format!("layer{layer}.0.conv{part}.weight"), vec![outputs, inputs, 3, 3]));
            shapes.push((format!("layer{layer}.0.bn{part}"), vec![outputs]));
        }
    }
    shapes.push(("linear.weight".to_owned(), vec![10, 64]));
    let mut rng = Streams::new(seed).stream(Purpose::DATA, 0, 0);
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    for (name, shape) in shapes {
        let count = shape.iter().product::<usize>();
        if name.ends_with(".weight") {
            let scale = (2.0 / (count / shape[0]) as f64).sqrt();
            tensors.push((name, shape, (0..count).map(|_| (scale * rng.normal()) as f32).collect()));
        } else {
            for (part, value) in [("weight", 1.0), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)]
            {
                tensors.push((format!("{name}.{part}"), shape.clone(), vec![value; count]));
            }
        }
    }
    tensors.push((
        "linear.bias".to_owned(),
        vec![10],
        (0..10).map(|i| if i == 3 { 1e6 } else { 0.0 }).collect(),
    ));
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let start = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name, entry);
    }
    let header = serde_json::Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &data].concat()
}

fn json(place: &Place, arguments: &str) -> serde_json::Value {
    serde_json::from_slice(&place.run(arguments).ok().out).unwrap()
}

/// Without a feature network: likelihood, neighbours by pixels and a report; and the way to the rest.
#[test]
fn a_report_to_look_at() {
    let place = with_model("");
    let run = place.run("eval shapes.pmm shapes --steps 4").ok();
    let table = String::from_utf8(run.out).unwrap();
    for row in ["bits per dimension", "bytes on their own", "nearest of 57 training images, in grey levels"] {
        assert!(table.contains(row), "{row}: {table}");
    }
    assert!(run.err.contains("a feature network measures it"), "{}", run.err);
    assert!(run.err.contains("learned from") && run.err.contains("report: open shapes.pmm"), "{}", run.err);
    let html = String::from_utf8(place.read("shapes.pmm/report.html")).unwrap();
    for part in ["Samples", "Verdict", "Nearest training images", "Denoising", "Training", "Model"] {
        assert!(html.contains(&format!("<h2>{part}</h2>")), "{part}");
    }
    assert_eq!(html.matches("data:image/png;base64,iVBOR").count(), 2);
    assert!(!html.contains("NaN") && !html.contains("FID "), "no Inception, no FID");
    assert!(!place.path("shapes.pmm/cache").exists());
    // Without the training images half of those given stand in, and copies cannot be told.
    std::fs::remove_dir_all(place.path("shapes.pmm/state")).unwrap();
    let alone = json(&place, "eval shapes.pmm shapes --steps 4 -n 9 --json -q --out elsewhere");
    assert!(
        alone["nearest"].is_null() && alone["notes"].to_string().contains("stand in for training images"),
        "{alone}"
    );
    assert_eq!(alone["denoising"].as_array().unwrap().len(), 14);
    let html = String::from_utf8(place.read("elsewhere/report.html")).unwrap();
    assert!(!html.contains("Nearest training images"));
}

/// Distances in the features of a network, beside those of real images; features are kept for the next time.
#[test]
fn distances_beside_real_images() {
    let place = with_model("");
    place.write("a.safetensors", resnet(1));
    place.write("b.safetensors", resnet(2));
    let eval = |network: &str| {
        json(&place, &format!("eval shapes.pmm shapes --features {network} --steps 3 --json -q"))
    };
    let first = eval("a.safetensors");
    let found = &first["distances"];
    assert_eq!(
        (found["images"].as_u64(), found["reference"].as_u64(), found["network"].as_str()),
        (Some(60), Some(57), Some("ResNet-8 of CIFAR-10"))
    );
    // Nearly the same images on one side, those of eight steps of training on the other.
    let frechet = |value: &serde_json::Value, of: &str| value["distances"]["frechet"][of].as_f64().unwrap();
    assert!(frechet(&first, "samples") > 10.0 * frechet(&first, "held_out"), "{found}");
    assert!(found["kernel"]["samples"]["distance"].as_f64().unwrap() > 0.0, "{found}");
    // Bars beside what is no bar yet: none of the samples lies where real images do, while all of these do.
    let precision = |of: &str| found["precision"][of]["precision"].as_f64().unwrap();
    assert!(precision("samples") < 0.2 && precision("held_out") > 0.9, "{found}");
    assert!(found["frechet_limit"].is_null(), "60 images are too few for 64 features: {found}");
    assert_eq!(first["nearest"]["near_copies"].as_f64(), Some(0.0), "{first}");
    assert!(first["accuracy"].is_null() && first["notes"].to_string().contains("not those of CIFAR-10"));
    let kept = std::fs::read_dir(place.path("shapes.pmm/cache")).unwrap().next().unwrap().unwrap();
    assert!(kept.file_name().to_string_lossy().starts_with("resnet-8-of-cifar-10-"), "{kept:?}");
    let arrays: Vec<String> =
        pmm_data::read_npz(&kept.path()).unwrap().into_iter().map(|array| array.name).collect();
    assert_eq!(arrays, ["mu", "sigma", "features"]);
    assert_eq!(eval("a.safetensors"), first);
    // Another network of the same name is not taken for the first.
    assert_ne!(frechet(&eval("b.safetensors"), "held_out"), frechet(&first, "held_out"));
    assert_eq!(eval("a.safetensors"), first);
    // Samples that are already there: the same scores.
    place.run("sample shapes.pmm -n 60 --steps 3 --out made -q").ok();
    let made = json(&place, "eval shapes.pmm shapes --samples made --features a.safetensors --json -q");
    assert!(made["bits_per_dimension"].is_null(), "{made}");
    assert!((frechet(&made, "held_out") - frechet(&first, "held_out")).abs() < 1e-6, "{made}");
    place.run("eval shapes.pmm shapes --samples made -n 3").fails(1, &["none are drawn"]);
    place
        .run("eval shapes.pmm shapes --features none.pth")
        .fails(1, &["none.pth", "hint: check the path", "ResNet"]);
    place.run("eval shapes.pmm shapes --features shapes/lying/00.png").fails(
        1,
        &[
            "no weights of a feature network",
            "hint: safetensors and files of PyTorch (.pth) are read of ResNet",
        ],
    );
    place.write("c.pth", b"PK\x03\x04");
    place
        .run("eval shapes.pmm shapes --features c.pth")
        .fails(1, &["c.pth looks like a file of PyTorch", "convert it once"]);
    place.run("eval shapes.pmm shapes --target x").fails(1, &["not for images"]);
    place.run("eval shapes.pmm shapes --steps 1").fails(1, &["one network call"]);
}

/// The share of samples in which a classifier sees the class that was asked for.
#[test]
fn classes_of_cifar_are_told() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("cats/cat")).unwrap();
    for row in 0..12 {
        let png = grid_png(&[vec![20 * row; 48]], [3, 4, 4], 1).unwrap();
        place.write(&format!("cats/cat/{row}.png"), png);
    }
    place.run(&format!("fit cats {QUICK}")).ok();
    place.write("net.safetensors", resnet(1));
    let found =
        json(&place, "eval cats.pmm cats --features net.safetensors -n 8 --steps 3 --json -q --seed 1");
    assert_eq!(found["accuracy"]["samples"]["share"].as_f64(), Some(1.0), "{found}");
    assert_eq!(found["accuracy"]["held_out"]["images"].as_u64(), Some(8), "{found}");
    // Eight images are too few for ten subsets of two.
    assert!(found["distances"]["kernel"].is_null() && found["notes"].to_string().contains("no kernel"));
}

/// A folder that `sample` has written has the classes of its `labels.csv`, wherever images are read.
#[test]
fn samples_have_their_classes() {
    let place = with_model("");
    place.run("sample shapes.pmm -n 20 --steps 3 --out made -q").ok();
    let fit = format!("fit made {} --out again.pmm --force", QUICK.replace("-q ", ""));
    let said = place.run(&fit).ok().err;
    assert!(said.contains("made (classes of labels.csv): 20 images of"), "{said}");
    assert!(said.contains("classes: 2: lying, standing") && !said.contains("no picture"), "{said}");
    let labels = String::from_utf8(place.read("made/labels.csv")).unwrap();
    place.write("made/labels.csv", labels.replace("000007.png", "000070.png"));
    place.run(&fit).fails(1, &["labels.csv", "line 9 names \"000070.png\"", "hint:"]);
    let without: String =
        labels.lines().filter(|line| !line.contains("000007")).map(|line| format!("{line}\n")).collect();
    place.write("made/labels.csv", without);
    place.run(&fit).fails(1, &["20 images: it has no line for 000007.png", "hint:"]);
    place.write("made/labels.csv", "id,breed\n000000.png,cat\n");
    place.run("eval shapes.pmm shapes --samples made").fails(1, &["\"id,breed\", not \"file,label\""]);
}

/// What is passed over and what is changed is said; what cannot be read is named all at once.
#[test]
fn what_becomes_of_files_is_said() {
    let place = place();
    let fit = format!("fit shapes {} --force", QUICK.replace("-q ", ""));
    place.write("shapes/notes.txt", "x");
    place.write("shapes/outside.png", grid_png(&[vec![9; 64]], [1, 8, 8], 1).unwrap());
    let said = place.run(&fit).ok().err;
    assert!(said.contains("shapes/notes.txt is no picture and is passed over"), "{said}");
    assert!(said.contains("shapes/outside.png lies outside the folders that are classes"), "{said}");
    place.write("shapes/tiny.png", grid_png(&[vec![9; 20]], [1, 4, 5], 1).unwrap());
    let said = place.run(&fit).ok().err;
    assert!(said.contains("as the smallest, shapes/tiny.png, has 5×4; set size=32"), "{said}");
    place.write("shapes/a.png", "");
    place.write("shapes/b.jpg", "x");
    let said = place.run(&fit);
    assert!(!said.err.contains("\n\n"), "{}", said.err);
    said.fails(
        1,
        &["2 pictures cannot be read: shapes/a.png is not a whole picture: it is empty; shapes/b.jpg"],
    );
}

/// μ at the end of the clock keeps what is left of the noise; x̂ does not.
#[test]
fn what_is_taken_at_the_end() {
    let place = with_model("");
    let sample = |rest: &str| {
        place.run(&format!("sample shapes.pmm -n 4 --steps 4 -q --out x.png {rest}")).ok();
        place.read("x.png")
    };
    let estimate = sample("--sampler sde --final estimate");
    assert_eq!(sample("--sampler sde"), estimate);
    assert_ne!(sample("--sampler sde --final mean"), estimate);
    place
        .run("sample shapes.pmm --final mean --out x.png")
        .fails(1, &["end with what the network expects", "choose sde"]);
}

#[test]
fn what_cannot_be_learned_is_refused() {
    let place = place();
    place.write("shapes/lying/zz.png", "not a picture");
    place.run(&format!("fit shapes {QUICK}")).fails(1, &["zz.png is not a whole picture", "hint:"]);
    place.write("shapes/lying/zz.png", grid_png(&[vec![0; 81]], [1, 9, 9], 1).unwrap());
    let fitted = place.run(&format!("fit shapes {} --out any", QUICK.replace("-q ", ""))).ok();
    assert!(fitted.err.contains("scaled and cropped to 8×8 pixels"), "{}", fitted.err);
    place.run(&format!("fit shapes {QUICK} --set size=4 --out small")).ok();
    std::fs::remove_file(place.path("shapes/lying/zz.png")).unwrap();
    // Two frames of one pixel.
    let frame = "2c 00 00 00 00 01 00 01 00 00 02 02 44 01 00";
    let gif = format!("47 49 46 38 39 61 01 00 01 00 80 00 00 00 00 00 ff ff ff {frame} {frame} 3b");
    let gif: Vec<u8> = gif.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    place.write("shapes/lying/moving.gif", gif);
    place.run(&format!("fit shapes {QUICK}")).fails(1, &["moving.gif is a GIF file, which is not read"]);
    std::fs::create_dir_all(place.path("none/class")).unwrap();
    for rest in ["", "--preset mnist"] {
        place.run(&format!("fit none {rest}")).fails(1, &["none: it is an empty folder", "hint: put texts"]);
    }
    place.write("none/class/readme.doc", "");
    place.run("fit none --set kind=image").fails(1, &["none has no images"]);
    place.run("fit none").fails(1, &["none", "hint:"]);
    place.run("fit shapes/standing/00.png --preset mnist2").fails(1, &["no preset mnist2", "mnist ("]);
    place.run("fit shapes/standing --target x").fails(1, &["no columns"]);
    place.run("fit shapes/standing --set net.width=9").fails(1, &["net.width = 9"]);
    place.run("fit shapes/standing --set augment=12").fails(1, &["augment = 12"]);
    place.write("wide.png", grid_png(&[vec![0; 32]], [1, 4, 8], 1).unwrap());
    let fitted = place.run(&format!("fit wide.png {}", QUICK.replace("-q ", ""))).ok();
    assert!(fitted.err.contains("scaled and cropped to 4×4 pixels"), "{}", fitted.err);
    for name in ["shapes", "standing", "none"] {
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
    let settings = QUICK
        .replace("--steps 8", "--steps 40")
        .replace("-q ", "-q --set augment=0.5 --set train.checkpoint_seconds=0 ");
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
        common::step(&path)
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
    place
        .run("fit shapes --resume -q --set net.width=16")
        .fails(1, &["was begun with net.width = 8, not 16"]);
    place.run("fit shapes --resume -q --threads 1").ok();
    assert_eq!(place.read("shapes.pmm/weights.safetensors"), whole.read("shapes.pmm/weights.safetensors"));
}
