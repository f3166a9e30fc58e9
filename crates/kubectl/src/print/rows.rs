//! Rows of cells under a header, as wide as necessary (K2.1).

/// The widths that columns have so far; they only ever grow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Widths(Vec<usize>);

/// A header and rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

const LEAST: usize = 6;
const BETWEEN: usize = 3;

impl Rows {
    /// The lines, with columns at least as wide as before.
    pub(crate) fn lines(&self, widths: &mut Widths, header: bool) -> String {
        let shown = header.then_some(&self.header).into_iter().chain(&self.rows);
        let shown: Vec<Vec<String>> =
            shown.map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
        for row in &shown {
            widths.fit(row);
        }
        shown.iter().map(|row| widths.line(row)).collect()
    }
}

impl Widths {
    fn fit(&mut self, row: &[String]) {
        self.0.resize(self.0.len().max(row.len()), LEAST);
        for (width, cell) in self.0.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count() + BETWEEN);
        }
    }

    fn line(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (nth, (cell, width)) in row.iter().zip(&self.0).enumerate() {
            line.push_str(cell);
            if nth + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count())));
            }
        }
        line.push('\n');
        line
    }
}

/// The first line of a cell, with `...` if there are more.
fn one_line(cell: &str) -> String {
    match cell.find(['\n', '\r', '\u{c}']) {
        Some(end) => format!("{}...", &cell[..end]),
        None => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    /// K2.1: a column is as wide as its widest cell plus three, six at least; the last cell of a row is not padded.
    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = Rows {
            header: row(&["NAME", "A", "AGE"]),
            rows: vec![row(&["nginx", "1", "6s"]), row(&["x", "two\nlines", "9m"])],
        };
        assert_eq!(
            rows.lines(&mut Widths::default(), true),
            "NAME    A        AGE\nnginx   1        6s\nx       two...   9m\n"
        );
        assert_eq!(rows.lines(&mut Widths::default(), false).lines().next(), Some("nginx   1        6s"));
    }

    /// K2.8: while watching, widths only grow.
    #[test]
    fn widths_only_grow() {
        let mut widths = Widths::default();
        let long = Rows { header: row(&["NAME", "B"]), rows: vec![row(&["a-long-name", "1"])] };
        long.lines(&mut widths, true);
        let short = Rows { header: Vec::new(), rows: vec![row(&["a", "2"])] };
        assert_eq!(short.lines(&mut widths, false), "a             2\n");
    }
}
