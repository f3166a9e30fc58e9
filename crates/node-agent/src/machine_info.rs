//! Information about the machine.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::path::Path;

/// The machine that the agent runs on.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineInfo {
    pub(crate) cpus: usize,
    /// In bytes.
    pub(crate) memory: i64,
    /// The size of the file system of the agent's directory, in bytes.
    pub(crate) disk: u64,
    pub(crate) kernel: String,
    pub(crate) os_image: String,
    pub(crate) machine_id: String,
    pub(crate) system_uuid: String,
    pub(crate) boot_id: String,
}

impl MachineInfo {
    /// Reads it from the kernel.
    pub(crate) fn inspect(root: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let disk = rustix::fs::statvfs(root).map_or(0, |it| it.f_blocks * it.f_frsize);
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let machine_id = text("/etc/machine-id");
        let system_uuid = text("/sys/class/dmi/id/product_uuid");
        Self {
            cpus: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            memory: memory(&text("/proc/meminfo")).unwrap_or(0),
            disk,
            kernel: text("/proc/sys/kernel/osrelease"),
            os_image: os_image(&release).unwrap_or_else(|| "Linux".to_owned()),
            system_uuid: if system_uuid.is_empty() { machine_id.clone() } else { system_uuid },
            machine_id,
            boot_id: text("/proc/sys/kernel/random/boot_id"),
        }
    }
}

/// Returns Go's name of the architecture.
pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Returns the host name, in lower case.
pub(crate) fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim().to_lowercase();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// Returns the address by which other machines reach this one: that of the default route. No packet is sent.
pub(crate) fn address() -> IpAddr {
    let local = || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        // An address for documentation; it only selects the route.
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
        socket.local_addr().ok().map(|address| address.ip())
    };
    local().filter(|address| !address.is_unspecified()).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

fn memory(text: &str) -> Option<i64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: i64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn os_image(release: &str) -> Option<String> {
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        assert_eq!(memory("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16384 * 1024));
        assert_eq!(os_image("ID=debian\nPRETTY_NAME=\"Debian 12\"\n"), Some("Debian 12".to_owned()));
    }
}
