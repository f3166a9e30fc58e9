//! IP addresses and ranges of them, in the one form that is accepted of new values.

use std::net::{IpAddr, Ipv6Addr};

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// An IP address such as `10.9.8.7`.
pub(super) fn ip(text: &str) -> Vec<String> {
    let Some((address, has_leading_zeros)) = parse(text) else { return vec![NO_ADDRESS.to_owned()] };
    let mut wrong = Vec::new();
    if has_leading_zeros {
        wrong.push("must not have leading 0s".to_owned());
    }
    if is_mapped(address) {
        wrong.push("must not be an IPv4-mapped IPv6 address".to_owned());
    }
    wrong
}

/// A range of addresses such as `10.9.8.0/24`.
pub(super) fn cidr(text: &str) -> Vec<String> {
    let Some(range) = Range::parse(text) else { return vec![NO_RANGE.to_owned()] };
    let mut wrong = Vec::new();
    if range.has_leading_zeros {
        wrong.push("must not have leading 0s in IP or prefix length".to_owned());
    }
    if is_mapped(range.address) {
        wrong.push("must not have an IPv4-mapped IPv6 address".to_owned());
    }
    if range.has_bits_beyond_prefix() {
        wrong.push("must not have bits set beyond the prefix length".to_owned());
    }
    wrong
}

/// The address that a text stands for, leading zeros or not.
pub(super) fn address(text: &str) -> Option<IpAddr> {
    parse(text).map(|(address, _)| address)
}

/// Whether of these ranges or addresses no two are of one family.
pub(super) fn are_of_different_families<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let mut seen = [false; 2];
    for text in texts {
        let first = text.split_once('/').map_or(text, |(address, _)| address);
        let Some(address) = address(first) else { continue };
        let family = &mut seen[usize::from(address.is_ipv6())];
        if std::mem::replace(family, true) {
            return false;
        }
    }
    true
}

struct Range {
    address: IpAddr,
    bits: u8,
    has_leading_zeros: bool,
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (first, length) = text.split_once('/')?;
        let (address, zeros) = parse(first)?;
        if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let bits: u8 = length.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let has_leading_zeros = zeros || length.len() > 1 && length.starts_with('0');
        (bits <= most).then_some(Self { address, bits, has_leading_zeros })
    }

    fn has_bits_beyond_prefix(&self) -> bool {
        match self.address {
            IpAddr::V4(address) => {
                u32::from(address).checked_shl(u32::from(self.bits)).is_some_and(|rest| rest != 0)
            }
            IpAddr::V6(address) => {
                u128::from(address).checked_shl(u32::from(self.bits)).is_some_and(|rest| rest != 0)
            }
        }
    }
}

/// The address, and whether a part of it had leading zeros.
fn parse(text: &str) -> Option<(IpAddr, bool)> {
    if let Ok(address) = text.parse() {
        return Some((address, false));
    }
    let parts: Vec<&str> = text.split('.').collect();
    let plain = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() != 4 || !parts.iter().all(plain) {
        return None;
    }
    let shortened: Vec<&str> = parts
        .iter()
        .map(|part| match part.trim_start_matches('0') {
            "" => "0",
            rest => rest,
        })
        .collect();
    shortened.join(".").parse().ok().map(|address| (address, true))
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if Ipv6Addr::to_ipv4_mapped(&address).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// O4.1: addresses and ranges are accepted in one form only.
    #[test]
    fn an_address_has_one_form() {
        assert_eq!(ip("10.9.8.7"), Vec::<String>::new());
        assert_eq!(ip("fd00::1"), Vec::<String>::new());
        assert_eq!(ip("web"), [NO_ADDRESS]);
        assert_eq!(ip("010.1.1.1"), ["must not have leading 0s"]);
        assert_eq!(ip("::ffff:1.2.3.4"), ["must not be an IPv4-mapped IPv6 address"]);
        assert_eq!(cidr("10.9.8.0/24"), Vec::<String>::new());
        assert_eq!(cidr("0.0.0.0/0"), Vec::<String>::new());
        assert_eq!(cidr("10.9.8.7"), [NO_RANGE]);
        assert_eq!(cidr("10.9.8.0/33"), [NO_RANGE]);
        assert_eq!(cidr("10.9.8.1/24"), ["must not have bits set beyond the prefix length"]);
        assert_eq!(cidr("010.0.0.0/8"), ["must not have leading 0s in IP or prefix length"]);
        assert!(are_of_different_families(["10.0.0.0/8", "fd00::/64"].into_iter()));
        assert!(!are_of_different_families(["10.0.0.0/8", "10.1.0.0/16"].into_iter()));
    }
}
