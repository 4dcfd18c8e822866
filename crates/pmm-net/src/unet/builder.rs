//! Lays out the parts of a U-Net, each with the law of its initial weights.

use pmm_core::{Purpose, Streams};

use super::config::UnetKind;
use super::layers::{Conv, Linear, Norm};
use crate::parts::Parts;

/// The law of a part's initial weights.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Initial {
    /// Uniform within ± this.
    Uniform(f64),
    /// This.
    Constant(f32),
}

/// Which of the initial sizes a layer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Full size.
    Inner,
    /// The first layer of an attention: ADM 1, DDPM++ √.2.
    Attention,
    /// The end of a path that starts as nothing: ADM 0, DDPM++ 10⁻⁵.
    Last,
}

/// Parts so far.
///
/// ADM: uniform within ±1/√(fan in), biases too. DDPM++: uniform within ±√(6/(fan in + fan out)), biases 0. Scales of
/// norms 1, their shifts 0.
#[derive(Debug, Clone)]
pub(super) struct Builder {
    kind: UnetKind,
    parts: Parts,
    initial: Vec<Initial>,
}

impl Builder {
    pub(super) fn new(kind: UnetKind) -> Self {
        Self { kind, parts: Parts::default(), initial: Vec::new() }
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    fn add(&mut self, name: String, rows: usize, columns: usize, initial: Initial) -> usize {
        self.initial.push(initial);
        self.parts.add(name, rows, columns)
    }

    /// The laws of a weight and of its bias.
    fn laws(&self, fan_in: usize, fan_out: usize, role: Role) -> (Initial, Initial) {
        let gain = match (self.kind, role) {
            (_, Role::Inner) | (UnetKind::Adm, Role::Attention) => 1.0,
            (UnetKind::Ddpmpp, Role::Attention) => 0.2f64.sqrt(),
            (UnetKind::Adm, Role::Last) => return (Initial::Constant(0.0), Initial::Constant(0.0)),
            (UnetKind::Ddpmpp, Role::Last) => 1e-5,
        };
        match self.kind {
            UnetKind::Adm => {
                let law = Initial::Uniform(gain / (fan_in as f64).sqrt());
                (law, law)
            }
            UnetKind::Ddpmpp => {
                let bound = gain * (6.0 / (fan_in + fan_out) as f64).sqrt();
                (Initial::Uniform(bound), Initial::Constant(0.0))
            }
        }
    }

    pub(super) fn linear(&mut self, name: &str, input: usize, output: usize) -> Linear {
        let (weight, bias) = self.laws(input, output, Role::Inner);
        let weight = self.add(format!("{name}.weight"), input, output, weight);
        Linear { weight, bias: Some(self.add(format!("{name}.bias"), 1, output, bias)) }
    }

    pub(super) fn linear_without_bias(
        &mut self,
        name: &str,
        input: usize,
        output: usize,
        role: Role,
    ) -> Linear {
        let (weight, _) = self.laws(input, output, role);
        Linear { weight: self.add(format!("{name}.weight"), input, output, weight), bias: None }
    }

    pub(super) fn conv(&mut self, name: &str, input: usize, output: usize, side: usize, role: Role) -> Conv {
        let (weight, bias) = self.laws(input * side * side, output * side * side, role);
        let weight = self.add(format!("{name}.weight"), output, input * side * side, weight);
        self.add(format!("{name}.bias"), 1, output, bias);
        Conv { weight, side }
    }

    pub(super) fn norm(&mut self, name: &str, channels: usize) -> Norm {
        let scale = self.add(format!("{name}.weight"), 1, channels, Initial::Constant(1.0));
        self.add(format!("{name}.bias"), 1, channels, Initial::Constant(0.0));
        Norm { scale, epsilon: self.kind.epsilon() }
    }

    /// Initial weights.
    pub(super) fn initial(&self, streams: &Streams) -> Vec<f32> {
        let mut weights = vec![0.0; self.parts.len()];
        for (index, (part, initial)) in self.parts.iter().zip(&self.initial).enumerate() {
            let place = &mut weights[part.range.clone()];
            match *initial {
                Initial::Constant(value) => place.fill(value),
                Initial::Uniform(bound) => {
                    let mut stream = streams.stream(Purpose::INITIAL, 0, index as u64);
                    place.iter_mut().for_each(|w| *w = (bound * (2.0 * stream.unit() - 1.0)) as f32);
                }
            }
        }
        weights
    }
}
