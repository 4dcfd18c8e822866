//! The two U-Nets against the numbers of the public ones: outputs, input gradients and the norm of every part's gradient.
//!
//! The fixtures are small networks with random weights, computed by the public implementations.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use burn::tensor::{Device, Tensor, TensorData};
use pmm_net::{Part, Unet, UnetConfig, UnetKind};
use safetensors::SafeTensors;

/// Largest difference as a share of the largest value.
const TOLERANCE: f64 = 1e-4;

struct Fixture {
    tensors: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    norms: BTreeMap<String, f64>,
}

impl Fixture {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let bytes = std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let norms = &header.metadata().as_ref().unwrap()["grad_norms"];
        let floats = |data: &[u8]| data.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = tensors
            .iter()
            .map(|(name, view)| (name.to_owned(), (view.shape().to_vec(), floats(view.data()))));
        Self { tensors: tensors.collect(), norms: serde_json::from_str(norms).unwrap() }
    }

    fn values(&self, name: &str) -> &[f32] {
        &self.tensors[name].1
    }

    fn tensor<const D: usize>(&self, name: &str, device: &Device) -> Tensor<D> {
        let (shape, values) = &self.tensors[name];
        Tensor::from_data(TensorData::new(values.clone(), shape.clone()), device)
    }

    fn matrix(&self, name: &str, device: &Device) -> Option<Tensor<2>> {
        self.tensors.contains_key(name).then(|| self.tensor(name, device))
    }

    /// The part's weights in our layout: linear layers are turned, the rest is the same numbers in the same order.
    fn part(&self, part: &Part, device: &Device) -> Tensor<2> {
        let (shape, values) = &self.tensors[&format!("param.{}", part.name)];
        assert_eq!(values.len(), part.range.len(), "{}", part.name);
        let [rows, columns] = part.shape;
        let tensor = if shape.len() == 2 {
            assert_eq!(*shape, [columns, rows], "{}", part.name);
            Tensor::<2>::from_data(TensorData::new(values.clone(), [columns, rows]), device).transpose()
        } else {
            Tensor::<2>::from_data(TensorData::new(values.clone(), [rows, columns]), device)
        };
        // A leaf of its own.
        Tensor::<2>::from_data(tensor.into_data(), device).require_grad()
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

/// The largest difference as a share of the largest value.
fn difference(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(0f32, |most, v| most.max(v.abs()));
    let pairs = found.iter().zip(expected);
    f64::from(pairs.fold(0f32, |most, (f, e)| most.max((f - e).abs())) / largest)
}

fn check(name: &str, config: &UnetConfig, count: usize) {
    let fixture = Fixture::read(name);
    config.check().unwrap();
    let (net, device) = (Unet::new(config), Device::flex().autodiff());
    assert_eq!(net.parts().len(), count);
    assert_eq!(net.parts().iter().len(), fixture.norms.len());
    let parts: Vec<Tensor<2>> = net.parts().iter().map(|part| fixture.part(part, &device)).collect();
    let x = fixture.tensor::<4>("input.x", &device).require_grad();
    let noise = fixture.tensor("input.noise", &device);
    let classes = fixture.matrix("input.class_onehot", &device);
    let augment = fixture.matrix("input.augment", &device);
    let y = net.forward(&parts, x.clone(), noise, classes, augment, None);
    let output = difference(&values(y.clone()), fixture.values("output.y"));
    let loss = (y.clone() * y).mean();
    let loss_off = difference(&values(loss.clone()), fixture.values("output.loss"));
    let mut grads = loss.backward();
    let input = values(x.grad_remove(&mut grads).unwrap());
    let input = difference(&input, fixture.values("output.grad_x"));
    let mut worst = (0.0, "");
    for (part, tensor) in net.parts().iter().zip(&parts) {
        let grad = values(tensor.grad_remove(&mut grads).unwrap());
        let norm = grad.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let expected = fixture.norms[&part.name];
        let off = (norm - expected).abs() / expected;
        assert!(off < TOLERANCE, "{}: {norm}, {expected}", part.name);
        if off > worst.0 {
            worst = (off, &part.name);
        }
    }
    println!("{name}: output {output:.1e}, loss {loss_off:.1e}, input gradient {input:.1e}, norms {worst:?}");
    assert!(output < TOLERANCE && loss_off < TOLERANCE && input < TOLERANCE);
}

#[test]
fn adm() {
    let config = UnetConfig {
        kind: UnetKind::Adm,
        size: 16,
        width: 32,
        multipliers: vec![1, 2],
        blocks: 1,
        attention: vec![8],
        channels_per_head: 64,
        classes: 5,
        ..UnetConfig::default()
    };
    check("adm-unet-small", &config, 828_131);
}

#[test]
fn ddpmpp() {
    let config = UnetConfig {
        kind: UnetKind::Ddpmpp,
        size: 16,
        width: 16,
        multipliers: vec![1, 2],
        blocks: 1,
        attention: vec![8],
        classes: 5,
        augment: 9,
        ..UnetConfig::default()
    };
    check("ddpmpp-unet-small", &config, 189_587);
}
