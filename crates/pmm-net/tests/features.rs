//! The feature networks beside PyTorch (`bench/images/make_features_fixture.py`), and on real images.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use pmm_data::{ImageOptions, ImageSource, Images};
use pmm_net::{FeatureError, FeatureNet, NamedTensor};
use safetensors::SafeTensors;

/// Largest difference as a share of the largest value.
const TOLERANCE: f32 = 1e-4;

/// Numbers from −1 to 1: a hash of seed and place, as in the script.
fn uniform(seed: u64, count: usize) -> impl Iterator<Item = f64> {
    (0..count as u64).map(move |place| {
        let mut h = (place * 2_654_435_761 + seed * 40_503 + 12_345) & 0xffff_ffff;
        for _ in 0..2 {
            h = ((h ^ (h >> 16)) * 0x45d_9f3b) & 0xffff_ffff;
        }
        (h ^ (h >> 16)) as f64 / 2f64.powi(31) - 1.0
    })
}

/// Weights as the script fills them.
fn weights(shapes: &BTreeMap<String, Vec<usize>>) -> Vec<NamedTensor> {
    let fill = |(seed, (name, shape)): (usize, (&String, &Vec<usize>))| {
        let count = shape.iter().product();
        let value = |u: f64| match shape.len() {
            1 if name.ends_with("running_var") => 1.0 + 0.5 * u,
            1 if name.ends_with("weight") => 1.0 + 0.1 * u,
            1 => 0.1 * u,
            _ => (6.0 * shape[0] as f64 / count as f64).sqrt() * u,
        };
        (name.clone(), shape.clone(), uniform(seed as u64, count).map(|u| value(u) as f32).collect())
    };
    shapes.iter().enumerate().map(fill).collect()
}

/// Images as the script makes them.
fn images(seed: u64, count: usize, [channels, height, width]: [usize; 3]) -> Vec<Vec<u8>> {
    let size = channels * height * width;
    let pixel = |(place, u): (usize, f64)| {
        let (k, y, x) = (place / (height * width), place / width % height, place % width);
        let wave = (0.3 * x as f64 + 0.2 * (k + 1) as f64 * y as f64 + k as f64).sin();
        (127.5 + 90.0 * wave + 30.0 * u).floor() as u8
    };
    let all: Vec<u8> = uniform(seed, count * size).enumerate().map(pixel).collect();
    all.chunks_exact(size).map(<[u8]>::to_vec).collect()
}

fn slices(images: &[Vec<u8>]) -> Vec<&[u8]> {
    images.iter().map(Vec::as_slice).collect()
}

/// Shapes of a network's state, from convolutions and their norms.
#[derive(Default)]
struct Shapes(BTreeMap<String, Vec<usize>>);

impl Shapes {
    fn conv(&mut self, name: &str, norm: &str, shape: [usize; 4]) {
        self.0.insert(format!("{name}.weight"), shape.to_vec());
        for part in ["weight", "bias", "running_mean", "running_var"] {
            self.0.insert(format!("{norm}.{part}"), vec![shape[0]]);
        }
    }

    fn unit(&mut self, name: &str, outputs: usize, inputs: usize, kernel: [usize; 2]) {
        let shape = [outputs, inputs, kernel[0], kernel[1]];
        self.conv(&format!("{name}.conv"), &format!("{name}.bn"), shape);
    }
}

fn resnet() -> Shapes {
    resnet_of(3)
}

fn resnet_of(blocks: usize) -> Shapes {
    let mut shapes = Shapes::default();
    shapes.conv("conv1", "bn1", [16, 3, 3, 3]);
    let mut inputs = 16;
    for (stage, outputs) in [(1, 16), (2, 32), (3, 64)] {
        for block in 0..blocks {
            let name = |part: &str| format!("layer{stage}.{block}.{part}");
            shapes.conv(&name("conv1"), &name("bn1"), [outputs, inputs, 3, 3]);
            shapes.conv(&name("conv2"), &name("bn2"), [outputs, outputs, 3, 3]);
            inputs = outputs;
        }
    }
    shapes.0.insert("linear.weight".into(), vec![10, 64]);
    shapes.0.insert("linear.bias".into(), vec![10]);
    shapes
}

fn efficientnet() -> Shapes {
    let mut shapes = Shapes::default();
    shapes.conv("_conv_stem", "_bn0", [32, 3, 3, 3]);
    let outputs = [16, 24, 24, 40, 40, 80, 80, 80, 112, 112, 112, 192, 192, 192, 192, 320];
    let kernels = [3, 3, 3, 5, 5, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 3];
    let mut inputs = 32;
    for (block, (outputs, kernel)) in outputs.into_iter().zip(kernels).enumerate() {
        let name = |part: &str| format!("_blocks.{block}.{part}");
        let inner = if block == 0 { inputs } else { 6 * inputs };
        if block > 0 {
            shapes.conv(&name("_expand_conv"), &name("_bn0"), [inner, inputs, 1, 1]);
        }
        shapes.conv(&name("_depthwise_conv"), &name("_bn1"), [inner, 1, kernel, kernel]);
        shapes.conv(&name("_project_conv"), &name("_bn2"), [outputs, inner, 1, 1]);
        inputs = outputs;
    }
    shapes.conv("_conv_head", "_bn1", [1280, 320, 1, 1]);
    shapes
}

fn inception() -> Shapes {
    let mut shapes = Shapes::default();
    let (one, three, wide, high) = ([1, 1], [3, 3], [1, 7], [7, 1]);
    shapes.unit("Conv2d_1a_3x3", 32, 3, three);
    shapes.unit("Conv2d_2a_3x3", 32, 32, three);
    shapes.unit("Conv2d_2b_3x3", 64, 32, three);
    shapes.unit("Conv2d_3b_1x1", 80, 64, one);
    shapes.unit("Conv2d_4a_3x3", 192, 80, three);
    let mut put = |block: &str, parts: &[(&str, usize, usize, [usize; 2])]| {
        for (part, outputs, inputs, kernel) in parts {
            shapes.unit(&format!("Mixed_{block}.{part}"), *outputs, *inputs, *kernel);
        }
    };
    for (block, c, pool) in [("5b", 192, 32), ("5c", 256, 64), ("5d", 288, 64)] {
        put(
            block,
            &[("branch1x1", 64, c, one), ("branch5x5_1", 48, c, one), ("branch5x5_2", 64, 48, [5, 5])],
        );
        put(block, &[("branch3x3dbl_1", 64, c, one), ("branch3x3dbl_2", 96, 64, three)]);
        put(block, &[("branch3x3dbl_3", 96, 96, three), ("branch_pool", pool, c, one)]);
    }
    put("6a", &[("branch3x3", 384, 288, three), ("branch3x3dbl_1", 64, 288, one)]);
    put("6a", &[("branch3x3dbl_2", 96, 64, three), ("branch3x3dbl_3", 96, 96, three)]);
    for (block, m) in [("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)] {
        put(block, &[("branch1x1", 192, 768, one), ("branch_pool", 192, 768, one)]);
        put(
            block,
            &[("branch7x7_1", m, 768, one), ("branch7x7_2", m, m, wide), ("branch7x7_3", 192, m, high)],
        );
        put(block, &[("branch7x7dbl_1", m, 768, one), ("branch7x7dbl_2", m, m, high)]);
        put(block, &[("branch7x7dbl_3", m, m, wide), ("branch7x7dbl_4", m, m, high)]);
        put(block, &[("branch7x7dbl_5", 192, m, wide)]);
    }
    put("7a", &[("branch3x3_1", 192, 768, one), ("branch3x3_2", 320, 192, three)]);
    put("7a", &[("branch7x7x3_1", 192, 768, one), ("branch7x7x3_2", 192, 192, wide)]);
    put("7a", &[("branch7x7x3_3", 192, 192, high), ("branch7x7x3_4", 192, 192, three)]);
    for (block, c) in [("7b", 1280), ("7c", 2048)] {
        put(block, &[("branch1x1", 320, c, one), ("branch_pool", 192, c, one), ("branch3x3_1", 384, c, one)]);
        put(block, &[("branch3x3_2a", 384, 384, [1, 3]), ("branch3x3_2b", 384, 384, [3, 1])]);
        put(block, &[("branch3x3dbl_1", 448, c, one), ("branch3x3dbl_2", 384, 448, three)]);
        put(block, &[("branch3x3dbl_3a", 384, 384, [1, 3]), ("branch3x3dbl_3b", 384, 384, [3, 1])]);
    }
    shapes
}

fn expected(name: &str) -> Vec<f32> {
    let bytes =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/features.safetensors")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    file.tensor(name).unwrap().data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

fn agree(found: &[f32], name: &str) {
    let expected = expected(name);
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0f32, |most, v| most.max(v.abs()));
    let off = found.iter().zip(&expected).fold(0f32, |most, (f, e)| most.max((f - e).abs())) / largest;
    println!("{name}: {off:.1e} of {largest}");
    assert!(off < TOLERANCE, "{name}: {off}");
}

fn net(shapes: &Shapes) -> FeatureNet {
    FeatureNet::new(weights(&shapes.0), &Device::flex()).unwrap()
}

#[test]
fn resnet_agrees_with_pytorch() {
    let net = net(&resnet());
    assert_eq!((net.name().as_str(), net.dimension()), ("ResNet-20 of CIFAR-10", 64));
    assert_eq!(net.frechet_name(), "Fréchet distance in features of ResNet-20 of CIFAR-10");
    let (colour, grey) = (images(1, 2, [3, 32, 32]), images(2, 2, [1, 28, 28]));
    agree(&net.features(&slices(&colour), [3, 32, 32]).unwrap(), "resnet.features");
    agree(&net.features(&slices(&grey), [1, 28, 28]).unwrap(), "resnet.grey");
    let logits = expected("resnet.logits");
    let top = |row: &[f32]| (0..10).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap() as u32;
    let classes: Vec<u32> = logits.chunks(10).map(top).collect();
    assert_eq!(net.classes(&slices(&colour), [3, 32, 32]).unwrap(), classes);
    // Images do not depend on those beside them.
    let many: Vec<&[u8]> = std::iter::repeat_n(slices(&colour), 35).flatten().collect();
    let features = net.features(&many, [3, 32, 32]).unwrap();
    agree(&features[68 * 64..], "resnet.features");
    assert!(net.features(&[], [3, 32, 32]).unwrap().is_empty());
}

/// The same features from files of PyTorch, new and old, as from the numbers of which `bench/images/make_pth_fixture.py` made
/// them.
#[test]
fn files_of_pytorch_are_read() {
    let value = |(place, (name, shape)): (usize, (String, Vec<usize>))| {
        let count = shape.iter().product();
        let one = place as f32 / 64.0;
        let value = |k: usize| match (name.as_str(), shape.len()) {
            ("conv1.weight", _) => k as f32 / 512.0 - 0.4,
            ("linear.weight", _) => (k / 64) as f32 / 8.0,
            ("linear.bias", _) => 0.5 - k as f32 / 4.0,
            (_, 1) => 0.5 + one,
            _ => (one - 0.25) / 16.0,
        };
        let values = (0..count).map(value).collect();
        (name, shape, values)
    };
    let tensors: Vec<NamedTensor> = resnet_of(1).0.into_iter().enumerate().map(value).collect();
    let expected = FeatureNet::new(tensors, &Device::flex()).unwrap();
    let colour = images(1, 2, [3, 32, 32]);
    let features = |net: &FeatureNet| net.features(&slices(&colour), [3, 32, 32]).unwrap();
    assert_ne!(features(&expected)[..64], features(&expected)[64..]);
    for name in ["resnet8-zip.pth", "resnet8-legacy.pth"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
        let net = FeatureNet::load(&path, &Device::flex()).unwrap();
        assert_eq!(net.name(), "ResNet-8 of CIFAR-10");
        assert_eq!(features(&net), features(&expected), "{name}");
    }
}

#[test]
fn efficientnet_agrees_with_pytorch() {
    let net = net(&efficientnet());
    assert_eq!((net.name().as_str(), net.dimension()), ("EfficientNet-Lite0", 1280));
    let colour = images(3, 2, [3, 32, 40]);
    agree(&net.features(&slices(&colour), [3, 32, 40]).unwrap(), "efficientnet.features");
    let error = net.classes(&slices(&colour), [3, 32, 40]).unwrap_err();
    assert!(matches!(error, FeatureError::NoClasses { .. }));
}

#[test]
fn inception_agrees_with_pytorch() {
    let net = net(&inception());
    assert_eq!((net.dimension(), net.frechet_name(), net.kernel_name()), (2048, "FID".into(), "KID".into()));
    let colour = images(4, 2, [3, 48, 32]);
    agree(&net.features(&slices(&colour), [3, 48, 32]).unwrap(), "inception.features");
}

#[test]
fn other_weights_and_images_are_refused() {
    let build = |change: fn(&mut Shapes)| {
        let mut shapes = resnet();
        change(&mut shapes);
        FeatureNet::new(weights(&shapes.0), &Device::flex()).map(drop).unwrap_err()
    };
    assert!(build(|shapes| shapes.0.clear()).contains("no tensor is called layer3.0.conv1.weight or"));
    let missing = build(|shapes| drop(shapes.0.remove("layer2.1.bn2.bias")));
    assert_eq!(missing, "no tensor is called layer2.1.bn2.bias");
    let other = build(|shapes| drop(shapes.0.insert("conv1.weight".into(), vec![16, 1, 3, 3])));
    assert_eq!(other, "conv1.weight is [16, 1, 3, 3], not [16, 3, 3, 3]");
    let mut tensors = weights(&resnet().0);
    tensors.iter_mut().find(|tensor| tensor.0 == "bn1.running_var").unwrap().2[3] = -1.0;
    let negative = FeatureNet::new(tensors, &Device::flex()).map(drop).unwrap_err();
    assert_eq!(negative, "bn1.running_var holds -1");

    let net = net(&resnet());
    let refused = |image: &[u8], shape, reason: &str| {
        let error = net.features(&[image], shape).unwrap_err().to_string();
        assert!(
            error.starts_with("features cannot be made of image 0") && error.ends_with(reason),
            "{error}"
        );
    };
    refused(&[0; 4], [4, 1, 1], "4 channels, not 1 or 3");
    refused(&[0; 4], [1, 2, 3], "4 bytes, not 6");
    refused(&[], [1, 0, 3], "0×3 pixels large");
    refused(&[], [3, usize::MAX, 2], "pixels large");
}

#[test]
fn files_that_are_no_weights_are_refused_with_a_hint() {
    let path = std::env::temp_dir().join(format!("pmm-features-{}.pth", std::process::id()));
    let load = |content: &[u8]| {
        std::fs::write(&path, content).unwrap();
        FeatureNet::load(&path, &Device::flex()).map(drop).unwrap_err()
    };
    for pickle in [&b"PK\x03\x04..."[..], b"\x80\x02\x8a"] {
        let error = load(pickle);
        let start = format!("{} looks like a file of PyTorch, but cannot be read as one: ", path.display());
        assert!(error.to_string().starts_with(&start), "{error}");
        assert!(error.hint().unwrap().contains("safetensors.torch.save_file"), "{error}");
    }
    // A pickle of a list of numbers.
    let error = load(b"\x80\x02]q\x00(K\x01K\x02e.");
    assert!(error.hint().unwrap().contains("fetch it again"), "{error}");
    assert!(matches!(load(b"text"), FeatureError::Weights { .. }));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(FeatureNet::load(&path, &Device::flex()), Err(FeatureError::Io { .. })));
}

/// A path in the data beside the repository.
fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name)
}

/// Stated: 91.78 % of all test images; 91.5 % of the first 1,000.
#[test]
#[ignore = "needs ../shared/data"]
fn resnet_tells_the_classes_of_cifar10() {
    let weights = shared("weights/resnet20-12fca82f.safetensors");
    let test = shared("images/cifar10/test.webp");
    let file = std::env::temp_dir().join(format!("pmm-cifar10-{}", std::process::id()));
    let source = ImageSource::open(&test, &ImageOptions::default()).unwrap();
    Images::write(&source, &file, &mut |_| ()).unwrap();
    let images = Images::open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let net = FeatureNet::load(&weights, &Device::flex()).unwrap();
    let pixels: Vec<&[u8]> = (0..500).map(|index| images.pixels(index)).collect();
    let told = net.classes(&pixels, images.shape()).unwrap();
    let right = (0..500).filter(|&index| images.label(index) == Some(told[index])).count();
    println!("{right} of 500");
    assert!((450..=465).contains(&right), "{right}");
}

/// Weights of 16 bits; features of images that differ, differ.
#[test]
#[ignore = "needs ../shared/data"]
fn efficientnet_is_read() {
    let weights = shared("weights/efficientnet-lite0.f16.safetensors");
    let net = FeatureNet::load(&weights, &Device::flex()).unwrap();
    let images = images(3, 2, [1, 28, 28]);
    let features = net.features(&slices(&images), [1, 28, 28]).unwrap();
    assert!(features.iter().all(|value| value.is_finite() && (0.0..=6.0).contains(value)));
    assert_ne!(features[..1280], features[1280..]);
}
