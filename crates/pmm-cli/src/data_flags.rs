//! What the library says of data in words, in flags.

use pmm::{Error, ImageDataError, ReadError, TextDataError};

/// What mends an error of data on the command line; none if the library's words do.
pub(crate) fn data_flags(error: &Error) -> Option<String> {
    match error {
        Error::Table(error) => table(error),
        Error::Text(error) => text(error),
        Error::Image(ImageDataError::MixedSizes { .. } | ImageDataError::Size { .. }) => {
            Some("--set size=32 scales and crops all images to 32×32 pixels, or to another size".into())
        }
        _ => None,
    }
}

fn table(error: &ReadError) -> Option<String> {
    Some(match error {
        ReadError::NoDelimiter { separator: ' ', .. } => {
            "--set delimiter=' ' if there is one blank between fields; else write commas: tr -s ' ' ',' < FILE > table.csv"
                .into()
        }
        ReadError::NoDelimiter { separator, .. } => {
            format!("--set delimiter='{separator}', or --set delimiter=, if it is one column")
        }
        ReadError::NoQuery { .. } => "--sql 'select * from TABLE' says which rows are meant".into(),
        ReadError::Infinite { column, value, .. } => format!(
            "--set columns.{column}.specials={value} keeps it as a special value; in a text file, --missing 'NA;{value}' makes \
             it missing (in place of the built-in markers)"
        ),
        _ => return None,
    })
}

fn text(error: &TextDataError) -> Option<String> {
    Some(match error {
        TextDataError::NotUtf8 { path, .. } => format!(
            "--set tokenizer=bytes models the bytes as they are; iconv -f latin1 -t utf-8 {path} > utf8.txt converts the file \
             (-f utf-16, if it is that)"
        ),
        TextDataError::NoField { fields, .. } if !fields.is_empty() => {
            format!("it has {}; --set field=NAME names the one that holds the text", fields.join(", "))
        }
        TextDataError::FieldNotText { .. } => "--set field=NAME names the field that holds the text".into(),
        TextDataError::UnknownCharacter { .. } => {
            "leave the character out, or train with --set tokenizer=bytes, which knows every text".into()
        }
        TextDataError::Inexact { .. } => {
            "use a byte-level BPE such as that of GPT-2, or --set tokenizer=bytes".into()
        }
        TextDataError::SmallVocabulary { .. } => {
            "for so few tokens use --set tokenizer=bytes or --set tokenizer=characters".into()
        }
        _ => return None,
    })
}
