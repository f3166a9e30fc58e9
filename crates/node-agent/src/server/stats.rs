//! The resource usage of the node and its pods: a kubelet's `/stats/summary`, `/metrics/resource` and the basics of
//! `/metrics/cadvisor`.
//!
//! A snapshot of the runtime and the kernel is taken, from which the responses are rendered.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gantry_cri::{RuntimeError, wire};
use gantry_json::{Value, json};
use gantry_model::Timestamp;

use super::NodeServer;
use crate::labels;
use crate::pressure::{Measured, Signal, measure};
use crate::usage::{own_container, value};

/// The resource usage of the node and its pods at one time.
#[derive(Clone, Debug)]
pub(super) struct NodeStats {
    now: Timestamp,
    node: String,
    use_of_node: ResourceUse,
    cpus: usize,
    measured: BTreeMap<Signal, Measured>,
    pods: BTreeMap<String, PodStats>,
}

/// CPU and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ResourceUse {
    /// Since the start of the container or node.
    cpu_nanoseconds: u64,
    nanocores: u64,
    working_set: u64,
    memory: u64,
    resident: u64,
}

#[derive(Clone, Debug, Default)]
struct PodStats {
    name: String,
    namespace: String,
    started: Option<Timestamp>,
    network: Option<wire::NetworkInterfaceUsage>,
    processes: u64,
    containers: Vec<ContainerStatsLine>,
}

#[derive(Clone, Debug, Default)]
struct ContainerStatsLine {
    name: String,
    id: String,
    started: Option<Timestamp>,
    used: ResourceUse,
    layer_bytes: u64,
    layer_inodes: u64,
}

impl ResourceUse {
    fn of(stats: &wire::ContainerStats) -> Self {
        let cpu = stats.cpu.clone().unwrap_or_default();
        let memory = stats.memory.clone().unwrap_or_default();
        Self {
            cpu_nanoseconds: value(cpu.usage_core_nano_seconds.as_ref()),
            nanocores: value(cpu.usage_nano_cores.as_ref()),
            working_set: value(memory.working_set_bytes.as_ref()),
            memory: value(memory.usage_bytes.as_ref()),
            resident: value(memory.rss_bytes.as_ref()),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            cpu_nanoseconds: self.cpu_nanoseconds.saturating_add(other.cpu_nanoseconds),
            nanocores: self.nanocores.saturating_add(other.nanocores),
            working_set: self.working_set.saturating_add(other.working_set),
            memory: self.memory.saturating_add(other.memory),
            resident: self.resident.saturating_add(other.resident),
        }
    }

    fn cpu(&self, now: Timestamp) -> Value {
        json!({
            "time": now.render(), "usageNanoCores": self.nanocores, "usageCoreNanoSeconds": self.cpu_nanoseconds,
        })
    }

    fn memory(&self, now: Timestamp) -> Value {
        json!({
            "time": now.render(), "usageBytes": self.memory, "workingSetBytes": self.working_set,
            "rssBytes": self.resident,
        })
    }
}

impl PodStats {
    fn total(&self) -> ResourceUse {
        self.containers.iter().fold(ResourceUse::default(), |sum, container| sum.plus(container.used))
    }
}

impl NodeServer {
    /// Takes a snapshot.
    pub(super) async fn stats(&self) -> Result<NodeStats, RuntimeError> {
        let agent = &self.agent;
        let images = agent.cri.image_file_systems().await?.into_iter().next();
        let measured = measure(&agent.root, images.as_deref().map(Path::new));
        let now = agent.clock.now();
        let mut stats = NodeStats {
            now,
            node: agent.facts.name.clone(),
            use_of_node: self.use_of_node(&measured, now),
            cpus: agent.facts.machine.cpus,
            measured,
            pods: self.pods_by_uid(),
        };
        for container in agent.cri.container_stats().await? {
            let Some((uid, name)) = own_container(&container, &agent.settings.owner) else { continue };
            let Some(pod) = stats.pods.get_mut(uid) else { continue };
            let known = pod.containers.iter_mut().find(|known| known.name == name);
            // A pod that was restarted has the statistics of its latest containers only.
            let id = container.attributes.as_ref().map_or("", |attributes| &attributes.id);
            if let Some(known) = known.filter(|known| known.id.ends_with(id)) {
                known.used = ResourceUse::of(&container);
                let layer = container.writable_layer.unwrap_or_default();
                known.layer_bytes = value(layer.used_bytes.as_ref());
                known.layer_inodes = value(layer.inodes_used.as_ref());
            }
        }
        // Not every runtime has statistics of sandboxes.
        for sandbox in agent.cri.sandbox_stats().await.unwrap_or_default() {
            let labels = sandbox.attributes.map(|attributes| attributes.labels).unwrap_or_default();
            let pod = labels.get(labels::POD_UID).and_then(|uid| stats.pods.get_mut(uid));
            if let (Some(pod), Some(linux)) = (pod, sandbox.linux) {
                pod.network = linux.network.and_then(|network| network.default_interface);
                pod.processes = value(linux.process.and_then(|process| process.process_count).as_ref());
            }
        }
        Ok(stats)
    }

    /// Returns the running pods with their running containers, without their usage.
    fn pods_by_uid(&self) -> BTreeMap<String, PodStats> {
        let mut found = BTreeMap::new();
        for pod in self.pods.read().iter() {
            let Some(status) = &pod.wire.status else { continue };
            let lists = [
                &status.init_container_statuses,
                &status.container_statuses,
                &status.ephemeral_container_statuses,
            ];
            let containers = lists.into_iter().flatten().flatten().filter_map(|container| {
                let running = container.state.as_ref()?.running.as_ref()?;
                Some(ContainerStatsLine {
                    name: container.name.clone(),
                    id: container.container_id.clone().unwrap_or_default(),
                    started: running.started_at.as_ref().map(Timestamp::parse),
                    ..ContainerStatsLine::default()
                })
            });
            let meta = &pod.wire.metadata;
            let found_pod = PodStats {
                name: meta.name.clone().unwrap_or_default(),
                namespace: meta.namespace.clone().unwrap_or_default(),
                started: status.start_time.as_ref().map(Timestamp::parse),
                containers: containers.collect(),
                ..PodStats::default()
            };
            if !found_pod.containers.is_empty() {
                found.insert(meta.uid.clone().unwrap_or_default(), found_pod);
            }
        }
        found
    }

    fn use_of_node(&self, measured: &BTreeMap<Signal, Measured>, now: Timestamp) -> ResourceUse {
        let memory = measured.get(&Signal::MemoryAvailable).copied().unwrap_or_default();
        let working_set = memory.capacity.saturating_sub(memory.available);
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let cpu_nanoseconds = cpu_nanoseconds(&text).unwrap_or(0);
        let mut last = self.last_cpu.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let nanocores =
            last.map_or(0, |(since, before)| rate(cpu_nanoseconds.saturating_sub(before), now.since(since)));
        *last = Some((now, cpu_nanoseconds));
        ResourceUse { cpu_nanoseconds, nanocores, working_set, memory: working_set, resident: 0 }
    }
}

/// Returns nanoseconds of CPU time per second.
fn rate(nanoseconds: u64, took: std::time::Duration) -> u64 {
    let rate = u128::from(nanoseconds) * 1_000_000_000 / took.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Returns the time that all CPUs were busy, from the first line of `/proc/stat`.
fn cpu_nanoseconds(text: &str) -> Option<u64> {
    const NANOSECONDS_PER_TICK: u64 = 10_000_000;
    let numbers: Vec<u64> = text
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect();
    // user, nice, system, idle, iowait, irq, softirq, steal
    let busy: u64 = [0, 1, 2, 5, 6, 7].iter().filter_map(|at| numbers.get(*at)).sum();
    busy.checked_mul(NANOSECONDS_PER_TICK)
}

impl NodeStats {
    /// Renders `/stats/summary`.
    pub(super) fn summary(&self) -> Value {
        let pods: Vec<_> = self.pods.iter().map(|(uid, pod)| self.pod(uid, pod)).collect();
        let of = |signal: Signal| self.measured.get(&signal).copied().unwrap_or_default();
        let memory = of(Signal::MemoryAvailable);
        let mut of_memory = self.use_of_node.memory(self.now);
        of_memory["availableBytes"] = json!(memory.available);
        let processes = of(Signal::ProcessesAvailable);
        let images = self.file_system(Signal::ImageDiskAvailable, Signal::ImageDiskInodesFree);
        json!({
            "node": {
                "nodeName": self.node,
                "cpu": self.use_of_node.cpu(self.now),
                "memory": of_memory,
                "fs": self.file_system(Signal::DiskAvailable, Signal::DiskInodesFree),
                "runtime": {"imageFs": images, "containerFs": images},
                "rlimit": {
                    "time": self.now.render(),
                    "maxpid": processes.capacity,
                    "curproc": processes.capacity.saturating_sub(processes.available),
                },
            },
            "pods": pods,
        })
    }

    fn file_system(&self, space: Signal, inodes: Signal) -> Value {
        let of = |signal: Signal| self.measured.get(&signal).copied().unwrap_or_default();
        let (space, inodes) = (of(space), of(inodes));
        json!({
            "time": self.now.render(),
            "availableBytes": space.available,
            "capacityBytes": space.capacity,
            "usedBytes": space.capacity.saturating_sub(space.available),
            "inodesFree": inodes.available,
            "inodes": inodes.capacity,
            "inodesUsed": inodes.capacity.saturating_sub(inodes.available),
        })
    }

    fn pod(&self, uid: &str, pod: &PodStats) -> Value {
        let containers: Vec<_> = pod.containers.iter().map(|container| self.container(container)).collect();
        let total = pod.total();
        let mut rendered = json!({
            "podRef": {"name": pod.name, "namespace": pod.namespace, "uid": uid},
            "containers": containers,
            "cpu": total.cpu(self.now),
            "memory": total.memory(self.now),
        });
        if let Some(started) = pod.started {
            rendered["startTime"] = json!(started.render());
        }
        if let Some(network) = &pod.network {
            let interface = json!({
                "name": network.name,
                "rxBytes": value(network.rx_bytes.as_ref()), "rxErrors": value(network.rx_errors.as_ref()),
                "txBytes": value(network.tx_bytes.as_ref()), "txErrors": value(network.tx_errors.as_ref()),
            });
            let mut of_pod = interface.clone();
            of_pod["time"] = json!(self.now.render());
            of_pod["interfaces"] = json!([interface]);
            rendered["network"] = of_pod;
        }
        if pod.processes > 0 {
            rendered["process_stats"] = json!({"process_count": pod.processes});
        }
        rendered
    }

    fn container(&self, container: &ContainerStatsLine) -> Value {
        let mut file_system = self.file_system(Signal::ImageDiskAvailable, Signal::ImageDiskInodesFree);
        file_system["usedBytes"] = json!(container.layer_bytes);
        file_system["inodesUsed"] = json!(container.layer_inodes);
        let mut rendered = json!({
            "name": container.name,
            "cpu": container.used.cpu(self.now),
            "memory": container.used.memory(self.now),
            "rootfs": file_system,
        });
        if let Some(started) = container.started {
            rendered["startTime"] = json!(started.render());
        }
        rendered
    }

    /// Renders `/metrics/resource`, which metrics-server reads.
    pub(super) fn resource_metrics(&self) -> String {
        let mut text = MetricsText::default();
        let milliseconds = self.now.as_nanos() / 1_000_000;
        let at = |value: String| format!("{value} {milliseconds}");
        text.family(
            "container_cpu_usage_seconds_total",
            "counter",
            "Cumulative cpu time consumed by the container in core-seconds",
        );
        self.each_container(|labels, container| {
            text.sample(labels, &at(seconds(container.used.cpu_nanoseconds)));
        });
        text.family(
            "container_memory_working_set_bytes",
            "gauge",
            "Current working set of the container in bytes",
        );
        self.each_container(|labels, container| {
            text.sample(labels, &at(container.used.working_set.to_string()));
        });
        text.family(
            "container_start_time_seconds",
            "gauge",
            "Start time of the container since unix epoch in seconds",
        );
        self.each_container(|labels, container| {
            let started = container.started.map_or(0, |started| started.as_nanos() / 1_000_000_000);
            text.sample(labels, &at(started.to_string()));
        });
        text.family(
            "node_cpu_usage_seconds_total",
            "counter",
            "Cumulative cpu time consumed by the node in core-seconds",
        );
        text.sample("", &at(seconds(self.use_of_node.cpu_nanoseconds)));
        text.family("node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes");
        text.sample("", &at(self.use_of_node.working_set.to_string()));
        text.family(
            "pod_cpu_usage_seconds_total",
            "counter",
            "Cumulative cpu time consumed by the pod in core-seconds",
        );
        self.each_pod(|labels, pod| text.sample(labels, &at(seconds(pod.total().cpu_nanoseconds))));
        text.family("pod_memory_working_set_bytes", "gauge", "Current working set of the pod in bytes");
        self.each_pod(|labels, pod| text.sample(labels, &at(pod.total().working_set.to_string())));
        text.family(
            "resource_scrape_error",
            "gauge",
            "1 if there was an error while getting container metrics, 0 otherwise",
        );
        text.sample("", "0");
        text.0
    }

    /// Renders the basics of `/metrics/cadvisor`.
    pub(super) fn cadvisor_metrics(&self) -> String {
        let mut text = MetricsText::default();
        text.family(
            "container_cpu_usage_seconds_total",
            "counter",
            "Cumulative cpu time consumed in seconds.",
        );
        self.each_container(|labels, container| {
            text.sample(labels, &seconds(container.used.cpu_nanoseconds));
        });
        let memory: [(&str, &str, AmountOf<ResourceUse>); 3] = [
            ("container_memory_rss", "Size of RSS in bytes.", |used| used.resident),
            (
                "container_memory_usage_bytes",
                "Current memory usage in bytes, including all memory regardless of when it was accessed",
                |used| used.memory,
            ),
            ("container_memory_working_set_bytes", "Current working set in bytes.", |used| used.working_set),
        ];
        for (name, help, amount) in memory {
            text.family(name, "gauge", help);
            self.each_container(|labels, container| {
                text.sample(labels, &amount(&container.used).to_string());
            });
        }
        let network: [(&str, &str, AmountOf<wire::NetworkInterfaceUsage>); 2] = [
            ("container_network_receive_bytes_total", "Cumulative count of bytes received", |it| {
                value(it.rx_bytes.as_ref())
            }),
            ("container_network_transmit_bytes_total", "Cumulative count of bytes transmitted", |it| {
                value(it.tx_bytes.as_ref())
            }),
        ];
        for (name, help, bytes) in network {
            text.family(name, "counter", help);
            self.each_pod(|labels, pod| {
                if let Some(interface) = &pod.network {
                    let labels = format!("interface=\"{}\",{labels}", interface.name);
                    text.sample(&labels, &bytes(interface).to_string());
                }
            });
        }
        text.family("machine_cpu_cores", "gauge", "Number of logical CPU cores.");
        text.sample("", &self.cpus.to_string());
        text.family("machine_memory_bytes", "gauge", "Amount of memory installed on the machine.");
        let memory = self.measured.get(&Signal::MemoryAvailable).copied().unwrap_or_default();
        text.sample("", &memory.capacity.to_string());
        text.0
    }

    fn each_container(&self, mut each: impl FnMut(&str, &ContainerStatsLine)) {
        for pod in self.pods.values() {
            for container in &pod.containers {
                each(&format!("container=\"{}\",{}", container.name, pod.labels()), container);
            }
        }
    }

    fn each_pod(&self, mut each: impl FnMut(&str, &PodStats)) {
        for pod in self.pods.values() {
            each(&pod.labels(), pod);
        }
    }
}

/// The amount that a metric reports.
type AmountOf<T> = fn(&T) -> u64;

impl PodStats {
    fn labels(&self) -> String {
        format!("namespace=\"{}\",pod=\"{}\"", self.namespace, self.name)
    }
}

/// Metrics in Prometheus' text format. Names of pods and containers need no escaping.
#[derive(Default)]
struct MetricsText(String, &'static str);

impl MetricsText {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        self.1 = name;
    }

    fn sample(&mut self, labels: &str, value: &str) {
        let name = self.1;
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            labels => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }
}

/// Returns nanoseconds as seconds with a fraction.
fn seconds(nanoseconds: u64) -> String {
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats() -> NodeStats {
        let used = ResourceUse {
            cpu_nanoseconds: 1_500_000_000,
            nanocores: 7,
            working_set: 64,
            memory: 80,
            resident: 60,
        };
        let container = |name: &str| ContainerStatsLine {
            name: name.to_owned(),
            started: Some(Timestamp::from_secs(60)),
            used,
            layer_bytes: 512,
            ..ContainerStatsLine::default()
        };
        let network = wire::NetworkInterfaceUsage {
            name: "eth0".to_owned(),
            rx_bytes: Some(wire::UInt64Value { value: 9 }),
            ..wire::NetworkInterfaceUsage::default()
        };
        let pod = PodStats {
            name: "web-1".to_owned(),
            namespace: "shop".to_owned(),
            network: Some(network),
            containers: vec![container("web"), container("proxy")],
            ..PodStats::default()
        };
        NodeStats {
            now: Timestamp::from_secs(100),
            node: "n1".to_owned(),
            measured: BTreeMap::from([(Signal::DiskAvailable, Measured { available: 30, capacity: 100 })]),
            pods: BTreeMap::from([("u1".to_owned(), pod)]),
            use_of_node: ResourceUse::default(),
            cpus: 2,
        }
    }

    #[test]
    fn the_summary_has_the_node_its_pods_and_their_containers() {
        let summary = stats().summary();
        assert_eq!(summary["node"]["nodeName"], "n1");
        assert_eq!(summary["node"]["fs"]["usedBytes"], 70);
        let pod = &summary["pods"][0];
        assert_eq!(pod["podRef"], json!({"name": "web-1", "namespace": "shop", "uid": "u1"}));
        assert_eq!(
            (pod["memory"]["workingSetBytes"].as_u64(), pod["network"]["rxBytes"].as_u64()),
            (Some(128), Some(9))
        );
        assert_eq!(pod["containers"][1]["name"], "proxy");
        assert_eq!(pod["containers"][0]["rootfs"]["usedBytes"], 512);
        assert_eq!(pod["containers"][0]["startTime"], "1970-01-01T00:01:00Z");
    }

    #[test]
    fn metrics_are_in_the_form_of_prometheus() {
        let text = stats().resource_metrics();
        for line in [
            "# TYPE pod_memory_working_set_bytes gauge",
            "container_cpu_usage_seconds_total{container=\"web\",namespace=\"shop\",pod=\"web-1\"} 1.500000000 100000",
            "pod_memory_working_set_bytes{namespace=\"shop\",pod=\"web-1\"} 128 100000",
            "resource_scrape_error 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
        let text = stats().cadvisor_metrics();
        let line =
            "container_network_receive_bytes_total{interface=\"eth0\",namespace=\"shop\",pod=\"web-1\"} 9";
        assert!(text.lines().any(|found| found == line), "{text}");
    }

    #[test]
    fn the_time_of_all_cpus_is_read() {
        assert_eq!(cpu_nanoseconds("cpu  1 2 3 100 50 4 5 6 0 0\ncpu0 1\n"), Some(210_000_000));
        assert_eq!(rate(500_000_000, std::time::Duration::from_millis(500)), 1_000_000_000);
    }
}
