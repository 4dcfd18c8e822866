//! `--given` on the command line: cells of a row.

use crate::output::refuse;

/// `a=1,b=x` as (column, value).
pub(crate) fn cells(texts: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let mut given = Vec::new();
    for pair in texts.iter().flat_map(|text| pieces(text)) {
        let Some((name, value)) = pair.split_once('=') else {
            return refuse(format!("--given {pair} has no ="), "write --given column=value,column=value");
        };
        let name = name.trim();
        if name.ends_with(['<', '>', '!']) {
            return refuse(
                format!("--given {}: a cell is given by its value", pair.trim()),
                "write --given column=value",
            );
        }
        given.push((name.to_owned(), value.to_owned()));
    }
    Ok(given)
}

/// Splits at commas that are followed by another `name=`: values may have commas.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for part in text.split(',') {
        match pieces.last_mut() {
            Some(last) if !part.contains('=') => {
                last.push(',');
                last.push_str(part);
            }
            _ => pieces.push(part.to_owned()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_have_commas() {
        assert_eq!(pieces("a=1,b=x, y,c=2"), ["a=1", "b=x, y", "c=2"]);
        assert_eq!(pieces("a=1"), ["a=1"]);
        assert!(cells(&["age>=50".into()]).is_err() && cells(&["age".into()]).is_err());
    }
}
