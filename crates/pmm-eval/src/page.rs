//! A report page: one self-contained HTML file that needs no network, no script and no light switch.

use std::fmt::Write;

use crate::chart::text::escape;
use crate::chart::{PAPER, stylesheet};

/// An HTML page of headings, paragraphs, figures and tables.
///
/// All text is escaped; only [`figure`](Page::figure) takes markup, the SVG of a
/// [`Figure`](crate::chart::Figure).
///
/// ```
/// use pmm_eval::Page;
/// let html = Page::new("Penguins & friends").lead("Two species.").section("Scores")
///     .table(&["column", "bits"], &[["island".to_owned(), "0.92".to_owned()]]).html();
/// assert!(html.contains("<title>Penguins &amp; friends</title>"));
/// assert!(html.contains(r#"<td class="number">0.92</td>"#));
/// ```
#[derive(Clone, Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// A page with nothing but its title.
    pub fn new(title: impl Into<String>) -> Self {
        let title = title.into();
        let body = format!("<h1>{}</h1>\n", escape(&title));
        Self { title, body }
    }

    /// Adds an opening paragraph in larger type.
    pub fn lead(self, text: &str) -> Self {
        self.add(&format!(r#"<p class="lead">{}</p>"#, escape(text)))
    }

    /// Starts a section.
    pub fn section(self, heading: &str) -> Self {
        self.add(&format!("<h2>{}</h2>", escape(heading)))
    }

    /// Adds a paragraph.
    pub fn text(self, text: &str) -> Self {
        self.add(&format!("<p>{}</p>", escape(text)))
    }

    /// Adds a text as it stands, in type of one width, with its line breaks and blanks; long lines are wrapped.
    pub fn quote(self, text: &str) -> Self {
        // HTML leaves out a line break right after the tag, so that one of the text's own would be lost.
        self.add(&format!("<pre>\n{}</pre>", escape(text)))
    }

    /// Adds an inline SVG, taken as it is, and its description for readers who do not see it.
    pub fn figure(self, svg: &str, alt: &str) -> Self {
        self.add(&format!(r#"<figure role="img" aria-label="{}">{svg}</figure>"#, escape(alt)))
    }

    /// Adds a PNG that is part of the page, so many pixels wide (or as wide as there is room), with a line of text under it. It is
    /// enlarged without smoothing, so that single pixels can be seen.
    ///
    /// ```
    /// let html = pmm_eval::Page::new("").raster(b"\x89PNG", 64, "a dot", "One <dot>.").html();
    /// assert!(html.contains(r#"<img class="raster" width="64" alt="a dot" src="data:image/png;base64,iVBORw==">"#));
    /// assert!(html.contains("<figcaption>One &lt;dot&gt;.</figcaption>"));
    /// ```
    pub fn raster(self, png: &[u8], width: usize, alt: &str, caption: &str) -> Self {
        self.add(&format!(
            r#"<figure><img class="raster" width="{width}" alt="{}" src="data:image/png;base64,{}"><figcaption>{}</figcaption></figure>"#,
            escape(alt),
            base64(png),
            escape(caption)
        ))
    }

    /// Adds a table. Columns whose cells are all numbers are set flush right; short rows are filled up, and
    /// cells beyond the header are left out.
    pub fn table<R: AsRef<[String]>>(self, header: &[&str], rows: &[R]) -> Self {
        let cell = |row: &R, column: usize| row.as_ref().get(column).cloned().unwrap_or_default();
        let is_numeric = |column| all_numbers(&rows.iter().map(|row| cell(row, column)).collect::<Vec<_>>());
        let numeric: Vec<bool> = (0..header.len()).map(is_numeric).collect();
        let head: String = header.iter().zip(&numeric).map(|(name, &n)| table_cell("th", name, n)).collect();
        let mut out = format!(r#"<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>"#);
        for row in rows {
            let cells: String =
                numeric.iter().enumerate().map(|(i, &n)| table_cell("td", &cell(row, i), n)).collect();
            let _ = write!(out, "\n<tr>{cells}</tr>");
        }
        self.add(&(out + "</tbody></table></div>"))
    }

    /// The whole page.
    pub fn html(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}{}{}</style>\n</head>\n\
             <body>\n<main>\n{}</main>\n</body>\n</html>\n",
            escape(&self.title),
            colours(),
            LAYOUT,
            stylesheet(),
            self.body
        )
    }

    fn add(mut self, markup: &str) -> Self {
        self.body.push_str(markup);
        self.body.push('\n');
        self
    }
}

/// Bytes as text: RFC 4648, with padding.
///
/// ```
/// assert_eq!(pmm_eval::base64(b"pmm!"), "cG1tIQ==");
/// ```
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

fn table_cell(tag: &str, text: &str, number: bool) -> String {
    let class = if number { r#" class="number""# } else { "" };
    format!("<{tag}{class}>{}</{tag}>", escape(text))
}

/// Whether a column holds numbers only, apart from empty cells.
fn all_numbers(cells: &[String]) -> bool {
    let mut filled = cells.iter().filter(|cell| !cell.trim().is_empty()).peekable();
    filled.peek().is_some() && filled.all(|cell| is_number(cell))
}

/// Whether a cell reads as a number, perhaps with an uncertainty or a percent sign, or is a dash.
fn is_number(cell: &str) -> bool {
    let plain = cell.replace('−', "-").replace('%', "");
    let part = |part: &str| part.trim() == "–" || part.trim().parse::<f64>().is_ok();
    plain.split('±').all(part)
}

fn colours() -> String {
    let (light, dark) = PAPER;
    format!(
        ":root {{ --paper: {light}; --ink: #1B1F24; --soft: #59616B; --line: #D8DCE1 }}\n\
         @media (prefers-color-scheme: dark) {{\n  :root {{ --paper: {dark}; --ink: #E4E7EB; --soft: #A3ABB6; --line: #343A43 }}\n}}\n"
    )
}

/// On a phone a figure keeps a readable size and scrolls sideways within its frame.
const LAYOUT: &str = "\
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 'Noto Sans', system-ui, -apple-system, 'Segoe UI', sans-serif }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 1rem 0 .5rem }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .5rem }
p { margin: .5rem 0 1rem; max-width: 42rem }
.lead { font-size: 1.1rem; color: var(--soft) }
pre { margin: .75rem 0; padding: .1rem 0 .1rem .9rem; border-left: 3px solid var(--line); font: .85rem/1.5 'DejaVu Sans Mono', ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
figure, .wide { margin: 1rem 0; overflow-x: auto }
.chart { display: block; max-width: max(100%, 34rem); height: auto }
.raster { display: block; max-width: 100%; height: auto; image-rendering: pixelated }
figcaption { margin-top: .4rem; font-size: .85rem; line-height: 1.45; color: var(--soft) }
table { border-collapse: collapse; font-size: .9rem; line-height: 1.4 }
th, td { padding: .3rem 1.2rem .3rem 0; text-align: left; vertical-align: top }
th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line) }
tbody tr + tr td { border-top: 1px solid var(--line) }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Chart, Figure};

    fn rows(cells: &[[&str; 2]]) -> Vec<[String; 2]> {
        cells.iter().map(|row| row.map(str::to_owned)).collect()
    }

    #[test]
    fn text_is_escaped_everywhere_but_in_figures() {
        let page =
            Page::new("<t>").lead("<l>").section("<s>").text("<p>").table(&["<h>"], &rows(&[["<c>", ""]]));
        let html = page.figure("<svg/>", "\"<alt>\"").html();
        for raw in ["<t>", "<l>", "<s>", "<h>", "<c>", "<alt>"] {
            assert!(!html.contains(raw), "{raw}");
        }
        assert!(html.contains(r#"aria-label="&quot;&lt;alt&gt;&quot;"><svg/></figure>"#));
        assert!(html.contains("<p>&lt;p&gt;</p>"));
    }

    /// The examples of RFC 4648.
    #[test]
    fn bytes_become_letters() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        pairs.iter().for_each(|(bytes, letters)| assert_eq!(base64(bytes.as_bytes()), *letters));
        assert_eq!(base64(&[255, 239, 190]), "/+++");
    }

    #[test]
    fn quoted_text_keeps_its_lines_and_is_escaped() {
        let html = Page::new("").quote("\n <b>\n  & c").html();
        assert!(html.contains("<pre>\n\n &lt;b&gt;\n  &amp; c</pre>") && html.contains("pre-wrap"));
    }

    #[test]
    fn only_columns_of_numbers_are_flush_right() {
        let cells = rows(&[["a", "1.5"], ["2", "−3 ± 0.1"], ["c", "–"], ["d", ""]]);
        let html = Page::new("").table(&["name", "score"], &cells).html();
        assert!(html.contains(r#"<th>name</th><th class="number">score</th>"#));
        assert!(html.contains(r#"<td>2</td><td class="number">−3 ± 0.1</td>"#));
    }

    #[test]
    fn ragged_rows_keep_the_table_rectangular() {
        let ragged = [vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned(), "d".to_owned()]];
        let html = Page::new("").table(&["x", "y"], &ragged).html();
        assert_eq!(html.matches("<td>").count(), 4);
        assert!(!html.contains(">d<"));
    }

    #[test]
    fn the_page_stands_alone_and_knows_both_modes() {
        let svg = Figure::new().panel(Chart::new("c")).svg();
        let html = Page::new("t").figure(&svg, "a chart").html();
        let outside = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside.contains("http") && !html.contains("<script") && !html.contains("@import"));
        assert!(html.contains("prefers-color-scheme: dark") && html.contains("width=device-width"));
        assert!(html.contains(".chart .c0"));
    }
}
