//! Tensors of Burn's CPU backend as slices, and back.

use std::ops::Deref;

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::TensorData;

/// The numbers of a tensor, by rows.
pub(super) struct Values {
    tensor: FloatTensor<Flex>,
    pub(super) shape: Vec<usize>,
}

pub(super) fn values(tensor: FloatTensor<Flex>) -> Values {
    let tensor = tensor.to_contiguous();
    let shape = tensor.layout().shape().to_vec();
    Values { tensor, shape }
}

impl Deref for Values {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        let all = self.tensor.as_slice();
        all.unwrap_or_else(|| unreachable!("a contiguous tensor is a slice"))
    }
}

pub(super) fn from_values<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FloatTensor<Flex> {
    FloatTensor::<Flex>::from_data(TensorData::new(values, shape))
}

#[cfg(test)]
pub(super) mod test {
    use burn::tensor::{Device, Tensor, TensorData};
    use pmm_core::{Purpose, Streams};

    /// Normal numbers of this shape.
    pub(in super::super) fn numbers(shape: [usize; 4], key: u64) -> TensorData {
        let mut stream = Streams::new(5).stream(Purpose::DATA, key, 0);
        let n = shape.iter().product();
        TensorData::new((0..n).map(|_| stream.normal() as f32).collect::<Vec<_>>(), shape)
    }

    /// Asserts that an operation fused and plain gives the same values to 1e-5 of the largest, and the same gradients of a
    /// weighted sum of its outputs by all inputs; one of the inputs comes as a view that is not contiguous.
    pub(in super::super) fn agree<const N: usize>(
        inputs: &[TensorData; N],
        operation: impl Fn(bool, [Tensor<4>; N]) -> Tensor<4>,
    ) {
        let run = |fused: bool| {
            let device = Device::flex().autodiff();
            let leaves: [Tensor<4>; N] = std::array::from_fn(|i| {
                let x = Tensor::<4>::from_data(inputs[i].clone(), &device);
                x.swap_dims(2, 3).require_grad()
            });
            let y = operation(fused, leaves.clone().map(|x| x.swap_dims(2, 3)));
            let weights = Tensor::<4>::from_data(numbers(y.dims(), 99), &device);
            let mut grads = (y.clone() * weights).sum().backward();
            let mut found = vec![y.inner()];
            found.extend(leaves.iter().map(|leaf| leaf.grad_remove(&mut grads).unwrap()));
            found.into_iter().map(|t| t.into_data().try_to_vec::<f32>().unwrap()).collect::<Vec<_>>()
        };
        for (which, (fused, plain)) in run(true).into_iter().zip(run(false)).enumerate() {
            let scale = plain.iter().fold(1e-3f32, |most, x| most.max(x.abs()));
            assert_eq!(fused.len(), plain.len());
            for (f, p) in fused.iter().zip(&plain) {
                assert!((f - p).abs() < 1e-5 * scale, "output or gradient {which}: {f} {p}");
            }
        }
    }
}
