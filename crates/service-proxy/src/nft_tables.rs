//! A ruleset as tables of nftables: chains, maps and sets, with rules in the syntax of `nft`.
//!
//! One table for each family of addresses. Service addresses are looked up in maps, so that the cost of a connection does not depend on
//! the number of Services; each port of a Service has a chain that selects an endpoint.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use crate::port_spec::{Protocol, TrafficPolicy};
use crate::ruleset::{External, Family, Group, GroupId, Route, Ruleset};

/// The bit of a packet's mark that selects connections to be masqueraded; it is kube-proxy's.
const MASQUERADE_MARK: u32 = 0x4000;

/// The tables of all families.
pub(crate) type NftTables = BTreeMap<Family, NftTable>;

/// The content of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NftTable {
    pub(crate) chains: BTreeMap<String, NftChain>,
    pub(crate) sets: BTreeMap<String, NftSet>,
}

/// A chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NftChain {
    /// The hook by which the kernel calls it; empty if only other chains do.
    pub(crate) hook: String,
    pub(crate) rules: Vec<String>,
}

/// A set, or a map to verdicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NftSet {
    pub(crate) is_map: bool,
    /// Its types and flags.
    pub(crate) declaration: String,
    /// The keys, with their values in a map.
    pub(crate) elements: BTreeMap<String, String>,
}

/// Returns a ruleset as tables. The table of IPv6 exists only if a Service needs it.
pub(crate) fn render(rules: &Ruleset) -> NftTables {
    let has_v6 = rules.cluster_ips.iter().any(IpAddr::is_ipv6);
    let families = Family::ALL.into_iter().filter(|family| *family == Family::V4 || has_v6);
    families.map(|family| (family, Renderer::of(family).table(rules))).collect()
}

impl Family {
    /// The family of the table, which is also the word for addresses in rules.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::V4 => "ip",
            Self::V6 => "ip6",
        }
    }
}

/// Renders the table of one family.
struct Renderer {
    family: Family,
    /// `ip` or `ip6`.
    ip: &'static str,
    table: NftTable,
}

impl Renderer {
    fn of(family: Family) -> Self {
        Self { family, ip: family.as_str(), table: NftTable::default() }
    }

    fn table(mut self, rules: &Ruleset) -> NftTable {
        let family = self.family;
        self.declare_sets();
        self.base_chains();
        for ((ip, protocol, port), route) in &rules.destinations {
            if Family::of(*ip) == family {
                let key = format!("{ip} . {} . {port}", protocol.as_str());
                self.route("service-ips", "unserved-ips", key, route);
            }
        }
        for ((of, protocol, port), route) in &rules.node_ports {
            if *of == family {
                let key = format!("{} . {port}", protocol.as_str());
                self.route("node-ports", "unserved-node-ports", key, route);
            }
        }
        for ip in rules.cluster_ips.iter().filter(|ip| Family::of(**ip) == family) {
            self.element("cluster-ips", ip.to_string(), String::new());
        }
        for (id, group) in rules.groups.iter().filter(|(id, _)| id.family == family) {
            self.group(id, group);
        }
        self.table
    }

    fn declare_sets(&mut self) {
        let address = self.address_type();
        let destination = format!("type {address} . inet_proto . inet_service : verdict;");
        let port = "type inet_proto . inet_service : verdict;".to_owned();
        self.declare("service-ips", true, destination.clone());
        self.declare("unserved-ips", true, destination);
        self.declare("node-ports", true, port.clone());
        self.declare("unserved-node-ports", true, port);
        self.declare("cluster-ips", false, format!("type {address};"));
        self.declare("hairpin", false, format!("type {address} . {address};"));
    }

    /// The chains that the kernel calls, and the chains that they share.
    fn base_chains(&mut self) {
        let ip = self.ip;
        let loopback = match self.family {
            Family::V4 => "127.0.0.0/8",
            Family::V6 => "::1",
        };
        let is_node_port =
            format!("fib daddr type local {ip} daddr != {loopback} meta l4proto . th dport vmap");
        let destination = format!("{ip} daddr . meta l4proto . th dport vmap");
        self.chain(
            "services",
            "",
            vec![format!("{destination} @service-ips"), format!("{is_node_port} @node-ports")],
        );
        self.chain(
            "refusals",
            "",
            vec![
                format!("{destination} @unserved-ips"),
                format!("{is_node_port} @unserved-node-ports"),
                format!("{ip} daddr @cluster-ips goto refuse"),
            ],
        );
        self.chain("refuse", "", vec!["reject".to_owned()]);
        let nat = |hook: &str, priority: i32| format!("type nat hook {hook} priority {priority};");
        self.chain("nat-prerouting", &nat("prerouting", -100), vec!["jump services".to_owned()]);
        self.chain("nat-output", &nat("output", -100), vec!["jump services".to_owned()]);
        if self.family == Family::V4 {
            // Where the API server listens on a loopback address, the kernel has to route to it from outside. Only
            // connections to a Service may have such a destination, after the translation: packets that have it before
            // are dropped.
            let early = "type filter hook prerouting priority -110;";
            let rule = format!("iifname != \"lo\" {ip} daddr {loopback} drop");
            self.chain("filter-prerouting", early, vec![rule]);
        }
        // The mark is removed: a packet that is encapsulated afterwards must not be masqueraded again.
        self.chain(
            "masquerade-marked",
            "",
            vec![format!("meta mark set meta mark and 0x{:08x} masquerade fully-random", !MASQUERADE_MARK)],
        );
        self.chain("nat-postrouting", &nat("postrouting", 100), vec![
            format!("meta mark and {MASQUERADE_MARK:#x} == {MASQUERADE_MARK:#x} goto masquerade-marked"),
            // A pod that reaches itself by a Service would respond to itself directly.
            format!("oifname != \"lo\" ct status dnat {ip} saddr . {ip} daddr @hairpin masquerade fully-random"),
        ]);
        // After the translation of addresses: a packet that still has the address of a Service has no endpoint.
        for hook in ["input", "forward", "output"] {
            let declaration = format!("type filter hook {hook} priority -90;");
            self.chain(
                &format!("filter-{hook}"),
                &declaration,
                vec!["ct state new jump refusals".to_owned()],
            );
        }
    }

    /// Adds the routes of connections to a key.
    fn route(&mut self, served: &str, unserved: &str, key: String, route: &Route) {
        match route {
            Route::Group(id) => self.element(served, key, format!("goto {}", chain_of(id))),
            Route::External(external) => {
                let chain = self.external(external);
                self.element(served, key, format!("goto {chain}"));
            }
            Route::Reject => self.element(unserved, key, "goto refuse".to_owned()),
            Route::Drop => self.element(unserved, key, "drop".to_owned()),
        }
    }

    /// Adds the chains of connections from outside; returns the first.
    fn external(&mut self, external: &External) -> String {
        let chain = format!("external/{}", external.port);
        let to_group =
            |id: &GroupId| format!("meta mark set meta mark or {MASQUERADE_MARK:#x} goto {}", chain_of(id));
        let masqueraded = external.masqueraded.as_ref().map(to_group);
        let rules = match external.policy {
            TrafficPolicy::Cluster => masqueraded.into_iter().collect(),
            TrafficPolicy::Local => {
                let of_node = masqueraded.map(|rule| format!("fib saddr type local {rule}"));
                let others =
                    external.local.as_ref().map_or("drop".to_owned(), |id| format!("goto {}", chain_of(id)));
                of_node.into_iter().chain([others]).collect()
            }
        };
        self.chain(&chain, "", rules);
        if external.sources.is_empty() {
            return chain;
        }
        let is_v6 = self.family == Family::V6;
        let sources: Vec<&str> =
            external.sources.iter().map(String::as_str).filter(|it| it.contains(':') == is_v6).collect();
        let limit = if sources.is_empty() {
            "drop".to_owned()
        } else {
            format!("{} saddr != {{ {} }} drop", self.ip, sources.join(", "))
        };
        let limited = format!("load-balancer/{}", external.port);
        self.chain(&limited, "", vec![limit, format!("goto {chain}")]);
        limited
    }

    fn group(&mut self, id: &GroupId, group: &Group) {
        for endpoint in &group.endpoints {
            self.element("hairpin", format!("{0} . {0}", endpoint.ip()), String::new());
        }
        let rules = match group.affinity {
            None => vec![balance(self.ip, group)],
            Some(timeout) => self.with_affinity(id, group, timeout.as_secs()),
        };
        self.chain(&chain_of(id), "", rules);
    }

    /// Adds a chain and a set of clients for each endpoint; returns the rules that select one.
    fn with_affinity(&mut self, id: &GroupId, group: &Group, seconds: u64) -> Vec<String> {
        let ip = self.ip;
        let (mut known, mut choices) = (Vec::new(), Vec::new());
        for (index, endpoint) in group.endpoints.iter().enumerate() {
            // Both groups of a Service share the affinity of an endpoint. Colons are not allowed in names.
            let suffix = format!("{}/{}/{}", id.port, endpoint.ip(), endpoint.port()).replace(':', ".");
            let (chain, clients) = (format!("endpoint/{suffix}"), format!("clients/{suffix}"));
            let address = self.address_type();
            self.declare(&clients, false, format!("type {address}; flags dynamic,timeout;"));
            self.chain(
                &chain,
                "",
                vec![
                    format!("update @{clients} {{ {ip} saddr timeout {seconds}s }}"),
                    to_endpoint(group.protocol, *endpoint),
                ],
            );
            known.push(format!("{ip} saddr @{clients} goto {chain}"));
            choices.push(format!("{index} : goto {chain}"));
        }
        known.push(format!("numgen random mod {} vmap {{ {} }}", choices.len(), choices.join(", ")));
        known
    }

    fn address_type(&self) -> &'static str {
        match self.family {
            Family::V4 => "ipv4_addr",
            Family::V6 => "ipv6_addr",
        }
    }

    fn declare(&mut self, name: &str, is_map: bool, declaration: String) {
        self.table.sets.insert(name.to_owned(), NftSet { is_map, declaration, elements: BTreeMap::new() });
    }

    fn element(&mut self, set: &str, key: String, value: String) {
        if let Some(set) = self.table.sets.get_mut(set) {
            set.elements.insert(key, value);
        }
    }

    fn chain(&mut self, name: &str, hook: &str, rules: Vec<String>) {
        self.table.chains.insert(name.to_owned(), NftChain { hook: hook.to_owned(), rules });
    }
}

/// Returns the name of the chain of a group.
fn chain_of(id: &GroupId) -> String {
    format!("{}/{}", if id.is_local { "local" } else { "cluster" }, id.port)
}

/// Returns the rule that sends a connection to an endpoint.
fn to_endpoint(protocol: Protocol, endpoint: SocketAddr) -> String {
    format!("meta l4proto {} dnat to {endpoint}", protocol.as_str())
}

/// Returns the rule that sends a connection to a random endpoint.
fn balance(ip: &str, group: &Group) -> String {
    if let [endpoint] = group.endpoints.as_slice() {
        return to_endpoint(group.protocol, *endpoint);
    }
    let choices: Vec<String> = (group.endpoints.iter().enumerate())
        .map(|(index, endpoint)| format!("{index} : {} . {}", endpoint.ip(), endpoint.port()))
        .collect();
    format!(
        "meta l4proto {} dnat {ip} to numgen random mod {} map {{ {} }}",
        group.protocol.as_str(),
        choices.len(),
        choices.join(", ")
    )
}
