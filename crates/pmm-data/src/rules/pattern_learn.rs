//! Shapes learned from texts.

use std::collections::{BTreeMap, HashMap};

use super::pattern::{Characters, Pattern, Segment};

/// Shapes of one column, at most.
const SHAPES: usize = 4;
/// The same where shapes are to be close.
const CLOSE_SHAPES: usize = 12;
/// With fewer texts, characters that were not seen at a place say little.
const ENOUGH: usize = 50;
/// The share of texts that the shapes must have.
const COVERED: f64 = 0.95;
/// Texts of one segment that are listed, at most.
const LISTED: usize = 50;

/// How texts are cut into runs.
#[derive(Clone, Copy)]
enum Cut {
    /// Digits, capital letters, small letters, and each other character by itself.
    Case,
    /// Digits, letters, and each other character by itself.
    Fine,
    /// Digits and letters together, and each other character by itself.
    Coarse,
    /// Names, `@` and domains.
    Address,
    /// Domains whole, and what stands before them as in `Case`.
    CaseAddress,
}

impl Pattern {
    /// The shapes of texts, most frequent first; none if a few do not cover 95 % of them.
    pub fn learn<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Vec<Self> {
        let total = texts.clone().count();
        if total == 0 {
            return Vec::new();
        }
        let address = texts.clone().all(is_address);
        let cuts: &[Cut] = if address { &[Cut::Address] } else { &[Cut::Fine, Cut::Coarse] };
        covering(texts, total, cuts, SHAPES)
    }

    /// The same, as close as the texts allow, so that new texts look like them: capital letters stand where they stood, and where
    /// a place of a run had few characters, only those.
    ///
    /// ```
    /// use pmm_data::rules::Pattern;
    /// let texts: Vec<String> = (0..300).map(|i| format!("Xy{}", 1_000 + 7 * i)).collect();
    /// let shapes = Pattern::learn_closely(texts.iter().map(String::as_str));
    /// assert_eq!(shapes[0].to_string(), r"Xy[123]\d{3}");
    /// ```
    pub fn learn_closely<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Vec<Self> {
        let total = texts.clone().count();
        if total == 0 {
            return Vec::new();
        }
        let address = texts.clone().all(is_address);
        let cuts: &[Cut] =
            if address { &[Cut::CaseAddress, Cut::Case] } else { &[Cut::Case, Cut::Fine, Cut::Coarse] };
        covering(texts, total, cuts, CLOSE_SHAPES)
    }
}

/// The shapes by the first way of cutting whose shapes cover enough of the texts.
fn covering<'a>(
    texts: impl Iterator<Item = &'a str> + Clone,
    total: usize,
    cuts: &[Cut],
    most: usize,
) -> Vec<Pattern> {
    for &cut in cuts {
        let shapes = with_cut(texts.clone(), cut, most);
        let covered: u64 = shapes.iter().map(|shape| shape.count).sum();
        if covered as f64 >= COVERED * total as f64 {
            return shapes;
        }
    }
    Vec::new()
}

/// One name, one `@`, a domain with a point.
fn is_address(text: &str) -> bool {
    let Some((name, domain)) = text.split_once('@') else { return false };
    let fits = |part: &str| part.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c));
    !name.is_empty() && fits(name) && fits(domain) && domain.contains('.')
}

/// The most frequent shapes under one way of cutting.
fn with_cut<'a>(texts: impl Iterator<Item = &'a str>, cut: Cut, most: usize) -> Vec<Pattern> {
    let mut groups: HashMap<String, Vec<&'a str>> = HashMap::new();
    for text in texts {
        groups.entry(signature(text, cut)).or_default().push(text);
    }
    let mut groups: Vec<(String, Vec<&str>)> = groups.into_iter().collect();
    groups.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
    groups.truncate(most);
    groups.iter().map(|(_, texts)| shape(texts, cut, most > SHAPES)).collect()
}

/// The kinds of the runs of a text: texts with the same are of one shape.
fn signature(text: &str, cut: Cut) -> String {
    runs(text, cut)
        .iter()
        .map(|run| if is_run(run, cut) { sign(run, cut) } else { (*run).to_owned() })
        .collect()
}

fn is_run(run: &str, cut: Cut) -> bool {
    match cut {
        Cut::Address => run != "@",
        _ => run.starts_with(|c: char| c.is_ascii_alphanumeric()),
    }
}

fn sign(run: &str, cut: Cut) -> String {
    let first = |kind: fn(&char) -> bool| run.starts_with(|c: char| kind(&c));
    let domain = matches!(cut, Cut::CaseAddress) && run.contains('.');
    String::from(match cut {
        Cut::Fine | Cut::Case | Cut::CaseAddress if first(char::is_ascii_digit) && !domain => "\u{1}",
        Cut::Case | Cut::CaseAddress if first(char::is_ascii_uppercase) && !domain => "\u{3}",
        _ => "\u{2}",
    })
}

/// A text in runs.
fn runs(text: &str, cut: Cut) -> Vec<&str> {
    let at = if matches!(cut, Cut::CaseAddress) { text.find('@').unwrap_or(text.len()) } else { text.len() };
    let class = |place: usize, c: char| match cut {
        Cut::Address => u8::from(c == '@'),
        _ if place > at => 6,
        Cut::Fine | Cut::Case | Cut::CaseAddress if c.is_ascii_digit() => 2,
        Cut::Case | Cut::CaseAddress if c.is_ascii_uppercase() => 5,
        _ if c.is_ascii_alphanumeric() => 3,
        _ => 4,
    };
    let mut parts = Vec::new();
    let (mut start, mut last) = (0, None);
    for (place, c) in text.char_indices() {
        let now = class(place, c);
        if last.is_some_and(|last| last != now || now == 4) {
            parts.push(&text[start..place]);
            start = place;
        }
        last = Some(now);
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

/// The shape of texts whose runs are alike.
fn shape(texts: &[&str], cut: Cut, closely: bool) -> Pattern {
    let cuts: Vec<Vec<&str>> = texts.iter().map(|text| runs(text, cut)).collect();
    let parts = cuts[0].len();
    let mut segments: Vec<Segment> = Vec::with_capacity(parts);
    for part in 0..parts {
        let column: Vec<&str> = cuts.iter().map(|cut| cut[part]).collect();
        let domains = matches!(cut, Cut::CaseAddress) && part + 1 == parts;
        let found = match () {
            () if domains => vec![common(&column)],
            () if closely => place_by_place(&column),
            () => vec![segment(&column)],
        };
        found.into_iter().for_each(|found| push(&mut segments, found));
    }
    Pattern { segments, count: texts.len() as u64 }
}

/// The texts that occur more than once, the most frequent of them; all as characters if they are less than half.
fn common(texts: &[&str]) -> Segment {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    texts.iter().for_each(|text| *counts.entry(text).or_default() += 1);
    let mut listed: Vec<(String, u64)> =
        counts.into_iter().filter(|one| one.1 > 1).map(|(text, n)| (text.to_owned(), n)).collect();
    listed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    listed.truncate(LISTED);
    match (listed.iter().map(|one| one.1).sum::<u64>() as usize * 2 >= texts.len(), listed.as_slice()) {
        (true, [one]) => Segment::Fixed(one.0.clone()),
        (true, _) => Segment::OneOf(listed),
        (false, _) => segment(texts),
    }
}

/// A segment, or where all texts are equally long, one for each place with few characters and for the runs between them.
fn place_by_place(texts: &[&str]) -> Vec<Segment> {
    let whole = segment(texts);
    let (Segment::Run { of, lengths }, true) = (&whole, texts.len() >= ENOUGH) else { return vec![whole] };
    let ([(length, _)], true) = (lengths.as_slice(), *of != Characters::Name) else { return vec![whole] };
    let few = |place: usize| {
        let mut seen: Vec<u8> = texts.iter().map(|text| text.as_bytes()[place]).collect();
        seen.sort_unstable();
        seen.dedup();
        2 * seen.len() <= of.alphabet().len()
    };
    let few: Vec<bool> = (0..*length).map(few).collect();
    let mut segments = Vec::new();
    let mut start = 0;
    for end in 1..=*length {
        if end == *length || few[start] || few[end] {
            let part: Vec<&str> = texts.iter().map(|text| &text[start..end]).collect();
            push(&mut segments, if few[start] { listed(&part) } else { segment(&part) });
            start = end;
        }
    }
    segments
}

/// One of the texts, each with its count.
fn listed(texts: &[&str]) -> Segment {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    texts.iter().for_each(|text| *counts.entry(text).or_default() += 1);
    match counts.len() {
        1 => Segment::Fixed(texts[0].to_owned()),
        _ => Segment::OneOf(counts.into_iter().map(|(text, n)| (text.to_owned(), n)).collect()),
    }
}

/// Fixed neighbours become one.
fn push(segments: &mut Vec<Segment>, next: Segment) {
    if let (Some(Segment::Fixed(last)), Segment::Fixed(text)) = (segments.last_mut(), &next) {
        last.push_str(text);
    } else {
        segments.push(next);
    }
}

/// The same text, one of a few, or characters of one kind.
fn segment(texts: &[&str]) -> Segment {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for &text in texts {
        if counts.len() <= LISTED {
            *counts.entry(text).or_default() += 1;
        }
    }
    if counts.len() == 1 {
        return Segment::Fixed(texts[0].to_owned());
    }
    if counts.len() <= LISTED && counts.len() * 20 <= texts.len() && !all_digits_used(&counts) {
        let mut listed: Vec<(String, u64)> =
            counts.into_iter().map(|(text, n)| (text.to_owned(), n)).collect();
        listed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        return Segment::OneOf(listed);
    }
    let mut lengths: BTreeMap<usize, u64> = BTreeMap::new();
    for text in texts {
        *lengths.entry(text.len()).or_default() += 1;
    }
    Segment::Run { of: kind(texts), lengths: lengths.into_iter().collect() }
}

/// Whether the texts are single characters that may be any digit: a run, however often each was seen.
fn all_digits_used(counts: &BTreeMap<&str, u64>) -> bool {
    counts.len() == 10 && counts.keys().all(|text| text.len() == 1 && text.as_bytes()[0].is_ascii_digit())
}

/// Whether a byte is of some kind.
type Fits = fn(&u8) -> bool;

/// The smallest set of characters that holds all texts.
fn kind(texts: &[&str]) -> Characters {
    let all = |fits: Fits| texts.iter().all(|text| text.bytes().all(|byte| fits(&byte)));
    let leading = texts.iter().any(|text| text.len() > 1 && text.starts_with('0'));
    if all(u8::is_ascii_digit) {
        let same_length = texts.iter().all(|text| text.len() == texts[0].len());
        let zeros = leading || (same_length && texts[0].len() == 1);
        return if zeros { Characters::Digit } else { Characters::Number };
    }
    let kinds: [(Fits, Characters); 6] = [
        (u8::is_ascii_uppercase, Characters::Upper),
        (u8::is_ascii_lowercase, Characters::Lower),
        (|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte), Characters::LowerHex),
        (|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte), Characters::UpperHex),
        (u8::is_ascii_alphabetic, Characters::Letter),
        (u8::is_ascii_alphanumeric, Characters::Alphanumeric),
    ];
    kinds.into_iter().find(|(fits, _)| all(*fits)).map_or(Characters::Name, |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;

    fn learned(texts: &[String]) -> Vec<Pattern> {
        let shapes = Pattern::learn(texts.iter().map(String::as_str));
        let fits = |text: &&String| shapes.iter().any(|shape| shape.matches(text));
        assert_eq!(
            texts.iter().filter(fits).count() as u64,
            shapes.iter().map(|shape| shape.count).sum::<u64>()
        );
        let mut stream = Streams::new(3).stream(Purpose::custom(1), 0, 0);
        for shape in &shapes {
            let new = shape.draw(&mut stream);
            assert!(shape.matches(&new), "{shape} {new}");
        }
        shapes
    }

    fn made(n: u64, text: impl Fn(&mut dyn FnMut(u64) -> u64) -> String) -> Vec<String> {
        let mut stream = Streams::new(5).stream(Purpose::custom(2), 0, 0);
        (0..n).map(|_| text(&mut |below| stream.below(below))).collect()
    }

    #[test]
    fn codes_with_a_prefix() {
        let texts = made(500, |draw| format!("{}-{:04}", ["AB", "CD"][draw(2) as usize], draw(10_000)));
        let shapes = learned(&texts);
        assert_eq!(shapes.len(), 1);
        assert!(
            [r"(AB|CD)-\d{4}", r"(CD|AB)-\d{4}"].contains(&shapes[0].to_string().as_str()),
            "{}",
            shapes[0]
        );
    }

    #[test]
    fn uuids() {
        let texts = made(300, |draw| {
            let mut part = |digits: u32| format!("{:0w$x}", draw(16_u64.pow(digits)), w = digits as usize);
            format!("{}-{}-{}-{}-{}", part(8), part(4), part(4), part(4), part(12))
        });
        let shapes = learned(&texts);
        assert_eq!((shapes.len(), shapes[0].name()), (1, Some("UUID")));
    }

    #[test]
    fn addresses_and_phones() {
        let texts =
            made(300, |draw| format!("p{}.q@{}.example", draw(900), ["mail", "post"][draw(2) as usize]));
        let shapes = learned(&texts);
        assert_eq!((shapes.len(), shapes[0].name()), (1, Some("e-mail address")));
        let texts = made(300, |draw| format!("+49 {:03} {:07}", draw(1000), draw(10_000_000)));
        let shapes = learned(&texts);
        assert_eq!((shapes.len(), shapes[0].name()), (1, Some("phone number")));
        assert_eq!(shapes[0].to_string(), r"+49 \d{3} \d{7}");
    }

    fn close(texts: &[String]) -> Vec<String> {
        let shapes = Pattern::learn_closely(texts.iter().map(String::as_str));
        shapes.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn close_shapes_keep_what_stands_at_a_place() {
        let texts = made(300, |draw| {
            let mut part = |digits: u32| format!("{:0w$x}", draw(16_u64.pow(digits)), w = digits as usize);
            let parts = [part(8), part(4), part(3), part(3), part(12)];
            let variant = ["8", "9", "a", "b"][draw(4) as usize];
            format!("{}-{}-4{}-{variant}{}-{}", parts[0], parts[1], parts[2], parts[3], parts[4])
        });
        let shapes = Pattern::learn_closely(texts.iter().map(String::as_str));
        let hex = "[0-9a-f]";
        let expected = format!("{hex}{{8}}-{hex}{{4}}-4{hex}{{3}}-[89ab]{hex}{{3}}-{hex}{{12}}");
        assert_eq!((shapes[0].to_string(), shapes[0].name()), (expected, Some("UUID")));
    }

    #[test]
    fn close_shapes_of_names_and_addresses() {
        let words = ["anna", "bo", "carl", "dora", "emil", "fritz", "gustav", "hanna", "ida", "jo", "karla"];
        let word = |draw: &mut dyn FnMut(u64) -> u64| {
            format!("{}{}", words[draw(11) as usize], (b'a' + draw(26) as u8) as char)
        };
        let texts = made(300, |draw| {
            format!("{}.{}@{}", word(draw), word(draw), ["a.org", "b.c.de"][draw(2) as usize])
        });
        let shapes = close(&texts);
        assert!(shapes.len() == 1 && shapes[0].starts_with("[a-z]{3,7}.[a-z]{3,7}@("), "{shapes:?}");
        let capital = |word: String| word[..1].to_uppercase() + &word[1..];
        let texts = made(300, |draw| format!("{} {}", capital(word(draw)), capital(word(draw))));
        assert_eq!(close(&texts), ["[ABCDEFGHIJK][a-z]{2,6} [ABCDEFGHIJK][a-z]{2,6}"]);
    }

    #[test]
    fn free_text_has_no_shape() {
        let words = ["so", "it", "goes", "on,", "and", "then?", "no!", "well"];
        let texts = made(300, |draw| {
            let n = 2 + draw(9);
            (0..n).map(|_| words[draw(8) as usize]).collect::<Vec<_>>().join(" ")
        });
        assert!(learned(&texts).is_empty());
        assert!(Pattern::learn(std::iter::empty()).is_empty());
    }
}
