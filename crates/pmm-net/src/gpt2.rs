//! GPT-2, forward only: an outside judge of texts.

use crate::ops::decoder::{Decoder, DecoderBlock, Dense, Scale};

/// A tensor by name, as files of weights have it.
pub type NamedTensor = (String, Vec<usize>, Vec<f32>);

/// GPT-2 with its weights.
#[derive(Debug)]
pub struct Gpt2 {
    decoder: Decoder,
    classes: usize,
    length: usize,
}

impl Gpt2 {
    /// From tensors as the Hugging Face files name them; `heads` of 0 means one per 64 units, as all of GPT-2's sizes have it.
    pub fn new(tensors: Vec<NamedTensor>, heads: usize) -> Result<Self, String> {
        let strip = |name: String| name.strip_prefix("transformer.").map_or(name.clone(), str::to_owned);
        let mut tensors: std::collections::HashMap<String, (Vec<usize>, Vec<f32>)> =
            tensors.into_iter().map(|(name, shape, values)| (strip(name), (shape, values))).collect();
        let mut take = |name: &str, shape: &[usize]| -> Result<Vec<f32>, String> {
            let (found, values) = tensors.remove(name).ok_or_else(|| format!("no tensor called {name}"))?;
            // 0 stands for any size.
            let fits = found.len() == shape.len() && found.iter().zip(shape).all(|(f, s)| *s == 0 || f == s);
            if fits { Ok(values) } else { Err(format!("{name} is {found:?}, not {shape:?}")) }
        };
        let positions = take("wpe.weight", &[0, 0])?;
        let last = take("ln_f.weight", &[0])?;
        let width = last.len();
        if width == 0 || !positions.len().is_multiple_of(width) {
            return Err("wpe.weight and ln_f.weight do not fit together".into());
        }
        let tokens = take("wte.weight", &[0, width])?;
        let heads = if heads == 0 { width / 64 } else { heads };
        if heads == 0 || !width.is_multiple_of(heads) {
            return Err(format!("{width} units cannot be shared out among {heads} heads"));
        }
        let mut blocks = Vec::new();
        loop {
            let name = |part: &str| format!("h.{}.{part}", blocks.len());
            let Ok(scale) = take(&name("ln_1.weight"), &[width]) else { break };
            let mut dense = |part: &str, inputs: usize, outputs: usize| -> Result<Dense, String> {
                let weight = take(&name(&format!("{part}.weight")), &[inputs, outputs])?;
                Ok(Dense { weight, bias: take(&name(&format!("{part}.bias")), &[outputs])? })
            };
            let qkv = dense("attn.c_attn", width, 3 * width)?;
            let project = dense("attn.c_proj", width, width)?;
            let up = dense("mlp.c_fc", width, 4 * width)?;
            let down = dense("mlp.c_proj", 4 * width, width)?;
            let first = Scale::new(scale, take(&name("ln_1.bias"), &[width])?);
            let second =
                Scale::new(take(&name("ln_2.weight"), &[width])?, take(&name("ln_2.bias"), &[width])?);
            blocks.push(DecoderBlock { first, qkv, project, second, up, down });
        }
        if blocks.is_empty() {
            return Err("no tensor called h.0.ln_1.weight".into());
        }
        let last = Scale::new(last, take("ln_f.bias", &[width])?);
        let (classes, length) = (tokens.len() / width, positions.len() / width);
        Ok(Self { decoder: Decoder { width, heads, tokens, positions, blocks, last }, classes, length })
    }

    /// Kinds of tokens.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The longest text it reads.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Logits `[tokens, classes]` of the token after each.
    pub fn logits(&self, tokens: &[u32]) -> Vec<f32> {
        self.decoder.logits(&tokens[..tokens.len().min(self.length)])
    }

    /// −log p of every token but the first, given those before it, in nats.
    pub fn surprises(&self, tokens: &[u32]) -> Vec<f64> {
        let tokens = &tokens[..tokens.len().min(self.length)];
        let logits = self.logits(tokens);
        let surprise = |(logits, token): (&[f32], &u32)| {
            let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = logits.iter().map(|logit| f64::from(logit - top).exp()).sum();
            sum.ln() - f64::from(logits[*token as usize] - top)
        };
        logits.chunks_exact(self.classes).zip(tokens.iter().skip(1)).map(surprise).collect()
    }
}
