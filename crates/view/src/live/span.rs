//! Text with meaning attached: what a terminal may colour, and what reads the same without.

use crate::words::harmless;

/// A line on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its parts from left to right.
    pub spans: Vec<Span>,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it says, without control characters.
    pub text: String,
    /// How it is meant.
    pub style: Style,
}

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As any other.
    Plain,
    /// To be seen first.
    Strong,
    /// To be seen last.
    Dim,
    /// All is well.
    Good,
    /// Something is under way.
    Busy,
    /// Something is wrong.
    Bad,
}

impl Line {
    /// A line of one piece.
    pub fn of(style: Style, text: &str) -> Self {
        Self::default().with(style, text)
    }

    /// The line with one piece more.
    #[must_use]
    pub fn with(mut self, style: Style, text: &str) -> Self {
        self.push(style, text);
        self
    }

    /// Adds a piece; pieces of one style become one.
    pub fn push(&mut self, style: Style, text: &str) {
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&harmless(text)),
            _ => self.spans.push(Span { text: harmless(text), style }),
        }
    }

    /// How many columns it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.chars().count()).sum()
    }

    /// The line without what does not fit in so many columns.
    #[must_use]
    pub fn cut(mut self, columns: usize) -> Self {
        let mut left = columns;
        for span in &mut self.spans {
            let width = span.text.chars().count();
            if width > left {
                span.text = span.text.chars().take(left).collect();
            }
            left = left.saturating_sub(width);
        }
        self.spans.retain(|span| !span.text.is_empty());
        self
    }

    /// What it says.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_within_a_piece() {
        let line = Line::of(Style::Strong, "deployment").with(Style::Good, "/web").with(Style::Dim, "!");
        assert_eq!(line.clone().cut(12).text(), "deployment/w");
        assert_eq!(line.clone().cut(80), line);
        assert_eq!(line.cut(0), Line::default());
    }

    #[test]
    fn escape_codes_of_others_do_not_reach_the_terminal() {
        assert_eq!(Line::of(Style::Plain, "\u{1b}[2Jgone").text(), "\u{fffd}[2Jgone");
    }
}
