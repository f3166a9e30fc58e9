//! Containers of a pod template, or of a pod with their statuses (K3.3).

use gantry_json::Value;

use super::{date_or_zero, environment};
use crate::field::{at, list, members, number, shown, text};

/// The indentation of a title, and of the names below it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indent {
    pub(super) title: &'static str,
    pub(super) name: &'static str,
}

/// Where the containers are from.
#[derive(Clone, Copy, Debug)]
pub(super) enum ContainerSource<'p> {
    /// A pod template.
    Template,
    /// A pod.
    Pod {
        /// The pod itself.
        pod: &'p Value,
        /// The container statuses.
        statuses: &'p [Value],
    },
}

/// Containers under a title.
pub(super) fn all(
    title: &str,
    indent: Indent,
    containers: &[Value],
    source_kind: ContainerSource<'_>,
) -> String {
    let mut out = format!("{}{title}\n", indent.title);
    for container in containers {
        let name = text(container, "/name");
        let status = source_kind.statuses().iter().find(|status| text(status, "/name") == name);
        out.push_str(&format!("{}{name}:\n", indent.name));
        if let Some(status) = status {
            out.push_str(&format!("    Container ID:\t{}\n", text(status, "/containerID")));
        }
        out.push_str(&format!("    Image:\t{}\n", text(container, "/image")));
        if let Some(status) = status {
            out.push_str(&format!("    Image ID:\t{}\n", text(status, "/imageID")));
        }
        out.push_str(&ports(container));
        for (title, field) in [("Command", "/command"), ("Args", "/args")] {
            out.push_str(&words(title, list(container, field)));
        }
        if let Some(status) = status {
            out.push_str(&state(status));
        }
        for (title, field) in [("Limits", "/resources/limits"), ("Requests", "/resources/requests")] {
            let amounts = members(container, field);
            if !amounts.is_empty() {
                out.push_str(&format!("    {title}:\n"));
                out.extend(
                    amounts.iter().map(|(name, amount)| format!("      {name}:\t{}\n", shown(amount))),
                );
            }
        }
        for (title, field) in
            [("Liveness", "livenessProbe"), ("Readiness", "readinessProbe"), ("Startup", "startupProbe")]
        {
            if let Some(it) = container.get(field) {
                out.push_str(&format!("    {title}:\t{}\n", probe(it)));
            }
        }
        out.push_str(&environment::render(container, source_kind));
        out.push_str(&mounts(container));
        out.push_str(&devices(container));
    }
    out
}

impl<'p> ContainerSource<'p> {
    fn statuses(self) -> &'p [Value] {
        match self {
            Self::Template => &[],
            Self::Pod { statuses, .. } => statuses,
        }
    }
}

fn ports(container: &Value) -> String {
    let ports = list(container, "/ports");
    let render = |field: &str| {
        let one = |port: &Value| {
            let protocol = match text(port, "/protocol") {
                "" => "TCP",
                protocol => protocol,
            };
            let name = text(port, "/name");
            let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
            format!("{}/{protocol}{name}", number(port, field))
        };
        ports.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let plural = if ports.len() > 1 { "s" } else { "" };
    let or_none = |rendered: String| if rendered.is_empty() { "<none>".to_owned() } else { rendered };
    format!(
        "    Port{plural}:\t{}\n    Host Port{plural}:\t{}\n",
        or_none(render("/containerPort")),
        or_none(render("/hostPort"))
    )
}

fn words(title: &str, words: &[Value]) -> String {
    if words.is_empty() {
        return String::new();
    }
    let lines = words
        .iter()
        .flat_map(|word| shown(word).lines().map(|line| format!("      {line}\n")).collect::<Vec<_>>());
    format!("    {title}:\n{}", lines.collect::<String>())
}

fn state(status: &Value) -> String {
    let mut out = one_state("State", at(status, "/state"));
    if status.pointer("/lastState/terminated").is_some() {
        out.push_str(&one_state("Last State", at(status, "/lastState")));
    }
    let ready = if status["ready"] == true { "True" } else { "False" };
    out + &format!("    Ready:\t{ready}\n    Restart Count:\t{}\n", number(status, "/restartCount"))
}

fn one_state(title: &str, state: &Value) -> String {
    if let Some(running) = state.get("running") {
        return format!(
            "    {title}:\tRunning\n      Started:\t{}\n",
            date_or_zero(at(running, "/startedAt"))
        );
    }
    if let Some(waiting) = state.get("waiting") {
        let reason = text(waiting, "/reason");
        let reason = if reason.is_empty() { String::new() } else { format!("      Reason:\t{reason}\n") };
        return format!("    {title}:\tWaiting\n{reason}");
    }
    let Some(ended) = state.get("terminated") else { return format!("    {title}:\tWaiting\n") };
    let mut out = format!("    {title}:\tTerminated\n");
    for (title, field) in [("Reason", "/reason"), ("Message", "/message")] {
        if !text(ended, field).is_empty() {
            out.push_str(&format!("      {title}:\t{}\n", text(ended, field)));
        }
    }
    out.push_str(&format!("      Exit Code:\t{}\n", number(ended, "/exitCode")));
    if number(ended, "/signal") > 0 {
        out.push_str(&format!("      Signal:\t{}\n", number(ended, "/signal")));
    }
    let times = [("Started", "/startedAt"), ("Finished", "/finishedAt")];
    out.extend(times.map(|(title, field)| format!("      {title}:\t{}\n", date_or_zero(at(ended, field)))));
    out
}

fn probe(probe: &Value) -> String {
    let seconds = |field: &str| number(probe, field);
    let rest = format!(
        "delay={}s timeout={}s period={}s successThreshold={} failureThreshold={}",
        seconds("/initialDelaySeconds"),
        seconds("/timeoutSeconds"),
        seconds("/periodSeconds"),
        seconds("/successThreshold"),
        seconds("/failureThreshold")
    );
    let what = if probe.get("exec").is_some() {
        let command: Vec<String> = list(probe, "/exec/command").iter().map(shown).collect();
        format!("exec [{}]", command.join(" "))
    } else if let Some(get) = probe.get("httpGet") {
        let port = shown(at(get, "/port"));
        let host = text(get, "/host");
        let scheme = text(get, "/scheme").to_lowercase();
        let scheme = if scheme.is_empty() { "http" } else { &scheme };
        format!("http-get {scheme}://{host}:{port}{}", text(get, "/path"))
    } else if let Some(tcp) = probe.get("tcpSocket") {
        format!("tcp-socket {}:{}", text(tcp, "/host"), shown(at(tcp, "/port")))
    } else if let Some(grpc) = probe.get("grpc") {
        format!("grpc <pod>:{} {}", shown(at(grpc, "/port")), text(grpc, "/service"))
    } else {
        "unknown".to_owned()
    };
    format!("{what} {rest}")
}

fn mounts(container: &Value) -> String {
    let mut mounts: Vec<&Value> = list(container, "/volumeMounts").iter().collect();
    if mounts.is_empty() {
        return "    Mounts:\t<none>\n".to_owned();
    }
    mounts.sort_by_key(|mount| text(mount, "/mountPath"));
    let rendered = mounts.into_iter().map(|mount| {
        let mut flags = vec![if mount["readOnly"] == true { "ro".to_owned() } else { "rw".to_owned() }];
        if !text(mount, "/subPath").is_empty() {
            flags.push(format!("path={:?}", text(mount, "/subPath")));
        }
        format!("      {} from {} ({})\n", text(mount, "/mountPath"), text(mount, "/name"), flags.join(","))
    });
    format!("    Mounts:\n{}", rendered.collect::<String>())
}

/// The volumes that a container sees as devices.
fn devices(container: &Value) -> String {
    let mut devices: Vec<&Value> = list(container, "/volumeDevices").iter().collect();
    if devices.is_empty() {
        return String::new();
    }
    devices.sort_by_key(|device| text(device, "/devicePath"));
    // kubectl says `<none>` here if there are no mounts.
    let title = if list(container, "/volumeMounts").is_empty() { "Devices:\t<none>" } else { "Devices:" };
    let rendered = devices
        .into_iter()
        .map(|one| format!("      {} from {}\n", text(one, "/devicePath"), text(one, "/name")));
    format!("    {title}\n{}", rendered.collect::<String>())
}
