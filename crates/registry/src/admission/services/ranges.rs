//! The ranges of cluster IPs and node ports.

use std::fmt;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The ranges of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRanges {
    /// Cluster IPs.
    pub addresses: AddressRange,
    /// Node ports.
    pub ports: RangeInclusive<u16>,
}

/// A range of addresses: `10.96.0.0/12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    first: u32,
    prefix_length: u32,
}

/// The text is not a valid range of cluster IPs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRange(String);

/// The longest prefix; a longer one leaves no usable addresses.
const PREFIX_LENGTH_MAX: u32 = 30;

impl AddressRange {
    /// The address of the service `kubernetes`.
    pub fn first(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.first + 1)
    }

    /// The network address.
    pub fn network(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.first)
    }

    /// Returns the number of usable addresses, without network and broadcast addresses.
    pub fn size(self) -> u32 {
        (u32::MAX >> self.prefix_length).saturating_sub(1)
    }

    /// Returns the usable address of this index.
    pub fn nth(self, number: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.first + 1 + number % self.size())
    }

    /// Whether the address is usable.
    pub fn contains(self, address: Ipv4Addr) -> bool {
        (self.first + 1..=self.first + self.size()).contains(&address.to_bits())
    }
}

impl Default for ServiceRanges {
    fn default() -> Self {
        let addresses = AddressRange { first: Ipv4Addr::new(10, 96, 0, 0).to_bits(), prefix_length: 12 };
        Self { addresses, ports: 30_000..=32_767 }
    }
}

impl FromStr for AddressRange {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let not = || InvalidRange(text.to_owned());
        let (address, length) = text.split_once('/').ok_or_else(not)?;
        let address: Ipv4Addr = address.parse().map_err(|_| not())?;
        let prefix_length: u32 = length.parse().map_err(|_| not())?;
        if !(1..=PREFIX_LENGTH_MAX).contains(&prefix_length) {
            return Err(not());
        }
        Ok(Self { first: address.to_bits() & !(u32::MAX >> prefix_length), prefix_length })
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.first), self.prefix_length)
    }
}

impl fmt::Display for InvalidRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(text) = self;
        write!(
            f,
            "{text:?} is not a range of service addresses such as 10.96.0.0/12, with at most /{PREFIX_LENGTH_MAX}"
        )
    }
}

impl std::error::Error for InvalidRange {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_last_address_of_a_range_are_not_allocated() {
        let range: AddressRange = "10.0.0.77/30".parse().unwrap();
        assert_eq!((range.to_string().as_str(), range.size()), ("10.0.0.76/30", 2));
        assert_eq!((range.first(), range.nth(1)), (Ipv4Addr::new(10, 0, 0, 77), Ipv4Addr::new(10, 0, 0, 78)));
        assert!(!range.contains(Ipv4Addr::new(10, 0, 0, 76)) && !range.contains(Ipv4Addr::new(10, 0, 0, 79)));
        assert_eq!(ServiceRanges::default().addresses.to_string(), "10.96.0.0/12");
        for wrong in ["10.0.0.0", "10.0.0.0/31", "10.0.0.0/0", "10.0.0/8", "::/64"] {
            assert!(wrong.parse::<AddressRange>().is_err(), "{wrong}");
        }
    }
}
