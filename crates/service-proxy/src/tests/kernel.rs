//! The kernel accepts the transactions, in a separate network namespace. Skipped where that is not permitted.

#![allow(clippy::print_stderr, reason = "skipped tests are reported")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use gantry_json::json;

use super::{here, ready, rules, service, terminating};
use crate::nft_tables::{NftTables, render};
use crate::script::{Installed, transaction};

/// All kinds of rules.
fn states() -> Vec<NftTables> {
    let ports = json!([{"name": "http", "port": 80, "nodePort": 30080, "protocol": "TCP"}]);
    let plain = service(&json!({}));
    let local =
        service(&json!({"externalTrafficPolicy": "Local", "internalTrafficPolicy": "Local", "ports": ports}));
    let sticky =
        service(&json!({"sessionAffinity": "ClientIP", "externalTrafficPolicy": "Cluster", "ports": ports}));
    let both = json!([ready("10.1.0.1", "here"), ready("10.1.0.2", "there")]);
    let elsewhere = json!([ready("10.1.0.2", "there"), terminating("10.1.0.3", "there")]);
    let of = |ports, endpoints| render(&rules(ports, endpoints, &here()));
    vec![
        of(vec![], &json!([])),
        of(plain.clone(), &both),
        of(sticky.clone(), &both),
        of(sticky, &json!([ready("10.1.0.2", "there")])),
        of(local.clone(), &both),
        of(local, &elsewhere),
        of(plain, &json!([])),
        of(with_v6(), &both),
        of(vec![], &json!([])),
    ]
}

fn with_v6() -> Vec<crate::port_spec::PortSpec> {
    let object = json!({
        "metadata": {"name": "six", "namespace": "shop"},
        "spec": {
            "type": "LoadBalancer", "clusterIP": "fd00::7", "clusterIPs": ["fd00::7", "10.96.0.8"],
            "externalIPs": ["192.0.2.9"], "loadBalancerSourceRanges": ["198.51.100.0/24", "fd01::/64"],
            "sessionAffinity": "ClientIP", "ports": [{"name": "http", "port": 80, "nodePort": 30081}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.1"}]}},
    });
    crate::port_spec::PortSpec::of(&gantry_json::from_value(object).unwrap())
}

/// Runs shell commands in a new network namespace; returns the output, or the error.
fn in_namespace(commands: &str) -> Result<String, String> {
    let mut shell = Command::new("unshare")
        .args(["--net", "sh", "-e"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    shell.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[test]
fn the_kernel_takes_every_transaction_and_ends_with_the_same_tables_as_after_a_new_start() {
    if let Err(why) = in_namespace("nft list ruleset") {
        eprintln!(
            "skipped: the service proxy's tables in the kernel, because nft cannot be used: {}",
            why.trim()
        );
        return;
    }
    let transactions = |states: &[NftTables]| {
        let mut installed = Installed::Unknown;
        let mut commands = String::new();
        for state in states {
            let script = transaction("t", &installed, state);
            commands.extend(["nft -f - <<'END'\n", &script, "\nEND\n"]);
            installed = Installed::Known(state.clone());
        }
        commands + "nft list ruleset\n"
    };
    let all = states();
    for (index, last) in all.iter().enumerate() {
        let step_by_step = in_namespace(&transactions(&all[..=index])).unwrap();
        let at_once = in_namespace(&transactions(std::slice::from_ref(last))).unwrap();
        assert_eq!(sorted(&step_by_step), sorted(&at_once), "state {index}");
    }
}

/// A restarted agent finds tables, and changes them to the wanted ones.
#[test]
fn the_kernel_takes_the_transaction_of_a_restarted_agent() {
    if in_namespace("nft list ruleset").is_err() {
        return;
    }
    let all = states();
    let begin = |script: &str| format!("nft -f - <<'END'\n{script}\nEND\n");
    for (old, new) in all.iter().zip(all.iter().skip(1)) {
        let first = begin(&transaction("t", &Installed::Unknown, old));
        let second = begin(&transaction("t", &Installed::Found(emptied(old)), new));
        let restarted = in_namespace(&format!("{first}{second}nft list ruleset\n")).unwrap();
        let fresh = begin(&transaction("t", &Installed::Unknown, new));
        let at_once = in_namespace(&format!("{fresh}nft list ruleset\n")).unwrap();
        assert_eq!(sorted(&restarted), sorted(&at_once));
    }
}

/// Tables as an agent finds them: names and hooks.
fn emptied(tables: &NftTables) -> NftTables {
    let mut found = tables.clone();
    for table in found.values_mut() {
        table.chains.values_mut().for_each(|chain| chain.rules.clear());
        table.sets.values_mut().for_each(|set| set.elements.clear());
    }
    found
}

/// The lines of a listing, sorted, because their order depends on when elements were added.
fn sorted(listing: &str) -> Vec<String> {
    let mut lines: Vec<String> = listing
        .lines()
        .map(|line| {
            let mut words: Vec<&str> = line.trim().trim_end_matches(',').split(", ").collect();
            words.sort_unstable();
            words.join(", ").replace("elements = { ", "")
        })
        .collect();
    lines.sort();
    lines
}
