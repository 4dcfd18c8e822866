//! Odd files: what the user sees of each. None panics, none hangs, memory stays bounded.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use pmm_core::Streams;
use pmm_data::{
    Cell, CellError, Cells, Coding, Header, Kind, Overrides, PairKind, Place, ReadError, ReadOptions, Schema,
    Source, Table,
};

fn source(text: &str) -> Source {
    Source::from_bytes("t.csv", text.as_bytes().to_vec(), &ReadOptions::default()).unwrap()
}

fn infer(text: &str) -> Schema {
    Schema::infer(&source(text), &Overrides::default()).unwrap()
}

fn refused(bytes: &[u8]) -> ReadError {
    match Source::from_bytes("t.csv", bytes.to_vec(), &ReadOptions::default()) {
        Err(error) => error,
        Ok(source) => Schema::infer(&source, &Overrides::default()).unwrap_err(),
    }
}

fn kinds(schema: &Schema) -> Vec<Kind> {
    schema.columns.iter().map(|column| column.kind).collect()
}

/// One column from its cells.
fn column(cells: impl IntoIterator<Item = String>) -> pmm_data::Column {
    let text = cells.into_iter().fold("x,y\n".to_owned(), |text, cell| text + &cell + ",1\n");
    infer(&text).columns.swap_remove(0)
}

#[test]
fn five_lines() {
    let schema = infer(
        "name,age,city,score,when\nAnn,31,Rome,1.5,2020-01-01\nBob,44,Oslo,2.25,2020-01-02\nCyd,31,Rome,0.5,2020-02-01\nDan,29,Oslo,1.75,2020-03-01\n",
    );
    let expected = [Kind::Category, Kind::Count, Kind::Category, Kind::Real, Kind::DateTime];
    assert_eq!(kinds(&schema), expected);
    assert_eq!(schema.rows, 4);
}

#[test]
fn one_row_is_all_constants() {
    let schema = infer("a,b\n1,x\n");
    assert_eq!(kinds(&schema), [Kind::Constant, Kind::Constant]);
    assert!(schema.columns.iter().all(|column| !column.is_modelled() && column.pair == PairKind::None));
}

#[test]
fn one_column() {
    let schema = infer("x\n1.5\n2.5\nNA\n4.25\n");
    assert_eq!((kinds(&schema), schema.columns[0].missing), (vec![Kind::Real], 1));
}

#[test]
fn all_missing() {
    let schema = infer("a,b\nNA,1.5\n,2.5\n?,3.25\n");
    assert_eq!(kinds(&schema), [Kind::Constant, Kind::Real]);
    assert_eq!(schema.columns[0].coding, Coding::Constant { text: String::new() });
    assert_eq!(schema.columns[0].missing, 3);
    assert!(schema.columns[0].reason.contains("every cell is missing"));
}

#[test]
fn empty_and_header_only() {
    assert!(matches!(refused(b""), ReadError::Empty { .. }));
    assert!(matches!(refused(b"\n\n"), ReadError::Empty { .. }));
    assert_eq!(refused(b"a,b\n").to_string(), "t.csv has a header and no rows");
    assert!(matches!(Source::open("/nowhere/t.csv", &ReadOptions::default()), Err(ReadError::Io { .. })));
}

#[test]
fn ragged_lines_are_named() {
    let error = refused(b"a,b\n1,2\n\n3,4,5\n");
    assert_eq!(error.to_string(), "t.csv, line 4: expected 2 fields, found 3");
    assert!(error.hint().unwrap().contains("quotes"));
    let error = refused(b"a,b\r\n\"1\r\n2\",2\r\n3\r\n");
    assert_eq!(error.to_string(), "t.csv, line 4: expected 2 fields, found 1");
}

#[test]
fn open_quotes_are_named() {
    let error = refused(b"a,b\n1,2\n3,\"4\n5,6\n");
    assert!(matches!(error, ReadError::OpenQuote { line: 3, .. }), "{error}");
    assert!(matches!(refused(b"a,\"b\n1,2\n"), ReadError::OpenQuote { line: 1, .. }));
    // In a large file the rest is not collected until memory ends.
    let mut large = b"a,b\n1,2\n3,\"".to_vec();
    large.resize(80 << 20, b'x');
    assert!(matches!(refused(&large), ReadError::OpenQuote { line: 3, .. }));
    assert_eq!(infer("a,b\n1,5\" pipe\n2,x\n").rows, 2, "a quote inside a field is text");
    assert_eq!(infer("a,b\n1,\"x\"\n2,\"y\"").rows, 2, "no line end at the end");
}

#[test]
fn other_encodings_are_named() {
    let error = refused(b"a,town\n1,Paris\n2,K\xf6ln\n");
    assert_eq!(error.to_string(), "t.csv, line 3, column town: bytes F6 are not UTF-8");
    assert_eq!(error.hint().unwrap(), "convert the file: iconv -f latin1 -t utf-8 t.csv > utf8.csv");
    let error = refused(b"\xff\xfea\0,\0b\0\n\0");
    assert!(error.hint().unwrap().contains("utf-16"));
}

#[test]
fn infinities_are_refused_unless_set() {
    let text = "x,y\n1.5,1\ninf,2\n2.5,3\n3.5,4\n";
    let error = refused(text.as_bytes());
    assert_eq!(error.to_string(), "t.csv, line 3, column x: inf is not a finite number");
    assert!(error.hint().unwrap().contains("set columns.x.specials to inf"));
    let mut overrides = Overrides::default();
    overrides.set("columns.x.specials", "inf").unwrap();
    let schema = Schema::infer(&source(text), &overrides).unwrap();
    assert_eq!(schema.columns[0].parse("inf").unwrap(), Cell::Special(0));
    assert_eq!(schema.columns[0].text(Cell::Special(0), 0.5), "inf");
    for (key, value) in [("columns.x.pair", "none"), ("columns.x.kind", "category")] {
        let mut overrides = Overrides::default();
        overrides.set(key, value).unwrap();
        assert!(
            Schema::infer(&source(text), &overrides).is_ok(),
            "an infinity is no trouble outside numbers"
        );
    }
    let mut overrides = Overrides::default();
    overrides.set("missing", "inf").unwrap();
    assert_eq!(Schema::infer(&source(text), &overrides).unwrap().columns[0].missing, 1);
    assert_eq!(infer("x,y\n1.5,1\nNaN,2\n2.5,3\n").columns[0].missing, 1);
}

#[test]
fn mixed_types() {
    // A few texts among numbers are special values …
    let cells = (0..200).map(|i| if i % 100 == 7 { "<5".into() } else { format!("{}.5", i * 7) });
    let few = column(cells);
    assert_eq!((few.kind, few.n_codes()), (Kind::Real, 2));
    assert!(few.reason.contains("1.0 % <5 → gate"), "{}", few.reason);
    assert_eq!(few.text(few.parse("<5").unwrap(), 0.0), "<5");
    // … many make a category.
    let many = column((0..200).map(|i| if i % 2 == 0 { "unknown".into() } else { format!("{}", i % 5) }));
    assert_eq!(many.kind, Kind::Category);
    assert!(many.reason.contains("50 % of the cells are numbers"), "{}", many.reason);
}

#[test]
fn codes_stay_text() {
    let zips = column((0..100).map(|i| format!("{:05}", 500 + i % 40 * 331)));
    assert_eq!(zips.kind, Kind::Category);
    assert!(zips.reason.contains("leading zeros"), "{}", zips.reason);
    assert_eq!(zips.text(zips.parse("00500").unwrap(), 0.5), "00500");
    let long = column((0..100u64).map(|i| format!("{}", 9_007_199_254_740_993 + i % 7)));
    assert_eq!(long.kind, Kind::Category);
    assert!(long.reason.contains("2^53"), "{}", long.reason);
}

#[test]
fn gates() {
    let mut stream = Streams::new(3).stream(pmm_core::Purpose::custom(9), 0, 0);
    let rain = column((0..2_000).map(|i| match i % 50 {
        0..45 => "0".into(),
        45 => "99999".into(),
        _ => format!("{:.3}", 20.0 * stream.exponential()),
    }));
    assert!(rain.reason.contains("90 % 0, 2.0 % 99999 → gate"), "{}", rain.reason);
    assert_eq!(rain.n_codes(), 3);
    assert_eq!(rain.parse("0").unwrap(), Cell::Special(0));
    assert_eq!(rain.parse("0.000").unwrap(), Cell::Special(0));
    assert_eq!(rain.text(Cell::Special(1), 0.5), "99999");
    assert_eq!((rain.number(Cell::Special(1)), rain.number(Cell::Missing)), (Some(99_999.0), None));
    let visits =
        column((0..2_000).map(|i| if i % 40 == 0 { "-999".into() } else { format!("{}", i * 7 % 300) }));
    assert_eq!((visits.kind, visits.n_codes()), (Kind::Count, 2), "{}", visits.reason);
    let cell = rain.parse("12.5").unwrap();
    assert_eq!((cell, rain.text(cell, 0.5).as_str()), (Cell::Value(12.5), "12.5"));
}

#[test]
fn kinds_with_their_reasons() {
    let yes_no = column((0..40).map(|i| if i % 3 == 0 { "Yes".into() } else { "No".into() }));
    assert_eq!((yes_no.kind, yes_no.pair), (Kind::YesNo, PairKind::Categorical));
    let identifiers = column((0..40).map(|i| format!("u-{:x}", i * 7919 + 13)));
    assert_eq!((identifiers.kind, identifiers.pair), (Kind::Identifier, PairKind::None));
    assert_eq!(column((0..40).map(|i| (i + 1).to_string())).kind, Kind::Identifier, "row numbers");
    assert_eq!(column((0..40).map(|i| (1990 + i).to_string())).kind, Kind::Count, "years");
    let text = column((0..40).map(|i| format!("This is sentence number {i} of a longer story.")));
    assert_eq!(text.kind, Kind::Text);
    assert_eq!(column((0..40).map(|i| format!("{}", i - 20))).kind, Kind::Real, "negative integers");
    let tail = column((0..400).map(|i| format!("{:.2}", (f64::from(i) / 40.0).exp())));
    assert_eq!((tail.kind, tail.pair), (Kind::Positive, PairKind::Gamma));
    let dates = column((0..40).map(|i| format!("2020-01-{:02}T10:00:00Z", 1 + i % 30)));
    assert_eq!((dates.kind, dates.pair), (Kind::DateTime, PairKind::Normal));
    assert_eq!(dates.text(dates.parse("2020-01-09T10:00:00Z").unwrap(), 0.5), "2020-01-09T10:00:00Z");
    for column in [yes_no, identifiers, text, tail, dates] {
        assert!(!column.reason.is_empty() && column.reason.len() < 120, "{}", column.reason);
    }
}

#[test]
fn ten_thousand_categories() {
    let schema = infer(
        &(0..30_000).fold("c,x\n".to_owned(), |text, i| text + &format!("k{},{}\n", i % 10_000, i % 7)),
    );
    let column = &schema.columns[0];
    assert_eq!((column.kind, column.n_codes()), (Kind::Category, 1024));
    assert!(column.reason.contains("10,000 levels, the rarest share 64 codes"), "{}", column.reason);
    let cell = column.parse("k9999").unwrap();
    assert!(column.text(cell, 0.7).starts_with('k'));
    assert_eq!(column.text(cell, column.tie("k9999")), "k9999", "a given level is that level");
    assert_eq!(Schema::from_json(&schema.to_json().unwrap()).unwrap(), schema);
}

#[test]
fn five_hundred_columns() {
    let names: Vec<String> = (0..500).map(|i| format!("v{i}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..60 {
        let cells: Vec<String> =
            (0..500).map(|i| format!("{}.{}", (row * 31 + i * 17) % 101, row % 10)).collect();
        text += &(cells.join(",") + "\n");
    }
    let schema = infer(&text);
    assert_eq!(schema.columns.len(), 500);
    let (table, _) = Table::read(&source(&text), &schema, 500 * 20, &Streams::new(0)).unwrap();
    assert_eq!(table.rows, 20);
}

/// Two passes over a million rows of numbers, dates, categories and unique texts; the sample keeps the order of the file.
#[test]
fn one_million_rows() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    {
        let mut out = std::io::BufWriter::new(file.as_file_mut());
        writeln!(out, "row,real,count,level,token").unwrap();
        for i in 0..1_000_000u64 {
            let x = (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / 9e15;
            writeln!(out, "{i},{x},{},L{},t{x}", i % 50, i % 9).unwrap();
        }
    }
    let source = Source::open(file.path(), &ReadOptions::default()).unwrap();
    let schema = Schema::infer(&source, &Overrides::default()).unwrap();
    assert_eq!(kinds(&schema), [Kind::Identifier, Kind::Real, Kind::Count, Kind::Category, Kind::Text]);
    let Coding::Numbers(real) = &schema.columns[1].coding else { panic!() };
    assert!(!real.snap && real.grid.len() <= 4_096);
    assert!((real.grid.value(0.0, false) - 0.5 * 9.007e15 / 9e15).abs() < 0.02, "the median");
    let (table, notes) = Table::read(&source, &schema, 30_000, &Streams::new(0)).unwrap();
    assert_eq!((notes.rows_seen, notes.rows_kept, table.rows), (1_000_000, 10_000, 10_000));
    assert!(table.origin.is_sorted());
    assert!(notes.messages()[0].contains("10000 of 1000000 rows"));
    // Value 3 of a sample row is what stands in its line.
    let row = 1234;
    assert_eq!(table.columns[2].get(row), Cell::Value((table.origin[row] % 50) as f64));
    let (again, _) = Table::read(&source, &schema, 30_000, &Streams::new(0)).unwrap();
    assert_eq!(again.origin, table.origin);
}

#[test]
fn names_match_in_any_order() {
    let schema = infer("a,b,c\n1.5,x,7\n2.5,y,9\n3.5,x,11\n");
    let other = source("c,extra,b\n9,0,y\n8,0,z\n");
    let (table, notes) = Table::read(&other, &schema, usize::MAX, &Streams::new(0)).unwrap();
    assert_eq!(
        (notes.extra.as_slice(), notes.absent.as_slice()),
        (&["extra".to_owned()][..], &["a".to_owned()][..])
    );
    assert_eq!((notes.unseen[0].count, notes.unseen[0].examples.as_slice()), (1, &["z".to_owned()][..]));
    assert!(table.columns[0].is_empty(), "an absent column is unknown, not missing");
    let cells = |cells: &Cells| cells.iter().collect::<Vec<_>>();
    assert_eq!(cells(&table.columns[1]), [Cell::Level(1), Cell::Unseen]);
    assert_eq!(cells(&table.columns[2]), [Cell::Value(9.0), Cell::Value(8.0)]);
    assert_eq!(notes.messages().len(), 3);
}

#[test]
fn other_files_that_do_not_fit() {
    let schema = infer("a,b\n1.5,x\n2.5,y\n3.5,x\n");
    let other = source("a,b\n1,x\n\n\"1,5\",y\n");
    let mut coder = schema.coder(&other).unwrap();
    let error = coder.code(&other.batches().unwrap().next().unwrap().unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "t.csv, line 4, column a: \"1,5\" is not a number");
    assert_eq!(error.hint().unwrap(), "its values lie between 1.5 and 3.5");
    assert!(matches!(schema.coder(&source("p,q\n1,2\n")), Err(ReadError::NoCommonColumn { .. })));
    let bare = ReadOptions { header: Header::No, delimiter: None };
    let narrow = Source::from_bytes("t.csv", b"1\n2\n".to_vec(), &bare).unwrap();
    assert!(matches!(schema.coder(&narrow), Err(ReadError::ColumnCount { expected: 2, found: 1, .. })));
}

#[test]
fn without_header_columns_match_by_place() {
    let text = "1,x\n2,y\n3,x\n5,y\n";
    let schema = infer(text);
    assert!(!schema.header && schema.columns[1].name == "c2");
    let other = Source::from_bytes("t.csv", b"y,4\n".to_vec(), &ReadOptions::like(&schema)).unwrap();
    assert!(matches!(
        Table::read(&other, &schema, 100, &Streams::new(0)),
        Err(ReadError::Cell { place: Place::Line(1), column, .. }) if column == "c1"
    ));
    // As `pmm sample` writes them.
    let made = Source::from_bytes("t.csv", b"c1,c2\n5,y\n".to_vec(), &ReadOptions::like(&schema)).unwrap();
    let (table, _) = Table::read(&made, &schema, 100, &Streams::new(0)).unwrap();
    assert_eq!((table.rows, made.header()), (1, true));
}

#[test]
fn settings_change_the_schema() {
    let text = (0..100).fold("x,g\n".to_owned(), |text, i| text + &format!("{},{}\n", i % 7, i % 3));
    let with = |key: &str, value: &str| {
        let mut overrides = Overrides::default();
        overrides.set(key, value).unwrap();
        Schema::infer(&source(&text), &overrides)
    };
    assert_eq!(infer(&text).columns[0].pair, PairKind::Poisson);
    let normal = with("columns.x.pair", "normal").unwrap();
    assert_eq!((normal.columns[0].kind, normal.columns[0].pair), (Kind::Count, PairKind::Normal));
    let category = with("columns.x.kind", "category").unwrap();
    assert_eq!((category.columns[0].pair, category.columns[0].n_codes()), (PairKind::Categorical, 7));
    assert!(category.columns[0].reason.contains("as set"));
    let out = with("columns.x.pair", "none").unwrap();
    assert_eq!(out.columns[0].coding, Coding::Out);
    assert_eq!(with("columns.x.specials", "6").unwrap().columns[0].n_codes(), 2);
    let error = with("columns.x.pair", "gamma").unwrap_err();
    assert_eq!(error.to_string(), "column \"x\" cannot be gamma: it has values that are not positive");
    assert!(with("columns.x.specials", "77").is_err());
    assert!(with("columns.z.pair", "gamma").unwrap_err().hint().unwrap().contains("x, g"));
    // Editing one word of the schema is enough; the rest is made anew.
    let edited = infer(&text).to_json().unwrap().replacen("\"poisson\"", "\"categorical\"", 1);
    assert!(Schema::from_json(&edited).is_err(), "kind, pair and coding disagree");
    let schema = Schema::infer(&source(&text), &Overrides::from_json(&edited).unwrap()).unwrap();
    assert_eq!(schema.columns[0].kind, Kind::Category);
    let unchanged = Overrides::from_schema(&infer(&text));
    assert_eq!(Schema::infer(&source(&text), &unchanged).unwrap(), infer(&text));
}

/// A given cell is what comes out, or it is refused with the nearest that could.
#[test]
fn given_cells_are_kept_or_refused() {
    let classes = column((0..60).map(|i| (1 + i % 3).to_string()));
    assert_eq!(classes.parse("2").unwrap(), Cell::Value(2.0));
    let error = classes.parse("1.5").unwrap_err();
    assert_eq!(error.to_string(), "\"1.5\" is not among the values that it can have; the nearest is 2");
    assert!(matches!(classes.parse("1e30"), Err(CellError::OffGrid { .. })), "too large for its type");
    let floats = column((0..60).map(|i| format!("{}.0", 371 + i * i)));
    assert_eq!(floats.text(Cell::Value(180.4), 0.5), "180.0", "integers, though written with a point");
    let money = column((0..60).map(|i| format!("{i}.{:02}", i * 7 % 100)));
    assert!(money.parse("1.005").is_err() && money.parse("1.05").is_ok() && money.parse("999.99").is_ok());
    let days = column((0..60).map(|i| format!("2020-01-{:02}", 1 + i % 31)));
    assert_eq!(days.parse("2012-02-29").unwrap(), Cell::Value(15_399.0), "a date never seen is that date");
}

/// Blanks around a level belong to it, also where a marker is one; around numbers, dates and listed markers they do not.
#[test]
fn blanks_belong_to_levels() {
    let text = (0..60).fold("a,b,c\n".to_owned(), |text, i| {
        text + ["C1 ", "C1", " D"][i % 3]
            + ","
            + [" 1", "2 ", " 3 "][i % 3]
            + ["0", "5"][i % 2]
            + ","
            + [" NA", "x"][i % 2]
            + "\n"
    });
    let text = text.replace("2 0", "20 ").replace("2 5", "25 ").replace("3 0", "30 ").replace("3 5", "35 ");
    let schema = infer(&text);
    assert_eq!(kinds(&schema), [Kind::Category, Kind::Count, Kind::Category]);
    let Coding::Levels(levels) = &schema.columns[0].coding else { panic!() };
    assert_eq!(levels.levels().len(), 3);
    assert_eq!(schema.columns[0].text(schema.columns[0].parse("C1 ").unwrap(), 0.5), "C1 ");
    assert_eq!(schema.columns[0].text(schema.columns[0].parse("D").unwrap(), 0.5), " D");
    assert_eq!((schema.columns[2].missing, schema.columns[2].markers.cells()), (0, 30));
    assert_eq!(schema.columns[2].text(schema.columns[2].parse(" NA").unwrap(), 0.5), " NA");
    let source = Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
    let listed = Overrides { missing: Some(vec!["NA".into()]), ..Overrides::default() };
    assert_eq!(Schema::infer(&source, &listed).unwrap().columns[2].missing, 30);
}

/// Which cells were taken as missing is said, by column and by marker: in the schema and when a file is read.
#[test]
fn markers_are_told() {
    let text = (0..60).fold("age,job,day\n".to_owned(), |text, i| {
        let age = if i % 10 == 3 { "NA".to_owned() } else { (i * 7 % 50).to_string() };
        let day = if i == 5 { "-".to_owned() } else { format!("2020-01-{:02}", 1 + i % 28) };
        text + &format!("{age},{},{day}\n", ["cook", "smith", "?"][i % 3])
    });
    let source = Source::from_bytes("t.csv", text.into(), &ReadOptions::default()).unwrap();
    let messages = |overrides: &Overrides| {
        let schema = Schema::infer(&source, overrides).unwrap();
        let (_, notes) = Table::read(&source, &schema, usize::MAX, &Streams::new(0)).unwrap();
        let reasons: Vec<String> = schema.columns.into_iter().map(|column| column.reason).collect();
        (reasons, notes.messages())
    };
    let (reasons, notes) = messages(&Overrides::default());
    assert!(reasons[0].ends_with("10 % missing; NA (6 cells) is missing"), "{reasons:?}");
    assert!(reasons[1].ends_with("? (20 cells) is a level"), "{reasons:?}");
    assert_eq!(
        notes,
        [
            "taken as missing: age: NA (6 cells); day: - (1 cell)",
            "taken as levels of their columns, not as missing: job: ? (20 cells)"
        ]
    );
    let listed = ["?", "NA", "-"].map(str::to_owned).to_vec();
    let (reasons, notes) = messages(&Overrides { missing: Some(listed), ..Overrides::default() });
    assert!(reasons[1].ends_with("33 % missing; ? (20 cells) is missing"), "{reasons:?}");
    assert_eq!(notes, ["taken as missing: age: NA (6 cells); job: ? (20 cells); day: - (1 cell)"]);
}

#[test]
fn foreign_formats_are_named() {
    let error = refused(b"PK\x03\x04rest");
    assert_eq!(error.to_string(), "t.csv is a zip archive, which is not read");
    assert!(matches!(refused(b"PAR1 this is no parquet"), ReadError::Columnar { .. }));
    assert!(matches!(refused(b"ARROW1 this is no arrow"), ReadError::Columnar { .. }));
    assert!(matches!(refused(b"\x1f\x8b\x08garbage"), ReadError::Io { .. }));
}

#[test]
fn damaged_schemas_are_refused() {
    let json = infer("a,b\n1.5,x\n2.5,y\n3.5,x\n").to_json().unwrap();
    assert!(Schema::from_json(&json).is_ok());
    for (from, to, why) in [
        ("\"version\": 3", "\"version\": 9", "version 9"),
        ("\"version\": 3", "\"version\": 2", "version 2"),
        ("\"arrow\": null", "\"arrow\": \"int7\"", "int7"),
        ("\"rows\": 3", "\"rows\": 3, \"colour\": 1", "colour"),
        ("\"b\"", "\"a\"", "twice"),
        ("\"normal\"", "\"categorical\"", "not coded as numbers"),
        ("[1.5,2.5,3.5]", "[1.5,3.5,2.5]", "increase"),
        ("[1.5,2.5,3.5]", "[1.5,2.5]", "counts"),
        ("\"y\"", "\"x\"", "twice"),
        ("\"missing\": 0", "\"missing\": 99", "more cells are missing"),
    ] {
        assert!(json.contains(from), "{from}: {json}");
        let error = Schema::from_json(&json.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(Schema::from_json("").is_err() && Schema::from_json(&json[..json.len() / 2]).is_err());
}
