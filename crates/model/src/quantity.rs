//! Resource quantities compared by value: `1000m` is `1`, `1Gi` is `1024Mi`.

/// The value of a quantity in billionths, the finest step of Kubernetes; `None` if it is malformed or too large, in
/// which case only its text can be compared.
pub fn in_nanos(written: &str) -> Option<i128> {
    let (negative, unsigned) = match written.as_bytes().first()? {
        b'-' => (true, &written[1..]),
        b'+' => (false, &written[1..]),
        _ => (false, written),
    };
    let number_ends = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(number_ends);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let (binary_power, decimal_power) = scale(suffix)?;
    let mantissa: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let shifted = mantissa.checked_mul(1_i128.checked_shl(binary_power)?)?;
    let exponent = decimal_power.checked_add(9)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let magnitude = if exponent >= 0 {
        shifted.checked_mul(10_i128.checked_pow(exponent.unsigned_abs())?)?
    } else {
        // Digits beyond a billionth round up, away from zero.
        let divisor = 10_i128.checked_pow(exponent.unsigned_abs())?;
        shifted.checked_add(divisor - 1)? / divisor
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// The factor of a suffix, as powers of two and of ten.
fn scale(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        exponent => (0, exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(in_nanos(a).is_some(), "{a}");
            assert_eq!(in_nanos(a), in_nanos(b), "{a} and {b}");
        }
        assert_ne!(in_nanos("1M"), in_nanos("1Mi"));
        assert_ne!(in_nanos("1"), in_nanos("-1"));
    }

    #[test]
    fn what_is_no_quantity_or_too_large_has_no_value() {
        for text in
            ["", "-", "abc", "1.2.3", "1X", "1e", "1e99", "99999999999999999999999999999Ei", "1ee3", "é"]
        {
            assert_eq!(in_nanos(text), None, "{text:?}");
        }
    }
}
