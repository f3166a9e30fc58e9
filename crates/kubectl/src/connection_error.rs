//! Explains connection errors: each cause has its own message and hint.

use std::error::Error;
use std::io;

use crate::failure::Failure;

/// Converts a connection error to a failure with a hint.
pub(crate) fn explain(error: &(dyn Error + 'static), server: &str) -> Failure {
    let mut why = Vec::new();
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(io) = cause.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::ConnectionRefused
        {
            return Failure::ConnectionRefused { address: address(server) };
        }
        why.push(cause.to_string());
        next = cause.source();
    }
    let all = why.join(": ");
    if all.contains("Connection refused") {
        return Failure::ConnectionRefused { address: address(server) };
    }
    Failure::Unreachable(explained(&all, why.last().map_or("", String::as_str), server))
}

/// Host and port of a server, without the rest of its address.
fn address(server: &str) -> String {
    let rest = server.split_once("://").map_or(server, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest).to_owned()
}

fn explained(all: &str, last: &str, server: &str) -> String {
    let lower = all.to_lowercase();
    if lower.contains("received fatal alert") && lower.contains("certificate") {
        return format!(
            "the server does not accept the client certificate: {last}\n\
             hint: it may have expired; get a new kubeconfig from the administrator of the cluster"
        );
    }
    if lower.contains("expired") {
        return format!(
            "tls: failed to verify certificate: the certificate of the server has expired\n\
             hint: renew it, or check the clock of this machine: {last}"
        );
    }
    // `BadSignature` means a CA of the same name with another key.
    let is_unknown =
        ["unknownissuer", "unknown issuer", "badsignature"].iter().any(|text| lower.contains(text));
    if is_unknown {
        return "tls: failed to verify certificate: certificate signed by unknown authority\n\
                hint: the kubeconfig may be of another cluster; check its certificate-authority-data, or name the right one \
                with --certificate-authority"
            .to_owned();
    }
    if lower.contains("not valid for name") || lower.contains("notvalidforname") {
        let name = all.split("for name \"").nth(1).and_then(|rest| rest.split('"').next());
        return format!(
            "tls: failed to verify certificate: the certificate of the server is not valid for {}\n\
             hint: use an address that it is valid for, or name one with --tls-server-name",
            name.map_or_else(|| address(server), str::to_owned)
        );
    }
    if lower.contains("invalid http version") || lower.contains("http/0.9") {
        return format!(
            "{} does not answer in plain HTTP\nhint: the address may begin with https://",
            address(server)
        );
    }
    if lower.contains("corrupt message") {
        return format!(
            "{} does not answer in TLS\nhint: the address may begin with http://",
            address(server)
        );
    }
    if lower.contains("dns error") || lower.contains("failed to lookup") || lower.contains("name resolution")
    {
        let host = address(server);
        let host = host.rsplit_once(':').map_or(host.as_str(), |(host, _)| host);
        return format!("dial tcp: lookup {host}: no such host\nhint: check the server of the kubeconfig");
    }
    if lower.contains("timed out") || lower.contains("deadline has elapsed") {
        return format!(
            "{} did not answer in time\nhint: check the server of the kubeconfig and the network; --request-timeout \
             says how long to wait",
            address(server)
        );
    }
    last.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(text: &str) -> String {
        explain(&io::Error::other(text.to_owned()), "https://10.0.0.1:6443/x").lines()
    }

    /// K0.3: a refused connection names the address.
    #[test]
    fn a_refused_connection_names_the_address() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        assert_eq!(
            explain(&refused, "https://10.0.0.1:6443").lines(),
            "The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n"
        );
    }

    /// Issue 6: each cause gets its own clear line.
    #[test]
    fn every_cause_has_its_own_line() {
        let causes = [
            ("invalid peer certificate: Expired", "certificate of the server has expired"),
            ("received fatal alert: CertificateExpired", "does not accept the client certificate"),
            ("invalid peer certificate: UnknownIssuer", "unknown authority"),
            ("invalid peer certificate: BadSignature", "unknown authority"),
            ("invalid peer certificate: certificate not valid for name \"x\"", "not valid for x\n"),
            ("invalid HTTP version parsed", "begin with https://"),
            ("received corrupt message of type InvalidContentType", "begin with http://"),
            ("dns error: failed to lookup", "no such host"),
            ("operation timed out", "did not answer in time"),
            ("something else", "something else"),
        ];
        for (cause, line) in causes {
            assert!(render(cause).contains(line), "{cause}: {}", render(cause));
        }
    }
}
