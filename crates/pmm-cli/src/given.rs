//! `--given` on the command line: cells of a row.

use crate::output::refuse;

/// `a=1,b=x` as (column, value). Names of columns and values may have commas, names may have `=`.
pub(crate) fn cells(texts: &[String], columns: &[&str]) -> anyhow::Result<Vec<(String, String)>> {
    let mut given = Vec::new();
    for text in texts {
        let mut rest = Some(text.as_str());
        while let Some(pair) = rest {
            let Some((name, value)) = known(pair, columns).or_else(|| pair.split_once('=')) else {
                return refuse(format!("--given {pair} has no ="), "write --given column=value,column=value");
            };
            let end = end(value, columns);
            if name.trim().ends_with(['<', '>', '!']) {
                let pair = &pair[..pair.len() - value.len() + end];
                return refuse(
                    format!("--given {}: a range is given by its ends", pair.trim()),
                    "write --given column=low..high, column=low.. or column=..high",
                );
            }
            given.push((name.trim().to_owned(), value[..end].to_owned()));
            rest = value.get(end + 1..);
        }
    }
    Ok(given)
}

/// The column with which a text begins, before a `=`, and what is behind it.
fn known<'t>(text: &'t str, columns: &[&'t str]) -> Option<(&'t str, &'t str)> {
    let behind = |column: &&'t str| {
        let rest = text.trim_start().strip_prefix(column)?;
        Some((*column, rest.trim_start().strip_prefix('=')?))
    };
    columns.iter().filter_map(behind).max_by_key(|(column, _)| column.len())
}

/// Where a value ends: at a comma that is followed by another `name=`.
fn end(value: &str, columns: &[&str]) -> usize {
    let begins = |rest: &str| {
        known(rest, columns).is_some() || rest.split(',').next().is_some_and(|part| part.contains('='))
    };
    value.match_indices(',').find(|(at, _)| begins(&value[at + 1..])).map_or(value.len(), |(at, _)| at)
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
    fn names_and_values_may_have_commas() {
        let columns = ["a", "b", "c", "c=d", "e,f", "age"];
        let of = |text: &str| cells(&[text.to_owned()], &columns).ok();
        let pairs = |pairs: &[(&str, &str)]| {
            Some(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect::<Vec<_>>())
        };
        assert_eq!(of("a=1,b=x, y,c=2"), pairs(&[("a", "1"), ("b", "x, y"), ("c", "2")]));
        assert_eq!(of("a=1, b =2"), pairs(&[("a", "1"), ("b", "2")]));
        assert_eq!(of("c=d=x,e,f=7,c=1"), pairs(&[("c=d", "x"), ("e,f", "7"), ("c", "1")]));
        assert_eq!(of("other=1,sex="), pairs(&[("other", "1"), ("sex", "")]));
        assert_eq!((of("age>=50"), of("age"), of("")), (None, None, None));
    }
}
