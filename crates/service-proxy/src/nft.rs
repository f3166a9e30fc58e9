//! Runs `nft`.

use std::fmt;
use std::io;
use std::process::{Output, Stdio};

use gantry_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::nft_tables::{NftChain, NftSet, NftTable, NftTables};
use crate::ruleset::Family;
use crate::script::Installed;

/// The path of the program if it is not on the `PATH`, which lacks it for users other than root on some systems.
const FALLBACK: &str = "/usr/sbin/nft";

/// Why the kernel's tables could not be read or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NftError {
    /// There is no `nft`.
    Missing,
    /// The process may not change the kernel's tables.
    NotPermitted,
    /// `nft` failed; its message.
    Failed(String),
}

impl fmt::Display for NftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str(
                "there is no program nft; install it (on Debian: apt install nftables), or leave Services to kube-proxy with \
                 --service-proxy=false",
            ),
            Self::NotPermitted => f.write_str(
                "nft is not permitted to change the kernel's tables; the node needs root with CAP_NET_ADMIN, or use \
                 --service-proxy=false",
            ),
            Self::Failed(message) => write!(f, "nft failed: {message}"),
        }
    }
}

impl std::error::Error for NftError {}

/// Executes a script as one transaction.
pub(crate) async fn apply(script: &str) -> Result<(), NftError> {
    let output = run(&["-f", "-"], script).await?;
    if output.status.success() { Ok(()) } else { Err(failure(&output)) }
}

/// Returns the installed tables of this name.
pub(crate) async fn find(table: &str) -> Result<Installed, NftError> {
    let mut found = NftTables::new();
    for family in Family::ALL {
        let output = run(&["-j", "-t", "list", "table", family.as_str(), table], "").await?;
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout);
            let Ok(listing) = gantry_json::from_str::<Value>(&text) else { return Ok(Installed::Unknown) };
            found.insert(family, parse(&listing));
        } else if failure(&output) == NftError::NotPermitted {
            return Err(NftError::NotPermitted);
        }
    }
    Ok(Installed::Found(found))
}

/// Whether Services can be routed on this machine; the error names what is missing.
pub async fn check() -> Result<(), String> {
    let listed = run(&["list", "tables"], "")
        .await
        .and_then(|output| if output.status.success() { Ok(()) } else { Err(failure(&output)) });
    listed.map_err(|error| error.to_string())
}

/// Removes the tables of a node.
pub async fn remove_tables(owner: &str) {
    let table = table_name(owner);
    for family in Family::ALL {
        // Without the program, or without the table, there is nothing to remove.
        let _ = run(&["delete", "table", family.as_str(), &table], "").await;
    }
}

/// Returns the name of the tables of a node of a cluster.
pub(crate) fn table_name(owner: &str) -> String {
    let usable = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let owner: String = owner.chars().map(|letter| if usable(letter) { letter } else { '_' }).collect();
    format!("gantry-proxy-{owner}")
}

async fn run(arguments: &[&str], input: &str) -> Result<Output, NftError> {
    let spawn = |program: &str| {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(false).spawn()
    };
    let spawned = spawn("nft").or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => spawn(FALLBACK),
        _ => Err(error),
    });
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => NftError::Missing,
        io::ErrorKind::PermissionDenied => NftError::NotPermitted,
        _ => NftError::Failed(error.to_string()),
    };
    let mut child = spawned.map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that ends early reports the reason on its standard error.
        let _ = stdin.write_all(input.as_bytes()).await;
    }
    child.wait_with_output().await.map_err(failed)
}

fn failure(output: &Output) -> NftError {
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains("Operation not permitted") {
        return NftError::NotPermitted;
    }
    NftError::Failed(text.lines().take(3).collect::<Vec<_>>().join("; "))
}

/// Parses the names and hooks in a listing. Contents are left empty.
pub(crate) fn parse(listing: &Value) -> NftTable {
    let mut table = NftTable::default();
    for item in listing["nftables"].as_array().into_iter().flatten() {
        let chain = &item["chain"];
        if let Some(name) = chain["name"].as_str() {
            let hook = match (chain["type"].as_str(), chain["hook"].as_str(), chain["prio"].as_i64()) {
                (Some(kind), Some(hook), Some(priority)) => {
                    format!("type {kind} hook {hook} priority {priority};")
                }
                _ => String::new(),
            };
            table.chains.insert(name.to_owned(), NftChain { hook, rules: Vec::new() });
        }
        for (kind, is_map) in [("set", false), ("map", true)] {
            let Some(name) = item[kind]["name"].as_str() else { continue };
            let is_dynamic = name.starts_with("clients/");
            let declaration = if is_dynamic { "flags dynamic".to_owned() } else { String::new() };
            table.sets.insert(name.to_owned(), NftSet { is_map, declaration, elements: [].into() });
        }
    }
    table
}
