//! What an error of a request means: whether etcd can have done it, and what to tell people.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::path::PathBuf;

use gantry_store::{Corruption, Error};
use tonic::{Code, ConnectError, Status};

/// Why a request has no answer of the kind that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It never left this process.
    NotSent { why: String },
    /// etcd answered that it will not do it.
    Refused(Refusal),
    /// It was sent, and the answer is missing: etcd may have done it, may do it later, or never.
    Doubtful { why: String },
}

/// etcd's own reasons, as far as they lead to something different here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The revision is forgotten.
    Compacted,
    /// The revision is in the future.
    FutureRevision,
    /// The quota of the database is used up. The one refusal of a write that may come although the write was done:
    /// the member that notices applies it and then complains.
    NoSpace,
    /// The request has more bytes than etcd takes.
    TooLarge,
    /// The token of our user is no longer valid.
    Token,
    /// Not now: too many requests wait, or the member knows no leader.
    NotNow { why: String },
    /// The members' data differ.
    Corrupt { why: String },
    /// Never: not permitted, not understood.
    Never { why: String },
}

impl Fault {
    /// Judges the status a call ended with; `to` is the member that was asked.
    ///
    /// Only what etcd itself is known to say before it does anything counts as a refusal. Everything else, errors nobody
    /// has thought of included, leaves the outcome in doubt.
    pub(crate) fn of(status: &Status, to: &str) -> Self {
        if is_connect_error(status) {
            return Self::NotSent { why: format!("{to}: {}", chain(status)) };
        }
        match refusal(status.code(), status.message()) {
            Some(refusal) => Self::Refused(refusal),
            None => Self::Doubtful { why: format!("{to}: {}", describe(status)) },
        }
    }

    /// The error of a request that changes nothing, or of which it is known that it changed nothing.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::NotSent { why } | Self::Doubtful { why } => Error::Unavailable { why },
            Self::Refused(refusal) => refusal.into_error(),
        }
    }
}

impl Refusal {
    /// The error for refusals that carry all they need.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::NoSpace => out_of_space(),
            Self::TooLarge => Error::TooLarge { bytes_max: ETCD_REQUEST_BYTES },
            Self::Corrupt { why } => Error::Corrupt(Corruption {
                file: PathBuf::from("etcd"),
                offset: 0,
                found: why,
                advice: "find the differing member with `etcdctl endpoint hashkv --cluster` and replace it"
                    .to_owned(),
            }),
            Self::NotNow { why } | Self::Never { why } => Error::Unavailable { why },
            Self::Token => Error::Unavailable { why: "etcd does not accept our user's token".to_owned() },
            Self::Compacted | Self::FutureRevision => {
                Error::Unavailable { why: "etcd refused a revision of a request without one".to_owned() }
            }
        }
    }
}

/// What etcd takes unless `--max-request-bytes` says otherwise.
const ETCD_REQUEST_BYTES: usize = 1_572_864;

/// The words for a used-up quota.
pub(crate) fn out_of_space() -> Error {
    let why = "etcd is over its quota (alarm NOSPACE): compact and defragment it or raise --quota-backend-bytes, then \
               run `etcdctl alarm disarm`; reads and deletes go on";
    Error::OutOfSpace { why: why.to_owned() }
}

/// The error and all its causes in one line, each said once.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !words.contains(&next) {
            // Writing to a string cannot fail.
            let _ = write!(words, ": {next}");
        }
        cause = error.source();
    }
    words
}

/// The words of a status, with its causes but without its metadata.
pub(crate) fn describe(status: &Status) -> String {
    let causes = status.source().map(chain).unwrap_or_default();
    match (status.message(), causes.as_str()) {
        ("", "") => status.code().description().to_owned(),
        (message, "") => message.to_owned(),
        ("", causes) => causes.to_owned(),
        (message, causes) if causes.contains(message) => causes.to_owned(),
        (message, causes) => format!("{message}: {causes}"),
    }
}

fn is_connect_error(status: &Status) -> bool {
    let mut cause = status.source();
    while let Some(error) = cause {
        if error.is::<ConnectError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

fn refusal(code: Code, message: &str) -> Option<Refusal> {
    let why = || message.trim_start_matches("etcdserver: ").to_owned();
    Some(match message {
        "etcdserver: mvcc: required revision has been compacted" => Refusal::Compacted,
        "etcdserver: mvcc: required revision is a future revision" => Refusal::FutureRevision,
        "etcdserver: mvcc: database space exceeded" => Refusal::NoSpace,
        "etcdserver: request is too large" => Refusal::TooLarge,
        "etcdserver: invalid auth token" | "etcdserver: revision of auth store is old" => Refusal::Token,
        "etcdserver: too many requests" => {
            Refusal::NotNow { why: "etcd is overloaded: too many requests wait".into() }
        }
        "etcdserver: no leader" => {
            Refusal::NotNow { why: "etcd has no leader: too few of its members reach each other".into() }
        }
        "etcdserver: corrupt cluster" => Refusal::Corrupt { why: why() },
        // The member's gRPC layer, before etcd sees the request.
        _ if code == Code::ResourceExhausted && message.contains("larger than max") => Refusal::TooLarge,
        _ if code == Code::Unimplemented => {
            Refusal::Never { why: format!("this is no etcd we know: {message}") }
        }
        _ if !message.starts_with("etcdserver: ") => return None,
        _ => match code {
            Code::InvalidArgument
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::FailedPrecondition => Refusal::Never { why: format!("etcd refuses: {}", why()) },
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(code: Code, message: &str) -> Fault {
        Fault::of(&Status::new(code, message), "http://etcd:2379")
    }

    #[test]
    fn only_what_etcd_says_before_it_acts_is_a_refusal() {
        let refused = |code, message| match judged(code, message) {
            Fault::Refused(refusal) => refusal,
            other => unreachable!("{message}: {other:?}"),
        };
        let compacted = "etcdserver: mvcc: required revision has been compacted";
        assert_eq!(refused(Code::OutOfRange, compacted), Refusal::Compacted);
        let space = "etcdserver: mvcc: database space exceeded";
        assert_eq!(refused(Code::ResourceExhausted, space), Refusal::NoSpace);
        let large = "grpc: received message larger than max (4194341 vs. 2097152)";
        assert_eq!(refused(Code::ResourceExhausted, large), Refusal::TooLarge);
        let denied = refused(Code::PermissionDenied, "etcdserver: permission denied");
        assert_eq!(denied, Refusal::Never { why: "etcd refuses: permission denied".into() });
    }

    #[test]
    fn everything_else_leaves_the_outcome_in_doubt() {
        for (code, message) in [
            (Code::Unavailable, "etcdserver: leader changed"),
            (Code::Unavailable, "etcdserver: request timed out"),
            (Code::Unavailable, "etcdserver: request timed out, possibly due to connection lost"),
            (Code::DeadlineExceeded, "context deadline exceeded"),
            (Code::Unknown, "transport error"),
            (Code::PermissionDenied, "who knows"),
            (Code::OutOfRange, "decoded message length too large"),
        ] {
            assert!(matches!(judged(code, message), Fault::Doubtful { .. }), "{message}");
        }
    }

    #[test]
    fn a_connection_that_was_never_made_carried_nothing() {
        let refused = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        let status = Status::from_error(Box::new(ConnectError(Box::new(refused))));
        let Fault::NotSent { why } = Fault::of(&status, "http://etcd:2379") else {
            unreachable!("{status:?}")
        };
        assert!(why.contains("http://etcd:2379") && why.contains("connection refused"), "{why}");
    }
}
