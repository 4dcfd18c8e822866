//! Rules that are kept, on small tables.

use super::super::rows::{ColumnKind, DateUnit};
use super::super::value::{Condition, State, Value};
use super::*;

const GAP: Cell<'static> = Cell::Missing;

fn number(name: &str) -> Column {
    Column::new(name, ColumnKind::Number { decimals: Some(2) })
}

fn levels(name: &str, texts: &[&str]) -> Column {
    Column::new(name, ColumnKind::Levels { texts: texts.iter().map(|text| (*text).to_owned()).collect() })
}

fn keeper(columns: &[Column], rule: &Rule, derived: Option<usize>) -> Keeper {
    let spans = vec![(0.0, 1e9); columns.len()];
    Keeper::new(columns, [Kept { rule, share: 1.0, derived }], spans).unwrap()
}

/// Cells after settling; what is `None` is not known at first.
fn settled(keeper: &Keeper, row: &[Option<Cell<'static>>]) -> Vec<Option<Cell<'static>>> {
    let mut cells: Vec<Cell<'static>> = row.iter().map(|cell| cell.unwrap_or(GAP)).collect();
    let mut known: Vec<bool> = row.iter().map(Option::is_some).collect();
    keeper.settle(&mut cells, &mut known, keeper.active());
    cells.into_iter().zip(known).map(|(cell, known)| known.then_some(cell)).collect()
}

fn open<'k>(keeper: &'k Keeper, row: &[Option<Cell<'static>>], column: usize) -> Allowed<'k> {
    let cells: Vec<Cell<'static>> = row.iter().map(|cell| cell.unwrap_or(GAP)).collect();
    let known: Vec<bool> = row.iter().map(Option::is_some).collect();
    keeper.allowed(&cells, &known, column, keeper.active(), keeper.spans())
}

/// A total with a surcharge: whichever cell is last follows from the others and the surcharge.
#[test]
fn a_sum_with_a_choice_of_constants() {
    let columns = [number("fare"), number("tip"), number("total"), levels("rest", &["0", "0.5", "other"])];
    let rule = Rule::parse("total = fare + tip", &columns[..3]).unwrap();
    let Rule::Sum { output, terms, within, .. } = rule else { panic!("a sum") };
    let rule = Rule::Sum { output, terms, constants: vec![0.0, 0.5], within };
    let keeper = keeper(&columns, &rule, Some(3));
    let n = |x: f64| Some(Cell::Number(x));
    let level = |code: u32| Some(Cell::Level(code));
    assert_eq!(settled(&keeper, &[n(3.0), n(1.1), n(4.6), None])[3], level(1));
    assert_eq!(settled(&keeper, &[n(3.0), n(1.1), n(9.0), None])[3], level(2));
    assert_eq!(settled(&keeper, &[n(3.0), None, n(4.6), level(1)])[1], n(1.1));
    assert_eq!(settled(&keeper, &[None, n(1.1), n(4.1), level(0)])[0], n(3.0));
    assert_eq!(settled(&keeper, &[n(3.0), Some(GAP), None, None])[3], Some(GAP));
    // Neither constant: not what they would give.
    let rest = open(&keeper, &[n(3.0), n(1.1), None, level(2)], 2);
    assert!(!rest.admits(Cell::Number(4.6)) && rest.admits(Cell::Number(5.0)) && !rest.admits(GAP));
    // The key comes before the last of the others, and after all but one of them.
    assert_eq!(keeper.instead(&[true, true, false, false], 2, true), 3);
    assert_eq!(keeper.instead(&[true, false, false, false], 3, true), 1);
    assert!(!keeper.is_asked(&[true, true, false, false], 2) && keeper.is_asked(&[true; 4], 3));
    // A row to learn from is told of the key when drawing would come to it, and then of what follows.
    let learned = |code: u32, mut known: [bool; 4]| {
        let mut cells = [Cell::Number(3.0), Cell::Number(1.1), Cell::Number(4.6), Cell::Level(code)];
        keeper.settle_learned(&mut cells, &mut known);
        known
    };
    assert_eq!(learned(1, [true, true, false, false]), [true, true, false, false]);
    assert_eq!(learned(1, [true, true, false, true]), [true; 4]);
    assert_eq!(learned(2, [true, true, false, true]), [true, true, false, true]);
    assert_eq!(learned(1, [true, false, false, true]), [true, false, false, false]);
    assert_eq!(learned(1, [true, true, true, false]), [true; 4]);
    // Drawing goes through fare, tip and the key; the total follows, or is drawn last where the key leaves it open.
    let row = |code: u32, total: f64| {
        [Cell::Number(3.0), Cell::Number(1.1), Cell::Number(total), Cell::Level(code)]
    };
    let drawn = |share: f64| keeper.drawn(&mut row(1, 4.6), share).0;
    assert_eq!(drawn(0.0), [false; 4]);
    assert_eq!(drawn(0.5), [true, false, false, false]);
    assert_eq!(drawn(0.99), [true, true, false, false]);
    assert_eq!(keeper.next(&drawn(0.99)), Some(3));
    // The way goes on to the last draw, also where derived columns make it longer than the row.
    assert_eq!(keeper.drawn(&mut row(1, 4.6), 0.5).1, 0.75);
    assert_eq!(keeper.drawn(&mut row(2, 9.0), 0.99), (vec![true, true, false, true], 1.0));
    let asked = |code: u32, total: f64| keeper.way(&mut row(code, total)).asked;
    assert_eq!(asked(1, 4.6), [(0, 0), (1, 1), (2, 3)]);
    assert_eq!(asked(2, 9.0), [(0, 0), (1, 1), (2, 3), (3, 2)]);
    assert_eq!(keeper.way(&mut row(1, 4.6)).revealed, [0, 1, 3, 2]);
    assert_eq!(keeper.before(&mut row(1, 4.6), 3), Some(vec![true, true, false, false]));
    assert_eq!(keeper.before(&mut row(1, 4.6), 2), None);
    assert_eq!(keeper.before(&mut row(2, 9.0), 2), Some(vec![true, true, false, true]));
}

#[test]
fn a_difference_of_dates() {
    let date = |name: &str| Column::new(name, ColumnKind::Date { unit: DateUnit::Days });
    let columns = [date("from"), date("to"), number("to - from")];
    let rule = Rule::Order { low: "from".into(), high: "to".into(), strict: false };
    let keeper = keeper(&columns, &rule, Some(2));
    let n = |x: f64| Some(Cell::Number(x));
    assert_eq!(settled(&keeper, &[n(100.0), n(103.0), None])[2], n(3.0));
    assert_eq!(settled(&keeper, &[n(100.0), None, n(3.0)])[1], n(103.0));
    assert_eq!(settled(&keeper, &[None, n(103.0), n(3.0)])[0], n(100.0));
    assert_eq!(settled(&keeper, &[n(100.0), Some(GAP), None])[2], Some(GAP));
    assert_eq!(keeper.instead(&[true, false, false], 1, true), 2);
}

#[test]
fn equal_in_some_rows() {
    let columns = [number("bill"), number("paid"), levels("paid = bill", &["no", "yes"])];
    let rule = Rule::Equal { left: "paid".into(), right: "bill".into(), nonzero: true };
    let keeper = keeper(&columns, &rule, Some(2));
    let n = |x: f64| Some(Cell::Number(x));
    assert_eq!(settled(&keeper, &[n(5.0), n(5.0), None])[2], Some(Cell::Level(1)));
    assert_eq!(settled(&keeper, &[n(5.0), n(6.0), None])[2], Some(Cell::Level(0)));
    assert_eq!(settled(&keeper, &[n(5.0), None, Some(Cell::Level(1))])[1], n(5.0));
    let other = open(&keeper, &[n(5.0), None, Some(Cell::Level(0))], 1);
    assert!(!other.admits(Cell::Number(5.0)) && other.admits(Cell::Number(4.0)) && !other.admits(GAP));
}

/// A share of .97 does not forbid the count 1: a number is excluded as it is, not as the other column would round it.
#[test]
fn a_number_between_those_of_a_column_excludes_none() {
    let whole = Column::new("count", ColumnKind::Number { decimals: Some(0) });
    let columns = [number("share"), whole];
    let rule = Rule::NeverEqual { left: "share".into(), right: "count".into() };
    let keeper = keeper(&columns, &rule, None);
    let n = |x: f64| Some(Cell::Number(x));
    assert!(open(&keeper, &[n(0.97), None], 1).admits(Cell::Number(1.0)));
    assert!(!open(&keeper, &[n(1.0), None], 1).admits(Cell::Number(1.0)));
    let columns = [number("share"), columns[1].clone(), levels("same", &["yes", "no"])];
    let rule = Rule::Equal { left: "share".into(), right: "count".into(), nonzero: false };
    let keeper =
        Keeper::new(&columns, [Kept { rule: &rule, share: 0.5, derived: Some(2) }], vec![(0.0, 9.0); 3])
            .unwrap();
    assert_eq!(settled(&keeper, &[n(0.97), n(1.0), None])[2], Some(Cell::Level(1)));
}

#[test]
fn functions_are_computed_and_turned_round() {
    let columns = [levels("zone", &["a", "b", "c"]), levels("borough", &["x", "y"])];
    let line =
        |from: &str, to: &str| super::super::rule::Entry { inputs: vec![from.into()], output: to.into() };
    let table = vec![line("a", "x"), line("b", "y"), line("c", "x")];
    let rule = Rule::Determined { inputs: vec!["zone".into()], output: "borough".into(), table };
    let keeper = keeper(&columns, &rule, None);
    assert_eq!(settled(&keeper, &[Some(Cell::Level(1)), None])[1], Some(Cell::Level(1)));
    let zones = open(&keeper, &[None, Some(Cell::Level(0))], 0);
    assert!(zones.admits(Cell::Level(0)) && !zones.admits(Cell::Level(1)) && zones.admits(Cell::Level(2)));
    assert_eq!(keeper.instead(&[false, false], 1, true), 0);
    assert_eq!(keeper.instead(&[false, false], 1, false), 1);
    assert_eq!(keeper.broken(&[Cell::Level(1), Cell::Level(0)], &[true, true]), [0]);
    assert!(keeper.broken(&[Cell::Level(1), Cell::Level(1)], &[true, true]).is_empty());
}

/// Whole rows break a sum beyond its tolerance, an equality, an order; gaps break nothing.
#[test]
fn broken_rules_are_named() {
    let columns = [number("part"), number("rest"), number("total")];
    let Rule::Sum { output, terms, constants, .. } = Rule::parse("total = part + rest", &columns).unwrap()
    else {
        panic!("a sum")
    };
    let sum = Rule::Sum { output, terms, constants, within: 0.011 };
    let equal = Rule::Equal { left: "part".into(), right: "rest".into(), nonzero: false };
    let order = Rule::Order { low: "part".into(), high: "total".into(), strict: false };
    let kept = [&sum, &equal, &order].map(|rule| Kept { rule, share: 1.0, derived: None });
    let keeper = Keeper::new(&columns, kept, vec![(0.0, 9.0); 3]).unwrap();
    let broken = |cells: [Cell<'static>; 3]| keeper.broken(&cells, &[true; 3]);
    let n = Cell::Number;
    assert!(broken([n(1.1), n(1.1), n(2.21)]).is_empty());
    assert_eq!(broken([n(1.1), n(1.1), n(2.23)]), [0]);
    assert_eq!(broken([n(1.0), n(2.0), n(3.0)]), [1]);
    assert_eq!(broken([n(3.0), n(3.0), n(2.0)]), [0, 2]);
    assert!(broken([n(1.0), GAP, n(2.0)]).is_empty());
}

/// A weekday leaves a seventh of the days.
#[test]
fn parts_of_dates_are_turned_round() {
    let columns = [Column::new("day", ColumnKind::Date { unit: DateUnit::Days }), number("weekday")];
    let rule = Rule::DatePart {
        date: "day".into(),
        part: super::super::date_part::DatePart::Weekday,
        output: "weekday".into(),
        numbering: super::super::rule::Numbering::Offset(0.0),
    };
    let spans = vec![(15_000.0 * 86_400.0, 15_699.0 * 86_400.0), (1.0, 7.0)];
    let keeper = Keeper::new(&columns, [Kept { rule: &rule, share: 1.0, derived: None }], spans).unwrap();
    // 2011-01-31 was a Monday.
    assert_eq!(settled(&keeper, &[Some(Cell::Number(15_005.0)), None])[1], Some(Cell::Number(1.0)));
    let mondays = open(&keeper, &[None, Some(Cell::Number(1.0))], 0);
    let count = (15_000..15_700).filter(|day| mondays.admits(Cell::Number(f64::from(*day)))).count();
    assert_eq!(count, 100);
    assert!(mondays.admits(Cell::Number(15_012.0)));
    // Nothing that rounds to a Tuesday.
    assert!(!mondays.admits(Cell::Number(15_012.999_999)));
}

#[test]
fn orders_and_states() {
    let columns = [number("low"), number("high"), levels("claim", &["none", "some"])];
    let order = Rule::Order { low: "low".into(), high: "high".into(), strict: true };
    let gate = Rule::Gate {
        when: Condition { column: "claim".into(), states: vec![State::Is("none".into())] },
        then: Condition { column: "high".into(), states: vec![State::Is(Value::Number(0.0))] },
        both_ways: false,
    };
    let kept = [&order, &gate].map(|rule| Kept { rule, share: 1.0, derived: None });
    let keeper = Keeper::new(&columns, kept, vec![(-5.0, 5.0), (-4.0, 6.0), (0.0, 0.0)]).unwrap();
    let n = |x: f64| Some(Cell::Number(x));
    let high = open(&keeper, &[n(2.0), None, None], 1);
    assert!(!high.admits(Cell::Number(2.0)) && high.admits(Cell::Number(2.01)));
    // The lower one leaves room for the higher one.
    assert!(!open(&keeper, &[None, None, None], 0).admits(Cell::Number(6.0)));
    let high = open(&keeper, &[None, None, Some(Cell::Level(0))], 1);
    assert!(high.admits(Cell::Number(0.0)) && !high.admits(Cell::Number(1.0)));
    let claim = open(&keeper, &[None, n(3.0), None], 2);
    assert!(claim.admits(Cell::Level(1)) && !claim.admits(Cell::Level(0)));
}

/// A rule that holds in 3 of 4 rows without a column of its own holds by chance.
#[test]
fn shares_without_a_column() {
    let columns = [number("low"), number("high")];
    let rule = Rule::Order { low: "low".into(), high: "high".into(), strict: false };
    let kept = Kept { rule: &rule, share: 0.75, derived: None };
    let keeper = Keeper::new(&columns, [kept], vec![(0.0, 1.0); 2]).unwrap();
    assert!(keeper.has_chance() && keeper.active() == [false]);
    assert_eq!(keeper.active_in(|_| 0.7), [true]);
    assert_eq!(keeper.active_in(|_| 0.8), [false]);
}

/// Whether a man or a woman is said three times: what is drawn first must leave something for the last.
#[test]
fn what_would_lead_nowhere_is_not_open() {
    let columns = [
        levels("sex", &["male", "female"]),
        levels("who", &["man", "woman", "child"]),
        levels("adult_male", &["yes", "no"]),
    ];
    let entry =
        |from: &str, to: &str| super::super::rule::Entry { inputs: vec![from.into()], output: to.into() };
    let table = vec![entry("man", "yes"), entry("woman", "no"), entry("child", "no")];
    let adult = Rule::Determined { inputs: vec!["who".into()], output: "adult_male".into(), table };
    let is = |text: &str| State::Is(text.into());
    let pairs = vec![(is("male"), is("woman")), (is("female"), is("man"))];
    let never = Rule::Impossible { left: "sex".into(), right: "who".into(), pairs };
    let line = |adult: &str, who: &str| super::super::rule::Entry {
        inputs: vec!["male".into(), adult.into()],
        output: who.into(),
    };
    let inputs = vec!["sex".into(), "adult_male".into()];
    let back = Rule::Determined { inputs, output: "who".into(), table: vec![line("yes", "man")] };
    let kept = [&adult, &never, &back].map(|rule| Kept { rule, share: 1.0, derived: None });
    let keeper = Keeper::new(&columns, kept, vec![(0.0, 0.0); 3]).unwrap();
    // What a column gives by itself need not come before it.
    assert_eq!(keeper.instead(&[true, false, false], 1, true), 1);
    let level = |code: u32| Some(Cell::Level(code));
    let adult = open(&keeper, &[level(1), None, None], 2);
    assert!(!adult.admits(Cell::Level(0)) && adult.admits(Cell::Level(1)));
    let adult = open(&keeper, &[level(0), None, None], 2);
    assert!(adult.admits(Cell::Level(0)) && adult.admits(Cell::Level(1)));
}

/// A payment is 0 where there is no bill: it cannot differ from the bill then.
#[test]
fn a_choice_leaves_something_for_what_it_tells() {
    let columns = [number("bill"), number("paid"), levels("bill = paid", &["yes", "no"])];
    let equal = Rule::Equal { left: "bill".into(), right: "paid".into(), nonzero: true };
    let zero =
        |column: &str| Condition { column: column.into(), states: vec![State::Is(Value::Number(0.0))] };
    let gate = Rule::Gate { when: zero("bill"), then: zero("paid"), both_ways: false };
    let kept = [(&equal, Some(2)), (&gate, None)].map(|(rule, derived)| Kept { rule, share: 1.0, derived });
    let keeper = Keeper::new(&columns, kept, vec![(0.0, 9.0); 3]).unwrap();
    let n = |x: f64| Some(Cell::Number(x));
    let differs = Cell::Level(1);
    assert!(!open(&keeper, &[n(0.0), None, None], 2).admits(differs));
    assert!(open(&keeper, &[n(5.0), None, None], 2).admits(differs));
}

/// The result of a match is given: the goals are those of such results, in whatever order they become known.
#[test]
fn a_function_of_two_numbers_is_turned_round() {
    let columns = [number("home"), number("away"), levels("result", &["H", "D", "A"])];
    let goals = (0..4).flat_map(|home| (0..4).map(move |away| (f64::from(home), f64::from(away))));
    let line = |(home, away): (f64, f64)| super::super::rule::Entry {
        inputs: vec![Value::Number(home), Value::Number(away)],
        output: if home > away {
            "H"
        } else if home < away {
            "A"
        } else {
            "D"
        }
        .into(),
    };
    let inputs = vec!["home".into(), "away".into()];
    let rule = Rule::Determined { inputs, output: "result".into(), table: goals.map(line).collect() };
    let keeper = keeper(&columns, &rule, None);
    let n = |x: f64| Some(Cell::Number(x));
    let home = open(&keeper, &[None, None, Some(Cell::Level(0))], 0);
    assert!(!home.admits(Cell::Number(0.0)) && home.admits(Cell::Number(1.0)));
    let away = open(&keeper, &[n(2.0), None, Some(Cell::Level(0))], 1);
    assert!(away.admits(Cell::Number(1.0)) && !away.admits(Cell::Number(2.0)));
    let away = open(&keeper, &[n(2.0), None, Some(Cell::Level(1))], 1);
    assert!(away.admits(Cell::Number(2.0)) && !away.admits(Cell::Number(3.0)));
}

/// A toll is 0 or 6.55: what comes before it leaves one of these.
#[test]
fn a_sum_leaves_a_value_that_there_is() {
    let mut columns = [number("fare"), number("toll"), number("total")];
    columns[1].few = vec![0.0, 6.55];
    let rule = Rule::parse("total = fare + toll", &columns).unwrap();
    let keeper = keeper(&columns, &rule, None);
    let fare = open(&keeper, &[None, None, Some(Cell::Number(20.0))], 0);
    assert!(fare.admits(Cell::Number(20.0)) && fare.admits(Cell::Number(13.45)));
    assert!(!fare.admits(Cell::Number(19.5)) && !fare.admits(Cell::Number(13.44)));
}

/// Prices that are all multiples of 100 are drawn as such.
#[test]
fn numbers_on_a_grid_are_rounded_to_it() {
    let columns = [number("price")];
    let rule = Rule::Multiple { column: "price".into(), step: 100.0, remainder: 0.0, nonzero: true };
    let keeper = keeper(&columns, &rule, None);
    assert_eq!(open(&keeper, &[None], 0).grid().map(|grid| grid.round(127_150.0)), Some(127_200.0));
}

/// A garage has a year, as late as the house or later, exactly where it has a kind: neither the year's difference nor whether it
/// is the house's own makes a year of nothing.
#[test]
fn what_a_year_is_derived_from_keeps_to_its_gaps() {
    let columns = [
        number("built"),
        levels("kind", &["attached", "apart"]),
        number("garage"),
        levels("built = garage", &["yes", "no"]),
        number("garage - built"),
    ];
    let equal = Rule::Equal { left: "built".into(), right: "garage".into(), nonzero: false };
    let order = Rule::Order { low: "built".into(), high: "garage".into(), strict: false };
    let gaps = Rule::MissingTogether { columns: vec!["kind".into(), "garage".into()] };
    let sold = Rule::Range { column: "garage".into(), low: None, high: Some(2010.0) };
    let kept = [(&equal, Some(3)), (&order, Some(4)), (&gaps, None), (&sold, None)];
    let kept = kept.map(|(rule, derived)| Kept { rule, share: 1.0, derived });
    let keeper = Keeper::new(&columns, kept, vec![(0.0, 3000.0); 5]).unwrap();
    let built = Some(Cell::Number(1990.0));
    let without = [built, Some(GAP), None, None, None];
    for column in [3, 4] {
        let derived = open(&keeper, &without, column);
        assert!(derived.admits(GAP) && !derived.admits(Cell::Level(0)) && !derived.admits(Cell::Level(1)));
        assert!(!derived.admits(Cell::Number(3.0)));
    }
    let with = open(&keeper, &[built, Some(Cell::Level(0)), None, Some(Cell::Level(1)), None], 4);
    assert!(!with.admits(GAP) && with.admits(Cell::Number(20.0)) && !with.admits(Cell::Number(21.0)));
}

/// Of two columns that determine each other with a third, the one that comes first in the table is drawn first.
#[test]
fn functions_in_a_circle_keep_the_order_of_the_table() {
    let columns = [levels("net", &["a"]), levels("discount", &["b", "c"]), levels("amount", &["d", "e"])];
    let line = |from: [&str; 2], to: &str| super::super::rule::Entry {
        inputs: from.iter().map(|text| (*text).into()).collect(),
        output: to.into(),
    };
    let function = |from: [&str; 2], to: &str, table| {
        let inputs = from.iter().map(|text| (*text).to_owned()).collect();
        Rule::Determined { inputs, output: to.into(), table }
    };
    let discount =
        function(["net", "amount"], "discount", vec![line(["a", "d"], "b"), line(["a", "e"], "c")]);
    let amount = function(["net", "discount"], "amount", vec![line(["a", "b"], "d"), line(["a", "c"], "e")]);
    let kept = [&discount, &amount].map(|rule| Kept { rule, share: 1.0, derived: None });
    let keeper = Keeper::new(&columns, kept, vec![(0.0, 0.0); 3]).unwrap();
    assert_eq!(keeper.next(&[true, false, false]), Some(1));
    let level = |code: u32| Some(Cell::Level(code));
    assert_eq!(settled(&keeper, &[level(0), level(1), None])[2], level(1));
}
