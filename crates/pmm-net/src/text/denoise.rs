//! The network of a text as a denoiser of masks.

use std::sync::Arc;

use pmm_core::{MASK, Texts, TokenDenoiser, TokenPosition};

use super::net::TextNet;
use crate::ops::transformer::Text;

/// A network with its weights: what samplers of texts ask.
#[derive(Debug, Clone)]
pub struct TextDenoiser {
    net: Arc<TextNet>,
    weights: Arc<[f32]>,
}

impl TextDenoiser {
    /// A network with weights of its own.
    pub fn new(net: Arc<TextNet>, weights: impl Into<Arc<[f32]>>) -> Self {
        Self { net, weights: weights.into() }
    }

    /// The network.
    pub fn net(&self) -> &Arc<TextNet> {
        &self.net
    }
}

impl TokenDenoiser for TextDenoiser {
    fn classes(&self) -> usize {
        self.net.classes()
    }

    fn length(&self) -> usize {
        self.net.length()
    }

    fn logits(&self, texts: &Texts<'_>, wanted: &[TokenPosition], logits: &mut [f32]) {
        let (length, classes) = (self.length(), self.classes());
        let rows = texts.tokens.len() / length;
        let mut positions = vec![Vec::new(); rows];
        let mut places = vec![Vec::new(); rows];
        for (index, place) in wanted.iter().enumerate() {
            positions[place.row].push(place.position as u32);
            places[place.row].push(index);
        }
        let asked: Vec<usize> = (0..rows).filter(|&row| !positions[row].is_empty()).collect();
        let shown = |token: &u32| if *token == MASK { classes as u32 } else { *token };
        let inputs: Vec<(Vec<u32>, Vec<f32>)> = asked
            .iter()
            .map(|&row| {
                let tokens = texts.tokens[row * length..][..length].iter().map(shown).collect();
                (tokens, self.net.clock_features(texts.times[row]))
            })
            .collect();
        let views: Vec<Text<'_>> = asked
            .iter()
            .zip(&inputs)
            .map(|(&row, (tokens, clock))| Text { tokens, clock, wanted: &positions[row] })
            .collect();
        for (&row, answer) in asked.iter().zip(self.net.logits(&self.weights, &views)) {
            for (&index, answer) in places[row].iter().zip(answer.chunks_exact(classes)) {
                logits[index * classes..][..classes].copy_from_slice(answer);
            }
        }
    }
}
