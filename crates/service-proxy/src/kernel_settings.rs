//! Kernel settings that the routes of Services need.

use std::path::Path;

/// Enables the translation of addresses for packets that pass a bridge: otherwise responses between two pods of one
/// bridge keep the pod's address, and the client does not recognize them.
pub(crate) fn prepare_bridges() {
    let directory = Path::new("/proc/sys/net/bridge");
    if !directory.exists() {
        tracing::warn!(
            "the kernel module br_netfilter is not loaded: pods on a bridge do not reach each other by Services (modprobe \
             br_netfilter)"
        );
        return;
    }
    for name in ["bridge-nf-call-iptables", "bridge-nf-call-ip6tables"] {
        switch_on(&directory.join(name));
    }
}

/// Enables routes to loopback addresses from pods. A rule drops packets that were sent to one from outside.
pub(crate) fn allow_routes_to_loopback() {
    switch_on(Path::new("/proc/sys/net/ipv4/conf/all/route_localnet"));
}

fn switch_on(setting: &Path) {
    let is_off = std::fs::read_to_string(setting).is_ok_and(|value| value.trim() == "0");
    if is_off && let Err(error) = std::fs::write(setting, "1\n") {
        tracing::warn!(%error, "cannot set {}", setting.display());
    }
}
