//! The coding of number and date columns: specials, kind, grid, and the reason in words.

use super::column_type::Class;
use super::date_unit::DateUnit;
use super::dates::DateFormat;
use super::error::{OverrideError, ReadError};
use super::infer::Inference;
use super::profile::Nature;
use super::rules::{grouped, share};
use super::scalar::Scalar;
use super::schema::{Coding, Kind, Numbers, Special};
use super::specials;
use super::spectrum::Spectrum;
use super::view::float_text;

impl Inference<'_> {
    /// The coding of numbers or dates, with the kind found if none is given, and the reason.
    pub(crate) fn numbers(&self, kind: Option<Kind>) -> Result<(Kind, Coding, String), ReadError> {
        let wanted = kind.unwrap_or(Kind::Real);
        let date = match wanted {
            Kind::DateTime => {
                let format = self.profile.date;
                Some(format.ok_or_else(|| self.unfit("date_time", "its cells are not dates in one format"))?)
            }
            _ => None,
        };
        let mut spectrum = Spectrum::new(&self.profile, date)
            .ok_or_else(|| self.unfit(wanted.name(), "it has too many texts that are no numbers"))?;
        self.check_tokens(wanted, &spectrum)?;
        let (format, distinct) = (self.profile.format.clone(), spectrum.points.len());
        let mut specials = self.specials(date, &mut spectrum)?;
        let discrete =
            specials.is_empty() && spectrum.scale == 1.0 && distinct <= few(self.profile.present());
        let kind = match kind {
            Some(kind) => self.fits(kind, &spectrum).map(|()| kind)?,
            None if self.profile.nature == Nature::Times => Kind::Real,
            None => find_kind(&spectrum),
        };
        let grid = spectrum.grid().ok_or_else(|| self.unfit(kind.name(), "no ordinary values are left"))?;
        // What a date may be after the last one, the data do not say.
        let grid = grid.with_tail(spectrum.tail().filter(|_| date.is_none()));
        let (snap, places) = (spectrum.repeats(), spectrum.places.filter(|_| date.is_none()));
        let mut numbers = Numbers { discrete, snap, format, places, date, specials: vec![], grid };
        for special in &mut specials {
            if let Some(value) = special.value {
                special.text = self.special_text(&numbers, value);
            }
        }
        numbers.specials = specials;
        let reason = self.numbers_reason(kind, &numbers, &spectrum, distinct);
        Ok((kind, Coding::Numbers(numbers), reason))
    }

    /// The text of a special value: as its type writes it, or as the column does.
    fn special_text(&self, numbers: &Numbers, value: f64) -> String {
        let typed = || {
            let (arrow, days) = (self.arrow.as_ref()?, numbers.counts_days());
            match arrow.class() {
                Class::Raw(kind) if !kind.is_date() => Some(kind.text(kind.raw(value, days))),
                Class::Float(width) => Some(float_text(width, value)),
                _ => None,
            }
        };
        typed().unwrap_or_else(|| numbers.text(value))
    }

    /// Infinities, and texts that would be too many special values.
    fn check_tokens(&self, kind: Kind, spectrum: &Spectrum) -> Result<(), ReadError> {
        let wished = |text: &String| self.wish.specials.as_ref().is_some_and(|list| list.contains(text));
        for (text, place) in &self.profile.infinite {
            if kind != Kind::DateTime && !wished(text) {
                let (path, column) = (self.source.name().to_owned(), self.name.to_owned());
                return Err(ReadError::Infinite { path, place: *place, column, value: text.clone() });
            }
        }
        match spectrum.tokens.get(specials::MOST_TEXTS) {
            None => Ok(()),
            Some((text, _)) => {
                Err(self.unfit(kind.name(), format!("{text:?} and other texts are no numbers")).into())
            }
        }
    }

    /// Takes the special values out of the spectrum: as wished, or as found. Their texts are filled in later.
    fn specials(
        &self,
        date: Option<DateFormat>,
        spectrum: &mut Spectrum,
    ) -> Result<Vec<Special>, OverrideError> {
        let tokens = spectrum.tokens.iter();
        let mut specials: Vec<Special> =
            tokens.map(|(text, count)| Special { text: text.clone(), value: None, count: *count }).collect();
        let values = match &self.wish.specials {
            Some(list) => self.wished_values(list, date, spectrum)?,
            None if specials.is_empty() && spectrum.points.len() <= few(self.profile.present()) => vec![],
            None => specials::find(&spectrum.points),
        };
        for value in values {
            if let Some(count) = spectrum.take(value) {
                specials.push(Special { text: String::new(), value: Some(value), count });
            }
        }
        specials.sort_by_key(|special| std::cmp::Reverse(special.count));
        Ok(specials)
    }

    fn wished_values(
        &self,
        list: &[String],
        date: Option<DateFormat>,
        spectrum: &Spectrum,
    ) -> Result<Vec<f64>, OverrideError> {
        let mut values = Vec::new();
        for text in list.iter().filter(|text| spectrum.tokens.iter().all(|(token, _)| token != *text)) {
            let typed = self.arrow.as_ref().and_then(|arrow| Scalar::parse(arrow, text));
            let value = match (typed, date) {
                (Some(Scalar::Raw(kind, raw)), date) => {
                    let days = date.is_some_and(|date| DateUnit::of(&date) == DateUnit::Day);
                    Some(kind.value(raw, days))
                }
                (Some(Scalar::Float(_, float)), _) => Some(float),
                (_, Some(date)) => date.value(text),
                (_, None) => self.profile.format.value(text),
            };
            let known = value.filter(|&value| spectrum.points.iter().any(|point| point.0 == value));
            values.push(
                known.ok_or_else(|| self.unfit(&format!("special at {text}"), "it never has this value"))?,
            );
        }
        Ok(values)
    }

    /// Refuses a kind that the values do not allow.
    fn fits(&self, kind: Kind, spectrum: &Spectrum) -> Result<(), OverrideError> {
        match kind {
            Kind::Count if !spectrum.is_count() => {
                Err(self.unfit("count", "its values are not all non-negative integers"))
            }
            Kind::Positive if !spectrum.is_positive() => {
                Err(self.unfit("positive", "its values are not all positive"))
            }
            _ => Ok(()),
        }
    }

    fn numbers_reason(&self, kind: Kind, numbers: &Numbers, spectrum: &Spectrum, distinct: usize) -> String {
        let many =
            format!("{}{}", if spectrum.scale > 1.0 { "more than " } else { "" }, grouped(distinct as u64));
        let mut reason = match kind {
            _ if kind != Kind::DateTime && !numbers.format.form.is_plain() => {
                let example = numbers.text(numbers.grid.values()[numbers.grid.len() - 1]);
                format!("{} like {example}, {many} distinct", numbers.format.form.noun())
            }
            Kind::Count => format!("non-negative integers, {many} distinct"),
            Kind::Positive => {
                format!(
                    "positive with a heavy tail (skewness {:.1}), {many} distinct",
                    spectrum.skewness(|value| value)
                )
            }
            Kind::DateTime => {
                let noun = numbers.date.map_or("dates", |date| date.noun());
                format!("{noun} like {}, {many} distinct", numbers.text(numbers.grid.values()[0]))
            }
            _ if self.profile.nature == Nature::Times => format!("times in seconds, {many} distinct"),
            _ => format!("numbers, {many} distinct"),
        };
        if self.profile.finer {
            reason += ", modelled to the microsecond";
        }
        if numbers.discrete {
            reason += ", each with its own probability";
        }
        let remark = match kind {
            Kind::DateTime => self.profile.date_remark,
            _ => numbers.format.form.words(),
        };
        if let Some(remark) = remark {
            reason += &format!("; {remark}");
        }
        if !numbers.specials.is_empty() {
            let part = |special: &Special| {
                let text: String = special.text.chars().take(20).collect();
                format!("{} {text}", share(special.count, self.profile.present()))
            };
            let parts: Vec<String> = numbers.specials.iter().take(TOLD).map(part).collect();
            let more = match numbers.specials.len().saturating_sub(TOLD) {
                0 => String::new(),
                more => format!(" and {more} more values"),
            };
            reason += &format!("; {}{more} → gate", parts.join(", "));
        }
        reason
    }
}

/// Specials that are told one by one.
const TOLD: usize = 4;

/// Up to this many distinct values a column is discrete.
fn few(present: u64) -> usize {
    (present / 50).clamp(2, 128) as usize
}

/// Count: non-negative integers. Positive: positive, skewness of at least 2, and at most half of that (and below 2) in the
/// logarithm. Else real.
fn find_kind(spectrum: &Spectrum) -> Kind {
    if spectrum.is_count() {
        return Kind::Count;
    }
    let skewness = spectrum.skewness(|value| value);
    let heavy = spectrum.is_positive() && skewness >= 2.0 && {
        let log = spectrum.skewness(f64::ln).abs();
        log < 2.0 || log <= 0.5 * skewness
    };
    if heavy { Kind::Positive } else { Kind::Real }
}
