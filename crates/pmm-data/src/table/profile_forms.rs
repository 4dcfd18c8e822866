//! What only a whole column can tell: the form of its numbers, and what its markers stand for.

use super::missing::{MarkerRole, OtherCells};
use super::number_scan::find_form;
use super::numbers::FormatProfile;
use super::profile::{Entry, Profile, Seen};
use super::rules;

impl Profile {
    /// Looks for one form of numbers among the texts; afterwards the profile is as if they had been plain numbers.
    pub(crate) fn find_form(&mut self) {
        let Seen::Texts(texts) = &mut self.seen else { return };
        let found = find_form(texts.iter().map(|(text, entry)| (text.trim(), entry.count)), self.delimiter);
        let Some(format) = found.filter(|_| self.dates.format().is_none()) else { return };
        self.numbers = 0;
        for (text, entry) in texts.iter_mut() {
            entry.value = format.form.read_exact(text.trim()).map_or(f64::NAN, |number| number.value);
            self.numbers += if entry.value.is_nan() { 0 } else { entry.count };
        }
        (self.codes, self.too_long, self.form) = (false, false, format.form.clone());
        self.format = FormatProfile::of(format);
    }

    /// Decides, when all cells have been seen, about the form of numbers and about the markers.
    pub(crate) fn settle(&mut self) {
        self.find_form();
        let others = match self.present() {
            0 => OtherCells::None,
            _ if rules::is_typed(self) => OtherCells::Numbers,
            _ => OtherCells::Levels,
        };
        self.markers = self.marked.decide(others);
        if self.markers.role == MarkerRole::Level {
            self.missing -= self.marked.cells();
            if let Seen::Texts(texts) = &mut self.seen {
                let entry = |cells: u64| Entry { count: cells, value: f64::NAN };
                texts.extend(self.markers.markers.iter().map(|m| (m.text.as_str().into(), entry(m.cells))));
            }
        }
    }
}
