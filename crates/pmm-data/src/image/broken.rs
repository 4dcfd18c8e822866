//! Pictures that cannot be read are named together, not one at a time.

use super::error::ImageDataError;

/// Does something with each picture. Those that cannot be read are told of at the end, all at once; any other error ends it.
pub(super) fn each<T>(
    pictures: impl IntoIterator<Item = T>,
    mut run: impl FnMut(T) -> Result<(), ImageDataError>,
) -> Result<(), ImageDataError> {
    let mut broken = Vec::new();
    for picture in pictures {
        match run(picture) {
            Err(error) if error.is_of_one_picture() => broken.push(error),
            result => result?,
        }
    }
    match broken.len() {
        0 => Ok(()),
        1 => Err(broken.remove(0)),
        count => {
            let first = broken.iter().take(MOST).map(ToString::to_string).collect();
            Err(ImageDataError::Pictures { first, count })
        }
    }
}

/// Broken pictures that are named.
const MOST: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn run(broken: &[&str]) -> Result<(), ImageDataError> {
        let is_broken = |file: &str| broken.contains(&file);
        each(["a", "b", "c", "d", "e"], |file| match is_broken(file) {
            true => Err(ImageDataError::Corrupt { path: file.into(), reason: "it is empty".into() }),
            false => Ok(()),
        })
    }

    #[test]
    fn the_first_few_are_named_and_all_are_counted() {
        run(&[]).unwrap();
        assert_eq!(run(&["c"]).unwrap_err().to_string(), "c is not a whole picture: it is empty");
        let two = "a is not a whole picture: it is empty; d is not a whole picture: it is empty";
        assert_eq!(run(&["a", "d"]).unwrap_err().to_string(), format!("2 pictures cannot be read: {two}"));
        let error = run(&["a", "b", "c", "d", "e"]).unwrap_err();
        assert!(error.to_string().starts_with("5 pictures cannot be read: a is") && error.hint().is_some());
        assert!(error.to_string().ends_with("c is not a whole picture: it is empty; and 2 more"), "{error}");
    }

    #[test]
    fn another_error_ends_it_at_once() {
        let mut seen = 0;
        let error = each(0..3, |_| {
            seen += 1;
            Err(ImageDataError::NoImages { path: "x".into() })
        });
        assert!(matches!(error, Err(ImageDataError::NoImages { .. })) && seen == 1);
    }
}
