//! Texts on their way out.

use anyhow::bail;

use crate::cli::{Format, Output};
use crate::output::Advice;
use crate::{files, output};

/// Writes texts to a file or standard output.
pub(super) fn write(texts: &[Vec<u8>], to: &Output) -> anyhow::Result<()> {
    let by_name = to.out.as_ref().and_then(|path| path.extension()).is_some_and(|ending| ending == "jsonl");
    let format = to.format.unwrap_or(if by_name { Format::Jsonl } else { Format::Txt });
    let bytes = match format {
        Format::Txt => {
            let mut bytes = texts.join(&b"\n---\n"[..]);
            bytes.push(b'\n');
            bytes
        }
        Format::Jsonl => {
            let line = |text: &Vec<u8>| {
                format!("{}\n", serde_json::json!({ "text": String::from_utf8_lossy(text) }))
            };
            texts.iter().map(line).collect::<String>().into_bytes()
        }
        _ => bail!(Advice::new("a text is no table".into(), "--format txt or --format jsonl")),
    };
    match &to.out {
        Some(path) => files::write(path, &bytes),
        None => output::print(&bytes),
    }
}
