//! A NetworkPolicy: the traffic that it allows.

use gantry_json::Value;

use super::{go_time, heading};
use crate::field::{at, list, selector, shown, text};

/// A direction of traffic, and how it is printed.
struct Direction {
    name: &'static str,
    field: &'static str,
    peers: &'static str,
    preposition: &'static str,
    end: &'static str,
}

const INGRESS: Direction =
    Direction { name: "Ingress", field: "/spec/ingress", peers: "/from", preposition: "From", end: "source" };
const EGRESS: Direction =
    Direction { name: "Egress", field: "/spec/egress", peers: "/to", preposition: "To", end: "destination" };

/// A NetworkPolicy.
pub(crate) fn network_policy(policy: &Value) -> String {
    let created = go_time(at(policy, "/metadata/creationTimestamp"));
    let head = heading(policy);
    // The creation time is between the namespace and the labels.
    let mut out = head.replacen("\nLabels:", &format!("\nCreated on:\t{created}\nLabels:"), 1);
    let pods = match selector(policy, "/spec/podSelector") {
        none if none == "<none>" => {
            "<none> (Allowing the specific traffic to all pods in this namespace)".to_owned()
        }
        pods => pods,
    };
    out += &format!("Spec:\n  PodSelector:     {pods}\n");
    for direction in [INGRESS, EGRESS] {
        out += &direction.described(policy);
    }
    let types: Vec<String> = list(policy, "/spec/policyTypes").iter().map(shown).collect();
    out + &format!("  Policy Types: {}\n", types.join(", "))
}

impl Direction {
    fn described(&self, policy: &Value) -> String {
        let name = self.name.to_lowercase();
        if !list(policy, "/spec/policyTypes").iter().any(|one| one == self.name) {
            return format!("  Not affecting {name} traffic\n");
        }
        let rules = list(policy, self.field);
        let mut out = format!("  Allowing {name} traffic:\n");
        if rules.is_empty() {
            out += &format!("    <none> (Selected pods are isolated for {name} connectivity)\n");
        }
        let rules: Vec<String> = rules.iter().map(|rule| self.rule(rule)).collect();
        out + &rules.join("    ----------\n")
    }

    fn rule(&self, rule: &Value) -> String {
        let Self { preposition, end, .. } = self;
        let mut out: String = list(rule, "/ports").iter().map(port).collect();
        if out.is_empty() {
            out.push_str("    To Port: <any> (traffic allowed to all ports)\n");
        }
        let peers = list(rule, self.peers);
        if peers.is_empty() {
            out += &format!("    {preposition}: <any> (traffic not restricted by {end})\n");
        }
        for one in peers {
            out += &format!("    {preposition}:\n{}", peer(one));
        }
        out
    }
}

fn port(port: &Value) -> String {
    let protocol = match text(port, "/protocol") {
        "" => "TCP",
        protocol => protocol,
    };
    let number = port.get("port").map_or_else(|| "<nil>".to_owned(), shown);
    match port.get("endPort") {
        Some(end) => format!("    To Port Range: {number}-{}/{protocol}\n", shown(end)),
        None => format!("    To Port: {number}/{protocol}\n"),
    }
}

fn peer(peer: &Value) -> String {
    if let Some(block) = peer.get("ipBlock") {
        let except: Vec<String> = list(block, "/except").iter().map(shown).collect();
        return format!(
            "      IPBlock:\n        CIDR: {}\n        Except: {}\n",
            text(block, "/cidr"),
            except.join(", ")
        );
    }
    let mut out = String::new();
    for (title, field) in [("NamespaceSelector", "namespaceSelector"), ("PodSelector", "podSelector")] {
        if peer.get(field).is_some() {
            out += &format!("      {title}: {}\n", selector(peer, &format!("/{field}")));
        }
    }
    out
}
