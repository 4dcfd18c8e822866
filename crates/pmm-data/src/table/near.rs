//! Names like a mistyped one, and short lists of names for messages.

use super::levels::Levels;

/// The code of a level as it is written, else of the only one that differs from it in blanks at its ends.
pub(crate) fn level_like(levels: &Levels, written: &str) -> Option<u32> {
    levels.code(written).or_else(|| {
        let mut like = levels.levels().iter().filter(|level| level.text.trim() == written.trim());
        like.next().filter(|_| like.next().is_none()).and_then(|level| levels.code(&level.text))
    })
}

/// Up to five of `names` that a reader may have meant by `text`, nearest first; all of the first five if none is near.
pub(crate) fn near<'a>(text: &str, names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let wanted = text.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = Vec::new();
    // Distances cost the product of the lengths: a table of 200,000 levels is not searched to its end.
    for name in names.clone().take(5_000) {
        let lower = name.to_lowercase();
        let near =
            if lower.contains(&wanted) && !wanted.is_empty() { 0 } else { distance(&wanted, &lower, limit) };
        if near <= limit {
            found.push((near, name));
        }
    }
    found.sort_by_key(|&(near, _)| near);
    if found.is_empty() {
        return names.take(5).map(str::to_owned).collect();
    }
    found.into_iter().take(5).map(|(_, name)| name.to_owned()).collect()
}

/// Levenshtein's distance, or `limit + 1` for texts whose lengths already differ by more.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return limit + 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// `a, b, c, …`: at most ten names.
pub(crate) fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > 10 {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        assert_eq!(distance("kitten", "sitting", 9), 3);
        assert_eq!(distance("", "abc", 9), 3);
        assert_eq!(distance("abc", "abc", 9), 0);
    }

    #[test]
    fn blanks_at_the_ends() {
        let level = |text: &str, count| super::super::levels::Level { text: text.into(), count };
        let levels = Levels::new(vec![level("a ", 3), level("b", 2), level(" b", 1)]).unwrap();
        assert_eq!([level_like(&levels, "a"), level_like(&levels, "a ")], [Some(0), Some(0)]);
        assert_eq!([level_like(&levels, "b"), level_like(&levels, " b")], [Some(1), Some(2)]);
        assert_eq!(level_like(&levels, "b "), None, "either could be meant");
    }

    #[test]
    fn a_mistyped_name_finds_its_neighbours() {
        let names = ["species", "island", "body_mass_g"];
        assert_eq!(near("Specis", names.iter().copied()), ["species"]);
        assert_eq!(near("mass", names.iter().copied()), ["body_mass_g"]);
        assert_eq!(near("zzz", names.iter().copied()).len(), 3);
    }
}
