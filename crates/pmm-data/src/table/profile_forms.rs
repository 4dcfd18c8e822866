//! What only a whole column of text can tell: the form of its numbers, and what its markers stand for.

use super::missing::{MarkerRole, MarkerUse, OtherCells};
use super::number_scan::find_form;
use super::numbers::FormatProfile;
use super::places::{finest, places_of};
use super::profile::{Entry, Profile, Seen, TextProfile};
use super::rules;

impl TextProfile {
    /// Looks for one form of numbers among the texts of a delimited file; afterwards the profile is as if they had been plain
    /// numbers. What came as text in a type stays text, but for plain numbers and dates.
    pub(crate) fn find_form(&mut self) {
        let Some(delimiter) = self.delimiter.filter(|_| self.dates.format().is_none()) else { return };
        let Seen::Texts(texts) = &mut self.seen else { return };
        let trimmed = texts.iter().map(|(text, entry)| (text.trim(), entry.count));
        let Some(format) = find_form(trimmed, delimiter) else { return };
        (self.numbers, self.places) = (0, Some(0));
        for (text, entry) in texts.iter_mut() {
            entry.value = format.form.read_exact(text.trim()).map_or(f64::NAN, |number| number.value);
            self.numbers += if entry.value.is_nan() { 0 } else { entry.count };
            if entry.value.is_finite() {
                self.places = finest(self.places, places_of(entry.value));
            }
        }
        (self.codes, self.too_long, self.form) = (false, false, format.form.clone());
        self.format = FormatProfile::of(format);
    }

    /// What is known now that all cells were seen: the form of numbers, then what the markers are.
    pub(crate) fn finish(mut self) -> Profile {
        self.find_form();
        let mut profile = Profile {
            cells: self.cells,
            missing: self.missing,
            numbers: self.numbers,
            format: self.format.format(),
            places: self.places,
            date: self.dates.format(),
            ambiguous: self.dates.is_ambiguous(),
            finer: false,
            date_remark: self.dates.remark(),
            markers: MarkerUse::default(),
            codes: self.codes,
            too_long: self.too_long,
            infinite: self.infinite,
            steps: self.steps,
            seen: self.seen,
            nature: self.nature,
        };
        let others = match profile.present() {
            0 => OtherCells::None,
            _ if rules::is_typed(&profile) => OtherCells::Numbers,
            _ if rules::is_yes_no(&profile) => OtherCells::Opposites,
            _ => OtherCells::Levels,
        };
        profile.settle(self.marked.decide(others));
        profile
    }
}

impl Profile {
    /// Markers that are levels are no longer missing.
    fn settle(&mut self, markers: MarkerUse) {
        if markers.role == MarkerRole::Level {
            self.missing -= markers.cells();
            if let Seen::Texts(texts) = &mut self.seen {
                let entry = |cells: u64| Entry { count: cells, value: f64::NAN };
                texts.extend(markers.markers.iter().map(|m| (m.text.as_str().into(), entry(m.cells))));
            }
        }
        self.markers = markers;
    }
}
