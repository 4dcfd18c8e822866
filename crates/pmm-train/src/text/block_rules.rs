//! Which weights of a text's network Muon moves: the matrices of blocks.

use pmm_net::{Part, Parts};

use crate::muon::MuonConfig;
use crate::optimiser::{Rule, Rules};

/// Muon for queries, keys and values, each a matrix of its own, and for the other matrices within blocks; AdamW for the rest, and for all
/// where Muon is off. A modulation is what a clock says to a block, not a matrix within it.
pub(super) fn block_rule(part: &Part, muon: MuonConfig) -> Rule {
    let matrix = part.name.starts_with("block.") && part.shape[0] > 1 && !part.name.contains("modulation");
    if !matrix || muon.is_off() {
        return Rule::AdamW;
    }
    let pieces = if part.name.contains(".qkv") { 3 } else { 1 };
    Rule::Muon { shape: part.shape, pieces, config: muon }
}

/// The rule of every weight of a network without tables of patterns.
pub(super) fn block_rules(parts: &Parts, muon: MuonConfig) -> Rules {
    parts.iter().map(|part| (part.range.clone(), block_rule(part, muon))).collect()
}

#[cfg(test)]
mod tests {
    use pmm_net::{Transformer, TransformerConfig};

    use super::*;

    /// Of a masked network's block: four matrices, of which one is three; clock, biases, tokens and output are AdamW's.
    #[test]
    fn matrices_of_blocks_are_muon_s() {
        let config = TransformerConfig { width: 8, blocks: 2, heads: 2, length: 4, ..Default::default() };
        let net = Transformer::new(5, &config);
        let moved = |muon: MuonConfig| -> Vec<(String, usize)> {
            let rules = block_rules(net.parts(), muon);
            let named = net.parts().iter().zip(rules);
            named
                .filter_map(|(part, (_, rule))| match rule {
                    Rule::Muon { pieces, .. } => Some((part.name.clone(), pieces)),
                    _ => None,
                })
                .collect()
        };
        let block = |block: usize| {
            [("qkv", 3), ("project", 1), ("up", 1), ("down", 1)]
                .map(|(name, pieces)| (format!("block.{block}.{name}.weight"), pieces))
        };
        assert_eq!(moved(MuonConfig::default()), [block(0), block(1)].concat());
        assert_eq!(moved(MuonConfig::off()), []);
    }
}
