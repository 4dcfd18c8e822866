//! Tokens: made up by the system's own source of randomness, compared without telling how far they agree.

/// A new token: 128 bits as letters and digits.
pub(crate) fn new() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether two are the same, in a time that depends on their lengths alone.
pub(crate) fn same(a: &str, b: &str) -> bool {
    let (a, b) = (blake3::hash(a.as_bytes()), blake3::hash(b.as_bytes()));
    // Hashes are compared in constant time.
    a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ() {
        let (a, b) = (new().unwrap(), new().unwrap());
        assert_eq!(a.len(), 32);
        assert!(same(&a, &a.clone()) && !same(&a, &b) && !same(&a, ""));
    }
}
