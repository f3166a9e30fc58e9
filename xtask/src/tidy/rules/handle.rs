//! Rule handles such as `D6.12` or `G8`, and finding them in text.

use super::super::code::is_word_char;
use std::collections::BTreeSet;
use std::fmt;

/// The name of one rule: a family, a section, and usually a number within the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handle {
    pub(super) family: char,
    pub(super) section: u16,
    pub(super) number: Option<u16>,
}

/// The letters that start a handle: one per file of the specification.
pub(super) const FAMILIES: &str = "ADGKOR";

impl Handle {
    /// Parses a text that consists of one handle.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::at_start(text).filter(|(_, length)| *length == text.len()).map(|(handle, _)| handle)
    }

    /// Reads the handle at the start of a text, as a whole word, with its length.
    fn at_start(text: &str) -> Option<(Self, usize)> {
        let family = text.chars().next().filter(|first| FAMILIES.contains(*first))?;
        let (section, mut length) = number(&text[1..]).map(|(section, digits)| (section, digits + 1))?;
        let after_dot = text[length..].strip_prefix('.').and_then(number);
        let number = after_dot.map(|(number, digits)| {
            length += digits + 1;
            number
        });
        let ends_here = !text[length..].starts_with(is_word_char);
        ends_here.then_some((Self { family, section, number }, length))
    }

    /// All handles from this one to another of the same section, both included.
    fn up_to(self, last: Self) -> Vec<Self> {
        let same_section = (self.family, self.section) == (last.family, last.section);
        match (self.number, last.number) {
            (Some(from), Some(to)) if same_section => {
                (from..=to).map(|number| Self { number: Some(number), ..self }).collect()
            }
            _ => vec![self, last],
        }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, section, number } = self;
        write!(out, "{family}{section}")?;
        number.map_or(Ok(()), |number| write!(out, ".{number}"))
    }
}

/// The handles that a line of text cites; `D2.1–D2.4` cites four.
pub(super) fn cited(text: &str) -> BTreeSet<Handle> {
    let mut found = BTreeSet::new();
    let mut previous = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        // A handle inside a word or a longer number is none: `ID1.1`, `0.D1`.
        let at_word_start = !previous.is_some_and(|sign: char| is_word_char(sign) || sign == '.');
        let read = at_word_start.then(|| range_at_start(rest)).flatten();
        let length = read.as_ref().map_or(first.len_utf8(), |(_, length)| *length);
        found.extend(read.into_iter().flat_map(|(handles, _)| handles));
        previous = rest[..length].chars().next_back();
        rest = &rest[length..];
    }
    found
}

/// One handle, or two with a dash between them, at the start of a text.
fn range_at_start(text: &str) -> Option<(Vec<Handle>, usize)> {
    let (first, length) = Handle::at_start(text)?;
    let after = &text[length..];
    let dash = ['-', '–'].into_iter().find(|dash| after.starts_with(*dash)).map_or(0, char::len_utf8);
    match Handle::at_start(&after[dash..]).filter(|_| dash > 0) {
        Some((last, more)) => Some((first.up_to(last), length + dash + more)),
        None => Some((vec![first], length)),
    }
}

fn number(text: &str) -> Option<(u16, usize)> {
    let digits = text.len() - text.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    Some((text[..digits].parse().ok()?, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        cited(text).iter().map(Handle::to_string).collect()
    }

    #[test]
    fn a_handle_is_a_whole_word() {
        assert_eq!(names("/// D1.10: see (R6.3), G8 and `D12`."), ["D1.10", "D12", "G8", "R6.3"]);
        assert_eq!(names("ID1.1 D1.1x D1_1 xG8 D12345678 D 1.1 Done v0.D1"), [""; 0]);
    }

    #[test]
    fn a_full_stop_ends_a_sentence_and_not_a_handle() {
        assert_eq!(names("That is D12. And R8."), ["D12", "R8"]);
    }

    #[test]
    fn a_range_counts_for_all_in_it() {
        assert_eq!(names("D2.1–D2.4"), ["D2.1", "D2.2", "D2.3", "D2.4"]);
        assert_eq!(names("(D10.2-D10.3)"), ["D10.2", "D10.3"]);
        assert_eq!(names("D6.9–D6.11"), ["D6.9", "D6.10", "D6.11"]);
    }

    #[test]
    fn a_range_over_sections_or_backwards_invents_nothing() {
        assert_eq!(names("D2.4-D3.2"), ["D2.4", "D3.2"]);
        assert_eq!(names("D12-D13"), ["D12", "D13"]);
        assert_eq!(names("R2.8-G2.9"), ["G2.9", "R2.8"]);
        assert_eq!(names("D2.4-D2.1"), [""; 0]);
        assert_eq!(names("D2.1-ish"), ["D2.1"]);
    }

    #[test]
    fn handles_sort_as_numbers() {
        assert!(Handle::parse("D3.9") < Handle::parse("D3.10"));
        assert!(Handle::parse("D3") < Handle::parse("D3.1"));
    }

    #[test]
    fn a_text_with_more_than_a_handle_is_no_handle() {
        assert_eq!(Handle::parse("D1.1 "), None);
        assert_eq!(Handle::parse(""), None);
        assert_eq!(Handle::parse("D"), None);
        assert_eq!(Handle::parse("é1"), None);
    }
}
