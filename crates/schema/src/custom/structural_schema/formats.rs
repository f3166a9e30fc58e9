//! The formats of strings and numbers in schemas. Unknown formats are ignored.

use std::net::Ipv6Addr;

use super::SchemaType;
use gantry_primitives::names;
use gantry_primitives::text_formats::{
    address, is_base64, is_cidr, is_credit_card, is_date, is_date_time, is_digits_with, is_duration,
    is_email, is_hex, is_hostname, is_isbn10, is_isbn13, is_mac, is_rgb, is_uri, is_uuid,
};

/// A format that is validated.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Format {
    Int32,
    Int64,
    Float,
    Double,
    /// Of a string, with the name in the schema: `date-time` is also called `datetime`.
    Text(TextFormat, String),
}

/// A format of strings, as its place in [`TEXT_FORMATS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextFormat(usize);

/// Whether a string has a format.
type Check = fn(&str) -> bool;

/// The formats of strings by their names without dashes.
const TEXT_FORMATS: [(&str, Check); 26] = [
    ("bsonobjectid", |text| text.len() == 24 && is_hex(text)),
    ("byte", is_base64),
    ("cidr", is_cidr),
    ("creditcard", is_credit_card),
    ("date", is_date),
    ("datetime", is_date_time),
    ("duration", is_duration),
    ("email", is_email),
    ("hexcolor", is_hex_colour),
    ("hostname", is_hostname),
    ("ipv4", |text| text.contains('.') && address(text).is_some()),
    ("ipv6", |text| text.parse::<Ipv6Addr>().is_ok()),
    ("isbn", |text| is_isbn10(text) || is_isbn13(text)),
    ("isbn10", is_isbn10),
    ("isbn13", is_isbn13),
    ("k8slongname", |text| names::subdomain(text).is_empty()),
    ("k8sshortname", |text| names::label(text).is_empty()),
    ("mac", is_mac),
    ("password", |_| true),
    ("rgbcolor", is_rgb),
    ("ssn", is_social_security_number),
    ("uri", is_uri),
    ("uuid", |text| is_uuid(text, None)),
    ("uuid3", |text| is_uuid(text, Some(b'3'))),
    ("uuid4", |text| is_uuid(text, Some(b'4'))),
    ("uuid5", |text| is_uuid(text, Some(b'5'))),
];

impl Format {
    /// Parses the format of a value of this type.
    pub(super) fn read(name: &str, schema_type: Option<SchemaType>) -> Option<Self> {
        match (schema_type, name) {
            (Some(SchemaType::Integer), "int32") => Some(Self::Int32),
            (Some(SchemaType::Integer), "int64") => Some(Self::Int64),
            (Some(SchemaType::Number), "float") => Some(Self::Float),
            (Some(SchemaType::Number), "double") => Some(Self::Double),
            (None | Some(SchemaType::String | SchemaType::IntOrString), _) => {
                TextFormat::read(name).map(|format| Self::Text(format, name.to_owned()))
            }
            _ => None,
        }
    }

    /// The name in the schema.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Text(_, name) => name,
        }
    }
}

impl TextFormat {
    fn read(name: &str) -> Option<Self> {
        let name = name.replace('-', "");
        TEXT_FORMATS.iter().position(|(known, _)| *known == name).map(Self)
    }

    /// Whether a string has this format.
    pub(super) fn accepts(self, text: &str) -> bool {
        let (_, accepts) = TEXT_FORMATS[self.0];
        accepts(text)
    }
}

fn is_hex_colour(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && is_hex(digits)
}

fn is_social_security_number(text: &str) -> bool {
    text.len() == 11 && is_digits_with(text, &[3, 2, 4], |between| matches!(between, b'-' | b' '))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Appendix E: valid and invalid strings of each format.
    #[test]
    fn string_formats_are_validated() {
        let table: [(&str, &[&str], &[&str]); 26] = [
            ("bsonobjectid", &["507f1f77bcf86cd799439011"], &["507f1f77bcf86cd79943901", "z"]),
            ("byte", &["aGk=", "aGVsbG8h", "YQ=="], &["", "a", "a-b=", "YQ==YQ=="]),
            (
                "cidr",
                &["10.0.0.0/8", "010.0.0.0/8", "fd00::/64"],
                &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1"],
            ),
            ("creditcard", &["4111 1111 1111 1111"], &["4111111111111112", "1"]),
            ("date", &["2024-02-29"], &["2023-02-29", "2024-2-9", "2024-13-01", "24-02-29"]),
            (
                "date-time",
                &["2024-02-29T12:00:00Z", "2024-02-29t12:00:00.5+01:00"],
                &["2024-02-29", "2024-02-29T24:00:00Z", "2024-02-29T12:00:00", "2024-02-29 12:00:00Z"],
            ),
            ("duration", &["1h30m", "1.5s", "2 weeks", "0", "5µs"], &["", "h", "1", "1y", "forever"]),
            ("email", &["a@b", "Ada <ada@example.com>", "a.b+c@d.e"], &["a", "@b", "a@", "a..b@c", "a b@c"]),
            ("hexcolor", &["#fff", "a0B1c2"], &["#ff", "ggg"]),
            ("hostname", &["web", "a-b", "my-web.example.com"], &["", "my-web", "a..b", "-a.com", "a.b1"]),
            ("ipv4", &["10.0.0.1", "010.0.0.1"], &["10.0.0", "10.0.0.256", "::1", "a.b"]),
            ("ipv6", &["::1", "fd00::1", "::ffff:10.0.0.1"], &["10.0.0.1", "fd00::1%eth0", "::g"]),
            ("isbn", &["0321751043", "978-0321751041"], &["0321751044", ""]),
            ("isbn10", &["080442957X"], &["978-0321751041"]),
            ("isbn13", &["978-0321751041"], &["0321751043"]),
            ("k8s-long-name", &["a.b-c"], &["A", "a..b"]),
            ("k8s-short-name", &["a-b"], &["a.b", "-a"]),
            ("mac", &["00:1b:44:11:3a:b7", "001b.4411.3ab7"], &["00:1b:44:11:3a", "00:1b:44:11:3a:g7"]),
            ("password", &["", "x"], &[]),
            ("rgbcolor", &["rgb(0, 12,255)"], &["rgb(0,0)", "rgb(0,0,256)", "#fff"]),
            ("ssn", &["123-45-6789", "123 45 6789"], &["123456789", "123-45-678a"]),
            (
                "uri",
                &["https://example.com/a?b=c", "/a/b", "mailto:a@b", "http://[::1]:80/", "*"],
                &["", "a/b", "example.com", "http://a:port/", "http://a b/", "/%zz", "://a"],
            ),
            (
                "uuid",
                &["A987fbc9-4bed-3078-cf07-9141ba07c9f3", "a987fbc94bed3078cf079141ba07c9f3"],
                &["a987fbc9"],
            ),
            ("uuid3", &["a987fbc9-4bed-3078-cf07-9141ba07c9f3"], &["a987fbc9-4bed-4078-8f07-9141ba07c9f3"]),
            ("uuid4", &["a987fbc9-4bed-4078-8f07-9141ba07c9f3"], &["a987fbc9-4bed-4078-cf07-9141ba07c9f3"]),
            ("uuid5", &["a987fbc9-4bed-5078-af07-9141ba07c9f3"], &["a987fbc9-4bed-4078-8f07-9141ba07c9f3"]),
        ];
        for (name, good, bad) in table {
            let format = TextFormat::read(name).unwrap();
            for text in good {
                assert!(format.accepts(text), "{text:?} is {name}");
            }
            for text in bad {
                assert!(!format.accepts(text), "{text:?} is not {name}");
            }
        }
    }

    /// Appendix E: an unknown format, or one of another type, is ignored.
    #[test]
    fn unknown_formats_are_ignored() {
        assert_eq!(Format::read("colour", Some(SchemaType::String)), None);
        assert_eq!(Format::read("int32", Some(SchemaType::String)), None);
        assert_eq!(Format::read("date", Some(SchemaType::Integer)), None);
        assert_eq!(Format::read("int32", Some(SchemaType::Integer)), Some(Format::Int32));
        let date_time = TextFormat::read("datetime").unwrap();
        assert_eq!(Format::read("date-time", None), Some(Format::Text(date_time, "date-time".to_owned())));
    }

    proptest! {
        /// Any text can be checked against any format and pattern.
        #[test]
        fn any_text_can_be_validated(text in ".{0,20}|[0-9a-fT:./%+<>@\\[\\]{}^$(|)*?\\\\pQdswx-]{0,12}") {
            let names = [
                "byte", "cidr", "creditcard", "date", "datetime", "duration", "email", "hostname", "ipv4", "ipv6", "isbn",
                "mac", "rgbcolor", "ssn", "uri", "uuid",
            ];
            for name in names {
                let _ = TextFormat::read(name).map(|format| format.accepts(&text));
            }
            let _ = gantry_primitives::check_pattern(&text);
        }
    }
}
