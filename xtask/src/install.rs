//! Installing Debian packages that a command needs and that are missing on the machine.
//!
//! Components of a Rust toolchain (rustfmt, clippy) are not listed here, nor anything that the tests do not need.

use crate::cargo;
use crate::console;
use crate::failure::Failure;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program, and the Debian package that contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tool {
    /// The program.
    pub(crate) binary: &'static str,
    /// The package.
    pub(crate) package: &'static str,
}

/// Counts instructions; `bench` runs it, `test` does not.
pub(crate) const VALGRIND: Tool = Tool { binary: "valgrind", package: "valgrind" };

/// The store that Kubernetes uses; the etcd backend is tested against it.
pub(crate) const ETCD: Tool = Tool { binary: "etcd", package: "etcd-server" };

/// etcd's own client, to read stored data independently.
const ETCDCTL: Tool = Tool { binary: "etcdctl", package: "etcd-client" };

/// A terminal multiplexer, in which the live view is tested.
const TMUX: Tool = Tool { binary: "tmux", package: "tmux" };

/// The runtime of real pods in the test of the node agent.
const CONTAINERD: Tool = Tool { binary: "containerd", package: "containerd" };
const RUNC: Tool = Tool { binary: "runc", package: "runc" };
const CNI_PLUGINS: Tool = Tool { binary: "/usr/lib/cni/bridge", package: "containernetworking-plugins" };
const BUSYBOX: Tool = Tool { binary: "busybox", package: "busybox-static" };
const NFTABLES: Tool = Tool { binary: "nft", package: "nftables" };

/// Other shells than bash in which completions are tested.
const ZSH: Tool = Tool { binary: "zsh", package: "zsh" };
const FISH: Tool = Tool { binary: "fish", package: "fish" };

/// Builds the allocator of the binary.
const MAKE: Tool = Tool { binary: "make", package: "make" };

/// The tools that `cargo xtask test` needs in addition to the Rust toolchain.
pub(crate) const FOR_TESTS: &[Tool] = &[MAKE, ETCD, ETCDCTL, TMUX, ZSH, FISH];

/// The tools for the test of real pods, which runs as root only and is skipped elsewhere.
const FOR_REAL_PODS: &[Tool] = &[CONTAINERD, RUNC, CNI_PLUGINS, BUSYBOX, NFTABLES];

/// How this machine installs a Debian package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Privilege {
    Root,
    Sudo,
    None,
}

/// Installs the tools that are not on the `PATH`.
pub(crate) fn ensure(tools: &[Tool]) -> Result<(), Failure> {
    let missing: Vec<Tool> = tools.iter().copied().filter(|tool| !is_on_path(tool.binary)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    packages(&missing)?;
    match missing.iter().find(|tool| !is_on_path(tool.binary)) {
        None => Ok(()),
        Some(Tool { binary, package }) => {
            Err(Failure::Failed(format!("package `{package}` is installed, but `{binary}` was not found")))
        }
    }
}

/// Installs the tools for the test of real pods, if it can run.
pub(crate) fn ensure_for_real_pods() -> Result<(), Failure> {
    match privilege() {
        Privilege::Root => ensure(FOR_REAL_PODS),
        Privilege::Sudo | Privilege::None => Ok(()),
    }
}

/// Installs packages, regardless of the programs in them.
pub(crate) fn packages(tools: &[Tool]) -> Result<(), Failure> {
    let commands = plan(tools, is_on_path("apt-get"), privilege()).map_err(Failure::Failed)?;
    commands.iter().try_for_each(|words| carry_out(words))
}

/// Fetches the lists of packages.
pub(crate) fn update() -> Result<(), Failure> {
    let commands = plan(&[], is_on_path("apt-get"), privilege()).map_err(Failure::Failed)?;
    commands.first().map_or(Ok(()), |words| carry_out(words))
}

fn carry_out(words: &[String]) -> Result<(), Failure> {
    console::talk(&format!("$ {}", words.join(" ")));
    words
        .split_first()
        .map_or(Ok(()), |(program, arguments)| cargo::run(Command::new(program).args(arguments)))
}

/// The commands that install the missing tools, or a message about what the user has to do.
fn plan(missing: &[Tool], has_apt: bool, privilege: Privilege) -> Result<Vec<Vec<String>>, String> {
    let packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
    let prefix: &[&str] = match (has_apt, privilege) {
        (true, Privilege::Root) => &["env"],
        (true, Privilege::Sudo) => &["sudo", "env"],
        (true, Privilege::None) | (false, _) => return Err(by_hand(missing, has_apt)),
    };
    let apt_get = [prefix, &["DEBIAN_FRONTEND=noninteractive", "apt-get"]].concat();
    let update = [apt_get.as_slice(), &["update"]].concat();
    let install = [apt_get.as_slice(), &["install", "-y", "--no-install-recommends"], &packages].concat();
    Ok([update, install].map(|words| words.into_iter().map(str::to_owned).collect()).to_vec())
}

fn by_hand(missing: &[Tool], has_apt: bool) -> String {
    let named: Vec<String> =
        missing.iter().map(|tool| format!("`{}` (Debian package `{}`)", tool.binary, tool.package)).collect();
    let why = if has_apt { "this user is not root and there is no sudo" } else { "there is no apt-get here" };
    format!("missing: {}; {why}, so please install it yourself", named.join(", "))
}

fn is_on_path(binary: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(binary).is_file())
}

fn privilege() -> Privilege {
    let id = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    let is_root = id.is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    match (is_root, is_on_path("sudo")) {
        (true, _) => Privilege::Root,
        (false, true) => Privilege::Sudo,
        (false, false) => Privilege::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOCAT: Tool = Tool { binary: "socat", package: "socat" };

    fn typed(missing: &[Tool], privilege: Privilege) -> Vec<String> {
        plan(missing, true, privilege).unwrap().iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn root_updates_once_and_installs_all_missing_packages_together() {
        let expected = [
            "env DEBIAN_FRONTEND=noninteractive apt-get update",
            "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends valgrind socat",
        ];
        assert_eq!(typed(&[VALGRIND, SOCAT], Privilege::Root), expected);
    }

    #[test]
    fn another_user_installs_with_sudo() {
        assert!(typed(&[VALGRIND], Privilege::Sudo).iter().all(|line| line.starts_with("sudo env DEBIAN")));
    }

    #[test]
    fn without_sudo_or_apt_the_message_names_the_package_and_the_reason() {
        let no_sudo = plan(&[VALGRIND], true, Privilege::None).unwrap_err();
        assert!(no_sudo.contains("Debian package `valgrind`") && no_sudo.contains("no sudo"), "{no_sudo}");
        let no_apt = plan(&[VALGRIND], false, Privilege::Root).unwrap_err();
        assert!(no_apt.contains("Debian package `valgrind`") && no_apt.contains("no apt-get"), "{no_apt}");
    }

    #[test]
    fn installed_tools_are_not_installed_again() {
        assert!(is_on_path("sh") && !is_on_path("no-such-program-anywhere"));
        assert!(ensure(&[Tool { binary: "sh", package: "no-such-package-anywhere" }]).is_ok());
    }
}
