//! The cells of an array, whatever its type, as texts, integers or floats.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, GenericStringArray, PrimitiveArray};
use arrow_schema::{DataType, TimeUnit};

use super::column_type::{Class, Width, class};
use super::raw::RawKind;
use super::scalar::Scalar;

/// The cells of an array; none for null.
pub(crate) enum View<'a> {
    /// Nothing but nulls.
    Null(usize),
    /// Texts.
    Texts(Vec<Option<&'a str>>),
    /// Integers and what they count. Of 256 bits, those beyond 128 are [`BEYOND`].
    Raws(RawKind, Vec<Option<i128>>),
    /// Floats of any width; wider ones hold them exactly.
    Floats(Width, Vec<Option<f64>>),
    /// Not modelled.
    Other(&'a dyn Array),
}

/// Stands for integers that 128 bits do not hold; no decimal of 38 digits is as large.
pub(crate) const BEYOND: i128 = i128::MAX;

impl<'a> View<'a> {
    /// Looks at an array.
    pub(crate) fn of(array: &'a dyn Array) -> Self {
        if let DataType::Dictionary(..) = array.data_type() {
            return Self::of_dictionary(array);
        }
        match class(array.data_type()) {
            Class::Null => Self::Null(array.len()),
            Class::Text => Self::Texts(texts(array)),
            Class::Float(width) => Self::Floats(width, floats(array, width)),
            Class::Raw(kind) => match raws(array) {
                Some(raws) => Self::Raws(kind, raws),
                None => Self::Other(array),
            },
            Class::Other => Self::Other(array),
        }
    }

    /// The cell of a row; none for null and for what is not modelled.
    pub(crate) fn get(&self, row: usize) -> Option<Scalar<'a>> {
        match self {
            Self::Texts(texts) => texts[row].map(Scalar::Text),
            Self::Raws(kind, raws) => raws[row].map(|raw| Scalar::Raw(*kind, raw)),
            Self::Floats(width, floats) => floats[row].map(|float| Scalar::Float(*width, float)),
            Self::Null(_) | Self::Other(_) => None,
        }
    }

    fn of_dictionary(array: &'a dyn Array) -> Self {
        let Some(dictionary) = array.as_any_dictionary_opt() else { return Self::Other(array) };
        let values = dictionary.values();
        if values.is_empty() {
            return Self::Null(array.len());
        }
        let keys = dictionary.normalized_keys();
        let nulls = dictionary.keys().logical_nulls();
        let valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        match Self::of(values.as_ref()) {
            Self::Null(_) => Self::Null(array.len()),
            Self::Texts(values) => Self::Texts(taken(&values, &keys, valid)),
            Self::Raws(kind, values) => Self::Raws(kind, taken(&values, &keys, valid)),
            Self::Floats(width, values) => Self::Floats(width, taken(&values, &keys, valid)),
            Self::Other(_) => Self::Other(array),
        }
    }
}

fn taken<T: Copy>(values: &[Option<T>], keys: &[usize], valid: impl Fn(usize) -> bool) -> Vec<Option<T>> {
    let cell = |(row, &key): (usize, &usize)| values.get(key).copied().flatten().filter(|_| valid(row));
    keys.iter().enumerate().map(cell).collect()
}

fn texts(array: &dyn Array) -> Vec<Option<&str>> {
    match array.data_type() {
        DataType::Utf8 => strings(array.as_string::<i32>()),
        DataType::LargeUtf8 => strings(array.as_string::<i64>()),
        _ => array.as_string_view().iter().collect(),
    }
}

fn strings<O: arrow_array::OffsetSizeTrait>(array: &GenericStringArray<O>) -> Vec<Option<&str>> {
    array.iter().collect()
}

fn floats(array: &dyn Array, width: Width) -> Vec<Option<f64>> {
    match width {
        Width::Half => numbers::<Float16Type, f64>(array),
        Width::Single => numbers::<Float32Type, f64>(array),
        Width::Double => numbers::<Float64Type, f64>(array),
    }
}

fn numbers<T: ArrowPrimitiveType, N: From<T::Native>>(array: &dyn Array) -> Vec<Option<N>> {
    array.as_primitive::<T>().iter().map(|cell| cell.map(N::from)).collect()
}

/// The integers of an array that has a [`RawKind`].
fn raws(array: &dyn Array) -> Option<Vec<Option<i128>>> {
    use DataType::*;
    Some(match array.data_type() {
        Boolean => array.as_boolean().iter().map(|cell| cell.map(i128::from)).collect(),
        Int8 => numbers::<Int8Type, i128>(array),
        Int16 => numbers::<Int16Type, i128>(array),
        Int32 => numbers::<Int32Type, i128>(array),
        Int64 => numbers::<Int64Type, i128>(array),
        UInt8 => numbers::<UInt8Type, i128>(array),
        UInt16 => numbers::<UInt16Type, i128>(array),
        UInt32 => numbers::<UInt32Type, i128>(array),
        UInt64 => numbers::<UInt64Type, i128>(array),
        Decimal32(..) => numbers::<Decimal32Type, i128>(array),
        Decimal64(..) => numbers::<Decimal64Type, i128>(array),
        Decimal128(..) => numbers::<Decimal128Type, i128>(array),
        Decimal256(..) => {
            let cell = |cell: Option<_>| cell.map(|raw: DecimalCell| raw.to_i128().unwrap_or(BEYOND));
            array.as_primitive::<Decimal256Type>().iter().map(cell).collect()
        }
        Date32 => numbers::<Date32Type, i128>(array),
        Date64 => numbers::<Date64Type, i128>(array),
        Time32(TimeUnit::Second) => numbers::<Time32SecondType, i128>(array),
        Time32(_) => numbers::<Time32MillisecondType, i128>(array),
        Time64(TimeUnit::Microsecond) => numbers::<Time64MicrosecondType, i128>(array),
        Time64(_) => numbers::<Time64NanosecondType, i128>(array),
        Timestamp(unit, _) => match unit {
            TimeUnit::Second => numbers::<TimestampSecondType, i128>(array),
            TimeUnit::Millisecond => numbers::<TimestampMillisecondType, i128>(array),
            TimeUnit::Microsecond => numbers::<TimestampMicrosecondType, i128>(array),
            TimeUnit::Nanosecond => numbers::<TimestampNanosecondType, i128>(array),
        },
        Duration(unit) => match unit {
            TimeUnit::Second => numbers::<DurationSecondType, i128>(array),
            TimeUnit::Millisecond => numbers::<DurationMillisecondType, i128>(array),
            TimeUnit::Microsecond => numbers::<DurationMicrosecondType, i128>(array),
            TimeUnit::Nanosecond => numbers::<DurationNanosecondType, i128>(array),
        },
        _ => return None,
    })
}

/// 256 bits.
type DecimalCell = <Decimal256Type as ArrowPrimitiveType>::Native;
/// 16 bits.
type HalfCell = <Float16Type as ArrowPrimitiveType>::Native;

/// An array of integers in a type that has a [`RawKind`]; each must be in the type's [`range`](super::raw::range).
pub(crate) fn raw_array(data_type: &DataType, raws: impl Iterator<Item = Option<i128>>) -> Option<ArrayRef> {
    use DataType::*;
    let typed: ArrayRef = match data_type {
        Boolean => std::sync::Arc::new(raws.map(|cell| cell.map(|raw| raw != 0)).collect::<BooleanArray>()),
        Int8 => array::<Int8Type, _>(data_type, raws, |raw| raw as i8),
        Int16 => array::<Int16Type, _>(data_type, raws, |raw| raw as i16),
        Int32 => array::<Int32Type, _>(data_type, raws, |raw| raw as i32),
        Int64 => array::<Int64Type, _>(data_type, raws, |raw| raw as i64),
        UInt8 => array::<UInt8Type, _>(data_type, raws, |raw| raw as u8),
        UInt16 => array::<UInt16Type, _>(data_type, raws, |raw| raw as u16),
        UInt32 => array::<UInt32Type, _>(data_type, raws, |raw| raw as u32),
        UInt64 => array::<UInt64Type, _>(data_type, raws, |raw| raw as u64),
        Decimal32(..) => array::<Decimal32Type, _>(data_type, raws, |raw| raw as i32),
        Decimal64(..) => array::<Decimal64Type, _>(data_type, raws, |raw| raw as i64),
        Decimal128(..) => array::<Decimal128Type, _>(data_type, raws, |raw| raw),
        Decimal256(..) => array::<Decimal256Type, _>(data_type, raws, DecimalCell::from_i128),
        Date32 => array::<Date32Type, _>(data_type, raws, |raw| raw as i32),
        Date64 => array::<Date64Type, _>(data_type, raws, |raw| raw as i64),
        Time32(TimeUnit::Second) => array::<Time32SecondType, _>(data_type, raws, |raw| raw as i32),
        Time32(TimeUnit::Millisecond) => array::<Time32MillisecondType, _>(data_type, raws, |raw| raw as i32),
        Time64(TimeUnit::Microsecond) => array::<Time64MicrosecondType, _>(data_type, raws, |raw| raw as i64),
        Time64(TimeUnit::Nanosecond) => array::<Time64NanosecondType, _>(data_type, raws, |raw| raw as i64),
        Timestamp(unit, _) => match unit {
            TimeUnit::Second => array::<TimestampSecondType, _>(data_type, raws, |raw| raw as i64),
            TimeUnit::Millisecond => array::<TimestampMillisecondType, _>(data_type, raws, |raw| raw as i64),
            TimeUnit::Microsecond => array::<TimestampMicrosecondType, _>(data_type, raws, |raw| raw as i64),
            TimeUnit::Nanosecond => array::<TimestampNanosecondType, _>(data_type, raws, |raw| raw as i64),
        },
        Duration(unit) => match unit {
            TimeUnit::Second => array::<DurationSecondType, _>(data_type, raws, |raw| raw as i64),
            TimeUnit::Millisecond => array::<DurationMillisecondType, _>(data_type, raws, |raw| raw as i64),
            TimeUnit::Microsecond => array::<DurationMicrosecondType, _>(data_type, raws, |raw| raw as i64),
            TimeUnit::Nanosecond => array::<DurationNanosecondType, _>(data_type, raws, |raw| raw as i64),
        },
        _ => return None,
    };
    Some(typed)
}

/// An array of floats.
pub(crate) fn float_array(width: Width, floats: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    match width {
        Width::Half => array::<Float16Type, _>(&DataType::Float16, floats, HalfCell::from_f64),
        Width::Single => array::<Float32Type, _>(&DataType::Float32, floats, |float| float as f32),
        Width::Double => array::<Float64Type, _>(&DataType::Float64, floats, |float| float),
    }
}

/// A float as its type holds it, in f64.
pub(crate) fn rounded(width: Width, float: f64) -> f64 {
    match width {
        Width::Half => HalfCell::from_f64(float).to_f64(),
        Width::Single => f64::from(float as f32),
        Width::Double => float,
    }
}

/// The shortest text that means the float in its type.
pub(crate) fn float_text(width: Width, float: f64) -> String {
    match width {
        Width::Double => format!("{float:?}"),
        Width::Half | Width::Single => format!("{:?}", float as f32),
    }
}

fn array<T: ArrowPrimitiveType, C>(
    data_type: &DataType,
    cells: impl Iterator<Item = Option<C>>,
    native: impl Fn(C) -> T::Native,
) -> ArrayRef {
    let array: PrimitiveArray<T> = cells.map(|cell| cell.map(&native)).collect();
    std::sync::Arc::new(array.with_data_type(data_type.clone()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{DictionaryArray, Float16Array, Int64Array, StringViewArray};

    use super::*;

    #[test]
    fn dictionaries_are_what_their_values_are() {
        let words: DictionaryArray<Int8Type> = vec![Some("a"), None, Some("b")].into_iter().collect();
        let View::Texts(texts) = View::of(&words) else { panic!() };
        assert_eq!(texts, [Some("a"), None, Some("b")]);
        let keys = arrow_array::Int32Array::from(vec![Some(1), None, Some(0)]);
        let numbers = DictionaryArray::new(keys, Arc::new(Int64Array::from(vec![Some(5), None])));
        let View::Raws(RawKind::Int, raws) = View::of(&numbers) else { panic!() };
        assert_eq!(raws, [None, None, Some(5)], "a null among the values is a null");
        let empty: DictionaryArray<Int8Type> = vec![None::<&str>, None].into_iter().collect();
        assert!(matches!(View::of(&empty), View::Null(2)));
    }

    #[test]
    fn halves_and_views() {
        let halves = Float16Array::from(vec![HalfCell::from_f64(0.5)]);
        let View::Floats(Width::Half, floats) = View::of(&halves) else { panic!() };
        assert_eq!(floats, [Some(0.5)]);
        let views = StringViewArray::from(vec![Some("a text that is longer than twelve bytes"), None]);
        let View::Texts(texts) = View::of(&views) else { panic!() };
        assert_eq!(texts[0].map(str::len), Some(39));
        assert_eq!(float_text(Width::Single, f64::from(0.1f32)), "0.1");
        assert_eq!(rounded(Width::Single, 0.1), f64::from(0.1f32));
    }

    #[test]
    fn integers_come_back() {
        let data_type = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        let raws = [Some(i128::from(i64::MAX)), None];
        let array = raw_array(&data_type, raws.into_iter()).unwrap();
        assert_eq!(array.data_type(), &data_type);
        assert!(matches!(View::of(array.as_ref()), View::Raws(_, back) if back == raws));
    }
}
