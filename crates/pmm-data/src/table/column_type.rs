//! The Arrow type of a column, as text in `schema.json`.

use std::fmt;
use std::str::FromStr;

use arrow_schema::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::raw::RawKind;

/// The Arrow type of a column.
///
/// As text: `bool`, `int64`, `uint8`, `float32`, `utf8`, `decimal128(10, 2)`, `date32`, `time64[us]`, `timestamp[us]`,
/// `timestamp[us, UTC]`, `duration[ms]`, `dictionary<int32, utf8>`; types that are not modelled, as Arrow writes them.
///
/// ```
/// use arrow_schema::DataType;
/// use pmm_data::ColumnType;
/// let money: ColumnType = "decimal128(10, 2)".parse()?;
/// assert_eq!(money.data_type(), &DataType::Decimal128(10, 2));
/// assert_eq!(ColumnType::new(DataType::LargeUtf8).to_string(), "large_utf8");
/// # Ok::<(), pmm_data::ColumnTypeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ColumnType(DataType);

/// A text that names no type.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no type of a column")]
pub struct ColumnTypeError(String);

/// What the cells of a type are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// No cells but nulls.
    Null,
    /// Texts.
    Text,
    /// Integers that stand for numbers, dates or times.
    Raw(RawKind),
    /// Floating-point numbers.
    Float(Width),
    /// Lists, structures, bytes, …: not modelled.
    Other,
}

/// The size of a floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Half,
    Single,
    Double,
}

/// Nested types deeper than this are not read from text.
const DEEPEST: usize = 32;
/// Nor are types of which a null takes more bytes.
const LARGEST: u64 = 1 << 16;

const SIMPLE: [(&str, DataType); 18] = [
    ("null", DataType::Null),
    ("bool", DataType::Boolean),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("float16", DataType::Float16),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
    ("utf8", DataType::Utf8),
    ("large_utf8", DataType::LargeUtf8),
    ("utf8_view", DataType::Utf8View),
    ("date32", DataType::Date32),
    ("date64", DataType::Date64),
];

impl ColumnType {
    /// The type of an array.
    pub fn new(data_type: DataType) -> Self {
        Self(data_type)
    }

    /// As Arrow has it.
    pub fn data_type(&self) -> &DataType {
        &self.0
    }

    /// Whether cells of this type can be modelled.
    pub fn is_cell(&self) -> bool {
        self.class() != Class::Other
    }

    /// Whether it is a dictionary of texts: a category by its type.
    pub fn is_dictionary(&self) -> bool {
        matches!(self.0, DataType::Dictionary(..))
    }

    pub(crate) fn class(&self) -> Class {
        class(&self.0)
    }
}

/// What the cells of a type are; a dictionary is what its values are.
pub(crate) fn class(data_type: &DataType) -> Class {
    use DataType::*;
    let raw = RawKind::of(data_type);
    match data_type {
        Null => Class::Null,
        Utf8 | LargeUtf8 | Utf8View => Class::Text,
        Float16 => Class::Float(Width::Half),
        Float32 => Class::Float(Width::Single),
        Float64 => Class::Float(Width::Double),
        Dictionary(_, values) if !matches!(**values, Dictionary(..)) => class(values),
        _ => raw.map_or(Class::Other, Class::Raw),
    }
}

/// `s`, `ms`, `us` or `ns`.
fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

fn unit(name: &str) -> Option<TimeUnit> {
    use TimeUnit::*;
    [Second, Millisecond, Microsecond, Nanosecond].into_iter().find(|unit| unit_name(*unit) == name)
}

fn name(data_type: &DataType) -> String {
    use DataType::*;
    if let Some((name, _)) = SIMPLE.iter().find(|(_, simple)| simple == data_type) {
        return (*name).into();
    }
    match data_type {
        Decimal32(precision, scale) => format!("decimal32({precision}, {scale})"),
        Decimal64(precision, scale) => format!("decimal64({precision}, {scale})"),
        Decimal128(precision, scale) => format!("decimal128({precision}, {scale})"),
        Decimal256(precision, scale) => format!("decimal256({precision}, {scale})"),
        Time32(unit) => format!("time32[{}]", unit_name(*unit)),
        Time64(unit) => format!("time64[{}]", unit_name(*unit)),
        Duration(unit) => format!("duration[{}]", unit_name(*unit)),
        Timestamp(unit, None) => format!("timestamp[{}]", unit_name(*unit)),
        Timestamp(unit, Some(zone)) => format!("timestamp[{}, {zone}]", unit_name(*unit)),
        Dictionary(keys, values) => format!("dictionary<{}, {}>", name(keys), name(values)),
        other => other.to_string(),
    }
}

/// The type of a name; the inverse of [`name`].
fn named(text: &str) -> Option<DataType> {
    if let Some((_, simple)) = SIMPLE.iter().find(|(name, _)| *name == text) {
        return Some(simple.clone());
    }
    let inside = |open: &str, close: char| text.strip_prefix(open)?.strip_suffix(close);
    if let Some(inside) = inside("timestamp[", ']') {
        let (name, zone) = inside.split_once(", ").map_or((inside, None), |(a, b)| (a, Some(b.into())));
        return Some(DataType::Timestamp(unit(name)?, zone));
    }
    if let Some(inside) = inside("dictionary<", '>') {
        let (keys, values) = inside.split_once(", ")?;
        let keys = named(keys).filter(DataType::is_dictionary_key_type)?;
        return Some(DataType::Dictionary(Box::new(keys), Box::new(named(values)?)));
    }
    let time = |open| inside(open, ']').and_then(unit);
    if let Some(unit) = time("time32[") {
        return Some(DataType::Time32(unit));
    }
    if let Some(unit) = time("time64[") {
        return Some(DataType::Time64(unit));
    }
    time("duration[").map(DataType::Duration).or_else(|| decimal(text))
}

fn decimal(text: &str) -> Option<DataType> {
    let (name, rest) = text.split_once('(')?;
    let (precision, scale) = rest.strip_suffix(')')?.split_once(", ")?;
    let (precision, scale): (u8, i8) = (precision.parse().ok()?, scale.parse().ok()?);
    let (most, data_type) = match name {
        "decimal32" => (9, DataType::Decimal32(precision, scale)),
        "decimal64" => (18, DataType::Decimal64(precision, scale)),
        "decimal128" => (38, DataType::Decimal128(precision, scale)),
        "decimal256" => (76, DataType::Decimal256(precision, scale)),
        _ => return None,
    };
    let sensible = (1..=most).contains(&precision) && scale.unsigned_abs() <= most;
    sensible.then_some(data_type)
}

/// About how many bytes a null takes; none for types of which this program makes no nulls. A name in a file may ask for
/// anything, and nulls are what columns out of the model are in new rows.
fn null_size(data_type: &DataType) -> Option<u64> {
    use DataType::*;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match data_type {
        Time32(Second | Millisecond) | Time64(Microsecond | Nanosecond) => Some(8),
        FixedSizeBinary(bytes) => u64::try_from(*bytes).ok(),
        List(field) | LargeList(field) => null_size(field.data_type()).map(|_| 8),
        FixedSizeList(field, n) => null_size(field.data_type())?.checked_mul(u64::try_from(*n).ok()?),
        Struct(fields) => {
            fields.iter().try_fold(1u64, |sum, field| sum.checked_add(null_size(field.data_type())?))
        }
        Dictionary(keys, values) if keys.is_dictionary_key_type() => null_size(values),
        Time32(_) | Time64(_) | Dictionary(..) | ListView(_) | LargeListView(_) | Union(..) | Map(..)
        | RunEndEncoded(..) => None,
        _ => Some(32),
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&name(&self.0))
    }
}

impl FromStr for ColumnType {
    type Err = ColumnTypeError;

    fn from_str(text: &str) -> Result<Self, ColumnTypeError> {
        let refused = || ColumnTypeError(text.chars().take(100).collect());
        let depth = text.matches(['(', '<']).count();
        if depth > DEEPEST {
            return Err(refused());
        }
        let data_type = named(text).or_else(|| text.parse().ok());
        let sensible = |data_type: &DataType| null_size(data_type).is_some_and(|size| size <= LARGEST);
        data_type.filter(sensible).map(Self).ok_or_else(refused)
    }
}

impl TryFrom<String> for ColumnType {
    type Error = ColumnTypeError;

    fn try_from(text: String) -> Result<Self, ColumnTypeError> {
        text.parse()
    }
}

impl From<ColumnType> for String {
    fn from(column_type: ColumnType) -> Self {
        column_type.to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::Field;

    use super::*;

    #[test]
    fn names_come_back() {
        use DataType::*;
        let list = List(Arc::new(Field::new_list_field(Int32, true)));
        let dictionary = Dictionary(Box::new(UInt8), Box::new(Utf8));
        let zoned = Timestamp(TimeUnit::Microsecond, Some("Europe/Paris".into()));
        let others = [
            Decimal128(10, 2),
            Decimal256(76, -3),
            Time32(TimeUnit::Second),
            Time64(TimeUnit::Nanosecond),
            Duration(TimeUnit::Millisecond),
            Timestamp(TimeUnit::Second, None),
            zoned,
            dictionary,
            list,
            Binary,
        ];
        for data_type in SIMPLE.iter().map(|(_, simple)| simple.clone()).chain(others) {
            let column_type = ColumnType::new(data_type);
            assert_eq!(column_type.to_string().parse(), Ok(column_type.clone()), "{column_type}");
        }
        assert_eq!(name(&Dictionary(Box::new(Int8), Box::new(Utf8))), "dictionary<int8, utf8>");
    }

    #[test]
    fn other_texts_are_refused() {
        let deep = "List(".repeat(5_000);
        for text in
            ["", "int", "decimal128(0, 2)", "decimal32(10, 2)", "time32[h]", "dictionary<utf8>", &deep]
        {
            assert!(ColumnType::from_str(text).is_err(), "{text:.40}");
        }
    }
}
