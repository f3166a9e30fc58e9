//! The context of a command: the client of one server, the namespace, and the output streams.
//!
//! All requests are sent and all output is printed here.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use gantry_client::{
    ApiClient, ApiRequest, ApiTransport, DISCOVERY, RequestError, StreamConnection, WatchLines,
};
use gantry_json::Value;
use gantry_primitives::Timestamp;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::field::{list, text};
use crate::resources::{ApiResource, Resources};

/// The client of one server, with defaults and output streams.
pub struct ClientContext {
    client: ApiClient,
    server: String,
    /// The default namespace of the command.
    pub namespace: String,
    /// Whether the namespace was given by a flag.
    pub namespace_is_explicit: bool,
    streams: OutputStreams,
    clock: fn() -> Timestamp,
    resources: Option<Resources>,
    started: Instant,
    has_printed_yaml: bool,
    /// A line to print before the first change.
    notice: Option<String>,
}

/// How long pages are buffered before the first output.
const OUTPUT_DELAY: Duration = Duration::from_millis(100);

/// Standard output and standard error.
pub struct OutputStreams {
    /// Standard output.
    pub out: Box<dyn Write + Send>,
    /// Standard error.
    pub err: Box<dyn Write + Send>,
}

/// The events of a watch.
pub(crate) struct WatchStream {
    lines: WatchLines,
}

impl std::fmt::Debug for ClientContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientContext")
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for OutputStreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OutputStreams")
    }
}

impl ClientContext {
    /// A context for this server; `server` is the address in error messages.
    pub fn new(
        transport: ApiTransport,
        server: impl Into<String>,
        streams: OutputStreams,
        clock: fn() -> Timestamp,
    ) -> Self {
        let namespace = transport.default_namespace().to_owned();
        let server = server.into();
        Self {
            client: ApiClient::new(transport),
            server,
            namespace,
            namespace_is_explicit: false,
            streams,
            clock,
            resources: None,
            started: Instant::now(),
            has_printed_yaml: false,
            notice: None,
        }
    }

    /// Prints this line on standard error before the first request that changes something.
    pub fn with_change_notice(mut self, notice: Option<String>) -> Self {
        self.notice = notice;
        self
    }

    /// Sets the namespace.
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self.namespace_is_explicit = true;
        self
    }

    /// The address of the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Whether the output delay has passed since the command started.
    pub(crate) fn is_past_output_delay(&self) -> bool {
        self.started.elapsed() >= OUTPUT_DELAY
    }

    /// Prints to standard output.
    pub(crate) fn print(&mut self, data: &str) -> Result<(), Failure> {
        self.print_bytes(data.as_bytes())
    }

    /// Prints bytes to standard output.
    pub(crate) fn print_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.streams.out.write_all(bytes).and_then(|()| self.streams.out.flush());
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::other(format!("cannot write: {error}")),
        })
    }

    /// Prints bytes to standard error; write errors are ignored.
    pub(crate) fn eprint_bytes(&mut self, bytes: &[u8]) {
        let _ = self.streams.err.write_all(bytes).and_then(|()| self.streams.err.flush());
    }

    /// Prints a YAML document, with a separator after the first one.
    pub(crate) fn print_yaml(&mut self, document: &str) -> Result<(), Failure> {
        if std::mem::replace(&mut self.has_printed_yaml, true) {
            self.println("---")?;
        }
        self.print(document)
    }

    /// Prints a line to standard output.
    pub(crate) fn println(&mut self, line: &str) -> Result<(), Failure> {
        self.print(&format!("{line}\n"))
    }

    /// Prints a line to standard error; write errors are ignored.
    pub(crate) fn eprintln(&mut self, line: &str) {
        let _ = writeln!(self.streams.err, "{line}");
    }

    /// Prints on standard error that nothing was found: in the namespace, or anywhere.
    pub(crate) fn print_no_resources_found(&mut self, anywhere: bool) {
        if anywhere {
            self.eprintln("No resources found");
        } else {
            self.eprintln(&format!("No resources found in {} namespace.", self.namespace));
        }
    }

    /// Prints warnings to standard error.
    pub(crate) fn warn(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.eprintln(warning);
        }
    }

    /// Sends a request and returns the decoded response; text if it is not JSON.
    pub(crate) async fn request(&mut self, request: ApiRequest) -> Result<Value, Failure> {
        self.prepare(&request)?;
        let response = self.client.send(&request).await.map_err(|error| self.failure(error))?;
        self.print_warnings(&response.warnings);
        let text = || Value::from(String::from_utf8_lossy(&response.body));
        Ok(gantry_json::from_slice(&response.body).unwrap_or_else(|_| text()))
    }

    /// Starts a watch. It has no events if the connection ends before the response, as in client-go.
    pub(crate) async fn watch(&mut self, request: ApiRequest) -> Result<WatchStream, Failure> {
        let request = request.watching();
        self.prepare(&request)?;
        let lines = match self.client.watch(&request).await {
            Err(error) if error.is_connection_closed() => WatchLines::ended(),
            started => started.map_err(|error| self.failure(error))?,
        };
        self.print_warnings(&lines.warnings);
        Ok(WatchStream { lines })
    }

    /// Sends a request that upgrades the connection to streams of this protocol.
    pub(crate) async fn open_streams(
        &mut self,
        request: &ApiRequest,
        protocol: &'static str,
    ) -> Result<StreamConnection, Failure> {
        if request.lacks_name() {
            return Err(Failure::unnamed());
        }
        self.client.open_streams(request, protocol).await.map_err(|error| match (&error.status, error.code) {
            (None, Some(_)) => {
                Failure::other(format!("unable to upgrade connection: {}", error.refusal.message))
            }
            _ => self.failure(error),
        })
    }

    /// The client of the server, for concurrent requests.
    pub(crate) fn client(&self) -> ApiClient {
        self.client.clone()
    }

    /// The resource types of the server, by discovery.
    pub(crate) async fn resources(&mut self) -> Result<Resources, Failure> {
        if let Some(known) = &self.resources {
            return Ok(known.clone());
        }
        let core = self.request(ApiRequest::get("/api").accepting(DISCOVERY)).await?;
        let groups = self.request(ApiRequest::get("/apis").accepting(DISCOVERY)).await?;
        let resources = if groups["kind"] == "APIGroupDiscoveryList" {
            Resources::from_discovery(&[core, groups])
        } else {
            self.unaggregated_discovery(&groups).await?
        };
        self.resources = Some(resources.clone());
        Ok(resources)
    }

    /// One object.
    pub(crate) async fn object(
        &mut self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Value, Failure> {
        self.request(ApiRequest::get(resource.object(namespace, name))).await
    }

    /// Discovery as servers did it before 1.26: a request for each group.
    async fn unaggregated_discovery(&mut self, groups: &Value) -> Result<Resources, Failure> {
        let mut documents = vec![self.request(ApiRequest::get("/api/v1")).await?];
        for group in list(groups, "/groups") {
            let path = format!("/apis/{}", text(group, "/preferredVersion/groupVersion"));
            documents.push(self.request(ApiRequest::get(path)).await?);
        }
        Ok(Resources::from_group_versions(&documents))
    }

    /// Refuses requests without a name, and prints the notice before the first change.
    fn prepare(&mut self, request: &ApiRequest) -> Result<(), Failure> {
        if request.lacks_name() {
            return Err(Failure::unnamed());
        }
        if let Some(notice) = self.notice.take_if(|_| request.is_change()) {
            self.eprintln(&notice);
        }
        Ok(())
    }

    fn print_warnings(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.eprintln(&format!("Warning: {warning}"));
        }
    }

    pub(crate) fn failure(&mut self, error: RequestError) -> Failure {
        self.print_warnings(&error.warnings);
        Failure::of_request(error, &self.server)
    }
}

impl WatchStream {
    /// The next change; none when the server ends the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<Value>, Failure> {
        // A lost connection ends the watch as if the server had ended it.
        let Some(Ok(line)) = self.lines.next().await else { return Ok(None) };
        let mut change: Value = gantry_json::from_slice(&line)
            .map_err(|error| Failure::other(format!("the server sent an invalid watch event: {error}")))?;
        if change["type"] == "ERROR" {
            return Err(Failure::of_status(change["object"].take()));
        }
        Ok(Some(change))
    }
}
