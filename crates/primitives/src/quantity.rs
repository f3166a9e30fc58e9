//! Quantities such as `500m` and `1Gi`, and their canonical form.
//!
//! A quantity has the format in which it was written: decimal suffixes, binary suffixes or an exponent. Its canonical
//! form has the same format, no fraction, and the largest suffix that keeps the number an integer. Values finer than a
//! billionth are rounded away from zero.
//!
//! The only arithmetic is addition and comparison, for quotas.

use std::fmt;

/// A quantity: `mantissa` times a power of ten, with the format in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    mantissa: i128,
    /// Power of ten; never below −9.
    exponent: i32,
    family: Family,
}

/// Why a text is not a quantity, with Kubernetes' wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAQuantity {
    /// It does not look like a number with a suffix.
    Form,
    /// There is no such suffix.
    Suffix,
}

/// The format of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// `500m`, `2`, `3M`.
    Decimal,
    /// `1Ki`, `512Mi`.
    Binary,
    /// `129e6`.
    Exponent,
}

/// The most digits that are kept.
const DIGITS_KEPT: usize = 19;
/// The limit of numbers with more digits.
const MOST: i128 = i64::MAX as i128;
const NANO: i32 = -9;
const MILLI: i32 = -3;
const DECIMAL: [(i32, &str); 10] =
    [(-9, "n"), (-6, "u"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P"), (18, "E")];
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    /// Parses a quantity.
    pub fn parse(text: &str) -> Result<Self, NotAQuantity> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let number_ends = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(number_ends);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if number.is_empty() || fraction.contains('.') || !looks_like_a_suffix(suffix) {
            return Err(NotAQuantity::Form);
        }
        let (family, scale) = scale_of(suffix).ok_or(NotAQuantity::Suffix)?;
        let digits = Digits::read(whole, fraction);
        let quantity = match family {
            Family::Binary => Self::binary(&digits, scale),
            _ => Self::rounded(digits.value, digits.exponent.saturating_add(scale), NANO, family)
                .held_below_the_most(digits.many),
        };
        Ok(if negative { Self { mantissa: -quantity.mantissa, ..quantity } } else { quantity })
    }

    /// The quantity in whole thousandths, rounded away from zero, as amounts of resources are stored.
    pub fn in_thousandths(self) -> Self {
        Self::rounded(self.mantissa, self.exponent, MILLI, self.family)
    }

    /// One.
    pub const ONE: Self = Self { mantissa: 1, exponent: 0, family: Family::Decimal };
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0, family: Family::Decimal };

    /// The quantity in billionths, for comparison, saturating.
    pub fn billionths(self) -> i128 {
        let steps = self.exponent.saturating_sub(NANO).unsigned_abs();
        let power = 10_i128.checked_pow(steps).unwrap_or(i128::MAX);
        self.mantissa.saturating_mul(power)
    }

    /// The sum, in the format of the left operand unless that is zero.
    pub fn plus(self, other: Self) -> Self {
        let family = if self.mantissa == 0 { other.family } else { self.family };
        let sum =
            Self { mantissa: self.billionths().saturating_add(other.billionths()), exponent: NANO, family };
        // A binary quantity is an integer; the sum of `1Ki` and `500m` is not, and becomes decimal.
        if family != Family::Binary {
            return sum.reduced();
        }
        let whole = 10_i128.pow(NANO.unsigned_abs());
        match sum.mantissa % whole {
            0 => Self { mantissa: sum.mantissa / whole, exponent: 0, family },
            _ => Self { family: Family::Decimal, ..sum }.reduced(),
        }
    }

    /// The negative quantity.
    pub fn negated(self) -> Self {
        Self { mantissa: self.mantissa.saturating_neg(), ..self }
    }

    /// The same without trailing zeros of the fraction.
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

    /// The value with no power of ten below `finest`, rounded up.
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

    fn held_below_the_most(self, many_digits: bool) -> Self {
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

    /// Mantissa and exponent with the exponent a multiple of three and as large as it can be.
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

/// The digits of a number: `value` times ten to the power of `exponent`.
struct Digits {
    value: i128,
    exponent: i32,
    /// Whether there were more digits than a 64-bit integer can always hold.
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

fn looks_like_a_suffix(suffix: &str) -> bool {
    let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    digits.bytes().all(|b| b.is_ascii_digit())
}

/// The format of a suffix and its power of ten, or of two for binary suffixes.
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
    /// Writes the canonical form.
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

impl fmt::Display for NotAQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            Self::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for NotAQuantity {}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        Quantity::parse(text).unwrap().to_string()
    }

    /// A2.7, O1.2: the largest suffix of its own format that keeps the number an integer.
    #[test]
    fn quantities_are_written_in_normal_form() {
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
            assert_eq!(normal(written), stored, "{written}");
        }
    }

    /// A2.7: amounts of resources have no more than three decimals, and are rounded up.
    #[test]
    fn resources_are_kept_in_thousandths() {
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

    /// Quotas (2.6) are sums; a sum has the format of its first operand, and compares by value whatever the suffix.
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

    /// A2.12: a binary amount that 1024 does not divide has no suffix, and so reads as decimal.
    #[test]
    fn a_binary_amount_without_suffix_is_read_as_decimal() {
        assert_eq!(normal(".54Ti"), "593736279000");
        assert_eq!(normal("593736279000"), "593736279k");
    }

    /// A2.12: an invalid quantity is refused.
    #[test]
    fn words_are_no_quantities() {
        for text in ["", "1x", "x", "1 Gi", "1.2.3", "--1", "1.5.", "Gi", "+"] {
            assert_eq!(Quantity::parse(text), Err(NotAQuantity::Form), "{text}");
        }
        for text in ["1KM", "1e", "1e99999999999", "1ki"] {
            assert_eq!(Quantity::parse(text), Err(NotAQuantity::Suffix), "{text}");
        }
    }

    proptest::proptest! {
        /// Numbers with few digits, since those with many are limited.
        #[test]
        fn a_normal_form_is_its_own(
            text in "[+-]?[0-9]{0,7}\\.?[0-9]{0,7}([numkMGTPE]|[KMGTPE]i|[eE]-?[0-9]{1,9})?"
        ) {
            if let Ok(quantity) = Quantity::parse(&text) {
                let own = |quantity: Quantity, again: Quantity| {
                    let written = quantity.to_string();
                    // A binary amount that 1024 does not divide reads as decimal.
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
        fn no_number_is_too_long(
            text in "[+-]?[0-9]{0,60}\\.?[0-9]{0,60}([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,12})?"
        ) {
            if let Ok(quantity) = Quantity::parse(&text) {
                proptest::prop_assert!(Quantity::parse(&quantity.to_string()).is_ok());
                proptest::prop_assert!(Quantity::parse(&quantity.in_thousandths().to_string()).is_ok());
            }
        }
    }
}
