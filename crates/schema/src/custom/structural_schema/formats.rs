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

/// A format of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    Base64,
    BsonObjectId,
    Cidr,
    CreditCard,
    Date,
    DateTime,
    Duration,
    Email,
    HexColour,
    Hostname,
    Ipv4,
    Ipv6,
    Isbn,
    Isbn10,
    Isbn13,
    LongName,
    Mac,
    Password,
    RgbColour,
    ShortName,
    SocialSecurity,
    Uri,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
}

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
        Some(match name.replace('-', "").as_str() {
            "bsonobjectid" => Self::BsonObjectId,
            "byte" => Self::Base64,
            "cidr" => Self::Cidr,
            "creditcard" => Self::CreditCard,
            "date" => Self::Date,
            "datetime" => Self::DateTime,
            "duration" => Self::Duration,
            "email" => Self::Email,
            "hexcolor" => Self::HexColour,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "isbn" => Self::Isbn,
            "isbn10" => Self::Isbn10,
            "isbn13" => Self::Isbn13,
            "k8slongname" => Self::LongName,
            "k8sshortname" => Self::ShortName,
            "mac" => Self::Mac,
            "password" => Self::Password,
            "rgbcolor" => Self::RgbColour,
            "ssn" => Self::SocialSecurity,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid,
            "uuid3" => Self::Uuid3,
            "uuid4" => Self::Uuid4,
            "uuid5" => Self::Uuid5,
            _ => return None,
        })
    }

    /// Whether a string has this format.
    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Base64 => is_base64(text),
            Self::BsonObjectId => text.len() == 24 && is_hex(text),
            Self::Cidr => is_cidr(text),
            Self::CreditCard => is_credit_card(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Duration => is_duration(text),
            Self::Email => is_email(text),
            Self::HexColour => {
                let digits = text.strip_prefix('#').unwrap_or(text);
                matches!(digits.len(), 3 | 6) && is_hex(digits)
            }
            Self::Hostname => is_hostname(text),
            Self::Ipv4 => text.contains('.') && address(text).is_some(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Isbn => is_isbn10(text) || is_isbn13(text),
            Self::Isbn10 => is_isbn10(text),
            Self::Isbn13 => is_isbn13(text),
            Self::LongName => names::subdomain(text).is_empty(),
            Self::Mac => is_mac(text),
            Self::Password => true,
            Self::RgbColour => is_rgb(text),
            Self::ShortName => names::label(text).is_empty(),
            Self::SocialSecurity => {
                text.len() == 11 && is_digits_with(text, &[3, 2, 4], |between| matches!(between, b'-' | b' '))
            }
            Self::Uri => is_uri(text),
            Self::Uuid => is_uuid(text, None),
            Self::Uuid3 => is_uuid(text, Some(b'3')),
            Self::Uuid4 => is_uuid(text, Some(b'4')),
            Self::Uuid5 => is_uuid(text, Some(b'5')),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Appendix E: what a text of each format looks like.
    #[test]
    fn texts_have_formats() {
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
    fn other_formats_mean_nothing() {
        assert_eq!(Format::read("colour", Some(SchemaType::String)), None);
        assert_eq!(Format::read("int32", Some(SchemaType::String)), None);
        assert_eq!(Format::read("date", Some(SchemaType::Integer)), None);
        assert_eq!(Format::read("int32", Some(SchemaType::Integer)), Some(Format::Int32));
        assert_eq!(
            Format::read("date-time", None),
            Some(Format::Text(TextFormat::DateTime, "date-time".to_owned()))
        );
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
