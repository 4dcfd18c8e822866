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
                format!("--given {}: a range is given by its ends", pair.trim()),
                "write --given column=low..high, column=low.. or column=..high",
            );
        }
        given.push((name.to_owned(), value.to_owned()));
    }
    Ok(given)
}

/// What a value may mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wish {
    /// `30..50`, `30..`, `..50`.
    Range(Option<String>, Option<String>),
    /// `Dream|Biscoe`.
    List(Vec<String>),
    /// Anything else.
    Cell,
}

/// What a value looks like.
pub(crate) fn wish(value: &str) -> Wish {
    if let Some((low, high)) = value.split_once("..") {
        let end = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        if end(low).is_some() || end(high).is_some() {
            return Wish::Range(end(low), end(high));
        }
    }
    match value.contains('|') {
        true => Wish::List(value.split('|').map(str::to_owned).collect()),
        false => Wish::Cell,
    }
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
    fn ranges_and_lists() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(wish("30..50"), Wish::Range(text("30"), text("50")));
        assert_eq!(wish("2020-01-01.."), Wish::Range(text("2020-01-01"), None));
        assert_eq!(wish("..-1.5"), Wish::Range(None, text("-1.5")));
        assert_eq!(wish("Dream|Biscoe"), Wish::List(vec!["Dream".into(), "Biscoe".into()]));
        assert_eq!((wish(".."), wish("x")), (Wish::Cell, Wish::Cell));
    }

    #[test]
    fn values_may_have_commas() {
        assert_eq!(pieces("a=1,b=x, y,c=2"), ["a=1", "b=x, y", "c=2"]);
        assert_eq!(pieces("a=1"), ["a=1"]);
        assert!(cells(&["age>=50".into()]).is_err() && cells(&["age".into()]).is_err());
    }
}
