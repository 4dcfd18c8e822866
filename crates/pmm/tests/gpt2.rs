//! GPT-2's forward pass beside the Hugging Face implementation, on small random weights (`bench/text/make_gpt2_fixture.py`).
#![allow(clippy::unwrap_used)]

use std::path::Path;

use pmm::text::load_gpt2;

#[test]
fn agrees_with_the_reference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gpt2");
    let expected: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
    let numbers = |name: &str| -> Vec<f64> {
        expected[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let tokens: Vec<u32> = numbers("tokens").into_iter().map(|token| token as u32).collect();
    let model = load_gpt2(&folder).unwrap();
    assert_eq!((model.classes(), model.length()), (17, 12));
    let logits = model.logits(&tokens);
    assert_eq!(logits.len(), tokens.len() * 17);
    for (found, expected) in logits.iter().zip(numbers("logits")) {
        assert!((f64::from(*found) - expected).abs() < 1e-4, "{found} {expected}");
    }
    // A position does not see those after it.
    let shorter = model.logits(&tokens[..5]);
    assert!(shorter.iter().zip(&logits).all(|(a, b)| (a - b).abs() < 1e-5));
    let surprises = model.surprises(&tokens);
    assert_eq!(surprises.len(), tokens.len() - 1);
    assert!(surprises.iter().all(|nats| *nats > 0.0));
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = load_gpt2(folder.path()).unwrap_err().to_string();
    assert!(error.contains("it has no model.safetensors"), "{error}");
    std::fs::write(folder.path().join("model.safetensors"), b"not one").unwrap();
    let error = load_gpt2(folder.path()).unwrap_err().to_string();
    assert!(error.contains("model.safetensors"), "{error}");
}
