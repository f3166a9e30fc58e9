//! The numbers with their bounds.

use std::fmt::Write as _;

/// One number.
pub(crate) struct Row {
    what: String,
    unit: &'static str,
    value: f64,
    bound: Bound,
}

/// The bound of a number.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    AtLeast(f64),
    AtMost(f64),
    None,
}

impl Row {
    pub(crate) fn new(what: &str, unit: &'static str, value: f64, bound: Bound) -> Self {
        let row = Self { what: what.to_owned(), unit, value, bound };
        println!("{}", row.line());
        row
    }

    fn line(&self) -> String {
        let Self { what, unit, value, bound } = self;
        let (target, verdict) = match bound {
            Bound::AtLeast(least) => (format!("≥ {least:.0}"), if value >= least { "met" } else { "MISSED" }),
            Bound::AtMost(most) => (format!("≤ {most:.0}"), if value <= most { "met" } else { "MISSED" }),
            Bound::None => (String::new(), ""),
        };
        format!("{what:<58} {value:>10.1} {unit:<3} {target:>8} {verdict}")
    }
}

/// The table of all rows.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from("\n");
    for row in rows {
        let _ = writeln!(text, "{}", row.line());
    }
    text
}
