//! Which part of a text is learned and which is held out.

/// How many tokens are learned, and where those that are held out begin: at the same place, or at the start of a text that is too
/// short to hold anything out.
pub fn split(tokens: u64, valid: f64, length: usize) -> (u64, u64) {
    let held_out = (valid * tokens as f64).round() as u64;
    let length = length as u64;
    if held_out < length || tokens - held_out < length {
        (tokens, 0)
    } else {
        (tokens - held_out, tokens - held_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_out_holds_a_text() {
        assert_eq!(split(1000, 0.1, 50), (900, 900));
        assert_eq!(split(1000, 0.1, 200), (1000, 0));
        assert_eq!(split(1000, 0.0, 10), (1000, 0));
    }
}
