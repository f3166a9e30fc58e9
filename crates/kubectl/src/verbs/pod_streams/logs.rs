//! `logs`: prints the output of containers.

use std::time::Duration;

use gantry_client::{ApiClient, ApiRequest, RequestError};
use gantry_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::container_choice;
use super::exec::pod_path;
use super::pod_choice::{PodPurpose, go_type, named, pod_labels, wait_for, with_labels};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;

/// The options of `logs`.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of kubectl's")]
pub struct LogsOptions {
    /// A pod or `TYPE/NAME`, and a container.
    pub words: Vec<String>,
    /// Only pods with these labels.
    pub selector: String,
    /// The value of `--container`.
    pub container: Option<String>,
    /// The logs of all containers.
    pub all_containers: bool,
    /// The logs of all pods of the object.
    pub all_pods: bool,
    /// Whether to wait for more lines.
    pub follow: bool,
    /// Whether to read the log of the container before its last restart.
    pub previous: bool,
    /// Whether each line begins with its time.
    pub timestamps: bool,
    /// Whether each line begins with its pod and container.
    pub prefix: bool,
    /// Whether errors are printed without ending the command.
    pub ignore_errors: bool,
    /// Whether the certificate of the node's agent is not verified.
    pub skip_tls_verify_backend: bool,
    /// Only lines since then.
    pub since_time: String,
    /// Only lines that are not older than this many seconds.
    pub since_seconds: i64,
    /// The most bytes.
    pub limit_bytes: i64,
    /// The last lines only.
    pub tail: Option<i64>,
    /// How many logs may be followed at once.
    pub max_requests: usize,
    /// How long to wait for a pod.
    pub timeout: Duration,
}

/// The lines that are shown of each log if pods are selected by labels.
const SELECTED_TAIL: i64 = 10;
const RETRY_EVERY: Duration = Duration::from_secs(1);
const USAGE: &str = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\n\
                     POD or TYPE/NAME is a required argument for the logs command\n\
                     See 'gantry logs -h' for help and examples";

/// One log.
#[derive(Clone, Debug)]
struct LogRequest {
    request: ApiRequest,
    /// The prefix of each line.
    prefix: String,
}

/// Prints logs.
pub async fn logs(ctx: &mut ClientContext, options: &LogsOptions) -> Result<(), Failure> {
    let container = check(options)?;
    let pods = pods(ctx, options).await?;
    let mut requests = Vec::new();
    for pod in &pods {
        let containers = if options.all_containers {
            container_choice::in_order(pod)
        } else {
            vec![choose(ctx, pod, &container, options.all_pods)?]
        };
        requests.extend(containers.iter().map(|container| log_request(pod, container, options)));
    }
    let count = requests.len();
    if options.follow && count > 1 {
        let max = options.max_requests;
        if count > max {
            return Err(Failure::other(format!(
                "you are attempting to follow {count} log streams, but maximum allowed concurrency is {max}, use \
                 --max-log-requests to increase the limit"
            )));
        }
        return together(ctx, requests, options).await;
    }
    for request in requests {
        one(ctx, &request, options).await?;
    }
    Ok(())
}

/// Checks options; returns the container that is named.
fn check(options: &LogsOptions) -> Result<String, Failure> {
    let (words, container) = (&options.words, options.container.clone());
    let inline = match (words.as_slice(), options.selector.is_empty()) {
        ([], true) | ([_, _, _, ..], _) => return Err(Failure::other(USAGE)),
        ([_], false) => {
            let why =
                "only a selector (-l) or a POD name is allowed\nSee 'gantry logs -h' for help and examples";
            return Err(Failure::other(why));
        }
        ([_, inline], _) => Some(inline.clone()),
        _ => None,
    };
    let named = inline.clone().or(container.clone()).unwrap_or_default();
    let problem = if !options.since_time.is_empty() && options.since_seconds != 0 {
        "at most one of `sinceTime` or `sinceSeconds` may be specified".to_owned()
    } else if options.all_containers && !named.is_empty() {
        format!("--all-containers=true should not be specified with container name {named}")
    } else if container.is_some() && inline.is_some() {
        "only one of -c or an inline [CONTAINER] arg is allowed".to_owned()
    } else if options.limit_bytes < 0 {
        "--limit-bytes must be greater than 0".to_owned()
    } else if options.since_seconds < 0 {
        "--since must be greater than 0".to_owned()
    } else if options.tail.is_some_and(|tail| tail < -1) {
        "--tail must be greater than or equal to -1".to_owned()
    } else {
        return Ok(named);
    };
    Err(Failure::other(problem))
}

/// The pods whose logs are printed.
async fn pods(ctx: &mut ClientContext, options: &LogsOptions) -> Result<Vec<Value>, Failure> {
    let namespace = ctx.namespace.clone();
    let Some(word) = options.words.first() else {
        let pods = with_labels(ctx, &namespace, &options.selector).await?;
        if pods.is_empty() {
            ctx.eprintln(&format!("No resources found in {namespace} namespace."));
        }
        return Ok(pods);
    };
    let object = named(ctx, word).await.map_err(|failure| {
        let message = failure.message();
        if failure.is_not_found() {
            Failure::other(format!("error from server (NotFound): {message} in namespace {namespace:?}"))
        } else {
            failure
        }
    })?;
    if object.resource.kind == "Pod" {
        return Ok(vec![object.object]);
    }
    let labels = pod_labels(&object).map_err(|why| {
        Failure::other(format!("cannot get the logs from {}: {why}", go_type(&object.resource)))
    })?;
    let mut pods = wait_for(ctx, &object.namespace, &labels, options.timeout, PodPurpose::Logs).await?;
    if pods.len() > 1 && !options.all_pods {
        let first = text(&pods[0], "/metadata/name");
        ctx.eprintln(&format!("Found {} pods, using pod/{first}", pods.len()));
        pods.truncate(1);
    }
    Ok(pods)
}

/// The container of a pod: the one that is named, the annotated one, or the first.
fn choose(ctx: &mut ClientContext, pod: &Value, named: &str, is_quiet: bool) -> Result<String, Failure> {
    let annotated = container_choice::annotated(pod);
    let name = match (named, annotated) {
        ("", "") => return container_choice::first(ctx, pod, is_quiet),
        ("", annotated) if container_choice::container(pod, annotated).is_none() => {
            let pod_name = text(pod, "/metadata/name");
            ctx.eprintln(&format!("Default container name {annotated:?} not found in pod {pod_name}"));
            return container_choice::first(ctx, pod, is_quiet);
        }
        ("", annotated) => annotated,
        (named, _) => named,
    };
    match container_choice::container(pod, name) {
        Some(_) => Ok(name.to_owned()),
        None => Err(container_choice::not_valid(pod, name)),
    }
}

fn log_request(pod: &Value, container: &str, options: &LogsOptions) -> LogRequest {
    let flag = |is_set: bool| if is_set { "true" } else { "" };
    let number = |number: i64| if number == 0 { String::new() } else { number.to_string() };
    let tail = match options.tail {
        None if !options.selector.is_empty() => SELECTED_TAIL.to_string(),
        None | Some(-1) => String::new(),
        Some(lines) => lines.to_string(),
    };
    let request = ApiRequest::get(pod_path(pod, "log"))
        .accepting("application/json, */*")
        .with("container", container)
        .with("follow", flag(options.follow))
        .with("insecureSkipTLSVerifyBackend", flag(options.skip_tls_verify_backend))
        .with("limitBytes", number(options.limit_bytes))
        .with("previous", flag(options.previous))
        .with("sinceSeconds", number(options.since_seconds))
        .with("sinceTime", options.since_time.clone())
        .with("tailLines", tail)
        .with("timestamps", flag(options.timestamps));
    let prefix = if options.prefix || options.all_pods {
        format!("[pod/{}/{container}] ", text(pod, "/metadata/name"))
    } else {
        String::new()
    };
    LogRequest { request, prefix }
}

/// The events of reading a log.
enum LogEvent {
    /// A line, or its beginning if nothing follows.
    Line(Vec<u8>),
    Error(RequestError),
}

/// Prints one log.
async fn one(ctx: &mut ClientContext, log: &LogRequest, options: &LogsOptions) -> Result<(), Failure> {
    let deadline = Instant::now() + options.timeout;
    loop {
        let (sender, mut events) = mpsc::channel(64);
        tokio::spawn(read(ctx.client(), log.clone(), sender));
        let mut error = None;
        while let Some(event) = events.recv().await {
            match event {
                LogEvent::Line(line) => ctx.print_bytes(&line)?,
                LogEvent::Error(failed) => error = Some(failed),
            }
        }
        let Some(error) = error else { return Ok(()) };
        retry_or_fail(ctx, error, options, deadline)?;
        if options.ignore_errors {
            return Ok(());
        }
        tokio::time::sleep(RETRY_EVERY).await;
    }
}

/// Prints several logs while they are written, line by line.
async fn together(
    ctx: &mut ClientContext,
    logs: Vec<LogRequest>,
    options: &LogsOptions,
) -> Result<(), Failure> {
    let (sender, mut events) = mpsc::channel(64);
    for log in logs {
        tokio::spawn(read(ctx.client(), log, sender.clone()));
    }
    drop(sender);
    while let Some(event) = events.recv().await {
        match event {
            LogEvent::Line(line) => ctx.print_bytes(&line)?,
            LogEvent::Error(error) if options.ignore_errors => {
                ctx.println(&format!("error: {}", error.refusal.message))?;
            }
            LogEvent::Error(error) => return Err(ctx.failure(error)),
        }
    }
    Ok(())
}

/// Handles an error: ignores it, allows a retry, or fails.
fn retry_or_fail(
    ctx: &mut ClientContext,
    error: RequestError,
    options: &LogsOptions,
    deadline: Instant,
) -> Result<(), Failure> {
    if options.ignore_errors {
        return ctx.println(&format!("error: {}", error.refusal.message));
    }
    if !options.follow || error.status.is_none() {
        return Err(ctx.failure(error));
    }
    ctx.eprintln(&error.refusal.message);
    if Instant::now() + RETRY_EVERY > deadline {
        return Err(Failure::other("context deadline exceeded"));
    }
    Ok(())
}

/// Reads a log line by line until it ends or the receiver is dropped.
async fn read(client: ApiClient, log: LogRequest, events: mpsc::Sender<LogEvent>) {
    let mut chunks = match client.chunks(&log.request).await {
        Ok(chunks) => chunks,
        Err(error) => return drop(events.send(LogEvent::Error(error)).await),
    };
    let mut lines = Lines { prefix: log.prefix.into_bytes(), rest: Vec::new() };
    while let Some(chunk) = chunks.next().await {
        let event = match chunk {
            Ok(bytes) => LogEvent::Line(lines.push(&bytes)),
            Err(error) => LogEvent::Error(error),
        };
        if events.send(event).await.is_err() {
            return;
        }
    }
    let _ = events.send(LogEvent::Line(lines.end())).await;
}

/// Cuts bytes into lines, and adds the prefix.
struct Lines {
    prefix: Vec<u8>,
    rest: Vec<u8>,
}

impl Lines {
    /// The whole lines that have arrived.
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        self.prefixed(&whole)
    }

    /// The last line, which has no end.
    fn end(&mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.rest);
        self.prefixed(&rest)
    }

    fn prefixed(&self, lines: &[u8]) -> Vec<u8> {
        if self.prefix.is_empty() {
            return lines.to_vec();
        }
        let lines = lines.split_inclusive(|byte| *byte == b'\n');
        lines.flat_map(|line| [self.prefix.as_slice(), line].concat()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_printed_whole_and_with_their_prefix() {
        let mut lines = Lines { prefix: b"[p] ".to_vec(), rest: Vec::new() };
        assert_eq!(lines.push(b"on"), b"");
        assert_eq!(lines.push(b"e\ntwo\nth"), b"[p] one\n[p] two\n");
        assert_eq!(lines.end(), b"[p] th");
        assert_eq!(lines.end(), b"");
        let mut plain = Lines { prefix: Vec::new(), rest: Vec::new() };
        assert_eq!(plain.push(b"a\r\nb"), b"a\r\n");
        assert_eq!(plain.end(), b"b");
    }

    /// The messages of kubectl 1.37.
    #[test]
    fn contradicting_flags_are_refused() {
        let web = || LogsOptions { words: vec!["web".to_owned()], ..LogsOptions::default() };
        let refused = |options: LogsOptions| check(&options).unwrap_err().message();
        assert_eq!(
            refused(LogsOptions { since_time: "x".to_owned(), since_seconds: 1, ..web() }),
            "at most one of `sinceTime` or `sinceSeconds` may be specified"
        );
        assert_eq!(
            refused(LogsOptions { all_containers: true, container: Some("c".to_owned()), ..web() }),
            "--all-containers=true should not be specified with container name c"
        );
        let twice = LogsOptions {
            words: vec!["web".to_owned(), "c".to_owned()],
            container: Some("d".to_owned()),
            ..web()
        };
        assert_eq!(refused(twice), "only one of -c or an inline [CONTAINER] arg is allowed");
        assert_eq!(
            refused(LogsOptions { tail: Some(-2), ..web() }),
            "--tail must be greater than or equal to -1"
        );
        assert_eq!(refused(LogsOptions { limit_bytes: -1, ..web() }), "--limit-bytes must be greater than 0");
        assert_eq!(refused(LogsOptions { since_seconds: -1, ..web() }), "--since must be greater than 0");
        let both = LogsOptions { selector: "a=b".to_owned(), ..web() };
        assert!(refused(both).starts_with("only a selector (-l) or a POD name is allowed\n"));
        assert!(refused(LogsOptions::default()).starts_with("expected 'logs [-f] [-p] (POD | TYPE/NAME)"));
    }
}
