//! IP addresses and CIDRs: `ip('::1').isLoopback()`, `cidr('10.0.0.0/8').containsIP('10.1.2.3')`.

use std::fmt;
use std::net::IpAddr;

use super::Called;
use crate::cost::{CostMeter, EvaluationError};
use crate::value::Value;

pub(super) const FUNCTIONS: &[&str] = &[
    "ip(string) IP",
    "isIP(string) bool",
    "ip.isCanonical(string) bool",
    "IP.family() int",
    "IP.isUnspecified() bool",
    "IP.isLoopback() bool",
    "IP.isLinkLocalMulticast() bool",
    "IP.isLinkLocalUnicast() bool",
    "IP.isGlobalUnicast() bool",
    "cidr(string) CIDR",
    "isCIDR(string) bool",
    "CIDR.containsIP(IP) bool",
    "CIDR.containsIP(string) bool",
    "CIDR.containsCIDR(CIDR) bool",
    "CIDR.containsCIDR(string) bool",
    "CIDR.ip() IP",
    "CIDR.masked() CIDR",
    "CIDR.prefixLength() int",
];

/// An address.
pub(crate) type Address = IpAddr;

/// A CIDR: an address and the length of its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: Address,
    bits: u32,
}

pub(super) fn call<'a>(name: &str, args: &[Value<'a>], meter: &mut CostMeter) -> Called<'a> {
    if let Some(Value::Text(text)) = args.last()
        && let Err(fault) = meter.traverse(text.len())
    {
        return Some(Err(fault));
    }
    Some(match (name, args) {
        ("ip", [Value::Text(text)]) => address(text).map(Value::Address),
        ("isIP", [Value::Text(text)]) => Ok(Value::Bool(address(text).is_ok())),
        ("ip.isCanonical", [Value::Text(text)]) => {
            address(text).map(|address| Value::Bool(address.to_string() == **text))
        }
        ("cidr", [Value::Text(text)]) => network(text).map(Value::Network),
        ("isCIDR", [Value::Text(text)]) => Ok(Value::Bool(network(text).is_ok())),
        ("containsIP", [Value::Network(network), Value::Address(address)]) => {
            Ok(Value::Bool(network.contains(*address)))
        }
        ("containsIP", [Value::Network(network), Value::Text(text)]) => {
            address(text).map(|address| Value::Bool(network.contains(address)))
        }
        ("containsCIDR", [Value::Network(one), Value::Network(other)]) => Ok(Value::Bool(one.covers(*other))),
        ("containsCIDR", [Value::Network(one), Value::Text(text)]) => {
            network(text).map(|other| Value::Bool(one.covers(other)))
        }
        (_, [Value::Network(network)]) => Ok(match name {
            "ip" => Value::Address(network.address),
            "masked" => Value::Network(network.masked()),
            "prefixLength" => Value::Int(i64::from(network.bits)),
            _ => return None,
        }),
        (_, [Value::Address(address)]) => Ok(match name {
            "family" => Value::Int(if address.is_ipv4() { 4 } else { 6 }),
            "isUnspecified" => Value::Bool(address.is_unspecified()),
            "isLoopback" => Value::Bool(address.is_loopback()),
            "isLinkLocalMulticast" => Value::Bool(is_link_local_multicast(*address)),
            "isLinkLocalUnicast" => Value::Bool(is_link_local(*address)),
            "isGlobalUnicast" => Value::Bool(is_global(*address)),
            _ => return None,
        }),
        _ => return None,
    })
}

/// Parses an address without a zone that is not an IPv4-mapped IPv6 address.
fn address(text: &str) -> Result<Address, EvaluationError> {
    match text.parse() {
        Ok(IpAddr::V6(six)) if six.to_ipv4_mapped().is_some() => {
            Err(EvaluationError::new(format!("IPv4-mapped IPv6 address {text:?} is not allowed")))
        }
        Ok(address) => Ok(address),
        Err(_) => {
            let why =
                format!("IP Address {text:?} parse error during conversion from string: unable to parse IP");
            Err(EvaluationError::new(why))
        }
    }
}

fn network(text: &str) -> Result<Network, EvaluationError> {
    let read = || {
        let (address_text, bits) = text.split_once('/')?;
        let address = address(address_text).ok()?;
        let is_number = bits.bytes().all(|b| b.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
        let bits: u32 = bits.parse().ok().filter(|_| is_number)?;
        (bits <= width(address)).then_some(Network { address, bits })
    };
    let why =
        || format!("network address parse error during conversion from string: network address {text:?}");
    read().ok_or_else(|| EvaluationError::new(why()))
}

fn width(address: Address) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn is_link_local_multicast(address: Address) -> bool {
    match address {
        IpAddr::V4(four) => four.octets()[..3] == [224, 0, 0],
        IpAddr::V6(six) => six.octets()[0] == 0xff && six.octets()[1] & 0x0f == 2,
    }
}

fn is_link_local(address: Address) -> bool {
    match address {
        IpAddr::V4(four) => four.is_link_local(),
        IpAddr::V6(six) => six.is_unicast_link_local(),
    }
}

fn is_global(address: Address) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(four) if four.is_broadcast());
    !(is_broadcast
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || is_link_local(address))
}

impl Network {
    fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(four) => {
                let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
                IpAddr::V4((u32::from(four) & mask).into())
            }
            IpAddr::V6(six) => {
                let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
                IpAddr::V6((u128::from(six) & mask).into())
            }
        };
        Self { address, ..self }
    }

    fn contains(self, address: Address) -> bool {
        self.address.is_ipv4() == address.is_ipv4()
            && Self { address, ..self }.masked().address == self.masked().address
    }

    fn covers(self, other: Self) -> bool {
        self.bits <= other.bits && self.contains(other.masked().address)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}
