//! Ingresses, with the endpoints of their backends, and IngressClasses.

use std::collections::BTreeMap;

use gantry_json::Value;

use super::endpoints::reachable;
use super::labels_annotations::{annotations, labels};
use super::{name_labels_annotations, or_none};
use crate::field::{list, number, shown, text};

/// The Services that an Ingress names, by name; or the error for those that could not be read.
pub(crate) type Backends = BTreeMap<String, Result<Backend, String>>;

/// A Service and its EndpointSlices.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    pub(crate) service: Value,
    pub(crate) slices: Vec<Value>,
}

/// The names of the Services that an Ingress sends requests to.
pub(crate) fn services(ingress: &Value) -> Vec<&str> {
    let rules = list(ingress, "/spec/rules").iter();
    let paths =
        rules.flat_map(|rule| list(rule, "/http/paths")).map(|path| text(path, "/backend/service/name"));
    let default = text(ingress, "/spec/defaultBackend/service/name");
    let mut names: Vec<&str> = paths.chain([default]).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// An Ingress.
pub(crate) fn ingress(ingress: &Value, backends: &Backends) -> String {
    let mut out = format!("Name:\t{}\n", text(ingress, "/metadata/name"));
    out += &labels("Labels:", "", ingress, "/metadata/labels");
    out += &format!("Namespace:\t{}\n", text(ingress, "/metadata/namespace"));
    let addresses = list(ingress, "/status/loadBalancer/ingress").iter().map(|one| match text(one, "/ip") {
        "" => text(one, "/hostname"),
        ip => ip,
    });
    let addresses: Vec<&str> = addresses.filter(|address| !address.is_empty()).collect();
    out += &format!("Address:\t{}\n", addresses.join(","));
    out += &format!("Ingress Class:\t{}\n", or_none(text(ingress, "/spec/ingressClassName")));
    let default = ingress.pointer("/spec/defaultBackend").map(|backend| described(backend, backends));
    out += &format!("Default backend:\t{}\n", default.as_deref().unwrap_or("<default>"));
    out += &certificates(list(ingress, "/spec/tls"));
    out += "Rules:\n  Host\tPath\tBackends\n  ----\t----\t--------\n";
    let rules: String =
        list(ingress, "/spec/rules").iter().map(|rule| described_rule(rule, backends)).collect();
    if rules.is_empty() {
        out += &format!("  *\t*\t{}\n", default.as_deref().unwrap_or("<default>"));
    }
    out += &rules;
    out + &annotations("Annotations:", "", ingress, "/metadata/annotations")
}

fn described_rule(rule: &Value, backends: &Backends) -> String {
    if rule.get("http").is_none() {
        return String::new();
    }
    let host = match text(rule, "/host") {
        "" => "*",
        host => host,
    };
    let mut out = format!("  {host}\t\n");
    for path in list(rule, "/http/paths") {
        out += &format!("    \t{} \t{}\n", text(path, "/path"), described(&path["backend"], backends));
    }
    out
}

fn certificates(tls: &[Value]) -> String {
    if tls.is_empty() {
        return String::new();
    }
    let mut out = String::from("TLS:\n");
    for one in tls {
        let hosts = list(one, "/hosts").iter().map(shown).collect::<Vec<_>>().join(",");
        out += &match text(one, "/secretName") {
            "" => format!("  SNI routes {hosts}\n"),
            secret => format!("  {secret} terminates {hosts}\n"),
        };
    }
    out
}

/// A backend and where it is: `web:80 (10.0.0.1:8080)`.
fn described(backend: &Value, backends: &Backends) -> String {
    if let Some(resource) = backend.get("resource") {
        let group = or_none(text(resource, "/apiGroup"));
        return format!(
            "APIGroup: {group}, Kind: {}, Name: {}",
            text(resource, "/kind"),
            text(resource, "/name")
        );
    }
    let name = text(backend, "/service/name");
    let (port_name, port) = (text(backend, "/service/port/name"), number(backend, "/service/port/number"));
    let shown_port = if port_name.is_empty() { port.to_string() } else { port_name.to_owned() };
    let endpoints = match backends.get(name) {
        None => String::new(),
        Some(Err(why)) => format!("<error: {why}>"),
        Some(Ok(Backend { service, slices })) => {
            let ports = list(service, "/spec/ports").iter();
            let mut named = ports.filter(|one| match port_name {
                "" => number(one, "/port") == port,
                name => text(one, "/name") == name,
            });
            reachable(slices, named.next().map_or("", |one| text(one, "/name")))
        }
    };
    format!("{name}:{shown_port} ({endpoints})")
}

/// An IngressClass.
pub(crate) fn ingress_class(class: &Value) -> String {
    let mut out =
        name_labels_annotations(class) + &format!("Controller:\t{}\n", text(class, "/spec/controller"));
    if let Some(parameters) = class.pointer("/spec/parameters") {
        out += "Parameters:\n";
        for (title, field) in [("APIGroup", "apiGroup"), ("Kind", "kind"), ("Name", "name")] {
            if let Some(value) = parameters.get(field) {
                out += &format!("  {title}:\t{}\n", shown(value));
            }
        }
    }
    out
}
