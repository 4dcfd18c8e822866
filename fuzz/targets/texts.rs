//! Texts plain and packed, JSON lines, files of tokens and of tokenizers: read or refused; what is coded comes back.
#![no_main]

mod file;

use libfuzzer_sys::fuzz_target;
use pmm_data::{TextOptions, TextSource, Tokenizer, Tokens};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let ending = [".txt", ".jsonl", ".json", ".bin"][usize::from(kind % 4)];
    let path = file::file(ending, bytes);
    match ending {
        ".bin" => {
            if let Ok(tokens) = Tokens::open(&path) {
                let _ = tokens.check_contents();
                tokens.copy(0, &mut vec![0; tokens.len().min(9) as usize]);
            }
        }
        ".json" => {
            if let Ok(tokenizer) = Tokenizer::load(&path)
                && let Ok(tokens) = tokenizer.encode("a cat, ünd 12 dögs\n".as_bytes())
            {
                assert_eq!(tokenizer.decode(&tokens), "a cat, ünd 12 dögs\n".as_bytes());
            }
        }
        _ => text(&path),
    }
    let _ = std::fs::remove_file(path);
});

fn text(path: &std::path::Path) {
    let Ok(source) = TextSource::open(path, &TextOptions::default()) else { return };
    let Ok(tokenizer) = Tokenizer::characters(&source) else { return };
    let tokens = Tokens::read(&source, &tokenizer, &mut |_| ()).expect("its characters are known");
    let mut all = vec![0; tokens.len() as usize];
    tokens.copy(0, &mut all);
    let again = tokenizer.encode(&tokenizer.decode(&all)).expect("what came of tokens has them");
    assert_eq!(again, all);
}
