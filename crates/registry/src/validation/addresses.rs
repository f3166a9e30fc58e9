//! Validates IP addresses and CIDR blocks.

use std::net::IpAddr;

use gantry_json::json;

use super::error_list::{ErrorList, Path};

const NOT_AN_IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NOT_A_CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// A CIDR block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    address: IpAddr,
    prefix: u8,
}

/// Parses an address. Accepts leading zeros in IPv4 octets, which get an error of their own.
pub(crate) fn parse_ip(text: &str) -> Option<IpAddr> {
    text.parse().or_else(|_| without_leading_zeros(text).parse()).ok()
}

/// Reports a string that is not an IP address, or one that programs parse differently.
pub(crate) fn ip(errors: &mut ErrorList, at: &Path<'_>, text: &str) {
    if let Some(why) = not_an_ip(text) {
        errors.invalid(at, &json!(text), why);
    }
}

/// Reports a string that is not an IP address in canonical form.
pub(crate) fn canonical_ip(errors: &mut ErrorList, at: &Path<'_>, text: &str) {
    if let Some(why) = not_canonical(text) {
        errors.invalid(at, &json!(text), why);
    }
}

/// Returns why a string is not an IP address in canonical form.
pub(crate) fn not_canonical(text: &str) -> Option<String> {
    if let Some(why) = not_an_ip(text) {
        return Some(why.to_owned());
    }
    let address = parse_ip(text).filter(|address| address.to_string() != text)?;
    Some(format!("must be in canonical form (\"{address}\")"))
}

fn not_an_ip(text: &str) -> Option<&'static str> {
    let Some(address) = parse_ip(text) else { return Some(NOT_AN_IP) };
    if text.parse::<IpAddr>().is_err() {
        return Some("must not have leading 0s");
    }
    is_mapped(address).then_some("must not be an IPv4-mapped IPv6 address")
}

/// Reports an address that cannot be the address of an endpoint.
pub(crate) fn endpoint_ip(errors: &mut ErrorList, at: &Path<'_>, text: &str) {
    let Some(address) = parse_ip(text).map(|address| address.to_canonical()) else {
        return errors.invalid(at, &json!(text), "must be a valid IP address");
    };
    let (is_link_local, is_link_local_multicast) = match address {
        IpAddr::V4(four) => (four.is_link_local(), four.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(six) => {
            let [first, second, ..] = six.octets();
            (six.is_unicast_link_local(), first == 0xff && second & 0x0f == 0x02)
        }
    };
    if address.is_unspecified() {
        errors.invalid(at, &json!(text), format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        errors.invalid(at, &json!(text), "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if is_link_local {
        errors.invalid(at, &json!(text), "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if is_link_local_multicast {
        errors.invalid(
            at,
            &json!(text),
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        );
    }
}

/// Parses a block. Accepts leading zeros in IPv4 octets.
pub(crate) fn parse_cidr(text: &str) -> Option<Block> {
    let (address, prefix) = text.split_once('/')?;
    let address = parse_ip(address)?;
    let is_number = !prefix.is_empty() && prefix.bytes().all(|digit| digit.is_ascii_digit());
    let prefix = if is_number { prefix.parse::<u8>().ok()? } else { return None };
    (prefix <= bits(address)).then_some(Block { address, prefix })
}

/// Reports a string that is not a CIDR block, or one that programs parse differently.
pub(crate) fn cidr(errors: &mut ErrorList, at: &Path<'_>, text: &str) {
    let Some(block) = parse_cidr(text) else {
        return errors.invalid(at, &json!(text), NOT_A_CIDR);
    };
    let (address, prefix) = text.split_once('/').unwrap_or((text, ""));
    if address.parse::<IpAddr>().is_err() || prefix.len() > 1 && prefix.starts_with('0') {
        errors.invalid(at, &json!(text), "must not have leading 0s in IP or prefix length");
    } else if is_mapped(block.address) {
        errors.invalid(at, &json!(text), "must not have an IPv4-mapped IPv6 address");
    } else if block.masked().address != block.address {
        errors.invalid(at, &json!(text), "must not have bits set beyond the prefix length");
    }
}

/// Reports a string that is not a CIDR block in canonical form.
pub(crate) fn canonical_cidr(errors: &mut ErrorList, at: &Path<'_>, text: &str) {
    let before = errors.all.len();
    cidr(errors, at, text);
    let canonical = parse_cidr(text).map(|block| format!("{}/{}", block.address, block.prefix));
    if let Some(canonical) = canonical.filter(|canonical| canonical != text)
        && errors.all.len() == before
    {
        errors.invalid(at, &json!(text), format!("must be in canonical form (\"{canonical}\")"));
    }
}

/// Whether no two of these addresses or blocks are of the same family.
pub(crate) fn are_of_different_families<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = [false; 2];
    for text in texts {
        let Some(address) = parse_ip(text.split_once('/').map_or(text, |(address, _)| address)) else {
            continue;
        };
        if std::mem::replace(&mut seen[usize::from(address.is_ipv6())], true) {
            return false;
        }
    }
    true
}

/// Returns a warning about an IPv6 address that is not in canonical form.
pub(crate) fn ip_warning(at: &Path<'_>, text: &str) -> Option<String> {
    let address: IpAddr = text.parse().ok()?;
    (address.is_ipv6() && address.to_string() != text).then(|| {
        format!("{at}: IPv6 address \"{text}\" should be in RFC 5952 canonical format (\"{address}\")")
    })
}

/// Returns a warning about an IPv6 block that is not in canonical form.
pub(crate) fn cidr_warning(at: &Path<'_>, text: &str) -> Option<String> {
    let block = parse_cidr(text)?;
    let canonical = format!("{}/{}", block.address, block.prefix);
    (block.address.is_ipv6() && canonical != text).then(|| {
        format!("{at}: IPv6 CIDR value \"{text}\" should be in RFC 5952 canonical format (\"{canonical}\")")
    })
}

impl Block {
    /// Whether the other block is a proper subset of this one.
    pub(crate) fn strictly_contains(self, other: Self) -> bool {
        let shortened = Self { prefix: self.prefix.min(bits(other.address)), ..other };
        self.address.is_ipv4() == other.address.is_ipv4()
            && self.prefix < other.prefix
            && shortened.masked().address == self.masked().address
    }

    /// Returns the block with the bits after the prefix cleared.
    fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(four) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                IpAddr::V4((u32::from(four) & mask).into())
            }
            IpAddr::V6(six) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                IpAddr::V6((u128::from(six) & mask).into())
            }
        };
        Self { address, ..self }
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(six) if six.to_ipv4_mapped().is_some())
}

/// Returns the string without leading zeros in the octets of its IPv4 part.
fn without_leading_zeros(text: &str) -> String {
    let start = text.rfind(':').map_or(0, |colon| colon + 1);
    let (head, dotted) = text.split_at(start);
    if !dotted.contains('.') {
        return text.to_owned();
    }
    let octets = dotted.split('.').map(|octet| match octet.trim_start_matches('0') {
        "" if !octet.is_empty() => "0",
        digits => digits,
    });
    format!("{head}{}", octets.collect::<Vec<_>>().join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(rule: fn(&mut ErrorList, &Path<'_>, &str), text: &str) -> Vec<String> {
        let mut errors = ErrorList::default();
        rule(&mut errors, &Path::new("a"), text);
        errors.all.iter().map(crate::FieldError::message).collect()
    }

    #[test]
    fn an_address_is_written_without_leading_zeros_and_not_mapped() {
        assert_eq!(wrong(ip, "10.0.0.1"), [""; 0]);
        assert_eq!(wrong(ip, "FE80::1"), [""; 0]);
        assert_eq!(wrong(ip, "10.0.0"), [format!("Invalid value: \"10.0.0\": {NOT_AN_IP}")]);
        assert_eq!(wrong(ip, "010.0.0.1"), ["Invalid value: \"010.0.0.1\": must not have leading 0s"]);
        let mapped = "must not be an IPv4-mapped IPv6 address";
        assert_eq!(wrong(ip, "::ffff:1.2.3.4"), [format!("Invalid value: \"::ffff:1.2.3.4\": {mapped}")]);
        let canonical = "Invalid value: \"FE80::1\": must be in canonical form (\"fe80::1\")";
        assert_eq!(wrong(canonical_ip, "FE80::1"), [canonical]);
    }

    #[test]
    fn a_block_has_no_bits_behind_its_prefix() {
        assert_eq!(wrong(cidr, "10.0.0.0/8"), [""; 0]);
        let bits = "must not have bits set beyond the prefix length";
        assert_eq!(wrong(cidr, "10.0.0.1/8"), [format!("Invalid value: \"10.0.0.1/8\": {bits}")]);
        assert_eq!(wrong(cidr, "10.0.0.0/33"), [format!("Invalid value: \"10.0.0.0/33\": {NOT_A_CIDR}")]);
        let zeros = "must not have leading 0s in IP or prefix length";
        assert_eq!(wrong(cidr, "10.0.0.0/08"), [format!("Invalid value: \"10.0.0.0/08\": {zeros}")]);
        let block = |text| parse_cidr(text).unwrap_or(Block { address: [0, 0, 0, 0].into(), prefix: 0 });
        assert!(block("10.0.0.0/8").strictly_contains(block("10.1.0.0/16")));
        assert!(!block("10.0.0.0/8").strictly_contains(block("11.1.0.0/16")));
        assert!(!block("10.0.0.0/8").strictly_contains(block("10.0.0.0/8")));
        assert!(are_of_different_families(["10.0.0.0/8", "fd00::/64"].into_iter()));
        assert!(!are_of_different_families(["10.0.0.0/8", "10.1.0.0/16"].into_iter()));
    }

    #[test]
    fn endpoints_have_addresses_that_others_can_reach() {
        assert_eq!(wrong(endpoint_ip, "10.1.2.3"), [""; 0]);
        for (text, why) in [
            ("0.0.0.0", "may not be unspecified (0.0.0.0)"),
            ("127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"),
            ("169.254.0.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
            ("224.0.0.1", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
        ] {
            assert_eq!(wrong(endpoint_ip, text), [format!("Invalid value: \"{text}\": {why}")]);
        }
    }
}
