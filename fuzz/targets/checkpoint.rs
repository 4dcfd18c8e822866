//! Checkpoints: damaged bytes are refused; files that are whole but say nonsense (their checksum made good) are, too.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pmm_store::{Checkpoint, Identity, Named, load_state, parse_state, parse_tensors, save_tensors};

/// In memory where there is such a place: files are synced.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
    folder.join(format!("pmm-fuzz-{}.safetensors", std::process::id()))
});
const TENSORS: [&str; 5] = ["weights", "first_moment", "second_moment", "average", "best"];

fuzz_target!(|bytes: &[u8]| {
    let _ = parse_tensors::<Checkpoint>(bytes);
    let _ = parse_state(bytes, 4);
    let Some((&[kind, n], rest)) = bytes.split_first_chunk() else { return };
    if kind == b'=' {
        nonsense(usize::from(n % 8), rest);
    }
});

/// A file with a right checksum whose facts are the JSON of the input.
fn nonsense(n: usize, bytes: &[u8]) {
    let Ok(facts) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    let tensor = |name: &&str| Named { name: (*name).to_owned(), shape: vec![n], values: vec![0.5; n] };
    let tensors: Vec<Named> = TENSORS.iter().take(n).map(tensor).collect();
    save_tensors(&FILE, &tensors, &facts).expect("can be written");
    let state = load_state(&FILE, &Identity::new("", "", ""), n);
    let _ = std::fs::remove_file(&*FILE);
    if let Ok(state) = state {
        assert_eq!((state.weights.len(), state.best_weights().len()), (n, n));
    }
}
