//! Files that are no tables: what they are, by their first bytes, and what to do with them.

/// What a file is, and what its owner can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// Follows `FILE is …`.
    pub(crate) what: &'static str,
    pub(crate) advice: &'static str,
}

const EXPORT: &str = "export the table as CSV, Parquet or Arrow";
const SHEET: &str = "open it and save the sheet as CSV (UTF-8)";
const UNPACK: &str = "unpack it and give the file inside";
const PICTURE: &str = "pictures are learned as images: give the folder that holds them";
const JSON: &str =
    "write it as a table first, e.g. with pandas: read_json(FILE).to_csv(\"table.csv\", index=False)";
const JSON_LINES: &str = "write it as a table first, e.g. with pandas: read_json(FILE, lines=True).to_csv(\"table.csv\", index=False)";
const PAGE: &str = "an error or download page is often saved in place of the data: fetch the file itself, or save the page's table as CSV";

/// First bytes, and what has them.
const MAGIC: [(&[u8], &str, &str); 31] = [
    (b"FEA1", "a Feather file of version 1", EXPORT),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", SHEET),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", UNPACK),
    (b"\xfd7zXZ", "compressed with xz", UNPACK),
    (b"BZh", "compressed with bzip2", UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", UNPACK),
    (b"Rar!", "a rar archive", UNPACK),
    (b"%PDF", "a PDF document", "copy or export the table in it as CSV"),
    (b"\x89PNG", "a PNG picture", PICTURE),
    (b"\xff\xd8\xff", "a JPEG picture", PICTURE),
    (b"GIF8", "a GIF picture", PICTURE),
    (b"RIFF", "a WebP picture, or sound", PICTURE),
    (b"II*\0", "a TIFF picture", PICTURE),
    (b"MM\0*", "a TIFF picture", PICTURE),
    (
        b"SQLite format 3",
        "a SQLite database",
        "export a table of it: sqlite3 -csv -header FILE 'select * from NAME' > table.csv",
    ),
    (b"\x89HDF", "an HDF5 file", EXPORT),
    (b"\x93NUMPY", "a NumPy array", EXPORT),
    (b"\x80\x02", "a Python pickle", EXPORT),
    (b"\x80\x03", "a Python pickle", EXPORT),
    (b"\x80\x04", "a Python pickle", EXPORT),
    (b"\x80\x05", "a Python pickle", EXPORT),
    (b"RDX", "an R workspace", "in R: write.csv(TABLE, \"table.csv\", row.names = FALSE)"),
    (b"RDA", "an R workspace", "in R: write.csv(TABLE, \"table.csv\", row.names = FALSE)"),
    (b"X\n\0\0\0", "an R object", "in R: write.csv(readRDS(FILE), \"table.csv\", row.names = FALSE)"),
    (b"$FL2", "an SPSS file", EXPORT),
    (b"$FL3", "an SPSS file", EXPORT),
    (b"<stata_dta>", "a Stata file", EXPORT),
    (b"ORC", "an ORC file", EXPORT),
    (b"Obj\x01", "an Avro file", EXPORT),
    (b"\x7fELF", "a program", "give a table: CSV, Parquet or Arrow"),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file itself: git lfs pull"),
];

impl Foreign {
    /// What the beginning of a file shows; none if it may be a table.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"PK\x03\x04") {
            return Some(archive(head));
        }
        let known = MAGIC.iter().find(|(magic, ..)| head.starts_with(magic));
        // Letters alone may begin a table's first name.
        let sure = |magic: &[u8]| {
            magic.iter().any(|byte| !byte.is_ascii_alphanumeric())
                || head.iter().take(512).any(|&byte| byte == 0)
        };
        known.filter(|(magic, ..)| sure(magic)).map(|&(_, what, advice)| Self { what, advice })
    }

    /// What the beginning of a text shows, decompressed and without byte-order mark.
    pub(crate) fn of_text(head: &[u8]) -> Option<Self> {
        let start = String::from_utf8_lossy(&head[..head.len().min(1 << 16)]);
        let text = start.trim_start();
        Self::of(head).or_else(|| json(text)).or_else(|| markup(text)).or_else(|| binary(head))
    }
}

/// Zip archives by the names of their first files.
fn archive(head: &[u8]) -> Foreign {
    let names = String::from_utf8_lossy(&head[..head.len().min(4096)]);
    let (what, advice) = match () {
        () if names.contains("xl/") || names.contains("[Content_Types].xml") => ("an Excel workbook", SHEET),
        () if names.contains("opendocument.spreadsheet") => ("an OpenDocument sheet", SHEET),
        () if names.contains(".npy") => ("an archive of NumPy arrays", EXPORT),
        () => ("a zip archive", UNPACK),
    };
    Foreign { what, advice }
}

fn json(text: &str) -> Option<Foreign> {
    let line = text.lines().next().unwrap_or_default();
    let lines = serde_json::from_str::<serde_json::Value>(line).is_ok()
        && text.lines().nth(1).is_some_and(|next| next.starts_with(['{', '[']));
    let after = |open: char| text.strip_prefix(open).and_then(|rest| rest.trim_start().chars().next());
    let whole = matches!(after('{'), Some('"' | '}'))
        || matches!(after('['), Some('{' | '['))
        || text.starts_with('[') && serde_json::from_str::<serde_json::Value>(text).is_ok();
    match (whole || lines && text.starts_with(['{', '[']), lines) {
        (false, _) => None,
        (true, true) => Some(Foreign { what: "JSON lines", advice: JSON_LINES }),
        (true, false) => Some(Foreign { what: "JSON", advice: JSON }),
    }
}

fn markup(text: &str) -> Option<Foreign> {
    let lower: String = text.chars().take(1 << 12).collect::<String>().to_lowercase();
    let named = lower
        .strip_prefix('<')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '!' | '?')));
    if !named
        || !(lower.starts_with("<!")
            || lower.starts_with("<?")
            || lower.contains("</")
            || lower.contains("/>"))
    {
        return None;
    }
    let page =
        ["<!doctype html", "<html", "<table", "<head", "<body", "<div"].iter().any(|tag| lower.contains(tag));
    Some(if page {
        Foreign { what: "an HTML page", advice: PAGE }
    } else {
        Foreign { what: "XML", advice: EXPORT }
    })
}

/// Texts have no zero bytes; UTF-16 has one in every other place.
fn binary(head: &[u8]) -> Option<Foreign> {
    let head = &head[..head.len().min(1024)];
    let zeros = |start: usize| head.iter().skip(start).step_by(2).filter(|&&byte| byte == 0).count() * 4;
    match () {
        () if !head.contains(&0) => None,
        () if zeros(0) > head.len() || zeros(1) > head.len() => Some(Foreign {
            what: "text in UTF-16",
            advice: "convert the file: iconv -f utf-16 -t utf-8 FILE > utf8.csv",
        }),
        () => Some(Foreign { what: "a binary file", advice: "give a table: CSV, Parquet or Arrow" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_are() {
        for (bytes, what) in [
            (&b"{\"a\": 1, \"b\": 2}"[..], "JSON"),
            (b"[\n  {\"a\": 1}\n]", "JSON"),
            (b"[1, 2, 3]", "JSON"),
            (b"{\"a\":1}\n{\"a\":2}\n", "JSON lines"),
            (b"[1,2]\n[3,4]\n", "JSON lines"),
            (b"<!DOCTYPE html><html>", "an HTML page"),
            (b"\n<table><tr><td>1</td></tr></table>", "an HTML page"),
            (b"<?xml version=\"1.0\"?><rows/>", "XML"),
            (b"<rows><row a=\"1\"/></rows>", "XML"),
            (b"%PDF-1.7\n", "a PDF document"),
            (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
            (b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml", "an Excel workbook"),
            (b"PK\x03\x04\x14\0\0\0\0\0table.csv", "a zip archive"),
            (b"SQLite format 3\0", "a SQLite database"),
            (b"a\0,\0b\0\n\0x\0,\0y\0\n\0", "text in UTF-16"),
            (b"ab\0\x01\x02cdefgh", "a binary file"),
            (b"ORC\0\0", "an ORC file"),
        ] {
            assert_eq!(
                Foreign::of_text(bytes).map(|foreign| foreign.what),
                Some(what),
                "{}",
                bytes.escape_ascii()
            );
        }
    }

    #[test]
    fn tables_are_not_foreign() {
        for text in [
            "a,b\n1,2\n",
            "[a],[b]\n1,2\n",
            "<5,x\n",
            "<NA>,1\n",
            "{a},b\n",
            "ORC,B\n1,2\n",
            "BZh,x\n",
            "\"{\"\n",
            "",
        ] {
            assert_eq!(Foreign::of_text(text.as_bytes()), None, "{text}");
        }
    }
}
