//! The value of `--listen`, as Go programs take it: `127.0.0.1:6443`, `localhost:6443`, `[::1]:6443`, `:6443`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};

/// Parses an address. Without a host it is all interfaces, as in Go programs.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong =
        || format!("{text:?} is not an address: use HOST:PORT, such as 127.0.0.1:6443 or localhost:0");
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if bare.is_none() && host.contains(':') {
        return Err(wrong());
    }
    let host = bare.unwrap_or(host);
    if host.is_empty() {
        return Ok(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)));
    }
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let found =
        (host, port).to_socket_addrs().map_err(|error| format!("the host {host:?} is unknown: {error}"))?;
    let found: Vec<SocketAddr> = found.collect();
    // A kubeconfig for 127.0.0.1 works everywhere, one for ::1 does not.
    let chosen = found.iter().find(|address| address.is_ipv4()).or(found.first());
    chosen.copied().ok_or_else(|| format!("the host {host:?} has no address"))
}

/// The warning about an address that other machines can reach.
pub(super) fn exposure_warning(address: SocketAddr) -> Option<String> {
    (!address.ip().is_loopback()).then(|| {
        format!(
            "{address} can be reached by other machines, and accepts every certificate and token of this cluster; see \
             docs/security.md"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        address(text).map(|address| address.to_string())
    }

    #[test]
    fn addresses_are_parsed_as_by_go() {
        assert_eq!(read("127.0.0.1:6443").as_deref(), Ok("127.0.0.1:6443"));
        assert_eq!(read("localhost:1").as_deref(), Ok("127.0.0.1:1"));
        assert_eq!(read(":1").as_deref(), Ok("0.0.0.0:1"));
        assert_eq!(read("[::1]:8080").as_deref(), Ok("[::1]:8080"));
    }

    #[test]
    fn an_address_beyond_loopback_is_warned_of() {
        let warning = |text: &str| exposure_warning(address(text).unwrap());
        for here in ["127.0.0.1:6443", "localhost:1", "[::1]:8080"] {
            assert_eq!(warning(here), None);
        }
        for beyond in [":6443", "0.0.0.0:1", "[::]:1", "192.0.2.1:6443"] {
            let message = warning(beyond).unwrap();
            assert!(
                message.contains("reached by other machines") && message.contains("docs/security.md"),
                "{message}"
            );
        }
    }

    #[test]
    fn an_invalid_address_gets_an_example() {
        for wrong in ["6443", "nowhere", "127.0.0.1:", "127.0.0.1:70000", "::1:80"] {
            assert!(read(wrong).is_err_and(|message| message.contains("such as 127.0.0.1:6443")), "{wrong}");
        }
    }
}
