//! One column while the file is read: text, numbers of a type, or what is left out of the model.

use arrow_array::Array;
use arrow_schema::{DataType, Field};

use super::batches::RowBatch;
use super::column_type::{Class, ColumnType, class};
use super::error::OverrideError;
use super::missing::{MarkerUse, Markers};
use super::overrides::ColumnOverride;
use super::profile::{Limits, Nature, Profile, TextProfile};
use super::schema::{Coding, Column, Kind, PairKind};
use super::typed_profile::{Typed, TypedProfile};
use super::view::View;

/// What is gathered of one column.
pub(crate) enum Gathered {
    Text(Box<TextProfile>),
    Typed(Box<TypedProfile>),
    LeftOut(LeftOut),
}

/// A column whose cells are not modelled, whatever they are.
pub(crate) struct LeftOut {
    missing: u64,
    reason: String,
}

impl Gathered {
    /// For the column at a place; `delimiter` is what separates fields, in delimited text.
    pub(crate) fn new(field: &Field, limits: Limits, place: u64, delimiter: Option<char>) -> Self {
        let data_type = field.data_type();
        let text =
            |nature| Self::Text(Box::new(TextProfile::new(limits, place, nature, field.name(), delimiter)));
        let is_dictionary = matches!(data_type, DataType::Dictionary(..));
        let typed = |typed| Self::Typed(Box::new(TypedProfile::new(typed, is_dictionary, limits, place)));
        match class(data_type) {
            Class::Text if is_dictionary => text(Nature::Levels),
            Class::Text | Class::Null => text(Nature::Unknown),
            Class::Raw(kind) => typed(Typed::Raw(kind)),
            Class::Float(width) => typed(Typed::Float(width)),
            Class::Other => {
                let name = ColumnType::new(data_type.clone()).to_string();
                let name: String = name.chars().take(60).collect();
                let reason = format!("values of the type {name} are passed through, not modelled");
                Self::LeftOut(LeftOut { missing: 0, reason })
            }
        }
    }

    /// Takes note of the cells of a batch. With `markers` (delimited text), empty cells are missing, and markers may be; else
    /// nulls alone are.
    pub(crate) fn add(&mut self, array: &dyn Array, batch: &RowBatch, markers: Option<&Markers>) {
        match (self, View::of(array)) {
            (Self::Text(profile), View::Texts(texts)) => {
                for (row, text) in texts.into_iter().enumerate() {
                    profile.add(text, batch.place(row), markers);
                }
            }
            (Self::Text(profile), view) => {
                (0..array.len()).for_each(|row| profile.add(None, batch.place(row), None));
                debug_assert!(matches!(view, View::Null(_)), "arrays have the type of their column");
            }
            (Self::Typed(profile), view) => profile.add(&view, |row| batch.place(row)),
            (Self::LeftOut(left_out), _) => {
                left_out.missing += array.logical_null_count() as u64;
            }
        }
    }

    /// What is known of the column after the last batch.
    pub(crate) fn finish(self) -> Result<Profile, LeftOut> {
        match self {
            Self::Text(profile) => Ok(profile.finish()),
            Self::Typed(profile) if profile.beyond => {
                let reason = "decimals of more than 38 digits are passed through, not modelled".into();
                Err(LeftOut { missing: profile.finish().missing, reason })
            }
            Self::Typed(profile) => Ok(profile.finish()),
            Self::LeftOut(left_out) => Err(left_out),
        }
    }
}

impl LeftOut {
    /// The column; a wish to model it is refused.
    pub(crate) fn column(
        self,
        name: &str,
        wish: &ColumnOverride,
        arrow: Option<ColumnType>,
    ) -> Result<Column, OverrideError> {
        let kind = wish.kind.filter(|&kind| kind != Kind::Other).map(Kind::name);
        let pair = wish.pair.filter(|&pair| pair != PairKind::None).map(PairKind::name);
        if let Some(wanted) = kind.or(pair) {
            let (column, wanted) = (name.to_owned(), wanted.to_owned());
            return Err(OverrideError::Unfit { column, wanted, reason: self.reason });
        }
        Ok(Column {
            name: name.to_owned(),
            kind: Kind::Other,
            pair: PairKind::None,
            reason: self.reason,
            arrow,
            missing: self.missing,
            markers: MarkerUse::default(),
            coding: Coding::Out,
            identifiers: None,
        })
    }
}
