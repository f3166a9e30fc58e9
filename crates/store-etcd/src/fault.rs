//! The meaning of request errors: whether etcd can have carried it out, and the message.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::path::PathBuf;

use gantry_store::{Corruption, Error};
use tonic::{Code, ConnectError, Status};

/// Why a request has no regular response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It was not sent.
    NotSent { why: String },
    /// etcd refused it.
    Refused(EtcdRefusal),
    /// It was sent, and there was no response: etcd may have carried it out, may do so later, or never.
    Doubtful { why: String },
}

/// etcd's error codes, as far as they are handled differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EtcdRefusal {
    /// The revision is compacted.
    Compacted,
    /// The revision is in the future.
    FutureRevision,
    /// The quota of the database is exceeded. The one refusal of a write that is possible although the write was done:
    /// the member that detects it applies the write first and then returns the error.
    NoSpace,
    /// The request exceeds etcd's size limit.
    TooLarge,
    /// The token of our user is no longer valid.
    Token,
    /// Temporary: too many requests are queued, or the member has no leader.
    NotNow { why: String },
    /// The members' data differ.
    Corrupt { why: String },
    /// Permanent: not permitted, not understood.
    Never { why: String },
}

impl Fault {
    /// Classifies the status of a call; `to` is the member.
    ///
    /// Only errors that etcd is known to return before it does anything count as a refusal. Everything else, unknown
    /// errors included, leaves the outcome unknown.
    pub(crate) fn of(status: &Status, to: &str) -> Self {
        if is_connect_error(status) {
            return Self::NotSent { why: format!("{to}: {}", chain(status)) };
        }
        match refusal(status.code(), status.message()) {
            Some(refusal) => Self::Refused(refusal),
            None => Self::Doubtful { why: format!("{to}: {}", describe(status)) },
        }
    }

    /// The error of a request that changed nothing.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::NotSent { why } | Self::Doubtful { why } => Error::Unavailable { why },
            Self::Refused(refusal) => refusal.into_error(),
        }
    }
}

impl EtcdRefusal {
    /// The error for refusals that need no further request.
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

/// etcd's default of `--max-request-bytes`.
const ETCD_REQUEST_BYTES: usize = 1_572_864;

/// The error for an exceeded quota.
pub(crate) fn out_of_space() -> Error {
    let why = "etcd is over its quota (alarm NOSPACE): compact and defragment it or raise --quota-backend-bytes, then \
               run `etcdctl alarm disarm`; reads and deletes go on";
    Error::OutOfSpace { why: why.to_owned() }
}

/// The error and all its causes in one line, each once.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            // Writing to a string cannot fail.
            let _ = write!(text, ": {next}");
        }
        cause = error.source();
    }
    text
}

/// The message of a status, with its causes but without its metadata.
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

fn refusal(code: Code, message: &str) -> Option<EtcdRefusal> {
    let why = || message.trim_start_matches("etcdserver: ").to_owned();
    Some(match message {
        "etcdserver: mvcc: required revision has been compacted" => EtcdRefusal::Compacted,
        "etcdserver: mvcc: required revision is a future revision" => EtcdRefusal::FutureRevision,
        "etcdserver: mvcc: database space exceeded" => EtcdRefusal::NoSpace,
        "etcdserver: request is too large" => EtcdRefusal::TooLarge,
        "etcdserver: invalid auth token" | "etcdserver: revision of auth store is old" => EtcdRefusal::Token,
        "etcdserver: too many requests" => {
            EtcdRefusal::NotNow { why: "etcd is overloaded: too many requests are queued".into() }
        }
        "etcdserver: no leader" => {
            EtcdRefusal::NotNow { why: "etcd has no leader: too few of its members reach each other".into() }
        }
        "etcdserver: corrupt cluster" => EtcdRefusal::Corrupt { why: why() },
        // From the member's gRPC layer, before etcd sees the request.
        _ if code == Code::ResourceExhausted && message.contains("larger than max") => EtcdRefusal::TooLarge,
        _ if code == Code::Unimplemented => {
            EtcdRefusal::Never { why: format!("this is not a known etcd: {message}") }
        }
        _ if !message.starts_with("etcdserver: ") => return None,
        _ => match code {
            Code::InvalidArgument
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::FailedPrecondition => EtcdRefusal::Never { why: format!("etcd refuses: {}", why()) },
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(code: Code, message: &str) -> Fault {
        Fault::of(&Status::new(code, message), "http://etcd:2379")
    }

    #[test]
    fn only_errors_before_execution_are_refusals() {
        let refused = |code, message| match classified(code, message) {
            Fault::Refused(refusal) => refusal,
            other => unreachable!("{message}: {other:?}"),
        };
        let compacted = "etcdserver: mvcc: required revision has been compacted";
        assert_eq!(refused(Code::OutOfRange, compacted), EtcdRefusal::Compacted);
        let space = "etcdserver: mvcc: database space exceeded";
        assert_eq!(refused(Code::ResourceExhausted, space), EtcdRefusal::NoSpace);
        let large = "grpc: received message larger than max (4194341 vs. 2097152)";
        assert_eq!(refused(Code::ResourceExhausted, large), EtcdRefusal::TooLarge);
        let denied = refused(Code::PermissionDenied, "etcdserver: permission denied");
        assert_eq!(denied, EtcdRefusal::Never { why: "etcd refuses: permission denied".into() });
    }

    #[test]
    fn all_other_errors_leave_the_outcome_unknown() {
        for (code, message) in [
            (Code::Unavailable, "etcdserver: leader changed"),
            (Code::Unavailable, "etcdserver: request timed out"),
            (Code::Unavailable, "etcdserver: request timed out, possibly due to connection lost"),
            (Code::DeadlineExceeded, "context deadline exceeded"),
            (Code::Unknown, "transport error"),
            (Code::PermissionDenied, "who knows"),
            (Code::OutOfRange, "decoded message length too large"),
        ] {
            assert!(matches!(classified(code, message), Fault::Doubtful { .. }), "{message}");
        }
    }

    #[test]
    fn a_failed_connection_has_sent_nothing() {
        let refused = std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        let status = Status::from_error(Box::new(ConnectError(Box::new(refused))));
        let Fault::NotSent { why } = Fault::of(&status, "http://etcd:2379") else {
            unreachable!("{status:?}")
        };
        assert!(why.contains("http://etcd:2379") && why.contains("connection refused"), "{why}");
    }
}
