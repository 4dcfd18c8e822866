//! A minimal reader of CSV files: numbers, dates, levels, and texts of their own.

use std::io::Read;
use std::path::Path;

use pmm_data::rules::{DateUnit, MemoryRows};
use pmm_data::{DateFormat, DateOrder};

/// Texts that mean nothing.
const MISSING: [&str; 5] = ["", "NA", "NaN", "nan", "?"];

/// Reads a CSV file, gzipped or not. A first line of texts names the columns; a first line with one name less than there are
/// cells leaves the first column without a name.
pub(crate) fn read(path: &Path) -> Result<MemoryRows, Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if path.extension().is_some_and(|ending| ending == "gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes)?;
    } else {
        std::io::BufReader::new(file).read_to_end(&mut bytes)?;
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(bytes.as_slice());
    let records: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>()?;
    let width = records.iter().map(csv::StringRecord::len).max().unwrap_or(0);
    let named = records.first().is_some_and(|record| record.iter().all(|text| text.parse::<f64>().is_err()));
    let mut names: Vec<String> = (0..width).map(|place| format!("c{place}")).collect();
    if named {
        let skipped = width - records[0].len();
        for (place, name) in records[0].iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            names[place + skipped] = name.to_owned();
        }
    }
    let mut rows = MemoryRows::new();
    for (place, name) in names.iter().enumerate() {
        let cell = |record: &csv::StringRecord| {
            let text = record.get(place).unwrap_or("").to_owned();
            (!MISSING.contains(&text.as_str())).then_some(text)
        };
        let texts: Vec<Option<String>> = records.iter().skip(usize::from(named)).map(cell).collect();
        rows = column(rows, name, texts);
    }
    Ok(rows)
}

/// What kind of column the texts make.
fn column(rows: MemoryRows, name: &str, texts: Vec<Option<String>>) -> MemoryRows {
    let number = |text: &String| text.parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(numbers) = all(&texts, number) {
        return rows.numbers(name, numbers);
    }
    for order in [DateOrder::YearMonthDay, DateOrder::MonthDayYear] {
        for (separator, short_year) in [('-', false), ('/', false), ('/', true)] {
            let format = DateFormat {
                order,
                separator: Some(separator),
                padded: false,
                short_year,
                time: None,
                ..DateFormat::ISO
            };
            if let Some(dates) = all(&texts, |text| format.value(text)) {
                return rows.dates(name, DateUnit::Days, dates);
            }
        }
    }
    let mut distinct: Vec<&String> = texts.iter().flatten().collect();
    let present = distinct.len();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() > 20 && 2 * distinct.len() > present {
        rows.texts(name, texts)
    } else {
        rows.levels(name, texts)
    }
}

/// All cells read one way; none if one of them cannot be.
fn all<T>(texts: &[Option<String>], read: impl Fn(&String) -> Option<T>) -> Option<Vec<Option<T>>> {
    let mut cells = Vec::with_capacity(texts.len());
    for text in texts {
        cells.push(match text {
            Some(text) => Some(read(text)?),
            None => None,
        });
    }
    cells.iter().any(Option::is_some).then_some(cells)
}
