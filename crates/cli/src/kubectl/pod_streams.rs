//! `logs`, `exec`, `attach`, `port-forward` and `cp`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use gantry_kubectl::verbs::{
    AttachOptions, CopyOptions, ExecOptions, LogsOptions, PortForwardOptions, attach, copy, exec, logs,
    port_forward,
};
use gantry_kubectl::{ClientContext, Failure};

use super::duration;
use super::standard_input::StandardInput;
use crate::cluster::ClusterFlags;

/// The flags of `logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsFlags {
    /// A pod or TYPE/NAME, and a container
    words: Vec<String>,
    /// The logs of this container
    #[arg(short, long)]
    container: Option<String>,
    /// The logs of all containers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    all_containers: Option<bool>,
    /// The logs of all pods of the object, with --prefix
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    all_pods: Option<bool>,
    /// The logs of the pods with these labels, such as app=web
    #[arg(short = 'l', long, value_name = "LABELS", default_value = "", hide_default_value = true)]
    selector: String,
    /// Wait for more
    #[arg(short, long)]
    follow: bool,
    /// The log of the container before its last restart
    #[arg(short, long)]
    previous: bool,
    /// The last lines only; -1 for all. By default all, or 10 with -l
    #[arg(long, value_name = "LINES", allow_hyphen_values = true)]
    tail: Option<i64>,
    /// Only lines that are not older than this, such as 5s, 2m or 3h
    #[arg(long, value_name = "DURATION", value_parser = seconds, allow_hyphen_values = true)]
    since: Option<i64>,
    /// Only lines since this time, such as 2026-01-31T06:00:00Z
    #[arg(long, value_name = "TIME", default_value = "", hide_default_value = true)]
    since_time: String,
    /// The most bytes of a log
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 0,
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    limit_bytes: i64,
    /// Print the time of each line
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    timestamps: Option<bool>,
    /// Print the pod and the container of each line
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    prefix: Option<bool>,
    /// Go on after errors
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    ignore_errors: Option<bool>,
    /// Do not verify the certificate of the node
    #[arg(long)]
    insecure_skip_tls_verify_backend: bool,
    /// How many logs may be followed at once
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    max_log_requests: usize,
    /// How long to wait for a pod
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "20s")]
    pod_running_timeout: Duration,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `exec`.
#[derive(Debug, Args)]
pub(crate) struct ExecFlags {
    /// A pod or TYPE/NAME
    words: Vec<String>,
    /// The command
    #[arg(last = true)]
    command: Vec<String>,
    /// The container
    #[arg(short, long, default_value = "", hide_default_value = true)]
    container: String,
    /// A manifest file that names the object
    #[arg(short, long, value_name = "FILE", value_delimiter = ',')]
    filename: Vec<String>,
    #[command(flatten)]
    session: SessionFlags,
    /// How long to wait for a pod
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1m0s")]
    pod_running_timeout: Duration,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachFlags {
    /// A pod, TYPE/NAME, or type and name
    words: Vec<String>,
    /// The container
    #[arg(short, long, default_value = "", hide_default_value = true)]
    container: String,
    #[command(flatten)]
    session: SessionFlags,
    /// The keys that end the session
    #[arg(long, value_name = "KEYS", value_parser = keys, default_value = "ctrl-p,ctrl-q")]
    detach_keys: Keys,
    /// How long to wait for a pod
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1m0s")]
    pod_running_timeout: Duration,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// How a session is connected with this side.
#[derive(Debug, Args)]
struct SessionFlags {
    /// Pass standard input on
    #[arg(short = 'i', long)]
    stdin: bool,
    /// Standard input is a terminal
    #[arg(short, long)]
    tty: bool,
    /// Print only what comes from the container
    #[arg(short, long)]
    quiet: bool,
}

/// The flags of `port-forward`.
#[derive(Debug, Args)]
pub(crate) struct PortForwardFlags {
    /// A pod or TYPE/NAME, and ports: PORT, LOCAL:REMOTE or :REMOTE
    words: Vec<String>,
    /// The addresses to listen on: IP addresses, or localhost
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',', default_value = "localhost")]
    address: Vec<String>,
    /// How long to wait for a pod
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1m0s")]
    pod_running_timeout: Duration,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

/// The flags of `cp`.
#[derive(Debug, Args)]
pub(crate) struct CopyFlags {
    /// Source and destination: PATH, POD:PATH or NAMESPACE/POD:PATH
    words: Vec<String>,
    /// The container
    #[arg(short, long, default_value = "", hide_default_value = true)]
    container: String,
    /// Do not keep ownership and permissions in the container
    #[arg(long)]
    no_preserve: bool,
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
}

impl LogsFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let options = LogsOptions {
            words: self.words,
            selector: self.selector,
            container: self.container,
            all_containers: self.all_containers == Some(true),
            all_pods: self.all_pods == Some(true),
            follow: self.follow,
            previous: self.previous,
            timestamps: self.timestamps == Some(true),
            prefix: self.prefix == Some(true),
            ignore_errors: self.ignore_errors == Some(true),
            skip_tls_verify_backend: self.insecure_skip_tls_verify_backend,
            since_time: self.since_time,
            since_seconds: self.since.unwrap_or(0),
            limit_bytes: self.limit_bytes,
            tail: self.tail,
            max_requests: self.max_log_requests,
            timeout: self.pod_running_timeout,
        };
        logs(ctx, &options).await
    }
}

impl ExecFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<ExitCode, Failure> {
        let has_file = !self.filename.is_empty();
        let (target, rest) = match self.words.split_first() {
            Some((target, rest)) => (target.clone(), rest.len()),
            None => (String::new(), 0),
        };
        if rest > 0 || (has_file && !target.is_empty()) {
            return Err(Failure::other(
                "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead\n\
                 See 'gantry exec -h' for help and examples",
            ));
        }
        let SessionFlags { stdin, tty, quiet } = self.session;
        let options = ExecOptions {
            target,
            files: self.filename,
            container: self.container,
            command: self.command,
            stdin,
            tty,
            quiet,
            timeout: self.pod_running_timeout,
        };
        exec(ctx, &options, &mut StandardInput::default()).await.map(ExitCode::from)
    }
}

impl AttachFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<ExitCode, Failure> {
        let SessionFlags { stdin, tty, quiet } = self.session;
        let options = AttachOptions {
            words: self.words,
            container: self.container,
            stdin,
            tty,
            quiet,
            detach_keys: self.detach_keys.0,
            timeout: self.pod_running_timeout,
        };
        attach(ctx, &options, &mut StandardInput::default()).await.map(ExitCode::from)
    }
}

impl PortForwardFlags {
    /// Forwards until it is interrupted, which is a success.
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<(), Failure> {
        let options = PortForwardOptions {
            words: self.words,
            addresses: self.address,
            timeout: self.pod_running_timeout,
        };
        tokio::select! {
            result = port_forward(ctx, &options) => result,
            _ = tokio::signal::ctrl_c() => Ok(()),
        }
    }
}

impl CopyFlags {
    pub(super) async fn run(self, ctx: &mut ClientContext) -> Result<ExitCode, Failure> {
        let options =
            CopyOptions { words: self.words, container: self.container, no_preserve: self.no_preserve };
        copy(ctx, &options).await.map(ExitCode::from)
    }
}

/// Parses a duration, rounded to seconds.
fn seconds(text: &str) -> Result<i64, String> {
    const SECOND: i64 = 1_000_000_000;
    let nanos = gantry_formats::duration::parse(text)
        .map_err(|_| format!("invalid duration {text:?}: use for example 30s or 1m30s"))?;
    let half = if nanos < 0 { -SECOND / 2 } else { SECOND / 2 };
    Ok(nanos.saturating_add(half) / SECOND)
}

/// Keys, as the bytes that a terminal sends for them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Keys(Vec<u8>);

/// Parses keys: characters, and `ctrl-` with a letter or one of `@[\\]^_`.
fn keys(text: &str) -> Result<Keys, String> {
    let key = |key: &str| match (key.as_bytes(), key.strip_prefix("ctrl-").map(str::as_bytes)) {
        (_, Some([letter @ (b'a'..=b'z' | b'@'..=b'_')])) => Some(letter.to_ascii_uppercase() & 0x1f),
        ([byte], _) => Some(*byte),
        _ => None,
    };
    let keys = text.split(',').map(|one| key(one).ok_or_else(|| format!("Unknown character: {one:?}")));
    keys.collect::<Result<_, _>>().map(Keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detach_keys_are_terminal_bytes() {
        assert_eq!(keys("ctrl-p,ctrl-q"), Ok(Keys(vec![16, 17])));
        assert_eq!(keys("a,ctrl-@"), Ok(Keys(vec![b'a', 0])));
        assert!(keys("ctrl-").is_err() && keys("ab").is_err());
    }

    #[test]
    fn times_are_rounded_to_seconds() {
        assert_eq!((seconds("1m"), seconds("1500ms"), seconds("-2s")), (Ok(60), Ok(2), Ok(-2)));
        assert!(seconds("soon").is_err());
    }
}
