//! A transformer as the network of masked texts: losses and gradients.

use burn::tensor::{Device, Int, Tensor, TensorData};
use pmm_core::{Clock, Masked, ParameterError, Streams};
use rayon::prelude::*;

use super::batch::MaskedText;
use super::schedule::Schedule;
use crate::device::is_fused;
use crate::ops::transformer::{Engine, Text, cross_entropy};
use crate::parts::Parts;
use crate::transformer::{Transformer, TransformerConfig};
use crate::trunk::to_vec;

/// Tokens whose activations a device other than the processor holds at once.
const TOKENS_AT_ONCE: usize = 4096;

/// The network of a text; its weights come with every call.
#[derive(Debug)]
pub struct TextNet {
    transformer: Transformer,
    pair: Masked,
    schedule: Schedule,
    clock: Box<dyn Clock>,
    device: Device,
}

impl TextNet {
    /// A network over so many classes of tokens, on a clock.
    pub fn new(
        classes: usize,
        config: &TransformerConfig,
        schedule: Schedule,
        device: Device,
    ) -> Result<Self, ParameterError> {
        let pair = Masked::new(classes as u32)?;
        let transformer = Transformer::new(classes, config);
        Ok(Self { transformer, pair, schedule, clock: schedule.clock(), device })
    }

    /// Kinds of tokens.
    pub fn classes(&self) -> usize {
        self.transformer.classes()
    }
    /// Tokens of a text.
    pub fn length(&self) -> usize {
        self.transformer.config().length
    }
    /// The transformer.
    pub fn transformer(&self) -> &Transformer {
        &self.transformer
    }
    /// The pair: tokens behind masks.
    pub fn pair(&self) -> &Masked {
        &self.pair
    }
    /// The clock.
    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }
    /// Its weights.
    pub fn parts(&self) -> &Parts {
        self.transformer.parts()
    }
    /// Initial weights.
    pub fn initial(&self, streams: &Streams) -> Vec<f32> {
        self.transformer.initial(streams)
    }

    /// What the network is told of a time.
    pub(crate) fn clock_features(&self, t: f64) -> Vec<f32> {
        if self.transformer.config().time { self.schedule.features(t) } else { Vec::new() }
    }

    fn fused(&self) -> bool {
        is_fused(&self.device)
    }

    /// The mean loss of texts in nats per token, and its gradient.
    pub fn gradient(&self, weights: &[f32], texts: &[MaskedText], gradient: &mut [f32]) -> f64 {
        if !self.fused() {
            return self.gradient_by_burn(weights, texts, gradient);
        }
        let share = 1.0 / texts.len() as f32;
        let scaled: Vec<Vec<f32>> =
            texts.iter().map(|text| text.weights.iter().map(|weight| weight * share).collect()).collect();
        let texts: Vec<(Text<'_>, &[u32], &[f32])> = texts
            .iter()
            .zip(&scaled)
            .map(|(text, weights)| (text.view(), text.targets.as_slice(), weights.as_slice()))
            .collect();
        Engine::new(&self.transformer, weights).gradient(&texts, gradient)
    }

    /// The loss of each text, in nats per token.
    pub fn losses(&self, weights: &[f32], texts: &[MaskedText]) -> Vec<f64> {
        let logits = self.logits(weights, &texts.iter().map(MaskedText::view).collect::<Vec<_>>());
        let loss = |(text, mut logits): (&MaskedText, Vec<f32>)| {
            let rows = logits.chunks_exact_mut(self.classes()).zip(&text.targets).zip(&text.weights);
            rows.map(|((logits, &target), &weight)| f64::from(weight) * cross_entropy(logits, target, weight))
                .sum()
        };
        texts.iter().zip(logits).map(loss).collect()
    }

    /// Logits at the wanted positions of each text.
    pub(super) fn logits(&self, weights: &[f32], texts: &[Text<'_>]) -> Vec<Vec<f32>> {
        if self.fused() {
            let engine = Engine::new(&self.transformer, weights);
            return texts.par_iter().map(|text| engine.logits(text)).collect();
        }
        let parts = self.parts().bind(weights, &self.device);
        let several = |texts: &[Text<'_>]| {
            let mut y = to_vec(self.logits_by_burn(&parts, texts)).into_iter();
            let cut = |text: &Text<'_>| y.by_ref().take(text.wanted.len() * self.classes()).collect();
            texts.iter().map(cut).collect::<Vec<Vec<f32>>>()
        };
        texts.chunks(self.at_once()).flat_map(several).collect()
    }

    /// Texts that a device computes at once: as many as its memory holds.
    fn at_once(&self) -> usize {
        (TOKENS_AT_ONCE / self.length()).max(1)
    }

    /// Logits of all wanted positions, by the plain composition.
    fn logits_by_burn(&self, parts: &[Tensor<2>], texts: &[Text<'_>]) -> Tensor<2> {
        let tokens: Vec<u32> = texts.iter().flat_map(|text| text.tokens).copied().collect();
        let clocks: Vec<f32> = texts.iter().flat_map(|text| text.clock).copied().collect();
        let hidden = self.transformer.hidden(parts, &tokens, clocks);
        let length = self.length();
        let wanted: Vec<i32> = texts
            .iter()
            .enumerate()
            .flat_map(|(row, text)| text.wanted.iter().map(move |&p| (row * length) as i32 + p as i32))
            .collect();
        let count = wanted.len();
        let wanted = Tensor::<1, Int>::from_data(TensorData::new(wanted, [count]), &hidden.device());
        let output = self.transformer.at.output;
        hidden.select(0, wanted).matmul(parts[output].clone()) + parts[output + 1].clone()
    }

    /// The same by Burn's autodiff, on any device.
    fn gradient_by_burn(&self, weights: &[f32], texts: &[MaskedText], gradient: &mut [f32]) -> f64 {
        let device = self.device.clone().autodiff();
        let parts = self.parts().bind(weights, &device);
        let mut sums: Vec<Option<Tensor<2>>> = vec![None; parts.len()];
        let share = 1.0 / texts.len() as f32;
        let mut loss = 0.0;
        for texts in texts.chunks(self.at_once()) {
            let views: Vec<Text<'_>> = texts.iter().map(MaskedText::view).collect();
            let y = self.logits_by_burn(&parts, &views);
            let mut slope = to_vec(y.clone());
            let cells = texts.iter().flat_map(|text| text.targets.iter().zip(&text.weights));
            for (logits, (&target, weight)) in slope.chunks_exact_mut(self.classes()).zip(cells) {
                loss += f64::from(weight * share) * cross_entropy(logits, target, weight * share);
            }
            let slope = Tensor::from_data(TensorData::new(slope, y.dims()), &device);
            let mut grads = (y * slope).sum().backward();
            for (sum, tensor) in sums.iter_mut().zip(&parts) {
                if let Some(grad) = tensor.grad_remove(&mut grads) {
                    *sum = Some(sum.take().map_or(grad.clone(), |sum| sum + grad));
                }
            }
        }
        for (part, sum) in self.parts().iter().zip(sums) {
            match sum {
                Some(sum) => gradient[part.range.clone()].copy_from_slice(&to_vec(sum)),
                None => gradient[part.range.clone()].fill(0.0),
            }
        }
        loss
    }
}

impl MaskedText {
    fn view(&self) -> Text<'_> {
        Text { tokens: &self.tokens, clock: &self.clock, wanted: &self.wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transformer::Positions;

    fn net(positions: Positions, time: bool) -> TextNet {
        let config =
            TransformerConfig { width: 12, blocks: 2, heads: 3, length: 10, condition: 5, positions, time };
        TextNet::new(7, &config, Schedule::LogLinear, Device::flex()).unwrap()
    }

    /// Weights away from the zeros that training starts with, so that every path counts.
    fn weights(net: &TextNet) -> Vec<f32> {
        let mut rng = Streams::new(3).stream(pmm_core::Purpose::DATA, 0, 0);
        net.initial(&Streams::new(1)).into_iter().map(|w| w + 0.2 * rng.normal() as f32).collect()
    }

    fn texts(net: &TextNet, count: u64) -> Vec<MaskedText> {
        let streams = Streams::new(5);
        let text = |row: u64| {
            let mut rng = streams.stream(pmm_core::Purpose::DATA, 1, row);
            let tokens: Vec<u32> = (0..10).map(|_| rng.below(7) as u32).collect();
            MaskedText::at(net, &tokens, (row as f64 + 0.5) / count as f64, &streams, 0, row)
        };
        (0..count).map(text).collect()
    }

    /// The fused kernel and Burn's autodiff agree, for all options; more texts than a wave, one of them without a mask.
    #[test]
    fn fused_agrees_with_burn() {
        for (positions, time) in
            [(Positions::Learned, true), (Positions::Rotary, true), (Positions::Learned, false)]
        {
            let net = net(positions, time);
            let weights = weights(&net);
            let mut texts = texts(&net, 11);
            texts[4].wanted.clear();
            texts[4].targets.clear();
            texts[4].weights.clear();
            let (mut fused, mut plain) = (vec![f32::NAN; weights.len()], vec![0.0; weights.len()]);
            let a = net.gradient(&weights, &texts, &mut fused);
            let b = net.gradient_by_burn(&weights, &texts, &mut plain);
            assert!((a - b).abs() < 1e-5 * b.abs(), "{a} {b}");
            let mean = net.losses(&weights, &texts).iter().sum::<f64>() / 11.0;
            assert!((a - mean).abs() < 1e-5 * mean, "{a} {mean}");
            for part in net.parts().iter() {
                let (f, p) = (&fused[part.range.clone()], &plain[part.range.clone()]);
                let scale = p.iter().fold(0f32, |most, g| most.max(g.abs()));
                assert!(scale > 1e-6, "{} has no gradient", part.name);
                for (f, p) in f.iter().zip(p) {
                    assert!((f - p).abs() < 2e-4 * scale, "{}: {f} {p}", part.name);
                }
            }
        }
    }

    /// One thread or three: the same bits.
    #[test]
    fn threads_change_nothing() {
        let net = net(Positions::Learned, true);
        let (weights, texts) = (weights(&net), texts(&net, 20));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut gradient = vec![0.0; weights.len()];
                net.gradient(&weights, &texts, &mut gradient);
                gradient
            })
        };
        assert_eq!(run(1), run(3));
    }

    /// At the start every token is as likely as any other: the loss is log V times the weight of the masks.
    #[test]
    fn starts_uniform() {
        let net = net(Positions::Learned, true);
        let texts = texts(&net, 5);
        let expected: f64 = texts.iter().flat_map(|text| &text.weights).map(|w| f64::from(*w)).sum();
        let losses = net.losses(&net.initial(&Streams::new(1)), &texts);
        assert!((losses.iter().sum::<f64>() - expected * 7f64.ln()).abs() < 1e-5);
    }
}
