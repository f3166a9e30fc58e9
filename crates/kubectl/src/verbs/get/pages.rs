//! Buffers pages of rows, so that columns are aligned over all pages that arrive before the output delay.
//!
//! kubectl reads all pages before it prints the first row, so that its columns are as wide as the widest cell of all.
//! Here, pages that arrive after the output delay are printed at once, and columns grow if later pages need it.

use crate::print::{Rows, Widths};

/// The rows of consecutive pages.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// Whether the header is shown.
    header: bool,
    /// Whether another list was printed before, so that an empty line separates the header from it.
    after_another: bool,
    rows: Rows,
    widths: Widths,
    begun: bool,
}

impl Pages {
    /// No pages yet, of a list with or without a header, below another list or not.
    pub(super) fn new(header: bool, after_another: bool) -> Self {
        Self { header, after_another, ..Self::default() }
    }

    /// Adds a page.
    pub(super) fn add(&mut self, page: Rows) {
        if self.rows.header.is_empty() {
            self.rows.header = page.header;
        }
        self.rows.rows.extend(page.rows);
    }

    /// The lines of all rows that were not shown yet; none if there are none.
    pub(super) fn lines(&mut self) -> String {
        if self.rows.rows.is_empty() {
            return String::new();
        }
        let apart = if self.after_another && self.header && !self.begun { "\n" } else { "" };
        let lines = self.rows.lines(&mut self.widths, self.header && !self.begun);
        self.begun = true;
        self.rows.rows.clear();
        format!("{apart}{lines}")
    }

    /// Whether there were any rows.
    pub(super) fn begun(&self) -> bool {
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(names: &[&str]) -> Rows {
        Rows {
            header: vec!["NAME".into(), "AGE".into()],
            rows: names.iter().map(|name| vec![(*name).to_owned(), "1s".to_owned()]).collect(),
        }
    }

    /// K2.1: pages that are shown together are one list.
    #[test]
    fn pages_that_are_shown_together_have_the_widths_of_all() {
        let mut pages = Pages::new(true, true);
        pages.add(page(&["a"]));
        pages.add(page(&["a-long-name"]));
        assert_eq!(pages.lines(), "\nNAME          AGE\na             1s\na-long-name   1s\n");
        assert_eq!(pages.lines(), "", "nothing is shown twice");
    }

    /// K2.2: without headers, no empty line separates the types.
    #[test]
    fn only_a_header_is_set_apart() {
        let mut pages = Pages::new(false, true);
        pages.add(page(&["a"]));
        assert_eq!(pages.lines(), "a     1s\n");
    }

    #[test]
    fn later_pages_may_widen_columns() {
        let mut pages = Pages::new(true, false);
        assert!(pages.lines().is_empty() && !pages.begun(), "no row, no header");
        pages.add(page(&["a"]));
        assert_eq!(pages.lines(), "NAME   AGE\na      1s\n");
        pages.add(page(&["a-long-name", "b"]));
        assert_eq!(pages.lines(), "a-long-name   1s\nb             1s\n");
    }
}
