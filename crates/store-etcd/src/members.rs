//! The members of the cluster, and the connection to the current one.
//!
//! All requests are sent to one member until it fails; then the next one is tried. Connecting is a separate step, so
//! that a request that could not be sent is known not to have been sent.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Mutex;
use tonic::transport::{Channel, Endpoint};

use crate::fault::{Fault, chain, describe};
use crate::rpc;
use crate::settings::{BadSettings, ProgressMarks, Settings};
use crate::wire::StatusRequest;

pub(crate) struct Members {
    all: Vec<Member>,
    /// The member to try first.
    preferred: AtomicUsize,
    progress: ProgressMarks,
    settings: Settings,
}

struct Member {
    url: String,
    endpoint: Endpoint,
    /// The connection, if there is one. Locked while connecting, so that concurrent requests share it.
    link: Mutex<Option<Link>>,
}

/// A connection to a member.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) channel: Channel,
    pub(crate) url: String,
    /// Whether this member's progress responses never overtake changes.
    pub(crate) progress_in_order: bool,
    member: usize,
    /// Distinguishes this connection from its replacement.
    number: usize,
}

impl Members {
    pub(crate) fn new(settings: &Settings) -> Result<Self, BadSettings> {
        let endpoints = settings.parse()?;
        let urls = settings.endpoints.iter();
        let members = urls.zip(endpoints).map(|(url, endpoint)| Member {
            url: url.clone(),
            endpoint,
            link: Mutex::new(None),
        });
        Ok(Self {
            all: members.collect(),
            preferred: AtomicUsize::new(0),
            progress: settings.progress,
            settings: settings.clone(),
        })
    }

    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// A connection to the preferred member, or to the next one that can be reached.
    pub(crate) async fn link(&self) -> Result<Link, Fault> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        for step in 0..self.all.len() {
            let index = first.wrapping_add(step) % self.all.len();
            match self.link_to(index).await {
                Ok(link) => {
                    self.preferred.store(index, Ordering::Relaxed);
                    return Ok(link);
                }
                Err(why) => reasons.push(why),
            }
        }
        Err(Fault::NotSent { why: format!("etcd cannot be reached: {}", reasons.join("; ")) })
    }

    /// Closes a failed connection; the next request is sent to the next member.
    pub(crate) async fn leave(&self, link: &Link) {
        let Some(member) = self.all.get(link.member) else { return };
        let mut held = member.link.lock().await;
        if held.as_ref().is_some_and(|held| held.number == link.number) {
            *held = None;
            let next = link.member.wrapping_add(1) % self.all.len();
            let _ = self.preferred.compare_exchange(link.member, next, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    async fn link_to(&self, index: usize) -> Result<Link, String> {
        let member = &self.all[index];
        let mut held = member.link.lock().await;
        if let Some(link) = &*held {
            return Ok(link.clone());
        }
        let url = member.url.clone();
        // The endpoint's own timeout covers TCP only; a host that accepts and then sends nothing must not block us.
        let within = self.settings.connect_timeout;
        let channel = tokio::time::timeout(within, member.endpoint.connect())
            .await
            .map_err(|_elapsed| format!("{url}: no connection within {within:?}"))?
            .map_err(|error| format!("{url}: {}", chain(&error)))?;
        let progress_in_order = match self.progress {
            ProgressMarks::Native => true,
            ProgressMarks::InOrder => false,
            ProgressMarks::ByVersion => {
                // The first exchange also verifies that this is an etcd that works.
                let status = rpc::unary(channel.clone(), &rpc::STATUS, StatusRequest {}, None, within).await;
                progress_in_order(
                    &status
                        .map_err(|status| format!("{url}: {}{}", describe(&status), self.hint(&url)))?
                        .version,
                )
            }
        };
        let number = next_link_number();
        let link = Link { channel, url, progress_in_order, member: index, number };
        *held = Some(link.clone());
        Ok(link)
    }

    /// The possible cause of a connection that broke right after it was made; the TLS layer does not pass it on.
    fn hint(&self, url: &str) -> &'static str {
        match &self.settings.tls {
            Some(tls) if url.starts_with("https") => match tls.identity {
                None => " (it may require a certificate, and we have none)",
                Some(_) => " (it may not accept our certificate)",
            },
            _ => "",
        }
    }
}

fn next_link_number() -> usize {
    static LINKS: AtomicUsize = AtomicUsize::new(0);
    LINKS.fetch_add(1, Ordering::Relaxed)
}

/// Whether etcd of this version sends progress responses after all pending changes.
///
/// It does since 3.4.25 and 3.5.8 (etcd issue 15220). Unknown versions count as older ones.
fn progress_in_order(version: &str) -> bool {
    let number = |part: Option<&str>| part.and_then(|part| part.split('-').next()?.parse::<u32>().ok());
    let mut parts = version.split('.');
    match (number(parts.next()), number(parts.next()), number(parts.next())) {
        (Some(3), Some(4), Some(patch)) => patch >= 25,
        (Some(3), Some(5), Some(patch)) => patch >= 8,
        (Some(major), Some(minor), _) => (major, minor) >= (3, 6),
        _ => false,
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all.iter().map(|member| &member.url)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_without_the_overtaking_bug_are_trusted_with_progress() {
        for version in ["3.4.25", "3.5.8", "3.5.16", "3.6.0-rc.1", "3.7.2", "4.0.0"] {
            assert!(progress_in_order(version), "{version}");
        }
        for version in ["3.3.27", "3.4.23", "3.5.7", "3.5.0-rc.1", "2.3.8", "", "unknown"] {
            assert!(!progress_in_order(version), "{version}");
        }
    }
}
