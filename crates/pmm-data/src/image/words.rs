//! Counts in words.

/// `1 image`, `60 images`.
///
/// ```
/// assert_eq!([1, 60].map(pmm_data::image_count), ["1 image", "60 images"]);
/// ```
pub fn image_count(images: u64) -> String {
    format!("{images} {}", if images == 1 { "image" } else { "images" })
}

/// What is said of one file, or of several: `a.txt is empty`, `3 files are empty, such as a.txt`. Nothing of none.
pub(super) fn of_files(count: usize, first: Option<&str>, one: &str, several: &str) -> Option<String> {
    let first = first?;
    Some(match count {
        1 => format!("{first} {one}"),
        _ => format!("{count} files {several}, such as {first}"),
    })
}
