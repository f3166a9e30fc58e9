//! `cargo xtask tools`: the clients of others that the tests drive, installed below `target/tools`.
//!
//! Nothing here touches the machine outside of `target`, but for Debian packages that are missing altogether (Python,
//! Node): those go through [`install`].

use crate::cargo;
use crate::console;
use crate::failure::Failure;
use crate::install::{self, Tool};
use std::path::Path;
use std::process::{Command, Stdio};

/// How `tools` is typed.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask tools

Install below target/tools the clients that the tests drive: the Python and JavaScript clients of Kubernetes and Debian's
old kubectl. What is there already is left alone; remove the folder to install again.
";

/// What runs the clients.
const RUNTIMES: &[Tool] = &[
    Tool { binary: "python3", package: "python3" },
    Tool { binary: "node", package: "nodejs" },
    Tool { binary: "npm", package: "npm" },
    Tool { binary: "kubectl", package: "kubernetes-client" },
    Tool { binary: "dpkg", package: "dpkg" },
];

/// Python without this cannot make an environment of its own.
const VENV: Tool = Tool { binary: "no-binary-of-its-own", package: "python3-venv" };

/// The last line of the JavaScript client that runs on Debian's Node.
const JAVASCRIPT_CLIENT: &str = "@kubernetes/client-node@1";

/// Something to install, in a folder of its own.
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

/// Installs what is missing.
pub(crate) fn ensure(root: &Path) -> Result<(), Failure> {
    install::ensure(RUNTIMES)?;
    for Client { folder, install } in CLIENTS {
        let folder = root.join("target/tools").join(folder);
        // Written last, so that an installation that was cut short is made again.
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

/// Debian's kubectl beside whichever is installed, not instead of it.
fn old_kubectl(folder: &Path) -> Result<(), Failure> {
    let download =
        || cargo::run(Command::new("apt-get").args(["download", "kubernetes-client"]).current_dir(folder));
    if download().is_err() {
        // The lists of packages may never have been fetched on this machine.
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
