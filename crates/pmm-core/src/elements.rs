//! Flat storage whose element type depends on the pair: f64 statistics, f32 data, u32 tokens.

/// A contiguous buffer of one element type.
#[derive(Debug, Clone, PartialEq)]
pub enum Elements {
    /// Statistics.
    Double(Vec<f64>),
    /// Data, posterior means, estimates.
    Single(Vec<f32>),
    /// Tokens.
    Token(Vec<u32>),
}

/// An element that a [`Elements`] can hold.
pub trait Element: Copy + PartialEq + Default + std::fmt::Debug + Send + Sync + 'static {
    /// The element type's name, for messages.
    const NAME: &'static str;
    /// The element as a number.
    fn as_f64(self) -> f64;
    /// The buffer, if it holds this type.
    fn get(store: &Elements) -> Option<&[Self]>;
    /// The buffer, if it holds this type.
    fn get_mut(store: &mut Elements) -> Option<&mut [Self]>;
    /// A buffer of this type.
    fn wrap(elements: Vec<Self>) -> Elements;
}

macro_rules! element {
    ($type:ty, $variant:ident) => {
        impl Element for $type {
            const NAME: &'static str = stringify!($type);
            fn as_f64(self) -> f64 {
                self.into()
            }
            fn get(store: &Elements) -> Option<&[Self]> {
                if let Elements::$variant(elements) = store { Some(elements) } else { None }
            }
            fn get_mut(store: &mut Elements) -> Option<&mut [Self]> {
                if let Elements::$variant(elements) = store { Some(elements) } else { None }
            }
            fn wrap(elements: Vec<Self>) -> Elements {
                Elements::$variant(elements)
            }
        }
    };
}
element!(f64, Double);
element!(f32, Single);
element!(u32, Token);

impl Elements {
    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Double(elements) => elements.len(),
            Self::Single(elements) => elements.len(),
            Self::Token(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element type's name.
    pub fn element_name(&self) -> &'static str {
        match self {
            Self::Double(_) => f64::NAME,
            Self::Single(_) => f32::NAME,
            Self::Token(_) => u32::NAME,
        }
    }

    /// The chosen rows, in that order; a row is `len` elements.
    pub(crate) fn select(&self, len: usize, chosen: &[usize]) -> Self {
        fn rows<T: Copy>(elements: &[T], len: usize, chosen: &[usize]) -> Vec<T> {
            chosen.iter().flat_map(|&row| &elements[row * len..][..len]).copied().collect()
        }
        match self {
            Self::Double(elements) => Self::Double(rows(elements, len, chosen)),
            Self::Single(elements) => Self::Single(rows(elements, len, chosen)),
            Self::Token(elements) => Self::Token(rows(elements, len, chosen)),
        }
    }

    /// The elements, if they are `f32`.
    pub fn as_f32(&self) -> Option<&[f32]> {
        f32::get(self)
    }

    /// The elements, if they are tokens.
    pub fn as_tokens(&self) -> Option<&[u32]> {
        u32::get(self)
    }
}

impl From<Vec<f32>> for Elements {
    fn from(elements: Vec<f32>) -> Self {
        Self::Single(elements)
    }
}

impl From<Vec<u32>> for Elements {
    fn from(elements: Vec<u32>) -> Self {
        Self::Token(elements)
    }
}
