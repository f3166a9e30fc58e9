//! Queries the cluster for completion candidates, with a timeout and without error output.

use std::io;
use std::time::Duration;

use clap::{Args as _, Command, FromArgMatches as _};
use gantry_kubectl::{ClientContext, Failure, OutputStreams, candidates};

use super::Candidate;
use super::request::ClusterQuery;
use crate::cluster::ClusterFlags;
use crate::clusters;
use crate::kubectl::now;

/// The timeout for queries to the cluster.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Queries the cluster; returns nothing on errors and timeouts.
pub(super) fn candidates(query: &ClusterQuery, connection: &[String]) -> Vec<Candidate> {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Vec::new();
    };
    let found = runtime
        .block_on(async { tokio::time::timeout(QUERY_TIMEOUT, fetch_candidates(query, connection)).await });
    // A DNS lookup cannot be cancelled, so it is not waited for.
    runtime.shutdown_background();
    found.ok().and_then(Result::ok).unwrap_or_default()
}

async fn fetch_candidates(query: &ClusterQuery, connection: &[String]) -> Result<Vec<Candidate>, Failure> {
    let flags = flags(connection)?;
    if *query == ClusterQuery::Clusters {
        return Ok(clusters::names().into_iter().map(Candidate::plain).collect());
    }
    if let ClusterQuery::Entries(entry) = query {
        let entries = flags.connection()?.entries(*entry)?;
        return Ok(entries.into_iter().map(Candidate::plain).collect());
    }
    let (client, server) = flags.connection()?.open().await?;
    let streams = OutputStreams { out: Box::new(io::sink()), err: Box::new(io::sink()) };
    let mut ctx = ClientContext::new(client, server, streams, now);
    if let Some(namespace) = flags.namespace {
        ctx = ctx.in_namespace(namespace);
    }
    let plain = |names: Vec<String>| names.into_iter().map(Candidate::plain).collect();
    match query {
        ClusterQuery::Types { only } => {
            let types = candidates::types(&mut ctx).await?;
            let fitting =
                types.into_iter().filter(|(plural, _)| only.is_empty() || only.contains(&plural.as_str()));
            Ok(fitting.map(|(word, help)| Candidate { word, help }).collect())
        }
        ClusterQuery::Names { of, but } => {
            let mut names = candidates::names(&mut ctx, of).await?;
            names.retain(|name| !but.contains(name));
            Ok(plain(names))
        }
        ClusterQuery::Namespaces => Ok(plain(candidates::namespaces(&mut ctx).await?)),
        ClusterQuery::Containers { of, name } => {
            let names = candidates::containers(&mut ctx, of, name).await?;
            Ok(names.into_iter().map(|name| Candidate::plain(format!("{name}="))).collect())
        }
        ClusterQuery::Entries(_) | ClusterQuery::Clusters => Ok(Vec::new()),
    }
}

/// Parses the connection flags of the line.
fn flags(words: &[String]) -> Result<ClusterFlags, Failure> {
    let command = ClusterFlags::augment_args(Command::new("gantry").no_binary_name(true));
    let matches = command.try_get_matches_from(words);
    let read = matches.and_then(|matches| ClusterFlags::from_arg_matches(&matches));
    read.map_err(|error| Failure::other(error.to_string()))
}
