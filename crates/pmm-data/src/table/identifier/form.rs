//! Texts of one form, numbered: `AB-` and four digits are the numbers 0 to 9999.

use std::collections::HashMap;

use pmm_core::Stream;

use super::permutation::Permutation;
use crate::rules::{Characters, Pattern, Segment};

/// Forms of one column, at most; where there are more, alternatives are equally likely and runs have their usual length.
const FORMS: usize = 512;

/// A place of a text.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    Fixed(String),
    Character(&'static [u8]),
    OneOf(Vec<String>),
}

/// Texts that differ in characters or alternatives only. They are numbered as digits number integers, the last place fastest.
#[derive(Debug, Clone)]
pub(crate) struct Form {
    places: Vec<Place>,
    /// How often texts are of this form.
    pub(crate) weight: f64,
    /// How many numbers there are.
    pub(crate) size: u128,
    /// Places at the front that numbers no longer reach: they are drawn.
    drawn: usize,
}

/// All forms of the shapes of a column. A text is of one form at most.
#[derive(Debug, Clone)]
pub(crate) struct Forms {
    pub(crate) forms: Vec<Form>,
    /// Forms whose texts have one length, by that.
    by_length: HashMap<usize, Vec<usize>>,
    others: Vec<usize>,
}

impl Place {
    fn choices(&self) -> u64 {
        match self {
            Self::Fixed(_) => 1,
            Self::Character(alphabet) => alphabet.len() as u64,
            Self::OneOf(texts) => texts.len() as u64,
        }
    }

    fn write(&self, choice: u64, text: &mut String) {
        match self {
            Self::Fixed(fixed) => text.push_str(fixed),
            Self::Character(alphabet) => text.push(char::from(alphabet[choice as usize])),
            Self::OneOf(texts) => text.push_str(&texts[choice as usize]),
        }
    }

    /// Which choice a text begins with, and what is left of it.
    fn read<'a>(&self, text: &'a str) -> Option<(u64, &'a str)> {
        match self {
            Self::Fixed(fixed) => Some((0, text.strip_prefix(fixed.as_str())?)),
            Self::Character(alphabet) => {
                let first = *text.as_bytes().first()?;
                let choice = alphabet.iter().position(|&byte| byte == first)?;
                Some((choice as u64, &text[1..]))
            }
            Self::OneOf(texts) => {
                let fitting = (0..).zip(texts).filter(|(_, one)| text.starts_with(one.as_str()));
                let (choice, one) = fitting.max_by_key(|(_, one)| one.len())?;
                Some((choice, &text[one.len()..]))
            }
        }
    }

    fn length(&self) -> Option<usize> {
        match self {
            Self::Fixed(text) => Some(text.len()),
            Self::Character(_) => Some(1),
            Self::OneOf(_) => None,
        }
    }
}

impl Form {
    fn new(places: Vec<Place>, weight: f64) -> Self {
        let (mut size, mut drawn) = (1_u128, places.len());
        for place in places.iter().rev() {
            let grown = size * u128::from(place.choices());
            if grown > Permutation::MOST {
                break;
            }
            (size, drawn) = (grown, drawn - 1);
        }
        Self { places, weight, size, drawn }
    }

    /// The text of a number; places that numbers do not reach are drawn.
    pub(crate) fn text(&self, number: u128, stream: &mut Stream) -> String {
        let mut choices = vec![0; self.places.len()];
        let mut left = number;
        for (choice, place) in choices.iter_mut().zip(&self.places).skip(self.drawn).rev() {
            let of = u128::from(place.choices());
            *choice = (left % of) as u64;
            left /= of;
        }
        let mut text = String::new();
        for (at, (place, choice)) in self.places.iter().zip(choices).enumerate() {
            let choice = if at < self.drawn { stream.below(place.choices()) } else { choice };
            place.write(choice, &mut text);
        }
        text
    }

    /// The number of a text of this form.
    fn number(&self, text: &str) -> Option<u128> {
        let (mut number, mut rest) = (0_u128, text);
        for (at, place) in self.places.iter().enumerate() {
            let (choice, left) = place.read(rest)?;
            if at >= self.drawn {
                number = number * u128::from(place.choices()) + u128::from(choice);
            }
            rest = left;
        }
        rest.is_empty().then_some(number)
    }
}

impl Forms {
    /// The forms of shapes.
    pub(crate) fn new(shapes: &[Pattern]) -> Self {
        let most = FORMS / shapes.len().max(1);
        let forms: Vec<Form> = shapes.iter().flat_map(|shape| expanded(shape, most)).collect();
        let (mut by_length, mut others) = (HashMap::<usize, Vec<usize>>::new(), Vec::new());
        for (place, form) in forms.iter().enumerate() {
            match form.places.iter().map(Place::length).sum::<Option<usize>>() {
                Some(length) => by_length.entry(length).or_default().push(place),
                None => others.push(place),
            }
        }
        Self { forms, by_length, others }
    }

    /// The form of a text, and its number there.
    pub(crate) fn find(&self, text: &str) -> Option<(usize, u128)> {
        let of_length = self.by_length.get(&text.len()).map_or(&[][..], Vec::as_slice);
        let mut candidates = of_length.iter().chain(&self.others);
        candidates.find_map(|&form| Some((form, self.forms[form].number(text)?)))
    }
}

/// The forms of a shape: one for each choice of lengths and alternatives, as far as they are few.
fn expanded(shape: &Pattern, most: usize) -> Vec<Form> {
    let told_apart = told_apart(shape, most);
    let mut forms = vec![(Vec::new(), shape.count as f64)];
    for (segment, &apart) in shape.segments.iter().zip(&told_apart) {
        let choices = choices(segment, apart);
        let grown = forms.iter().flat_map(|(places, weight)| {
            choices.iter().map(move |(more, share)| ([&places[..], more].concat(), weight * share))
        });
        forms = grown.collect();
    }
    forms.into_iter().map(|(places, weight)| Form::new(places, weight)).collect()
}

/// The segments whose choices make forms of their own: those with the fewest choices first.
fn told_apart(shape: &Pattern, most: usize) -> Vec<bool> {
    let count = |segment: &Segment| match segment {
        Segment::Fixed(_) => 1,
        Segment::OneOf(texts) => texts.len(),
        Segment::Run { lengths, .. } => lengths.len(),
    };
    let mut order: Vec<usize> = (0..shape.segments.len()).collect();
    order.sort_by_key(|&place| count(&shape.segments[place]));
    let (mut apart, mut forms) = (vec![false; order.len()], 1_usize);
    for place in order {
        forms = forms.saturating_mul(count(&shape.segments[place]));
        apart[place] = forms <= most;
    }
    apart
}

/// The places of a segment, for each of its choices with its share.
fn choices(segment: &Segment, apart: bool) -> Vec<(Vec<Place>, f64)> {
    let shares = |counts: Vec<u64>| {
        let total = counts.iter().sum::<u64>().max(1) as f64;
        counts.into_iter().map(move |count| count as f64 / total)
    };
    match segment {
        Segment::Fixed(text) => vec![(vec![Place::Fixed(text.clone())], 1.0)],
        Segment::OneOf(texts) if apart => texts
            .iter()
            .map(|one| vec![Place::Fixed(one.0.clone())])
            .zip(shares(texts.iter().map(|one| one.1).collect()))
            .collect(),
        Segment::OneOf(texts) => {
            vec![(vec![Place::OneOf(texts.iter().map(|one| one.0.clone()).collect())], 1.0)]
        }
        Segment::Run { of, lengths } if apart => lengths
            .iter()
            .map(|one| run(*of, one.0))
            .zip(shares(lengths.iter().map(|one| one.1).collect()))
            .collect(),
        Segment::Run { of, lengths } => {
            let usual = lengths.iter().max_by_key(|one| one.1).map_or(0, |one| one.0);
            vec![(run(*of, usual), 1.0)]
        }
    }
}

fn run(of: Characters, length: usize) -> Vec<Place> {
    let all = of.alphabet();
    let first = if of == Characters::Number && length > 1 { &all[1..] } else { all };
    (0..length).map(|at| Place::Character(if at == 0 { first } else { all })).collect()
}

#[cfg(test)]
mod tests {
    use pmm_core::{Purpose, Streams};

    use super::*;

    fn forms(texts: &[String]) -> Forms {
        Forms::new(&Pattern::learn_closely(texts.iter().map(String::as_str)))
    }

    #[test]
    fn numbers_and_texts_go_both_ways() {
        let texts: Vec<String> = (0..400).map(|i| format!("{}-{:04}", ["AB", "CD"][i % 2], 23 * i)).collect();
        let forms = forms(&texts);
        assert_eq!(forms.forms.iter().map(|form| form.size).collect::<Vec<_>>(), [10_000, 10_000]);
        let mut stream = Streams::new(1).stream(Purpose::custom(1), 0, 0);
        for text in &texts {
            let (form, number) = forms.find(text).unwrap();
            assert_eq!(&forms.forms[form].text(number, &mut stream), text);
        }
        assert!(forms.find("EF-0001").is_none() && forms.find("AB-00011").is_none());
    }

    #[test]
    fn numbers_have_no_leading_zero() {
        let texts: Vec<String> = (0..300).map(|i| (7 * i + 3).to_string()).collect();
        let sizes: Vec<u128> = forms(&texts).forms.iter().map(|form| form.size).collect();
        // The first of four digits is 1 or 2 in all that were seen, but lengths differ: it may be any.
        assert_eq!(sizes, [10, 90, 900, 9000]);
    }

    #[test]
    fn very_long_texts_are_drawn_in_part() {
        let mut stream = Streams::new(2).stream(Purpose::custom(1), 0, 0);
        let mut hex = || format!("{:016x}", stream.word());
        let texts: Vec<String> = (0..100).map(|_| [(); 4].map(|()| hex()).concat()).collect();
        let forms = forms(&texts);
        assert_eq!((forms.forms.len(), forms.forms[0].size, forms.forms[0].drawn), (1, 1 << 120, 34));
        let (_, number) = forms.find(&texts[7]).unwrap();
        let mut stream = Streams::new(3).stream(Purpose::custom(1), 0, 0);
        assert_eq!(forms.forms[0].text(number, &mut stream)[34..], texts[7][34..]);
    }
}
