//! Links of proxied responses: those to the destination's own host lead back through the proxy.

use gantry_formats::percent;

/// How links are changed.
#[derive(Clone, Debug)]
pub(super) struct Links {
    /// The path of the proxy, escaped.
    prefix: String,
    /// The hosts of the destination: the address, and the host in the client's request.
    destination: String,
    client_host: String,
}

impl Links {
    pub(super) fn new(prefix: &str, destination: String, client_host: String) -> Self {
        Self { prefix: percent::encode_decoded_path(prefix).into_owned(), destination, client_host }
    }

    /// Returns the link through the proxy; `None` for links that are not changed: links to other hosts, and relative
    /// ones.
    pub(super) fn rewrite(&self, link: &str) -> Option<String> {
        let (origin, path) = split_origin(link);
        let origin = match host(origin) {
            "" => "",
            host if host == self.client_host => origin,
            host if host == self.destination => "",
            _ => return None,
        };
        if !path.starts_with('/') {
            return None;
        }
        let is_proxied = path.starts_with(&self.prefix);
        let prefix = if is_proxied { "" } else { self.prefix.as_str() };
        let rewritten = format!("{origin}{prefix}{path}");
        Some(rewritten).filter(|rewritten| rewritten != link)
    }
}

/// Splits a link into scheme and host, and the rest.
fn split_origin(link: &str) -> (&str, &str) {
    let scheme = ["http://", "https://", "//"]
        .into_iter()
        .find(|scheme| link.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let Some(scheme) = scheme else { return ("", link) };
    let host_end = link[scheme.len()..].find(['/', '?', '#']).map_or(link.len(), |end| scheme.len() + end);
    link.split_at(host_end)
}

fn host(origin: &str) -> &str {
    origin.split_once("//").map_or("", |(_, host)| host)
}

/// Returns Go's message if the path of a link has a malformed escape.
pub(super) fn check(link: &str) -> Result<(), String> {
    let path = link.split(['?', '#']).next().unwrap_or_default();
    for (at, _) in path.match_indices('%') {
        let escape: String = path[at..].chars().take(3).collect();
        let is_valid = escape.len() == 3 && escape[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_valid {
            return Err(format!("parse {link:?}: invalid URL escape {escape:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected links are those that kube-apiserver 1.37 makes of the `Location` of a pod.
    #[test]
    fn links_to_the_destination_lead_through_the_proxy() {
        let links = Links::new("/pods/p/proxy", "10.0.0.7:80".to_owned(), "127.0.0.1:6443".to_owned());
        for (link, rewritten) in [
            ("/there?x=1", Some("/pods/p/proxy/there?x=1")),
            ("http://10.0.0.7:80/a/", Some("/pods/p/proxy/a/")),
            ("HTTP://10.0.0.7:80/a", Some("/pods/p/proxy/a")),
            ("http://127.0.0.1:6443/q", Some("http://127.0.0.1:6443/pods/p/proxy/q")),
            ("https://example.com/a", None),
            ("//other/x", None),
            ("rel/x", None),
            ("#here", None),
            ("", None),
            ("mailto:a@b", None),
            ("/pods/p/proxy/y", None),
            ("http://10.0.0.7:80/pods/p/proxy/y", Some("/pods/p/proxy/y")),
        ] {
            assert_eq!(links.rewrite(link).as_deref(), rewritten, "{link}");
        }
    }

    #[test]
    fn malformed_escapes_are_named() {
        assert_eq!(check("/a%20b?x=%zz"), Ok(()));
        assert_eq!(check("%zz"), Err(r#"parse "%zz": invalid URL escape "%zz""#.to_owned()));
        assert_eq!(check("/é%é"), Err(r#"parse "/é%é": invalid URL escape "%é""#.to_owned()));
    }
}
