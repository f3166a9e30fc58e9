//! Resource quantities such as `500m` and `1Gi`, and their canonical form.
//!
//! A quantity belongs to the family in which it was written: decimal suffixes, binary suffixes or an exponent. Its
//! canonical form stays in the family, has no fraction, and has the largest suffix that keeps the number an integer.
//! Digits below a billionth are rounded away from zero.

use std::fmt;

/// A quantity: `mantissa` times a power of ten, of the family it was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    mantissa: i128,
    /// Power of ten; never below −9.
    exponent: i32,
    family: Family,
}

/// Why a text is not a quantity, with Kubernetes' message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidQuantity {
    /// It does not have the form of a number with a suffix.
    Form,
    /// The suffix is unknown.
    Suffix,
}

/// Returns the value of a quantity in billionths; `None` if it is invalid or too large.
pub fn parse_billionths(text: &str) -> Option<i128> {
    Quantity::parse(text).ok()?.checked_billionths()
}

/// The notation of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// `500m`, `2`, `3M`.
    Decimal,
    /// `1Ki`, `512Mi`.
    Binary,
    /// `129e6`.
    Exponent,
}

/// The number of significant digits that are kept.
const DIGITS_KEPT: usize = 19;
/// The value at which numbers with many digits are capped.
const MOST: i128 = i64::MAX as i128;
const NANO: i32 = -9;
const MILLI: i32 = -3;
const DECIMAL: [(i32, &str); 10] =
    [(-9, "n"), (-6, "u"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P"), (18, "E")];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Parses a quantity.
    pub fn parse(text: &str) -> Result<Self, InvalidQuantity> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let number_ends = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(number_ends);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if number.is_empty() || fraction.contains('.') || !is_suffix(suffix) {
            return Err(InvalidQuantity::Form);
        }
        let (family, scale) = scale_of(suffix).ok_or(InvalidQuantity::Suffix)?;
        let digits = Digits::read(whole, fraction);
        let quantity = match family {
            Family::Binary => Self::binary(&digits, scale),
            _ => Self::rounded(digits.value, digits.exponent.saturating_add(scale), NANO, family)
                .capped(digits.many),
        };
        Ok(if negative { Self { mantissa: -quantity.mantissa, ..quantity } } else { quantity })
    }

    /// Rounds to thousandths, away from zero, as amounts of resources are stored.
    pub fn in_thousandths(self) -> Self {
        Self::rounded(self.mantissa, self.exponent, MILLI, self.family)
    }

    /// One.
    pub const ONE: Self = Self { mantissa: 1, exponent: 0, family: Family::Decimal };
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0, family: Family::Decimal };

    /// Returns the value in billionths, by which quantities compare; saturates if it is too large.
    pub fn billionths(self) -> i128 {
        self.checked_billionths().unwrap_or(if self.mantissa < 0 { i128::MIN } else { i128::MAX })
    }

    /// Returns the value in billionths; `None` if it is too large.
    pub fn checked_billionths(self) -> Option<i128> {
        let steps = self.exponent.saturating_sub(NANO).unsigned_abs();
        let power = 10_i128.checked_pow(steps).or((self.mantissa == 0).then_some(1))?;
        self.mantissa.checked_mul(power)
    }

    /// Returns the sum, in the family of the left one unless that is zero.
    pub fn plus(self, other: Self) -> Self {
        let family = if self.mantissa == 0 { other.family } else { self.family };
        let sum =
            Self { mantissa: self.billionths().saturating_add(other.billionths()), exponent: NANO, family };
        // Binary quantities are integers; the sum of `1Ki` and `500m` is not and becomes decimal.
        if family != Family::Binary {
            return sum.reduced();
        }
        let whole = 10_i128.pow(NANO.unsigned_abs());
        match sum.mantissa % whole {
            0 => Self { mantissa: sum.mantissa / whole, exponent: 0, family },
            _ => Self { family: Family::Decimal, ..sum }.reduced(),
        }
    }

    /// Returns the negative quantity.
    pub fn negated(self) -> Self {
        Self { mantissa: self.mantissa.saturating_neg(), ..self }
    }

    /// Removes trailing zeros after the decimal point.
    fn reduced(mut self) -> Self {
        while self.exponent < 0 && self.mantissa % 10 == 0 {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        self
    }

    fn binary(digits: &Digits, power_of_two: i32) -> Self {
        let mantissa = digits.value << power_of_two;
        let whole = Self::rounded(mantissa, digits.exponent, 0, Family::Binary);
        let whole = if whole.exponent > 0 || whole.mantissa > MOST {
            Self { mantissa: MOST, exponent: 0, family: Family::Binary }
        } else {
            whole
        };
        // Below 1024 there is no binary suffix, and fractions are kept.
        if whole.mantissa < 1024 {
            return Self::rounded(mantissa, digits.exponent, NANO, Family::Decimal);
        }
        whole
    }

    /// Rounds away from zero to the power of ten `finest`.
    fn rounded(mantissa: i128, exponent: i32, finest: i32, family: Family) -> Self {
        if exponent >= finest {
            return Self { mantissa, exponent, family };
        }
        let steps = finest.abs_diff(exponent);
        let sign = mantissa.signum();
        let up = match 10_i128.checked_pow(steps) {
            Some(divisor) => {
                let size = mantissa.abs();
                size / divisor + i128::from(size % divisor != 0)
            }
            None => i128::from(mantissa != 0),
        };
        Self { mantissa: sign * up, exponent: finest, family }
    }

    fn capped(self, many_digits: bool) -> Self {
        let over = match u32::try_from(self.exponent) {
            Ok(exponent) => 10_i128.checked_pow(exponent).is_none_or(|power| self.mantissa > MOST / power),
            Err(_) => {
                10_i128.checked_pow(self.exponent.unsigned_abs()).is_some_and(|p| self.mantissa / p > MOST)
            }
        };
        if many_digits && over && self.mantissa > 0 {
            return Self { mantissa: MOST, exponent: 0, ..self };
        }
        self
    }

    /// Returns mantissa and exponent, with the largest exponent that is a multiple of three.
    fn by_thousands(self) -> (i128, i32) {
        let odd = self.exponent.rem_euclid(3);
        let (mut mantissa, mut exponent) = (self.mantissa, self.exponent - odd);
        for _ in 0..odd {
            mantissa *= 10;
        }
        let largest = if self.family == Family::Exponent { i32::MAX - 3 } else { 18 };
        while mantissa != 0 && mantissa % 1000 == 0 && exponent + 3 <= largest {
            mantissa /= 1000;
            exponent += 3;
        }
        (mantissa, if mantissa == 0 { 0 } else { exponent })
    }
}

/// The digits of a number: `value` times ten to the `exponent`.
struct Digits {
    value: i128,
    exponent: i32,
    /// Whether there were more digits than always fit into a 64-bit integer.
    many: bool,
}

impl Digits {
    fn read(whole: &str, fraction: &str) -> Self {
        let whole = whole.trim_start_matches('0');
        let digits = whole.bytes().chain(fraction.bytes());
        let (mut value, mut kept, mut dropped_something) = (0_i128, 0, false);
        let mut exponent = -i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        for digit in digits {
            if kept < DIGITS_KEPT {
                value = value * 10 + i128::from(digit - b'0');
                kept += usize::from(value != 0);
            } else {
                dropped_something |= digit != b'0';
                exponent += 1;
            }
        }
        // Dropped digits still round up.
        value += i128::from(dropped_something);
        let many = whole.len() + fraction.len() >= 18;
        let exponent = i32::try_from(exponent).unwrap_or(i32::MIN / 2);
        Self { value, exponent, many }
    }
}

fn is_suffix(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    digits.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the family of a suffix and its power of ten, or of two for binary ones.
fn scale_of(suffix: &str) -> Option<(Family, i32)> {
    if let Some((exponent, _)) = DECIMAL.iter().find(|(_, name)| *name == suffix) {
        return Some((Family::Decimal, *exponent));
    }
    if let Some((power, _)) = (1..).zip(&BINARY[1..]).find(|(_, name)| **name == suffix) {
        return Some((Family::Binary, power * 10));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    (exponent.abs() < i32::MAX / 4).then_some((Family::Exponent, exponent))
}

impl fmt::Display for Quantity {
    /// Formats the canonical form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.family == Family::Binary {
            let (mut number, mut thousands) = (self.mantissa, 0);
            while number != 0 && number % 1024 == 0 && thousands + 1 < BINARY.len() {
                number /= 1024;
                thousands += 1;
            }
            return write!(f, "{number}{}", BINARY[thousands]);
        }
        let (number, exponent) = self.by_thousands();
        match (self.family, DECIMAL.iter().find(|(power, _)| *power == exponent)) {
            (Family::Decimal, Some((_, suffix))) => write!(f, "{number}{suffix}"),
            (_, _) if exponent == 0 => write!(f, "{number}"),
            _ => write!(f, "{number}e{exponent}"),
        }
    }
}

impl fmt::Display for InvalidQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for InvalidQuantity {}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> String {
        Quantity::parse(text).unwrap().to_string()
    }

    /// A2.7, O1.2: the largest suffix of its own family that keeps the number whole.
    #[test]
    fn quantities_are_printed_in_canonical_form() {
        for (written, stored) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1000", "1k"),
            ("1500", "1500"),
            ("1024Mi", "1Gi"),
            ("0.5Gi", "512Mi"),
            ("1.5Gi", "1536Mi"),
            ("3000k", "3M"),
            ("1e3", "1e3"),
            ("129e6", "129e6"),
            ("1E3", "1e3"),
            ("1E", "1E"),
            ("12e4", "120e3"),
            ("5e-1", "500e-3"),
            ("0", "0"),
            ("0Gi", "0"),
            ("-0", "0"),
            ("-1500m", "-1500m"),
            ("-2000m", "-2"),
            ("+5", "5"),
            (".5", "500m"),
            ("1.", "1"),
            ("512", "512"),
            ("0.5Ki", "512"),
            (".001Ki", "1024m"),
            (".000000000001Ki", "2n"),
            ("1.1Ki", "1127"),
            ("128974848", "128974848"),
            ("1500M", "1500M"),
            ("99999999999999999999", "9223372036854775807"),
            ("100Ei", "9223372036854775807"),
        ] {
            assert_eq!(canonical(written), stored, "{written}");
        }
    }

    /// A2.7: amounts of resources have at most three decimals, and are rounded up.
    #[test]
    fn resources_are_stored_in_thousandths() {
        for (written, stored) in [
            ("100.5m", "101m"),
            ("5n", "1m"),
            ("0.0001", "1m"),
            ("-5n", "-1m"),
            ("2", "2"),
            ("1Ki", "1Ki"),
            ("1e-6", "1e-3"),
        ] {
            assert_eq!(Quantity::parse(written).unwrap().in_thousandths().to_string(), stored, "{written}");
        }
    }

    /// Quotas (A§2.6) are sums: a sum is in the family of its first part, and comparison ignores suffixes.
    #[test]
    fn quantities_add_up_and_compare_across_suffixes() {
        let of = |text: &str| Quantity::parse(text).unwrap();
        for (left, right, sum) in [
            ("500m", "500m", "1"),
            ("1Gi", "512Mi", "1536Mi"),
            ("0", "1Gi", "1Gi"),
            ("1Ki", "500m", "1024500m"),
            ("1", "-1", "0"),
        ] {
            assert_eq!(of(left).plus(of(right)).to_string(), sum, "{left} and {right}");
        }
        for (less, more) in [("1G", "1Gi"), ("128M", "129e6"), ("8E", "9E"), ("-1", "1n")] {
            assert!(of(less).billionths() < of(more).billionths(), "{less} and {more}");
        }
        assert_eq!(of("1").billionths(), of("1000m").billionths());
    }

    /// A2.12: a binary amount that no power of 1024 divides has no suffix, and is parsed as decimal again.
    #[test]
    fn a_binary_amount_without_suffix_is_parsed_as_decimal() {
        assert_eq!(canonical(".54Ti"), "593736279000");
        assert_eq!(canonical("593736279000"), "593736279k");
    }

    /// A2.12: invalid quantities are refused.
    #[test]
    fn invalid_quantities_are_refused() {
        for text in ["", "1x", "x", "1 Gi", "1.2.3", "--1", "1.5.", "Gi", "+"] {
            assert_eq!(Quantity::parse(text), Err(InvalidQuantity::Form), "{text}");
        }
        for text in ["1KM", "1e", "1e99999999999", "1ki"] {
            assert_eq!(Quantity::parse(text), Err(InvalidQuantity::Suffix), "{text}");
        }
    }

    /// Templates are compared by these values.
    #[test]
    fn equal_quantities_have_equal_values() {
        for (a, b) in [
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("1e3", "1k"),
            ("1E3", "1000"),
            ("+2", "2."),
            ("1500000u", "1.5"),
            ("0.0000000001", "1n"),
            ("-0.5", "-500m"),
            ("0", "0m"),
        ] {
            assert!(parse_billionths(a).is_some(), "{a}");
            assert_eq!(parse_billionths(a), parse_billionths(b), "{a} and {b}");
        }
        assert_ne!(parse_billionths("1M"), parse_billionths("1Mi"));
        assert_ne!(parse_billionths("1"), parse_billionths("-1"));
        for text in ["", "-", "abc", "1.2.3", "1X", "1e", "1e99", "-1e99", "1ee3", "é"] {
            assert_eq!(parse_billionths(text), None, "{text:?}");
        }
        assert_eq!(parse_billionths("0e99"), Some(0));
        assert_eq!(
            parse_billionths("99999999999999999999999999999Ei"),
            parse_billionths("9223372036854775807")
        );
    }

    proptest::proptest! {
        /// Numbers with many digits are capped, so these have few.
        #[test]
        fn a_canonical_form_is_stable(
            text in "[+-]?[0-9]{0,7}\\.?[0-9]{0,7}([numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]{1,9})?"
        ) {
            if let Ok(quantity) = Quantity::parse(&text) {
                let own = |quantity: Quantity, again: Quantity| {
                    let written = quantity.to_string();
                    // Parsed again, a binary amount that 1024 does not divide is decimal.
                    if quantity.family == Family::Binary && !written.ends_with('i') {
                        proptest::prop_assert_eq!(again.billionths(), quantity.billionths());
                    } else {
                        proptest::prop_assert_eq!(again.to_string(), written);
                    }
                    Ok(())
                };
                own(quantity, Quantity::parse(&quantity.to_string()).unwrap())?;
                let kept = quantity.in_thousandths();
                own(kept, Quantity::parse(&kept.to_string()).unwrap().in_thousandths())?;
            }
        }

        #[test]
        fn long_numbers_are_parsed(
            text in "[+-]?[0-9]{0,60}\\.?[0-9]{0,60}([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,12})?"
        ) {
            if let Ok(quantity) = Quantity::parse(&text) {
                proptest::prop_assert!(Quantity::parse(&quantity.to_string()).is_ok());
                proptest::prop_assert!(Quantity::parse(&quantity.in_thousandths().to_string()).is_ok());
            }
        }
    }
}
