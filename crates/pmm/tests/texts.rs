//! Models of texts as a caller sees them: exact scores of documents, and a text that is seen while it is made.
#![allow(clippy::unwrap_used)]

use pmm::Settings;
use pmm::core::{Purpose, Streams};
use pmm::text::{Data, Drawing, Fit, Model, TextOrder};

fn sentence(row: u64) -> String {
    let mut rng = Streams::new(2).stream(Purpose::custom(2), 0, row);
    let mut pick = |words: &[&'static str]| words[rng.below(words.len() as u64) as usize];
    format!(
        "the {} {} the {}.",
        pick(&["cat", "dog", "fish"]),
        pick(&["sees", "eats"]),
        pick(&["bird", "mouse"])
    )
}

/// A small ordered network of a small grammar.
fn model() -> Model {
    let mut settings = Settings::new();
    settings.set("net.width", 24).unwrap().set("net.blocks", 1).unwrap().set("net.heads", 3).unwrap();
    settings.set("net.length", 32).unwrap().set("net.hash_bits", 10).unwrap().set("batch", 8).unwrap();
    let text: Vec<String> = (0..400).map(sentence).collect();
    Fit::new(Data::from_text(text.join("\n"))).settings(&settings).steps(120).run(&mut ()).unwrap()
}

/// Bits are sums over places; what is said of one document depends on no other; what was learned costs less than the same letters in
/// disorder; mixtures of orders cost at most the mean of their bits.
#[test]
fn documents_are_scored_exactly() {
    let model = model();
    let (plain, long) = (sentence(1000), (1000..1008).map(sentence).collect::<Vec<_>>().join("\n"));
    let disorder: String = plain.chars().rev().collect();
    let scores =
        model.score(Data::from_documents([plain.clone(), disorder, long.clone()])).run(&mut ()).unwrap();
    for score in &scores {
        assert_eq!(score.surprises.len(), score.tokens);
        assert!((score.surprises.iter().sum::<f64>() - score.left_to_right).abs() < 1e-9);
        assert!(score.surprises.iter().all(|bits| bits.is_finite() && *bits >= 0.0));
        assert!(score.order_averaged <= score.random + 1e-9 && score.order_averaged > 0.0, "{score:?}");
    }
    assert!(scores[0].left_to_right + 10.0 < scores[1].left_to_right, "{scores:?}");
    assert!(scores[0].random < scores[1].random);
    let alone = model.score(Data::from_text(plain)).run(&mut ()).unwrap();
    assert_eq!((alone[0].random, &alone[0].surprises), (scores[0].random, &scores[0].surprises));
    // Beyond its window of 32 the network looks back over 16 at least; the first window is read as a text of its own.
    assert_eq!(scores[2].tokens, long.chars().count());
    let start: String = long.chars().take(32).collect();
    let first = model.score(Data::from_text(start)).orders(0).run(&mut ()).unwrap();
    assert_eq!(first[0].surprises, scores[2].surprises[..32]);
    assert!(first[0].random.is_nan());
    assert!(scores[2].bits_per_character() < 2.0, "{}", scores[2].bits_per_character());
}

/// The probabilities are those of a law: over all texts of two letters they sum to 1.
#[test]
fn scores_of_all_short_texts_sum_to_one() {
    let model = model();
    let letters: Vec<char> = model
        .tokenizer()
        .decode(&(0..model.tokenizer().classes() as u32).collect::<Vec<_>>())
        .iter()
        .map(|&byte| char::from(byte))
        .collect();
    let all: Vec<String> =
        letters.iter().flat_map(|a| letters.iter().map(move |b| format!("{a}{b}"))).collect();
    let scores = model.score(Data::from_documents(all)).orders(0).run(&mut ()).unwrap();
    let total: f64 = scores.iter().map(|score| (-score.left_to_right).exp2()).sum();
    assert!((total - 1.0).abs() < 1e-5, "{total}");
}

#[test]
fn a_text_is_seen_while_it_is_made() {
    let model = model();
    let sample = || model.sample(1).given("the ").tokens(100).seed(3);
    let pieces: Vec<Vec<u8>> = sample().stream().unwrap().map(Result::unwrap).collect();
    assert_eq!((&pieces[0][..], pieces.len()), (&b"the "[..], 97));
    assert_eq!(pieces.concat(), sample().texts().unwrap().next().unwrap().unwrap());
    let random = Drawing { order: Some(TextOrder::Random), ..Drawing::default() };
    assert!(sample().drawing(random).stream().err().unwrap().to_string().contains("left to right"));
}
