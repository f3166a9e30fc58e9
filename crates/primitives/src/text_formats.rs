//! String formats, one function each: whether a string is a date, an address, a URI.
//!
//! They accept the same strings as Kubernetes.

use std::net::IpAddr;

use gantry_formats::{duration, rfc3339};

/// Hexadecimal digits only.
pub fn is_hex(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Groups of digits of these lengths, with one separator between them.
pub fn is_digits_with(text: &str, groups: &[usize], separates: impl Fn(u8) -> bool) -> bool {
    let mut bytes = text.bytes();
    groups.iter().enumerate().all(|(index, digits)| {
        (index == 0 || bytes.next().is_some_and(&separates))
            && (0..*digits).all(|_| bytes.next().is_some_and(|b| b.is_ascii_digit()))
    }) && bytes.next().is_none()
}

/// Base64 of at least four characters: to Kubernetes an empty string is not base64.
pub fn is_base64(text: &str) -> bool {
    let body = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

/// An IP address; IPv4 may have leading zeros.
pub fn address(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok();
    }
    let plain: Vec<_> = text
        .split('.')
        .map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0",
            rest => rest,
        })
        .collect();
    plain.join(".").parse().ok()
}

/// A CIDR.
pub fn is_cidr(text: &str) -> bool {
    let Some((network, bits)) = text.split_once('/') else { return false };
    let most = match address(network) {
        Some(IpAddr::V4(_)) => 32,
        Some(IpAddr::V6(_)) => 128,
        None => return false,
    };
    is_digits(bits) && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
}

/// Checks the Luhn checksum.
pub fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let number: String = text.chars().filter(char::is_ascii_digit).collect();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| number.starts_with(prefix));
    let is_known = match digits.len() {
        13 => starts(&["4"]),
        14 => starts(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => starts(&["34", "37", "2131", "1800"]),
        16 => starts(&["4", "51", "52", "53", "54", "55", "6011", "65", "35"]),
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) => doubled / 10 + doubled % 10,
        })
        .sum();
    is_known && sum.is_multiple_of(10)
}

/// A valid date such as `2024-02-29`.
pub fn is_date(text: &str) -> bool {
    rfc3339::parse_date(text).is_some()
}

/// A date, a time and a zone.
pub fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    let Some((clock, rest)) = time.split_at_checked(8) else { return false };
    let in_day =
        clock.get(..2) <= Some("23") && clock.get(3..5) <= Some("59") && clock.get(6..8) <= Some("59");
    is_date(date) && is_digits_with(clock, &[2, 2, 2], |between| between == b':') && in_day && is_zone(rest)
}

/// The end of a time: an optional fraction, then `z` or an offset.
fn is_zone(text: &str) -> bool {
    let zone = match text.strip_prefix(['.', ',']) {
        Some(fraction) => match fraction.find(|letter: char| !letter.is_ascii_digit()) {
            Some(end) if end > 0 => &fraction[end..],
            _ => return false,
        },
        None => text,
    };
    let offset = zone.strip_prefix(['+', '-']);
    zone == "z" || offset.is_some_and(|offset| is_digits_with(offset, &[2, 2], |between| between == b':'))
}

/// A Go duration or, as in go-openapi, any text with a number and a unit in it: `2 weeks`.
pub fn is_duration(text: &str) -> bool {
    duration::parse_with_words(text).is_some()
}

/// `a@b`, optionally with a display name: `Ada <a@b>`.
pub fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(named) => match named.rsplit_once('<') {
            Some((_, address)) => address,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    (is_quoted || is_dotted(local)) && (is_dotted(domain) || domain.starts_with('[') && domain.ends_with(']'))
}

/// Atoms of an address, separated by dots.
fn is_dotted(text: &str) -> bool {
    let is_word = |letter: char| {
        !letter.is_ascii() || letter.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(letter)
    };
    text.split('.').all(|word| !word.is_empty() && word.chars().all(is_word))
}

/// A label (with a dash only as its second character), or labels separated by dots of which the last has only letters.
pub fn is_hostname(text: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || !letter.is_ascii();
    if text.len() > 255 || text.split('.').any(|part| part.is_empty() || part.len() > 63) {
        return false;
    }
    match text.rsplit_once('.') {
        None => {
            let mut letters = text.chars();
            letters.next().is_some_and(is_word) && {
                let rest = letters.as_str();
                rest.strip_prefix('-').unwrap_or(rest).chars().all(is_word)
            }
        }
        Some((before, last)) => {
            let is_part = |part: &str| {
                part.starts_with(is_word)
                    && part.ends_with(is_word)
                    && part.chars().all(|letter| letter == '-' || is_word(letter))
            };
            last.chars().count() >= 2
                && last.chars().all(char::is_alphabetic)
                && before.split('.').all(is_part)
        }
    }
}

fn without_spaces_and_dashes(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_whitespace() && *letter != '-').collect()
}

/// Ten digits with a checksum; `X` is ten.
pub fn is_isbn10(text: &str) -> bool {
    let text = without_spaces_and_dashes(text);
    let digits: Option<Vec<u32>> = text
        .chars()
        .enumerate()
        .map(|(place, letter)| if place == 9 && letter == 'X' { Some(10) } else { letter.to_digit(10) })
        .collect();
    digits.is_some_and(|digits| {
        let sum: u32 = (1..).zip(&digits).map(|(weight, digit)| weight * digit).sum();
        digits.len() == 10 && sum.is_multiple_of(11)
    })
}

/// Thirteen digits with a checksum.
pub fn is_isbn13(text: &str) -> bool {
    let text = without_spaces_and_dashes(text);
    let digits: Option<Vec<u32>> = text.chars().map(|letter| letter.to_digit(10)).collect();
    digits.is_some_and(|digits| {
        let sum: u32 = [1, 3].iter().cycle().zip(&digits).map(|(weight, digit)| weight * digit).sum();
        digits.len() == 13 && sum.is_multiple_of(10)
    })
}

/// 6, 8 or 20 bytes: groups of two digits with colons or dashes, or of four with dots.
pub fn is_mac(text: &str) -> bool {
    let groups_of = |separator: char, digits: usize, counts: [usize; 3]| {
        let groups: Vec<_> = text.split(separator).collect();
        counts.contains(&groups.len()) && groups.iter().all(|group| group.len() == digits && is_hex(group))
    };
    groups_of(':', 2, [6, 8, 20]) || groups_of('-', 2, [6, 8, 20]) || groups_of('.', 4, [3, 4, 10])
}

/// `rgb(0, 12, 255)`.
pub fn is_rgb(text: &str) -> bool {
    let parts = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    parts.is_some_and(|parts| {
        let parts: Vec<_> = parts.split(',').map(str::trim).collect();
        let is_part = |part: &&str| is_digits(part) && (*part == "0" || !part.starts_with('0'));
        parts.len() == 3 && parts.iter().all(|part| is_part(part) && part.parse::<u8>().is_ok())
    })
}

/// An absolute URI, or an absolute path.
pub fn is_uri(text: &str) -> bool {
    if text.is_empty() || text.chars().any(|letter| letter.is_ascii_control()) {
        return false;
    }
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    };
    let scheme_and_rest = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme));
    let (has_scheme, rest) = scheme_and_rest.map_or((false, text), |(_, rest)| (true, rest));
    let rest = rest.split('?').next().unwrap_or_default();
    match rest.strip_prefix("//").filter(|_| has_scheme) {
        Some(after) => {
            let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            is_authority(authority) && is_escaped(path)
        }
        None if rest.starts_with('/') => is_escaped(rest),
        None => has_scheme || text == "*",
    }
}

/// An optional user, a host, and an optional port.
fn is_authority(text: &str) -> bool {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let (name, port) = match (host.starts_with('['), host.rfind(']')) {
        (true, Some(end)) => host.split_at(end + 1),
        (true, None) => return false,
        (false, _) => host.split_at(host.rfind(':').unwrap_or(host.len())),
    };
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()));
    is_port && !name.contains([' ', '\\', '^', '`', '{', '}', '|']) && is_escaped(name)
}

/// Whether every percent sign is followed by two hexadecimal digits.
fn is_escaped(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| rest.get(..2).is_some_and(is_hex))
}

/// 32 digits, with or without dashes, of this version if one is given.
pub fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut rest = text;
    let mut groups = Vec::with_capacity(5);
    for digits in [8, 4, 4, 4, 12] {
        if !groups.is_empty() {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(digits).filter(|(group, _)| is_hex(group)) else {
            return false;
        };
        groups.push(group);
        rest = after;
    }
    let starts = |group: usize, with: &[u8]| {
        groups.get(group).and_then(|group| group.bytes().next()).is_some_and(|first| with.contains(&first))
    };
    rest.is_empty()
        && version.is_none_or(|version| starts(2, &[version]) && (version == b'3' || starts(3, b"89abAB")))
}
