//! Styled text: spans with a style, readable without colours too.

use crate::formatting::sanitize;

/// A line on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its parts from left to right.
    pub spans: Vec<Span>,
}

/// A part of a line with one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Without control characters.
    pub text: String,
    /// Its style.
    pub style: Style,
}

/// The meaning of a text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Normal text.
    Plain,
    /// Most important.
    Strong,
    /// Least important.
    Dim,
    /// Success.
    Good,
    /// In progress.
    Busy,
    /// Failure.
    Bad,
}

impl Line {
    /// A line of one span.
    pub fn of(style: Style, text: &str) -> Self {
        Self::default().with(style, text)
    }

    /// The line with one more span.
    #[must_use]
    pub fn with(mut self, style: Style, text: &str) -> Self {
        self.push(style, text);
        self
    }

    /// Adds a span; adjacent spans of one style are merged.
    pub fn push(&mut self, style: Style, text: &str) {
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&sanitize(text)),
            _ => self.spans.push(Span { text: sanitize(text), style }),
        }
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.chars().count()).sum()
    }

    /// The line, truncated to so many columns.
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

    /// The line wrapped at spaces to this width. Continuation lines are indented; words that are too long stay whole.
    pub fn wrap(&self, columns: usize, indent: usize) -> Vec<Self> {
        let letters: Vec<(char, Style)> =
            self.spans.iter().flat_map(|span| span.text.chars().map(|c| (c, span.style))).collect();
        let mut lines = Vec::new();
        let mut rest = letters.as_slice();
        loop {
            let margin = if lines.is_empty() { 0 } else { indent };
            let width = columns.saturating_sub(margin);
            let end = if rest.len() <= width { rest.len() } else { break_at(rest, width) };
            let mut line = Self::default();
            if margin > 0 {
                line.push(Style::Plain, &" ".repeat(margin));
            }
            rest[..end].iter().for_each(|(c, style)| line.push(*style, c.encode_utf8(&mut [0; 4])));
            lines.push(line);
            let spaces = rest[end..].iter().take_while(|(c, _)| *c == ' ').count();
            rest = &rest[end + spaces..];
            if rest.is_empty() {
                return lines;
            }
        }
    }

    /// The text without styles.
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}

/// Where to break a long line: before the last space that fits, or else the first.
fn break_at(letters: &[(char, Style)], width: usize) -> usize {
    let text = letters.iter().take_while(|(c, _)| *c == ' ').count();
    let is_space = |at: &usize| letters[*at].0 == ' ';
    let fits = (text..=width.min(letters.len() - 1)).rev().find(is_space);
    fits.or_else(|| (text..letters.len()).find(is_space)).unwrap_or(letters.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_truncated_within_a_span() {
        let line = Line::of(Style::Strong, "deployment").with(Style::Good, "/web").with(Style::Dim, "!");
        assert_eq!(line.clone().cut(12).text(), "deployment/w");
        assert_eq!(line.clone().cut(80), line);
        assert_eq!(line.cut(0), Line::default());
    }

    #[test]
    fn a_long_line_is_wrapped_with_indentation_and_styles() {
        let line = Line::of(Style::Plain, "  one two ").with(Style::Bad, "three four");
        let wrapped = line.wrap(11, 4);
        assert_eq!(
            wrapped.iter().map(Line::text).collect::<Vec<_>>(),
            ["  one two", "    three", "    four"]
        );
        assert_eq!(wrapped[2].spans[1], Span { text: "four".to_owned(), style: Style::Bad });
        assert_eq!(line.wrap(80, 4), std::slice::from_ref(&line));
        let line = Line::of(Style::Plain, "a unbreakable-word b");
        assert_eq!(
            line.wrap(5, 2).iter().map(Line::text).collect::<Vec<_>>(),
            ["a", "  unbreakable-word", "  b"]
        );
        assert_eq!(line.wrap(0, 2).len(), 3);
        assert_eq!(Line::default().wrap(5, 2), [Line::default()]);
    }

    #[test]
    fn escape_codes_are_removed() {
        assert_eq!(Line::of(Style::Plain, "\u{1b}[2Jgone").text(), "\u{fffd}[2Jgone");
    }
}
