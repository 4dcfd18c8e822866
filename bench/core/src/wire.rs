//! Arrays on a pipe: a line with the length in bytes, then little-endian elements.

use std::io::{BufRead, Write};

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// An element that can be sent.
pub(crate) trait Wire: Copy {
    const BYTES: usize;
    fn from_bytes(bytes: &[u8]) -> Result<Self>;
    fn append(self, bytes: &mut Vec<u8>);
}

macro_rules! wire {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            const BYTES: usize = size_of::<$type>();
            fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Ok(Self::from_le_bytes(bytes.try_into()?))
            }
            fn append(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}
wire!(f32, f64, u32);

pub(crate) fn read<W: Wire>(input: &mut impl BufRead) -> Result<Vec<W>> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let mut bytes = vec![0; line.trim().parse()?];
    input.read_exact(&mut bytes)?;
    bytes.chunks_exact(W::BYTES).map(W::from_bytes).collect()
}

pub(crate) fn write<W: Wire>(elements: &[W], output: &mut dyn Write) -> Result<()> {
    let mut bytes = Vec::with_capacity(elements.len() * W::BYTES);
    elements.iter().for_each(|element| element.append(&mut bytes));
    writeln!(output, "{}", bytes.len())?;
    Ok(output.write_all(&bytes)?)
}
