//! Rules as people write them.

use super::date_part::TimeUnit;
use super::error::RuleError;
use super::rows::{Column, ColumnKind, DateUnit};
use super::rule::{Rounding, Rule, Term};
use super::value::{Condition, State, Value};

impl Rule {
    /// Reads a rule that a user declares.
    ///
    /// | text | rule |
    /// |---|---|
    /// | `dropoff >= pickup`, `a < b`, `a != b`, `a = b` | order, never equal, equal |
    /// | `total = fare + tip + tolls`, `f = 1.8 * c + 32` | sum |
    /// | `area = width * height`, `rate = part / whole` | product |
    /// | `minutes = dropoff - pickup in minutes` | duration |
    /// | `share in 0..1`, `age >= 18` | range |
    /// | `zone -> borough`, `a, b -> c` | determined, with a table that [`learn_tables`](super::learn_tables) fills |
    /// | `cost = 0 where claims = 0`, `reason is missing where kind = none` | gate |
    /// | `unique id`, `unique id, year` | unique |
    ///
    /// Names that hold blanks or signs are found if the table has them, or may stand in quotes.
    ///
    /// ```
    /// use pmm_data::rules::{Column, ColumnKind, Rule};
    /// let columns = ["fare", "tip", "total"].map(|name| Column::new(name, ColumnKind::Number { decimals: Some(2) }));
    /// let rule = Rule::parse("total = fare + tip", &columns)?;
    /// assert_eq!(rule.sentence(), "total is fare + tip");
    /// # Ok::<(), pmm_data::rules::RuleError>(())
    /// ```
    pub fn parse(text: &str, columns: &[Column]) -> Result<Self, RuleError> {
        let mut parser = Parser { text, rest: text, columns };
        let rule = parser.rule()?;
        parser.end()?;
        rule.checker(columns)?;
        Ok(rule)
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    columns: &'a [Column],
}

/// A product within a sum.
#[derive(Default)]
struct Product {
    factor: f64,
    above: Vec<String>,
    below: Vec<String>,
}

impl<'a> Parser<'a> {
    fn rule(&mut self) -> Result<Rule, RuleError> {
        if self.take_word("unique") {
            return Ok(Rule::Unique { columns: self.names()? });
        }
        if let Some((_, _)) = self.text.split_once(" where ") {
            return self.gate();
        }
        let names = self.names()?;
        if self.take("->") {
            return Ok(Rule::Determined { inputs: names, output: self.name()?, table: Vec::new() });
        }
        match <[String; 1]>::try_from(names) {
            Ok([name]) => self.comparison(name),
            Err(_) => Err(self.error("->")),
        }
    }

    /// What follows the first column.
    fn comparison(&mut self, left: String) -> Result<Rule, RuleError> {
        if self.take_word("in") {
            let low = self.number().ok_or_else(|| self.error("a number"))?;
            if !self.take("..") {
                return Err(self.error(".."));
            }
            return Ok(Rule::Range { column: left, low: Some(low), high: self.number() });
        }
        for sign in ["<=", ">=", "!=", "==", "<", ">", "="] {
            if self.take(sign) {
                return match sign {
                    "=" | "==" => self.equation(left),
                    "!=" => Ok(Rule::NeverEqual { left, right: self.name()? }),
                    _ => self.order(left, sign),
                };
            }
        }
        Err(self.error("one of <=, <, >=, >, =, !=, ->, in"))
    }

    fn order(&mut self, left: String, sign: &str) -> Result<Rule, RuleError> {
        let number = if self.try_name().is_some() { None } else { self.number() };
        if let Some(bound) = number {
            return match sign {
                "<=" => Ok(Rule::Range { column: left, low: None, high: Some(bound) }),
                ">=" => Ok(Rule::Range { column: left, low: Some(bound), high: None }),
                _ => Err(self.error("<= or >= beside a number")),
            };
        }
        let right = self.name()?;
        let strict = !sign.ends_with('=');
        let (low, high) = if sign.starts_with('<') { (left, right) } else { (right, left) };
        Ok(Rule::Order { low, high, strict })
    }

    fn equation(&mut self, output: String) -> Result<Rule, RuleError> {
        let products = self.products()?;
        let step = self.step(&output);
        if let Some(rule) = self.duration(&output, &products, step)? {
            return Ok(rule);
        }
        let within = 0.5 * step;
        let linear = |product: &Product| product.above.len() <= 1 && product.below.is_empty();
        if let [product] = products.as_slice() {
            if linear(product) && product.factor == 1.0 && product.above.len() == 1 {
                return Ok(Rule::Equal { left: output, right: product.above[0].clone(), nonzero: false });
            }
            if !linear(product) {
                let Product { factor, above, below } = product;
                let (numerators, denominators) = (above.clone(), below.clone());
                return Ok(Rule::Product { output, factor: *factor, numerators, denominators, within });
            }
        }
        if !products.iter().all(linear) {
            return Err(self.error("a sum of columns, or one product of columns"));
        }
        let constant: f64 = products.iter().filter(|one| one.above.is_empty()).map(|one| one.factor).sum();
        let terms = products.into_iter().filter_map(|mut one| {
            let column = one.above.pop()?;
            Some(Term { factor: one.factor, column })
        });
        Ok(Rule::Sum { output, terms: terms.collect(), constants: vec![constant], within })
    }

    /// The difference of two dates.
    fn duration(&mut self, output: &str, products: &[Product], step: f64) -> Result<Option<Rule>, RuleError> {
        let [end, start] = products else { return Ok(None) };
        let date = |product: &Product, factor: f64| match product.above.as_slice() {
            [name] if product.factor == factor && product.below.is_empty() => {
                let column = self.columns.iter().find(|column| column.name == *name)?;
                Some((name.clone(), column.date_unit()?))
            }
            _ => None,
        };
        let (Some((end, unit)), Some((start, _))) = (date(end, 1.0), date(start, -1.0)) else {
            return Ok(None);
        };
        let unit = if unit == DateUnit::Days { TimeUnit::Days } else { TimeUnit::Seconds };
        let unit = if self.take_word("in") { self.unit()? } else { unit };
        let calendar = matches!(unit, TimeUnit::Months | TimeUnit::Years);
        let rounding = if calendar { Rounding::Down } else { Rounding::Nearest };
        let step = if step > 0.0 { step } else { 1e-6 };
        Ok(Some(Rule::Duration { output: output.to_owned(), start, end, unit, rounding, step }))
    }

    fn unit(&mut self) -> Result<TimeUnit, RuleError> {
        let word = |unit: &TimeUnit| unit.name().trim_start_matches("completed ");
        let unit = TimeUnit::ALL.into_iter().find(|unit| self.take_word(word(unit)));
        unit.ok_or_else(|| self.error("seconds, minutes, hours, days, weeks, months or years"))
    }

    fn products(&mut self) -> Result<Vec<Product>, RuleError> {
        let mut sign = if self.take("-") || self.take("−") { -1.0 } else { 1.0 };
        let mut products = Vec::new();
        loop {
            let mut product = self.product()?;
            product.factor *= sign;
            products.push(product);
            if self.take("+") {
                sign = 1.0;
            } else if self.take("-") || self.take("−") {
                sign = -1.0;
            } else {
                return Ok(products);
            }
        }
    }

    fn product(&mut self) -> Result<Product, RuleError> {
        let mut product = Product { factor: 1.0, ..Product::default() };
        let mut divide = false;
        loop {
            match (self.try_name(), divide) {
                (Some((name, rest)), _) => {
                    self.rest = rest;
                    if divide { &mut product.below } else { &mut product.above }.push(name);
                }
                (None, divide) => {
                    let number = self.number().ok_or_else(|| self.error("a column or a number"))?;
                    product.factor *= if divide { 1.0 / number } else { number };
                    if !product.factor.is_finite() {
                        return Err(self.error("a factor that is finite"));
                    }
                }
            }
            if self.take("*") || self.take("×") {
                divide = false;
            } else if self.take("/") {
                divide = true;
            } else {
                return Ok(product);
            }
        }
    }

    fn gate(&mut self) -> Result<Rule, RuleError> {
        let then = self.condition()?;
        if !self.take_word("where") {
            return Err(self.error("where"));
        }
        Ok(Rule::Gate { then, when: self.condition()?, both_ways: false })
    }

    fn condition(&mut self) -> Result<Condition, RuleError> {
        let column = self.name()?;
        if self.take_word("is") {
            let state = if self.take_word("missing") {
                State::Missing
            } else if self.take_word("present") {
                State::Present
            } else {
                return Err(self.error("missing or present"));
            };
            return Ok(Condition { column, states: vec![state] });
        }
        let not = self.take("!=");
        if !not && !self.take("==") && !self.take("=") {
            return Err(self.error("=, != or is"));
        }
        let numeric = |one: &&Column| one.name == column && !matches!(one.kind, ColumnKind::Levels { .. });
        let number = if self.columns.iter().any(|one| numeric(&one)) { self.number() } else { None };
        let value = number.map_or_else(|| Value::Text(self.word()), Value::Number);
        match (not, value) {
            (false, value) => Ok(Condition { column, states: vec![State::Is(value)] }),
            (true, Value::Number(0.0)) => Ok(Condition { column, states: vec![State::NotZero] }),
            (true, _) => Err(self.error("0 behind !=")),
        }
    }

    /// A text up to " where " or the end, perhaps in quotes.
    fn word(&mut self) -> String {
        let text = self.rest.trim_start();
        let end = text.find(" where ").unwrap_or(text.len());
        self.rest = &text[end..];
        text[..end].trim().trim_matches('"').to_owned()
    }

    /// Half of it is how far an output may be off: its last digit, if that is known.
    fn step(&self, output: &str) -> f64 {
        let column = self.columns.iter().find(|column| column.name == output);
        match column.map(|column| &column.kind) {
            Some(ColumnKind::Number { decimals: Some(decimals) }) => 10_f64.powi(-(*decimals as i32)),
            _ => 0.0,
        }
    }

    fn names(&mut self) -> Result<Vec<String>, RuleError> {
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    fn name(&mut self) -> Result<String, RuleError> {
        let (name, rest) = self.try_name().ok_or_else(|| self.error("a column"))?;
        self.rest = rest;
        Ok(name)
    }

    /// The longest name of a column that the rest begins with, and what follows.
    fn try_name(&self) -> Option<(String, &'a str)> {
        let rest = self.rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, rest) = quoted.split_once('"')?;
            return Some((name.to_owned(), rest));
        }
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        let whole = |name: &&str| {
            let next = rest[name.len()..].chars().next();
            !(name.ends_with(inside) && next.is_some_and(inside))
        };
        let names = self.columns.iter().map(|column| column.name.as_str());
        let fitting = names.filter(|name| !name.is_empty() && rest.starts_with(name)).filter(whole);
        let name = fitting.max_by_key(|name| name.len())?;
        Some((name.to_owned(), &rest[name.len()..]))
    }

    fn number(&mut self) -> Option<f64> {
        let rest = self.rest.trim_start();
        let sign = usize::from(rest.starts_with('-'));
        let mut end = sign + rest[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - sign);
        if rest[end..].starts_with('.') && !rest[end..].starts_with("..") {
            let digits = &rest[end + 1..];
            end += 1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        }
        let number = rest[..end].parse().ok().filter(|number: &f64| number.is_finite())?;
        self.rest = &rest[end..];
        Some(number)
    }

    fn take(&mut self, sign: &str) -> bool {
        let left = self.rest.trim_start().strip_prefix(sign);
        self.rest = left.unwrap_or(self.rest);
        left.is_some()
    }

    fn take_word(&mut self, word: &str) -> bool {
        let Some(left) = self.rest.trim_start().strip_prefix(word) else { return false };
        let whole = !left.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        self.rest = if whole { left } else { self.rest };
        whole
    }

    fn end(&self) -> Result<(), RuleError> {
        if self.rest.trim().is_empty() { Ok(()) } else { Err(self.error("the end")) }
    }

    fn error(&self, expected: &'static str) -> RuleError {
        RuleError::Syntax { rule: self.text.to_owned(), rest: self.rest.trim().to_owned(), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let names = ["fare", "fare tax", "tip", "total", "a-b", "claims"];
        let mut columns: Vec<Column> =
            names.iter().map(|name| Column::new(*name, ColumnKind::Number { decimals: Some(2) })).collect();
        for name in ["pickup", "dropoff"] {
            columns.push(Column::new(name, ColumnKind::Date { unit: DateUnit::Seconds }));
        }
        let texts = vec!["none".to_owned(), "a few".to_owned()];
        columns.push(Column::new("kind", ColumnKind::Levels { texts }));
        columns
    }

    #[test]
    fn texts_become_rules() {
        for (text, sentence) in [
            ("dropoff >= pickup", "dropoff is never below pickup"),
            ("pickup < dropoff", "dropoff is above pickup"),
            ("total = fare + fare tax + tip", "total is fare + fare tax + tip"),
            ("total=fare-\"a-b\"", "total is fare − a-b"),
            ("total = 2*fare - tip + 0.5", "total is 2 × fare − tip + 0.5"),
            ("total = fare * tip / claims", "total is fare × tip / claims"),
            ("total = dropoff - pickup in minutes", "total is dropoff − pickup in minutes"),
            ("fare = tip", "fare equals tip"),
            ("fare != tip", "fare is never equal to tip"),
            ("tip in 0..1", "tip is within 0 and 1"),
            ("tip >= -0.5", "tip is never below -0.5"),
            ("kind, claims -> tip", "tip is determined by kind and claims"),
            ("tip = 0 where claims = 0", "tip is 0 where claims is 0"),
            ("tip is missing where kind = a few", "tip is missing where kind is a few"),
            ("unique kind, claims", "kind and claims together are unique"),
        ] {
            let rule = Rule::parse(text, &columns()).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(rule.sentence(), sentence);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_place() {
        for (text, message) in [
            ("fare", "in the rule \"fare\", at \"\": expected one of <=, <, >=, >, =, !=, ->, in"),
            (
                "fare = fun + 1",
                "in the rule \"fare = fun + 1\", at \"fun + 1\": expected a column or a number",
            ),
            ("fare >= tip tip", "in the rule \"fare >= tip tip\", at \"tip\": expected the end"),
            ("dropoff >= fare", "column dropoff does not hold what it is compared with"),
            ("total = kind + tip", "column kind does not hold numbers"),
            ("total = fare * tip + claims * tip", "expected a sum of columns, or one product of columns"),
        ] {
            let error = Rule::parse(text, &columns()).unwrap_err().to_string();
            assert!(error.ends_with(message), "{text}: {error}");
        }
    }
}
