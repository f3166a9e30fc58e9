//! Uids of objects.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Deref;
use std::str;
use std::sync::Arc;

/// The length of a UUID as text.
const TEXT_BYTES: usize = 36;
/// The positions of its dashes.
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// `metadata.uid`: one object's identity, never reused; ordered as text.
///
/// Servers generate UUIDs. There are dozens of uids per pod in caches and indexes, so a UUID is stored as its bits, without
/// an allocation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Uid(Form);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    /// A UUID in the canonical form: with dashes and small letters.
    Uuid([u8; 16]),
    /// Any other text.
    Other(Arc<str>),
}

/// The text of a uid.
pub struct UidText<'a>(TextForm<'a>);

enum TextForm<'a> {
    Uuid([u8; TEXT_BYTES]),
    Other(&'a str),
}

impl Uid {
    /// The uid as text.
    pub fn text(&self) -> UidText<'_> {
        UidText(match &self.0 {
            Form::Uuid(bits) => TextForm::Uuid(rendered(bits)),
            Form::Other(text) => TextForm::Other(text),
        })
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self(parsed(text.as_bytes()).map_or_else(|| Form::Other(text.into()), Form::Uuid))
    }
}

impl From<String> for Uid {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Ord for Uid {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Form::Uuid(one), Form::Uuid(other)) => one.cmp(other),
            _ => self.text().cmp(&other.text()),
        }
    }
}

impl PartialOrd for Uid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text(), f)
    }
}

impl Deref for UidText<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            TextForm::Uuid(text) => str::from_utf8(text).expect("hexadecimal digits and dashes are ASCII"),
            TextForm::Other(text) => text,
        }
    }
}

/// The bits of a UUID in the canonical form; `None` for any other text.
fn parsed(text: &[u8]) -> Option<[u8; 16]> {
    let text: &[u8; TEXT_BYTES] = text.try_into().ok()?;
    if DASHES.iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let mut digits =
        text.iter().enumerate().filter(|(at, _)| !DASHES.contains(at)).map(|(_, byte)| digit(*byte));
    let mut bits = [0; 16];
    for byte in &mut bits {
        *byte = digits.next()?? << 4 | digits.next()??;
    }
    Some(bits)
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

fn rendered(bits: &[u8; 16]) -> [u8; TEXT_BYTES] {
    let mut digits = bits
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0xf])
        .map(|digit| b"0123456789abcdef"[usize::from(digit)]);
    std::array::from_fn(|at| if DASHES.contains(&at) { b'-' } else { digits.next().unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 8] = [
        "",
        "0d2a6e9b-4f0c-4c58-9b3e-0123456789ab",
        "0d2a6e9b-4f0c-4c58-9b3e-0123456789a",
        "0d2a6e9b-4f0c-4c58-9b3e-0123456789abc",
        "0D2A6E9B-4f0c-4c58-9b3e-0123456789ab",
        "0d2a6e9b04f0c-4c58-9b3e-0123456789ab",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "uid-of-web",
    ];

    #[test]
    fn every_text_is_preserved() {
        for text in TEXTS {
            assert_eq!(&*Uid::from(text).text(), text);
            assert_eq!(Uid::from(text.to_owned()).to_string(), text);
        }
    }

    #[test]
    fn uids_compare_as_their_texts() {
        for one in TEXTS {
            for other in TEXTS {
                assert_eq!(Uid::from(one).cmp(&Uid::from(other)), one.cmp(other), "{one} {other}");
                assert_eq!(Uid::from(one) == Uid::from(other), one == other);
            }
        }
    }

    /// An index has two of them per object.
    #[test]
    fn a_uuid_is_stored_in_place() {
        assert_eq!(size_of::<Uid>(), 24);
        assert!(matches!(Uid::from(TEXTS[1]).0, Form::Uuid(_)));
    }
}
