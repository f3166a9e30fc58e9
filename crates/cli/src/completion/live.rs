//! Asking the cluster what could be typed, quickly and without a word about what went wrong.

use std::io;
use std::time::Duration;

use clap::{Args as _, Command, FromArgMatches as _};
use gantry_kubectl::{Failure, Screen, Session, candidates};

use super::Candidate;
use super::question::Ask;
use crate::cluster::ClusterFlags;
use crate::clusters;
use crate::kubectl::now;

/// How long somebody who pressed TAB is kept waiting at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the cluster has of what is asked for; nothing if it does not say so in time.
pub(super) fn candidates(ask: &Ask, connection: &[String]) -> Vec<Candidate> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let asked = runtime.block_on(async { tokio::time::timeout(PATIENCE, asked(ask, connection)).await });
    // A lookup of a name cannot be called off, and nobody waits for its end.
    runtime.shutdown_background();
    asked.ok().and_then(Result::ok).unwrap_or_default()
}

async fn asked(ask: &Ask, connection: &[String]) -> Result<Vec<Candidate>, Failure> {
    let flags = flags(connection)?;
    if *ask == Ask::Clusters {
        return Ok(clusters::names().into_iter().map(Candidate::plain).collect());
    }
    if let Ask::Entries(entry) = ask {
        let entries = flags.connection()?.entries(*entry)?;
        return Ok(entries.into_iter().map(Candidate::plain).collect());
    }
    let (client, server) = flags.connection()?.open().await?;
    let screen = Screen { out: Box::new(io::sink()), err: Box::new(io::sink()) };
    let mut session = Session::new(client, server, screen, now);
    if let Some(namespace) = flags.namespace {
        session = session.in_namespace(namespace);
    }
    let plain = |names: Vec<String>| names.into_iter().map(Candidate::plain).collect();
    match ask {
        Ask::Types { only } => {
            let types = candidates::types(&mut session).await?;
            let fitting =
                types.into_iter().filter(|(plural, _)| only.is_empty() || only.contains(&plural.as_str()));
            Ok(fitting.map(|(word, help)| Candidate { word, help }).collect())
        }
        Ask::Names { of, but } => {
            let mut names = candidates::names(&mut session, of).await?;
            names.retain(|name| !but.contains(name));
            Ok(plain(names))
        }
        Ask::Namespaces => Ok(plain(candidates::namespaces(&mut session).await?)),
        Ask::Containers { of, name } => {
            let names = candidates::containers(&mut session, of, name).await?;
            Ok(names.into_iter().map(|name| Candidate::plain(format!("{name}="))).collect())
        }
        Ask::Entries(_) | Ask::Clusters => Ok(Vec::new()),
    }
}

/// The flags of the connection that stand in the line.
fn flags(words: &[String]) -> Result<ClusterFlags, Failure> {
    let command = ClusterFlags::augment_args(Command::new("gantry").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let read = matches.and_then(|matches| ClusterFlags::from_arg_matches(&matches));
    read.map_err(|error| Failure::other(error.to_string()))
}
