//! How a delimited text is cut to records, guessed from its beginning.

use super::header::{HeaderEvidence, evidence, typed_share};

/// How much of a file is looked at.
pub(crate) const HEAD: usize = 1 << 18;
/// How many of its records.
const RECORDS: usize = 200;
/// Delimiters that are guessed.
const DELIMITERS: [u8; 4] = *b",\t;|";

/// How a text is cut to records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    /// Inside quotes `\"` is a quote.
    pub(crate) backslash: bool,
    /// Bytes and lines before the first record.
    pub(crate) skip: Skip,
    /// The first record is a comment that names the columns: `#id,name`.
    pub(crate) commented_header: bool,
    /// Lines end with a delimiter that separates nothing.
    pub(crate) trailing: bool,
}

/// What stands before the first record: a byte-order mark, `sep=;`, comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Skip {
    pub(crate) bytes: usize,
    pub(crate) lines: u64,
}

/// What the beginning of a text shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sniffed {
    pub(crate) dialect: Dialect,
    pub(crate) header: HeaderEvidence,
    /// What a reader should know.
    pub(crate) notes: Vec<String>,
    /// No delimiter was found, and this character may be meant to be one.
    pub(crate) other_delimiter: Option<char>,
}

impl Dialect {
    /// Records cut by a delimiter, with nothing special.
    pub(crate) const fn plain(delimiter: u8) -> Self {
        let skip = Skip { bytes: 0, lines: 0 };
        Self { delimiter, backslash: false, skip, commented_header: false, trailing: false }
    }

    /// A reader of such records.
    pub(crate) fn reader(&self) -> csv::ReaderBuilder {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(self.delimiter).has_headers(false).flexible(true);
        builder.escape(self.backslash.then_some(b'\\'));
        builder
    }
}

impl Sniffed {
    /// Looks at the beginning of a text; `whole` if there is no more of it.
    pub(crate) fn new(head: &[u8], whole: bool, delimiter: Option<u8>) -> Self {
        let mut prelude = Prelude::new(head);
        let given = delimiter.or(prelude.separator);
        let body = &head[prelude.skip.bytes..];
        let mut dialect = Dialect::plain(given.unwrap_or_else(|| self::delimiter(body, whole)));
        dialect.backslash = escapes(body, dialect.delimiter);
        let mut records = first_records(body, whole, &dialect);
        dialect.trailing = drop_trailing(&mut records);
        let mut header = evidence(&records);
        if let Some(names) = prelude.header(head, &dialect, &records)
            && header != HeaderEvidence::Names
        {
            (header, dialect.commented_header) = (HeaderEvidence::Names, true);
            records.insert(0, names);
        }
        dialect.skip = prelude.skip;
        let other_delimiter = given.is_none().then(|| other_delimiter(&records)).flatten();
        let notes = notes(&prelude, &dialect, header);
        Self { dialect, header, notes, other_delimiter }
    }
}

fn notes(prelude: &Prelude, dialect: &Dialect, header: HeaderEvidence) -> Vec<String> {
    let mut notes = Vec::new();
    match prelude.comments {
        0 => {}
        1 => notes.push("a comment line before the table is skipped".into()),
        n => notes.push(format!("{n} comment lines before the table are skipped")),
    }
    if dialect.commented_header {
        notes.push("the last comment line names the columns".into());
    }
    if dialect.trailing {
        notes.push("lines end with a delimiter: no column is made of it".into());
    }
    if dialect.backslash {
        notes.push("\\\" inside quotes is read as a quote".into());
    }
    if header == HeaderEvidence::Nothing {
        notes.push(
            "the first line is taken for the names of columns: all columns are texts, so nothing shows it (header=no makes it a row)"
                .into(),
        );
    }
    notes
}

/// The lines before a table.
struct Prelude {
    skip: Skip,
    separator: Option<u8>,
    comments: usize,
    /// Where the last comment begins and ends.
    last: (usize, usize),
}

impl Prelude {
    fn new(head: &[u8]) -> Self {
        let mut prelude = Self { skip: Skip::default(), separator: None, comments: 0, last: (0, 0) };
        prelude.skip.bytes = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let (line, end) = line_at(head, prelude.skip.bytes);
        if let Some(separator) = separator(line) {
            (prelude.separator, prelude.skip) = (Some(separator), Skip { bytes: end, lines: 1 });
        }
        let before = prelude.skip;
        loop {
            let at = prelude.skip.bytes;
            let (line, end) = line_at(head, at);
            let blank = line.iter().all(u8::is_ascii_whitespace);
            if end == at || !(line.starts_with(b"#") || blank && prelude.comments > 0) {
                break;
            }
            if !blank {
                (prelude.comments, prelude.last) = (prelude.comments + 1, (at, at + line.len()));
            }
            prelude.skip = Skip { bytes: end, lines: prelude.skip.lines + 1 };
        }
        // Where every line begins with #, it belongs to the cells.
        if prelude.skip.bytes >= head.len() {
            (prelude.skip, prelude.comments) = (before, 0);
        }
        prelude
    }

    /// The last comment as names, if it is cut like the records; it is no longer skipped then.
    fn header(&mut self, head: &[u8], dialect: &Dialect, records: &[Vec<String>]) -> Option<Vec<String>> {
        let (from, to) = self.last;
        let mut names = first_records(&head[from..to], true, dialect).pop().filter(|_| self.comments > 0)?;
        names.pop_if(|last| dialect.trailing && last.is_empty());
        let (width, _) = mode(&records.iter().map(Vec::len).collect::<Vec<_>>());
        if names.len() != width || width < 2 || evidence(records) == HeaderEvidence::Names {
            return None;
        }
        let lines = head[from..self.skip.bytes].iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.skip = Skip { bytes: from, lines: self.skip.lines.saturating_sub(lines.max(1)) };
        self.comments -= 1;
        Some(names)
    }
}

/// A line without its end, and where the next begins.
fn line_at(text: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &text[at.min(text.len())..];
    let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
        return (rest, text.len());
    };
    let pair = rest[end..].starts_with(b"\r\n");
    (&rest[..end], at + end + if pair { 2 } else { 1 })
}

/// `sep=;`
fn separator(line: &[u8]) -> Option<u8> {
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [a, b, c, b'=', separator] if [a, b, c].map(u8::to_ascii_lowercase) == *b"sep" => {
            (separator.is_ascii() && *separator != b'"').then_some(*separator)
        }
        _ => None,
    }
}

/// The first records of a text.
pub(crate) fn first_records(body: &[u8], whole: bool, dialect: &Dialect) -> Vec<Vec<String>> {
    let mut reader = dialect.reader().from_reader(body);
    let mut records = Vec::new();
    let mut record = csv::ByteRecord::new();
    while records.len() <= RECORDS && reader.read_byte_record(&mut record).unwrap_or(false) {
        records.push(record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect());
    }
    // The last record may be cut in the middle.
    if !whole && records.len() > 1 && records.len() <= RECORDS {
        records.pop();
    }
    records
}

/// The delimiter under which most records have the same number of fields; then the one under which most cells are numbers or
/// dates; then the one with the most fields.
fn delimiter(body: &[u8], whole: bool) -> u8 {
    let mut best = (b',', (0.0, 0.0, 1));
    for candidate in DELIMITERS {
        let records = first_records(body, whole, &Dialect::plain(candidate));
        let (width, share) = mode(&records.iter().map(Vec::len).collect::<Vec<_>>());
        if width > 1 && share >= best.1.0 {
            let score = (share, typed_share(&records), width);
            best = if score > best.1 { (candidate, score) } else { best };
        }
    }
    best.0
}

/// The most frequent width and its share.
fn mode(widths: &[usize]) -> (usize, f64) {
    let count = |width: usize| widths.iter().filter(|&&other| other == width).count();
    let width = widths.iter().copied().max_by_key(|&width| (count(width), width)).unwrap_or(1);
    (width, count(width) as f64 / widths.len().max(1) as f64)
}

/// Whether `\"` stands for a quote: read so, every quoted field ends before a delimiter or a line end, and read plainly not.
fn escapes(body: &[u8], delimiter: u8) -> bool {
    body.windows(2).any(|pair| pair == b"\\\"")
        && broken_quotes(body, delimiter, false) > 0
        && broken_quotes(body, delimiter, true) == 0
}

/// Quotes that close a field in the middle.
fn broken_quotes(body: &[u8], delimiter: u8, backslash: bool) -> usize {
    let (mut broken, mut quoted, mut start, mut at) = (0, false, true, 0);
    while let Some(&byte) = body.get(at) {
        let next = body.get(at + 1).copied();
        let ends = next.is_none_or(|next| next == delimiter || next == b'\n' || next == b'\r');
        match byte {
            b'\\' if quoted && backslash => at += 1,
            b'"' if quoted && next == Some(b'"') => at += 1,
            b'"' if quoted => (quoted, broken) = (false, broken + usize::from(!ends)),
            b'"' if start => quoted = true,
            _ => {}
        }
        start = !quoted && (byte == delimiter || byte == b'\n' || byte == b'\r');
        at += 1;
    }
    broken + usize::from(quoted && !backslash)
}

/// Takes the cell after the last delimiter out of records, if it is never one; whether that is so.
fn drop_trailing(records: &mut [Vec<String>]) -> bool {
    let trailing = is_trailing(records);
    let empty = |record: &Vec<String>| record.last().is_some_and(String::is_empty);
    let named = records.first().map_or(0, |first| first.len() - usize::from(empty(first)));
    for record in records.iter_mut().filter(|record| trailing && record.len() == named + 1) {
        record.pop_if(|last| last.is_empty());
    }
    trailing
}

/// Whether lines end with a delimiter that separates nothing: no record has a cell after it, nor the header a name.
fn is_trailing(records: &[Vec<String>]) -> bool {
    let Some((first, rest)) = records.split_first() else { return false };
    let (width, _) = mode(&rest.iter().map(Vec::len).collect::<Vec<_>>());
    let empty = |record: &[String]| record.last().is_some_and(String::is_empty);
    let full = |record: &&Vec<String>| record.len() == width;
    if rest.is_empty() || width < 2 && first.len() < 3 {
        return false;
    }
    let cells = rest.iter().filter(full).all(|record| empty(record));
    match first.len() {
        n if n == width => empty(first) && cells && width > 1,
        n if n + 1 == width => cells && !empty(first),
        n => n == width + 1 && empty(first),
    }
}

/// A character that cuts all lines of a text without delimiters to the same number of fields, some of them numbers.
fn other_delimiter(records: &[Vec<String>]) -> Option<char> {
    let lines: Vec<&str> =
        records.iter().filter(|record| record.len() == 1).map(|record| record[0].as_str()).collect();
    if lines.len() < 3 || lines.len() < records.len() || typed_share(&records[1..]) > 0.0 {
        return None;
    }
    [' ', '^', '~', '\u{1}', ':'].into_iter().find(|&separator| {
        let cut = |line: &&str| -> Vec<String> {
            line.split(separator)
                .filter(|part| separator != ' ' || !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let cut: Vec<Vec<String>> = lines.iter().map(cut).collect();
        cut[0].len() > 1 && cut.iter().all(|line| line.len() == cut[0].len()) && typed_share(&cut[1..]) > 0.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sniff(text: &str) -> Sniffed {
        Sniffed::new(text.as_bytes(), true, None)
    }

    #[test]
    fn delimiters() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("1,5;2,5\n3,5;4,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("name,text\nx,\"a;b;c\"\ny,\"d;e;f\"\n", b','),
            ("alone\n1\n2\n", b','),
            ("sep=;\na,b;c\n1,2;3\n", b';'),
            ("\"SEP=|\"\na,b|c\n1,2|3\n", b'|'),
            ("# a;b;c\nx,y\n1,2\n", b','),
            ("", b','),
        ] {
            assert_eq!(sniff(text).dialect.delimiter, expected, "{text:?}");
        }
    }

    #[test]
    fn what_stands_before_the_table() {
        let skip = |text: &str| sniff(text).dialect.skip;
        assert_eq!(skip("\u{feff}a,b\n1,2\n"), Skip { bytes: 3, lines: 0 });
        assert_eq!(skip("sep=;\r\na;b\r\n1;2\r\n"), Skip { bytes: 7, lines: 1 });
        assert_eq!(skip("# x\n\n# y\na,b\n1,2\n"), Skip { bytes: 9, lines: 3 });
        assert_eq!(skip("#ff0000\n#00ff00\n"), Skip::default(), "colours, not comments");
        let names = sniff("# made today\n#id,x\n1,2\n3,4\n");
        assert_eq!(
            (names.dialect.skip, names.dialect.commented_header),
            (Skip { bytes: 13, lines: 1 }, true)
        );
        assert_eq!(names.header, HeaderEvidence::Names);
        let comment = sniff("# one, two\na,b\n1,2\n");
        assert!(!comment.dialect.commented_header && comment.dialect.skip.lines == 1);
    }

    #[test]
    fn backslashes() {
        let escaped = |text: &str| sniff(text).dialect.backslash;
        assert!(escaped("a,b\n1,\"say \\\"hi\\\", you\"\n"));
        assert!(escaped("a,b\n\"\\\"x\\\"\",2\n"));
        assert!(!escaped("a,b\n1,\"C:\\dir\\\"\n2,\"x\"\n"), "a path that ends with a backslash");
        assert!(!escaped("a,b\n1,\"say \"\"hi\"\"\"\n"));
        assert!(!escaped("a,b\n1,5\\\" pipe\n"));
    }

    #[test]
    fn trailing_delimiters() {
        let trailing = |text: &str| sniff(text).dialect.trailing;
        for text in
            ["a,b,\n1,2,\n3,4,\n", "a,b\n1,2,\n3,4,\n", "a,b,\n1,2\n3,4\n", "1,2,\n3,4,\n", "x,\n1,\n2,\n"]
        {
            assert!(trailing(text), "{text:?}");
        }
        for text in ["a,b,\n1,2,5\n3,4,\n", "a,b,c\n1,2,\n3,4,\n", "a,b\n1,2,3\n4,5,\n", "a,b\n1,2\n", "a,\n"]
        {
            assert!(!trailing(text), "{text:?}");
        }
    }

    #[test]
    fn other_delimiters() {
        assert_eq!(sniff("a  b\n1  2\n3   4\n").other_delimiter, Some(' '));
        assert_eq!(sniff("a^b\n1^2\n3^4\n").other_delimiter, Some('^'));
        for text in [
            "time\n10:05\n11:20\n",
            "when\n15 Mar 2020\n16 Mar 2020\n",
            "x\n1 234,5\n2 000,0\n",
            "city\nNew York\nLos Angeles\nSan Jose\n",
            "x\n1\n2\n",
        ] {
            assert_eq!(sniff(text).other_delimiter, None, "{text:?}");
        }
    }
}
