//! `cargo xtask tools`: the third-party clients that the tests use, installed below `target/tools`.
//!
//! Nothing here changes the machine outside of `target`, except for missing Debian packages (Python, Node), which
//! [`install`] installs.

use crate::cargo;
use crate::console;
use crate::failure::Failure;
use crate::install::{self, Tool};
use std::path::Path;
use std::process::{Command, Stdio};

/// The usage of `tools`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask tools

Install below target/tools the clients that the tests drive: the Python and JavaScript clients of Kubernetes and Debian's
old kubectl. Existing installations are kept; remove the folder to install again.
";

/// The runtimes of the clients.
const RUNTIMES: &[Tool] = &[
    Tool { binary: "python3", package: "python3" },
    Tool { binary: "node", package: "nodejs" },
    Tool { binary: "npm", package: "npm" },
    Tool { binary: "kubectl", package: "kubernetes-client" },
    Tool { binary: "dpkg", package: "dpkg" },
];

/// Without this package, Python cannot create a virtual environment.
const VENV: Tool = Tool { binary: "no-binary-of-its-own", package: "python3-venv" };

/// The last release line of the JavaScript client that runs on Debian's Node.
const JAVASCRIPT_CLIENT: &str = "@kubernetes/client-node@1";

/// A client to install, in its own folder.
struct Client {
    folder: &'static str,
    install: fn(&Path) -> Result<(), Failure>,
}

const CLIENTS: &[Client] = &[
    Client { folder: "python", install: python },
    Client { folder: "node", install: node },
    Client { folder: "kubectl-1.20", install: old_kubectl },
];

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments.first() {
        Some(argument) => Err(Failure::unknown_argument(argument)),
        None => ensure(&cargo::repository_root()?),
    }
}

/// Installs the missing clients.
pub(crate) fn ensure(root: &Path) -> Result<(), Failure> {
    install::ensure(RUNTIMES)?;
    for Client { folder, install } in CLIENTS {
        let folder = root.join("target/tools").join(folder);
        // Written last, so that an interrupted installation is repeated.
        let complete = folder.join("complete");
        if complete.exists() {
            continue;
        }
        console::talk(&format!("installing {}", folder.display()));
        std::fs::remove_dir_all(&folder).or_else(absent).map_err(|error| cannot("empty", &folder, &error))?;
        std::fs::create_dir_all(&folder).map_err(|error| cannot("create", &folder, &error))?;
        install(&folder)?;
        std::fs::write(&complete, "").map_err(|error| cannot("write", &complete, &error))?;
    }
    Ok(())
}

fn python(folder: &Path) -> Result<(), Failure> {
    let mut probe = Command::new("python3");
    probe.args(["-c", "import ensurepip, venv"]).stderr(Stdio::null());
    if !probe.status().is_ok_and(|status| status.success()) {
        install::packages(&[VENV])?;
    }
    cargo::run(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    cargo::run(Command::new(folder.join("bin/pip")).args(["install", "--quiet", "kubernetes"]))
}

fn node(folder: &Path) -> Result<(), Failure> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
        .arg(folder)
        .arg(JAVASCRIPT_CLIENT);
    cargo::run(&mut npm)
}

/// Installs Debian's kubectl in addition to the installed one.
fn old_kubectl(folder: &Path) -> Result<(), Failure> {
    let download =
        || cargo::run(Command::new("apt-get").args(["download", "kubernetes-client"]).current_dir(folder));
    if download().is_err() {
        // The lists of packages may not have been fetched yet on this machine.
        install::update()?;
        download()?;
    }
    let files = std::fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    let mut packages = files.filter_map(|file| Some(file.ok()?.path()));
    let package = packages.find(|path| path.extension().is_some_and(|extension| extension == "deb"));
    let package = package.ok_or_else(|| Failure::Failed("apt-get downloaded no package".to_owned()))?;
    cargo::run(Command::new("dpkg").arg("-x").arg(package).arg(folder))
}

fn absent(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == std::io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("cannot {what} {}: {error}", path.display()))
}
