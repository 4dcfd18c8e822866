//! Cells in the forms that people write come back as they were, cell for cell, in any dialect.
#![allow(clippy::unwrap_used)]

use arrow_array::cast::AsArray;
use chrono::{DateTime, NaiveDateTime};
use pmm_data::{
    Cell, Cells, Coding, Column, FileFormat, Header, Kind, Overrides, ReadOptions, Schema, Source, Writer,
};
use proptest::prelude::*;

/// A column: its cells as text and, where they are numbers or dates, that it must be modelled as such.
#[derive(Debug, Clone)]
struct Texts {
    cells: Vec<String>,
    /// What the cells are worth; NaN where that is not to be checked.
    values: Vec<f64>,
    typed: bool,
    /// Cells with a decimal comma and no groups: the file is not delimited by commas.
    decimal_comma: bool,
}

/// How a number is written.
#[derive(Debug, Clone, Copy)]
struct Form {
    decimals: u32,
    point: char,
    group: &'static str,
    affixes: (&'static str, &'static str),
    negative: u8,
    plus: bool,
}

const ROWS: usize = 24;

fn write_number(scaled: i64, form: Form) -> String {
    let unit = 10i64.pow(form.decimals);
    let (whole, part) = ((scaled.abs() / unit).to_string(), scaled.abs() % unit);
    let mut digits = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 {
            digits += form.group;
        }
        digits.push(digit);
    }
    if form.decimals > 0 {
        digits += &format!("{}{part:0width$}", form.point, width = form.decimals as usize);
    }
    let (before, after) = form.affixes;
    match (scaled.signum(), form.negative) {
        (-1, 0) => format!("-{before}{digits}{after}"),
        (-1, 1) => format!("({before}{digits}{after})"),
        (-1, 2) => format!("{before}{digits}{after}-"),
        (-1, _) => format!("−{before}{digits}{after}"),
        (1, _) if form.plus => format!("+{before}{digits}{after}"),
        _ => format!("{before}{digits}{after}"),
    }
}

fn forms() -> impl Strategy<Value = Form> {
    let separators = prop::sample::select(vec![
        ('.', ""),
        (',', ""),
        ('.', ","),
        (',', "."),
        ('.', "'"),
        (',', " "),
        (',', "\u{202f}"),
        (',', "\u{a0}"),
    ]);
    let affixes = prop::sample::select(vec![
        ("", ""),
        ("$", ""),
        ("€ ", ""),
        ("US$ ", ""),
        ("", " EUR"),
        ("", "%"),
        ("", " %"),
        ("", " kg"),
        ("", "°C"),
    ]);
    (prop::sample::select(vec![0u32, 1, 2, 4]), separators, affixes, 0u8..4, any::<bool>()).prop_map(
        |(decimals, (point, group), affixes, negative, plus)| Form {
            decimals,
            point,
            group,
            affixes,
            negative,
            plus,
        },
    )
}

fn numbers() -> impl Strategy<Value = Texts> {
    (forms(), prop::collection::vec(-2_000_000i64..2_000_000, ROWS)).prop_map(|(form, mut scaled)| {
        // What shows the form: a group, all digits, no sign, and a sign.
        let unit = 10i64.pow(form.decimals);
        scaled.splice(0..3, [12_345 * unit + 7 % unit, 5 * unit, -3 * unit]);
        let cells = scaled.iter().map(|&scaled| write_number(scaled, form)).collect();
        // Groups of three and no decimals may be read as three decimals, where nothing else shows which.
        let clear = form.decimals > 0 || !matches!(form.group, "," | ".");
        let value = |scaled: &i64| if clear { *scaled as f64 / unit as f64 } else { f64::NAN };
        let decimal_comma = form.point == ',' && form.group != ".";
        Texts { cells, values: scaled.iter().map(value).collect(), typed: true, decimal_comma }
    })
}

fn durations() -> impl Strategy<Value = Texts> {
    (prop::collection::vec(0i64..9_000_000, ROWS), any::<bool>(), any::<bool>()).prop_map(
        |(mut tenths, padded, fraction)| {
            tenths[0] = 900_000; // 25:00:00 is no time of day
            tenths[1] = 36_005;
            let text = |tenths: &i64| {
                let (seconds, width) = (tenths / 10, if padded { 2 } else { 1 });
                let text = format!("{:0width$}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
                if fraction { format!("{text}.{}", tenths % 10) } else { text }
            };
            let value = |tenths: &i64| if fraction { *tenths as f64 / 10.0 } else { (tenths / 10) as f64 };
            let (cells, values) = (tenths.iter().map(text).collect(), tenths.iter().map(value).collect());
            Texts { cells, values, typed: true, decimal_comma: false }
        },
    )
}

/// Dates written by chrono.
fn dates() -> impl Strategy<Value = Texts> {
    let pattern = prop::sample::select(vec![
        "%Y-%m-%d",
        "%d/%m/%Y",
        "%-m/%-d/%y",
        "%d.%m.%Y",
        "%-d %b %Y",
        "%B %-d, %Y",
        "%d-%b-%y",
        "%Y%m%d",
        "%Y-%m",
        "%m/%Y",
        "%b %Y",
        "%G-W%V",
        "%H:%M",
        "%H:%M:%S",
        "%-I:%M %p",
        "%I:%M:%S%P",
        "%Y-%m-%d %H:%M",
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%dT%H:%M:%SZ",
        "%Y-%m-%dT%H:%M:%S%.3f",
        "%Y-%m-%d %H:%M:%S%.6f",
        "%Y-%m-%d %H:%M:%S+05:30",
        "%Y-%m-%dT%H:%M:%S-0300",
        "%-m/%-d/%Y %-I:%M:%S %p",
        "%d %b %Y %H:%M",
    ]);
    (pattern, prop::collection::vec(0i64..2_800_000_000_000, ROWS)).prop_map(|(pattern, millis)| {
        let date = |text: &str| NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap();
        let mut times: Vec<NaiveDateTime> = millis
            .into_iter()
            .map(|millis| DateTime::from_timestamp_millis(millis).unwrap().naive_utc())
            .collect();
        // What shows the order of day and month, padding, and both halves of the day.
        times[0] = date("2019-12-25 15:04:05");
        times[1] = date("2003-01-02 09:30:07");
        times[2] = date("2011-07-31 00:59:59");
        let cells = times.iter().map(|time| time.format(pattern).to_string()).collect();
        Texts { cells, values: vec![f64::NAN; ROWS], typed: true, decimal_comma: false }
    })
}

/// Levels with quotes, delimiters, line ends, blanks at either end, and markers among them.
fn levels() -> impl Strategy<Value = Texts> {
    let level = prop_oneof![
        4 => "[ ]{0,2}[a-h][a-h,;|\t\"'\\\\#=\n é]{0,6}",
        1 => prop::sample::select(vec!["NA".to_owned(), "None".into(), "-".into(), " ?".into(), "n/a".into()]),
    ];
    let place = any::<prop::sample::Index>();
    (prop::collection::vec(level, 2..6), prop::collection::vec(place, ROWS)).prop_map(
        |(mut levels, places)| {
            levels[0] = "some level".into();
            let mut cells: Vec<String> = places.iter().map(|place| place.get(&levels).clone()).collect();
            cells[0] = levels[0].clone();
            Texts { cells, values: vec![f64::NAN; ROWS], typed: false, decimal_comma: false }
        },
    )
}

/// Takes some cells out of a column of numbers or dates; its first three stay.
fn with_gaps(texts: impl Strategy<Value = Texts>) -> impl Strategy<Value = Texts> {
    let gap = prop_oneof![8 => Just(None), 1 => Just(Some("")), 1 => Just(Some("NA"))];
    (texts, prop::collection::vec(gap, ROWS)).prop_map(|(mut texts, gaps)| {
        for (row, gap) in gaps.into_iter().enumerate().skip(3) {
            if let Some(gap) = gap {
                (texts.cells[row], texts.values[row]) = (gap.to_owned(), f64::NAN);
            }
        }
        texts
    })
}

#[derive(Debug, Clone)]
struct Dialect {
    delimiter: char,
    line_end: &'static str,
    all_quoted: bool,
    last_end: bool,
}

fn dialects() -> impl Strategy<Value = Dialect> {
    let delimiter = prop::sample::select(vec![',', ';', '\t', '|']);
    (delimiter, prop::sample::select(vec!["\n", "\r\n"]), any::<bool>(), any::<bool>()).prop_map(
        |(delimiter, line_end, all_quoted, last_end)| Dialect { delimiter, line_end, all_quoted, last_end },
    )
}

/// A file of columns, written by hand.
fn file(columns: &[Texts], dialect: &Dialect) -> String {
    let cell = |text: &str| {
        let special = text.contains([dialect.delimiter, '"', '\n', '\r']) || text.starts_with(' ');
        if special || dialect.all_quoted {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    };
    let line = |cells: Vec<String>| cells.join(&dialect.delimiter.to_string());
    let mut lines = vec![line((0..columns.len()).map(|place| cell(&format!("k{place}"))).collect())];
    lines.extend((0..ROWS).map(|row| line(columns.iter().map(|texts| cell(&texts.cells[row])).collect())));
    lines.join(dialect.line_end) + if dialect.last_end { dialect.line_end } else { "" }
}

fn check(text: &str, columns: &[Texts], dialect: &Dialect) -> Result<(), TestCaseError> {
    let source = Source::from_bytes("t.csv", text.as_bytes().to_vec(), &ReadOptions::default()).unwrap();
    prop_assert_eq!(source.delimiter(), dialect.delimiter);
    prop_assert_eq!(source.names().len(), columns.len());
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    prop_assert_eq!(&Schema::from_json(&schema.to_json().unwrap()).unwrap(), &schema);
    let mut coder = schema.coder(&source).unwrap();
    let rows = source.batches().unwrap().next().unwrap().unwrap();
    prop_assert_eq!(rows.rows(), ROWS);
    let coded = coder.code(&rows).unwrap();
    for ((column, texts), cells) in schema.columns.iter().zip(columns).zip(&coded) {
        for row in 0..ROWS {
            let cell = if column.is_modelled() { cells.get(row) } else { Cell::Missing };
            check_cell(column, texts, row, cell)?;
        }
    }
    check_files(&schema, &coded, dialect.delimiter)
}

/// Cells written to a file by way of typed arrays are the same cells: the same texts, or the same values in Parquet.
fn check_files(schema: &Schema, coded: &[Cells], delimiter: char) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let batch = schema.decoder().unwrap().batch(ROWS, coded, |_, _| 0.5).unwrap();
    for format in [FileFormat::Delimited(delimiter), FileFormat::Parquet] {
        let path = folder.path().join("t");
        let mut writer = Writer::create_as(&path, format, &schema.output()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let options = ReadOptions { delimiter: Some(delimiter), header: Header::Yes };
        let source = Source::open(&path, &options).unwrap();
        let again = source.batches().unwrap().next().unwrap().unwrap();
        let cells = schema.coder(&source).unwrap().code(&again).unwrap();
        prop_assert_eq!(&cells, coded, "{:?} {:?}", format, batch);
        for (place, column) in schema.columns.iter().enumerate().filter(|_| source.is_delimited()) {
            let texts = again.batch.column(place).as_string::<i32>();
            for (row, cell) in coded[place].iter().enumerate() {
                prop_assert_eq!(texts.value(row), column.text(cell, 0.5), "{:?}", column.output());
            }
        }
    }
    Ok(())
}

fn check_cell(column: &Column, texts: &Texts, row: usize, cell: Cell) -> Result<(), TestCaseError> {
    let (text, what) = (&texts.cells[row], format!("{} {}", column.kind.name(), column.reason));
    if texts.typed {
        prop_assert!(matches!(column.coding, Coding::Numbers(_)), "{}: {:?}", what, texts.cells);
    }
    let constant = column.kind == Kind::Constant;
    prop_assert!(column.is_modelled() || constant, "{}: {:?}", what, texts.cells);
    let gap = texts.typed && text == "NA";
    prop_assert_eq!(&column.text(cell, 0.5), if gap { "" } else { text }, "{}: {:?}", what, texts.cells);
    let (worth, value) = (texts.values[row], column.number(cell).unwrap_or(f64::NAN));
    prop_assert!(
        worth.is_nan() || (value - worth).abs() < 1e-9,
        "{}: {:?} is {} not {}",
        what,
        text,
        value,
        worth
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn cells_come_back(
        first in with_gaps(prop_oneof![2 => numbers(), 1 => durations(), 2 => dates()]),
        more in prop::collection::vec(
            prop_oneof![
                with_gaps(numbers()).boxed(),
                with_gaps(durations()).boxed(),
                with_gaps(dates()).boxed(),
                levels().boxed(),
            ],
            1..5,
        ),
        mut dialect in dialects(),
    ) {
        let columns: Vec<Texts> = std::iter::once(first).chain(more).collect();
        if dialect.delimiter == ',' && columns.iter().any(|texts| texts.decimal_comma) {
            dialect.delimiter = ';';
        }
        check(&file(&columns, &dialect), &columns, &dialect)?;
    }
}

/// Whatever is read, no step panics, and a cell that was written is read as the same code and value.
fn use_all(text: &str) -> Result<(), TestCaseError> {
    let Ok(source) = Source::from_bytes("t.csv", text.as_bytes().to_vec(), &ReadOptions::default()) else {
        return Ok(());
    };
    let Ok(schema) = Schema::infer(&source, &Overrides::default()) else { return Ok(()) };
    prop_assert_eq!(&Schema::from_json(&schema.to_json().unwrap()).unwrap(), &schema);
    let mut coder = schema.coder(&source).unwrap();
    for rows in source.batches().unwrap() {
        let rows = rows.unwrap();
        let coded = coder.code(&rows).unwrap();
        for ((column, cells), array) in schema.columns.iter().zip(&coded).zip(rows.batch.columns()) {
            let texts = array.as_string::<i32>();
            for (row, cell) in cells.iter().enumerate() {
                use_cell(column, cell, texts.value(row))?;
            }
            column.decoder().unwrap().array(rows.rows(), cells, |_| 0.5).unwrap();
        }
    }
    Ok(())
}

fn use_cell(column: &Column, cell: Cell, text: &str) -> Result<(), TestCaseError> {
    let written = column.text(cell, 0.5);
    let again = column.parse(&written);
    prop_assert_eq!(again.as_ref().ok(), Some(&cell), "{}: {:?} {:?}", column.reason, text, written);
    if let Coding::Levels(_) = column.coding {
        prop_assert!(written == *text || text.trim().is_empty(), "{:?} {:?}", text, written);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn any_odd_text(
        text in "((-|−|[+])?[$€(]?[0-9]{1,3}([.,' ][0-9]{3}){0,2}([.,][0-9]{1,3})?[)%-]?( kg| EUR|e5)?|[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,3})?)?( PM|am|Z|[+]02)?|[0-9]{1,2}[ -](Mar|May|June)[ -](20)?[0-9]{2}|(20[0-2][0-9][-/.]?[01][0-9][-/.]?[0-3][0-9])|20[0-2][0-9]-[01][0-9]| ?NA|#|sep=;|[a-c]|[\n,;\t\"\\\\ ]){0,60}",
    ) {
        use_all(&text)?;
    }

    /// One column in which every cell has one of few shapes, so that forms are found often.
    #[test]
    fn columns_of_few_shapes(
        cells in prop::collection::vec("[$]?[1-9][0-9]{0,2}([.,][0-9]{3}){0,2}|[(]?[0-9]{1,4}[,.][0-9]{2}[)]?|[0-9]{1,2}:[0-5][0-9]:[0-5][0-9]|1?[0-9]/1?[0-9]/(20)?1[0-9]|[1-9][0-9]?%", 1..4),
        order in prop::collection::vec(any::<prop::sample::Index>(), 3..30),
        delimiter in prop::sample::select(vec![',', ';', '\t']),
    ) {
        let row = |place: &prop::sample::Index| format!("\"{}\"{delimiter}1\n", place.get(&cells));
        let text = order.iter().fold(format!("x{delimiter}y\n"), |text, place| text + &row(place));
        use_all(&text)?;
    }
}

/// More distinct numbers than texts are kept: the form is found on the way, and a sample of values stays.
#[test]
fn very_many_dressed_numbers() {
    let form = Form { decimals: 2, point: '.', group: ",", affixes: ("$", ""), negative: 1, plus: false };
    let cell = |i: i64| write_number((i * 7_919) % 100_000_007 - 20_000_000, form);
    let text =
        (0..120_000).fold("price\tk\n".to_owned(), |text, i| text + &format!("{}\t{}\n", cell(i), i % 3));
    let source = Source::from_bytes("t.csv", text.into_bytes(), &ReadOptions::default()).unwrap();
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    let column = &schema.columns[0];
    assert_eq!(column.kind, Kind::Real, "{}", column.reason);
    for i in (0..120_000).step_by(997) {
        let parsed = column.parse(&cell(i)).unwrap();
        assert_eq!(column.text(parsed, 0.5), cell(i));
    }
}

/// What a model makes up is written in the column's form and on its grid.
#[test]
fn unseen_values_stay_on_the_grid() {
    let text = "a;b;c;d;e\n371,0;$1,234.50;12,5 %;1:30:00;2020-01\n12,0;$7.20;3,0 %;0:45:00;2020-02\n80,0;$80.30;7,5 %;2:00:00;2020-07\n";
    let source = Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    let text = |place: usize, value: f64| schema.columns[place].text(Cell::Value(value), 0.5);
    assert_eq!(text(0, 180.4), "180,0");
    assert_eq!(text(1, 1021.377), "$1,021.40");
    assert_eq!(text(2, 6.04), "6,0 %");
    assert_eq!(text(3, 3661.7), "1:01:02");
    assert_eq!(text(4, 18_282.0), "2020-02");
}
