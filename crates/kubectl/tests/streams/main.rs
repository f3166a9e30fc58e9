//! Stories of a user who accesses containers: a server on loopback, and a scripted node agent behind it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod agent;
#[path = "../shared_buffer/mod.rs"]
mod shared_buffer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::Agent;
use gantry_apiserver::{ApiServer, ServiceAccounts, Settings};
use gantry_client::{ApiClient, ApiRequest, ApiTransport, ClientConfig};
use gantry_json::{Value, json};
use gantry_kubectl::verbs::{
    AttachOptions, CopyOptions, ExecOptions, LocalTerminal, LogsOptions, PortForwardOptions, TerminalSize,
    attach, copy, exec, logs, port_forward,
};
use gantry_kubectl::{ClientContext, Failure, OutputStreams};
use gantry_serving::{ConnectionLimits, Listener, Stopper, SystemEnvironment, Transport};
use gantry_store::memory::{HistoryLimits, MemoryStore};
use shared_buffer::SharedBuffer;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// The timeout of each step, long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

impl SharedBuffer {
    /// Returns all output so far.
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Standard input of a test.
#[derive(Default)]
struct ScriptedInput {
    input: Vec<u8>,
    /// The sizes of the terminal, if it is one.
    sizes: Vec<TerminalSize>,
    is_raw: bool,
}

impl LocalTerminal for ScriptedInput {
    fn is_terminal(&self) -> bool {
        !self.sizes.is_empty()
    }

    fn read_input(&mut self) -> mpsc::Receiver<Vec<u8>> {
        let (sender, bytes) = mpsc::channel(1);
        let input = std::mem::take(&mut self.input);
        tokio::spawn(async move {
            for chunk in input.chunks(5000) {
                sender.send(chunk.to_vec()).await.unwrap();
            }
        });
        bytes
    }

    fn make_raw(&mut self) -> mpsc::Receiver<TerminalSize> {
        let (sender, sizes) = mpsc::channel(8);
        for size in &self.sizes {
            sender.try_send(*size).unwrap();
        }
        self.is_raw = true;
        sizes
    }

    fn restore(&mut self) {
        self.is_raw = false;
    }
}

/// A user of a cluster with the pods `one` (containers `app` and `side`, after `setup`) and `web-a`, `web-b` of the
/// Deployment `web`.
struct TestUser {
    ctx: ClientContext,
    agent: Agent,
    out: SharedBuffer,
    err: SharedBuffer,
    folder: PathBuf,
    _stopper: Stopper,
}

impl Drop for TestUser {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn pod(name: &str, labels: &Value, containers: &Value) -> Value {
    let setup = if name == "one" { json!([{"name": "setup", "image": "i"}]) } else { json!([]) };
    let spec = json!({"nodeName": "n1", "containers": containers, "initContainers": setup});
    json!({"metadata": {"name": name, "labels": labels}, "spec": spec})
}

impl TestUser {
    async fn new(name: &str) -> Self {
        let agent = Agent::default();
        let nodes = Some(Arc::new(agent.clone()) as _);
        let settings = Settings { nodes, service_accounts: ServiceAccounts::Ignored, ..Settings::default() };
        let store = Arc::new(MemoryStore::new(HistoryLimits::default()));
        let server = ApiServer::new(store, Arc::new(SystemEnvironment), settings);
        server.prepare().await.unwrap();
        let listener = Listener::on("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = listener.address();
        let (stopper, stop) = Stopper::new();
        tokio::spawn(listener.serve(server, Transport::Plain, ConnectionLimits::default(), stop));
        let config = ClientConfig::new(format!("http://{address}").parse().unwrap());
        let transport = ApiTransport::connect(&config).unwrap();
        let client = ApiClient::new(transport.clone());
        let status = json!({
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        });
        let node = json!({"metadata": {"name": "n1"}, "status": status});
        client.send(&ApiRequest::post("/api/v1/nodes", &node)).await.unwrap();
        let two = json!([{"name": "app", "image": "i"}, {"name": "side", "image": "i", "tty": true, "stdin": true}]);
        let single = json!([{"name": "c", "image": "i", "ports": [{"name": "http", "containerPort": 8080}]}]);
        for pod in [
            pod("one", &json!({"app": "one"}), &two),
            pod("web-a", &json!({"app": "web"}), &single),
            pod("web-b", &json!({"app": "web"}), &single),
        ] {
            let path = "/api/v1/namespaces/default/pods";
            client.send(&ApiRequest::post(path, &pod)).await.unwrap();
            let path = format!("{path}/{}/status", pod["metadata"]["name"].as_str().unwrap());
            let running = json!({"status": {"phase": "Running"}});
            client
                .send(&ApiRequest::patch(path, gantry_kubectl::PatchForm::JsonMerge, &running))
                .await
                .unwrap();
        }
        let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": single}});
        let spec = json!({"selector": {"matchLabels": {"app": "web"}}, "template": template});
        let web = json!({"metadata": {"name": "web"}, "spec": spec});
        client.send(&ApiRequest::post("/apis/apps/v1/namespaces/default/deployments", &web)).await.unwrap();
        let (out, err) = (SharedBuffer::default(), SharedBuffer::default());
        let streams = OutputStreams { out: Box::new(out.clone()), err: Box::new(err.clone()) };
        let ctx =
            ClientContext::new(transport, "here", streams, || gantry_primitives::Timestamp::from_secs(0));
        let folder = std::env::temp_dir().join(format!("gantry-streams-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self { ctx, agent, out, err, folder, _stopper: stopper }
    }

    /// The output of a command, with its failure at the end.
    fn printed<T>(&self, result: Result<T, Failure>) -> (Option<T>, String, String) {
        let (value, failure) = match result {
            Ok(value) => (Some(value), String::new()),
            Err(failure) => (None, failure.lines()),
        };
        (value, self.out.take(), self.err.take() + &failure)
    }

    async fn logs(&mut self, options: LogsOptions) -> (bool, String, String) {
        let options = LogsOptions { max_requests: 5, ..options };
        let result = tokio::time::timeout(TIMEOUT, logs(&mut self.ctx, &options)).await.unwrap();
        let (done, out, err) = self.printed(result);
        (done.is_some(), out, err)
    }

    async fn exec(
        &mut self,
        options: ExecOptions,
        input: &mut ScriptedInput,
    ) -> (Option<u8>, String, String) {
        let result = tokio::time::timeout(TIMEOUT, exec(&mut self.ctx, &options, input)).await.unwrap();
        self.printed(result)
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn ok(out: &str, err: &str) -> (bool, String, String) {
    (true, out.to_owned(), err.to_owned())
}

/// The log of a container: by name, the annotated one, the first; of all of them; of pods of a workload or with labels.
#[tokio::test]
async fn logs_are_those_of_the_selected_containers() {
    let mut user = TestUser::new("logs").await;
    let of = |text: &str| LogsOptions { words: words(text), ..LogsOptions::default() };
    let defaulted = "Defaulted container \"app\" out of: app, side, setup (init)\n";
    assert_eq!(user.logs(of("one")).await, ok("app one\napp two\n", defaulted));
    assert_eq!(user.logs(of("pod/one side")).await, ok("side one\nside two\n", ""));
    assert_eq!(user.agent.requests(), ["/containerLogs/default/one/app", "/containerLogs/default/one/side"]);
    let all = LogsOptions { all_containers: true, prefix: true, tail: Some(1), ..of("one") };
    let (_, out, err) = user.logs(all).await;
    let lines: Vec<_> = out.lines().collect();
    assert_eq!((lines.len(), lines[0], err.as_str()), (6, "[pod/one/setup] setup one", ""));
    user.agent.requests();
    let selected = LogsOptions { selector: "app=web".to_owned(), timestamps: true, ..LogsOptions::default() };
    assert_eq!(user.logs(selected).await, ok("c one\nc two\nc one\nc two\n", ""));
    let requests = user.agent.requests();
    assert_eq!(requests[0], "/containerLogs/default/web-a/c?tailLines=10&timestamps=true");
    let (done, out, err) = user.logs(of("deploy/web")).await;
    assert_eq!((done, out.as_str()), (true, "c one\nc two\n"));
    assert!(err.starts_with("Found 2 pods, using pod/web-"), "{err}");
    let (_, out, _) = user.logs(LogsOptions { all_pods: true, ..of("deploy/web") }).await;
    assert_eq!(out, "[pod/web-a/c] c one\n[pod/web-a/c] c two\n[pod/web-b/c] c one\n[pod/web-b/c] c two\n");
    let none = LogsOptions { selector: "app=none".to_owned(), ..LogsOptions::default() };
    assert_eq!(user.logs(none).await, ok("", "No resources found in default namespace.\n"));
}

/// The messages of kubectl 1.37 for logs that do not exist.
#[tokio::test]
async fn a_log_that_is_not_there_is_explained() {
    let mut user = TestUser::new("no-logs").await;
    let of = |text: &str| LogsOptions { words: words(text), ..LogsOptions::default() };
    for (options, why) in [
        (
            of("none"),
            "error: error from server (NotFound): pods \"none\" not found in namespace \"default\"\n",
        ),
        (of("one zz"), "error: container zz is not valid for pod one out of: app, side, setup (init)\n"),
        (
            of("ns/default"),
            "error: cannot get the logs from *v1.Namespace: selector for *v1.Namespace not implemented\n",
        ),
    ] {
        assert_eq!(user.logs(options).await, (false, String::new(), why.to_owned()));
    }
    let many = LogsOptions { follow: true, all_containers: true, max_requests: 2, ..of("one") };
    let result = logs(&mut user.ctx, &many).await;
    let (_, _, err) = user.printed(result);
    let why = "error: you are attempting to follow 3 log streams, but maximum allowed concurrency is 2, use \
               --max-log-requests to increase the limit\n";
    assert_eq!(err, why);
}

/// Several logs are followed concurrently, line by line.
#[tokio::test]
async fn several_logs_are_followed_together() {
    let mut user = TestUser::new("follow").await;
    let options = LogsOptions {
        words: words("one"),
        follow: true,
        all_containers: true,
        prefix: true,
        timeout: TIMEOUT,
        ..LogsOptions::default()
    };
    let (done, out, _) = user.logs(options).await;
    let mut lines: Vec<_> = out.lines().collect();
    lines.sort_unstable();
    assert!(done && lines.len() == 6, "{out}");
    assert_eq!(lines[0], "[pod/one/app] app one");
}

fn command(target: &str, words: &[&str]) -> ExecOptions {
    let command = words.iter().map(|word| (*word).to_owned()).collect();
    ExecOptions { target: target.to_owned(), command, ..ExecOptions::default() }
}

/// Output, errors and the exit code of a command arrive; all of its input is passed on.
#[tokio::test]
async fn a_command_runs_with_its_streams_and_exit_code() {
    let mut user = TestUser::new("exec").await;
    let (code, out, err) = user.exec(command("web-a", &["fail"]), &mut ScriptedInput::default()).await;
    assert_eq!(
        (code, out.as_str(), err.as_str()),
        (Some(3), "out\n", "err\ncommand terminated with exit code 3\n")
    );
    assert_eq!(user.agent.requests(), ["/exec/default/web-a/c?command=fail&error=1&output=1"]);
    let input: Vec<u8> = (0..300_000_u32).map(|number| b'a' + u8::try_from(number % 26).unwrap()).collect();
    let mut stdin = ScriptedInput { input: input.clone(), ..ScriptedInput::default() };
    let cat = ExecOptions { stdin: true, ..command("deploy/web", &["cat", ""]) };
    let (code, out, err) = user.exec(cat, &mut stdin).await;
    assert_eq!((code, out.as_bytes() == input, err.as_str()), (Some(0), true, ""));
    let request = user.agent.requests().remove(0);
    assert!(request.ends_with("/c?command=cat&command=&error=1&input=1&output=1"), "{request}");
}

/// A terminal is raw while a command runs in it, and its size is sent.
#[tokio::test]
async fn a_terminal_is_passed_on_with_its_size() {
    let mut user = TestUser::new("tty").await;
    let sizes = vec![TerminalSize { width: 100, height: 40 }];
    let mut stdin = ScriptedInput { input: b"exit\r".to_vec(), sizes, ..ScriptedInput::default() };
    let shell =
        ExecOptions { stdin: true, tty: true, container: "app".to_owned(), ..command("one", &["sh"]) };
    let (code, _, err) = user.exec(shell.clone(), &mut stdin).await;
    assert_eq!((code, err.as_str(), stdin.is_raw), (Some(0), "", false));
    assert_eq!(user.agent.requests(), ["/exec/default/one/app?command=sh&input=1&output=1&tty=1"]);
    let input = String::from_utf8(user.agent.input()).unwrap();
    assert!(input.contains("exit\r"), "{input}");
    let (_, _, err) = user.exec(shell, &mut ScriptedInput::default()).await;
    assert_eq!(err, "Unable to use a TTY - input is not a terminal or the right kind of file\n");
}

/// The messages of kubectl 1.37 for commands that cannot run.
#[tokio::test]
async fn a_command_that_cannot_run_is_explained() {
    let mut user = TestUser::new("no-exec").await;
    let zz = ExecOptions { container: "zz".to_owned(), ..command("one", &["true"]) };
    for (options, why) in [
        (command("none", &["true"]), "Error from server (NotFound): pods \"none\" not found\n"),
        (command("web-a", &["crash"]), "error: lost connection to the container\n"),
        (command("one", &[]), "error: you must specify at least one command for the container\n"),
        (command("", &["true"]), "error: pod, type/name or --filename must be specified\n"),
        (zz, "error: container zz is not valid for pod one out of: app, side, setup (init)\n"),
        (
            command("ns/default", &["true"]),
            "error: cannot attach to *v1.Namespace: selector for *v1.Namespace not implemented\n",
        ),
    ] {
        let (code, out, err) = user.exec(options, &mut ScriptedInput::default()).await;
        assert_eq!((code, out.as_str(), err.as_str()), (None, "", why));
    }
}

/// `attach` is connected with the running process until it ends or the keys are pressed.
#[tokio::test]
async fn attaching_ends_with_the_process_or_with_the_keys() {
    let mut user = TestUser::new("attach").await;
    let options = AttachOptions {
        words: words("one"),
        container: "side".to_owned(),
        stdin: true,
        tty: true,
        detach_keys: vec![16, 17],
        timeout: TIMEOUT,
        ..AttachOptions::default()
    };
    let sizes = vec![TerminalSize { width: 80, height: 24 }];
    for input in [&b"exit\r"[..], b"ls\x10\x11"] {
        let mut stdin =
            ScriptedInput { input: input.to_vec(), sizes: sizes.clone(), ..ScriptedInput::default() };
        let result =
            tokio::time::timeout(TIMEOUT, attach(&mut user.ctx, &options, &mut stdin)).await.unwrap();
        let (code, out, err) = user.printed(result);
        assert_eq!((code, stdin.is_raw), (Some(0), false));
        assert!(
            out.ends_with(
                "Session ended, resume using 'gantry attach one -c side -n default -i -t' command\n"
            ),
            "{out}"
        );
        assert!(err.ends_with("If you don't see a command prompt, try pressing enter.\n"), "{err}");
        assert_eq!(user.agent.requests(), ["/attach/default/one/side?input=1&output=1&tty=1"]);
    }
}

/// Local connections reach the port of a pod, several at once and with both ends of each.
#[tokio::test]
async fn local_ports_are_forwarded_to_the_pod() {
    let mut user = TestUser::new("forward").await;
    let options = PortForwardOptions {
        words: words("deploy/web :http"),
        addresses: vec!["127.0.0.1".to_owned()],
        timeout: TIMEOUT,
    };
    let out = user.out.clone();
    let exchange = async {
        let port = loop {
            let text = out.text();
            if let Some(rest) = text.strip_prefix("Forwarding from 127.0.0.1:") {
                assert!(rest.contains(" -> 8080\n"), "{text}");
                break rest.split(' ').next().unwrap().parse::<u16>().unwrap();
            }
            tokio::task::yield_now().await;
        };
        let mut connections = Vec::new();
        for number in 0..3 {
            let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            connection.write_all(format!("hello {number}").as_bytes()).await.unwrap();
            connections.push(connection);
        }
        for (number, mut connection) in connections.into_iter().enumerate() {
            // The end of the request is passed on, and the echo arrives after it.
            connection.shutdown().await.unwrap();
            let mut echo = String::new();
            connection.read_to_string(&mut echo).await.unwrap();
            assert_eq!(echo, format!("HELLO {number}"));
        }
    };
    tokio::select! {
        result = port_forward(&mut user.ctx, &options) => panic!("{result:?}"),
        exchanged = tokio::time::timeout(TIMEOUT, exchange) => exchanged.unwrap(),
    }
    let handled = user.out.take();
    assert_eq!(handled.matches("Handling connection for ").count(), 3, "{handled}");
    assert_eq!(user.agent.requests().len(), 1, "one connection to the server for all");
}

/// The node's error about a port that cannot be reached ends the session.
#[tokio::test]
async fn a_port_that_cannot_be_reached_ends_the_session() {
    let mut user = TestUser::new("no-forward").await;
    let addresses = vec!["127.0.0.1".to_owned()];
    let options = PortForwardOptions { words: words("web-a :1"), addresses, timeout: TIMEOUT };
    let out = user.out.clone();
    let connecting = async {
        loop {
            let text = out.text();
            if let Some(rest) = text.strip_prefix("Forwarding from 127.0.0.1:") {
                let port: u16 = rest.split(' ').next().unwrap().parse().unwrap();
                break TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            }
            tokio::task::yield_now().await;
        }
    };
    let both = async { tokio::join!(port_forward(&mut user.ctx, &options), connecting) };
    let (result, _connection) = tokio::time::timeout(TIMEOUT, both).await.unwrap();
    let (_, _, err) = user.printed(result);
    assert!(err.ends_with(" -> 1: connection refused\nerror: lost connection to pod\n"), "{err}");
    let nothing = PortForwardOptions { words: words("web-a"), ..options };
    let refused = port_forward(&mut user.ctx, &nothing).await.unwrap_err();
    assert!(
        refused.lines().starts_with("error: TYPE/NAME and list of ports are required for port-forward\n")
    );
}

/// Files are copied into a directory of the container, or to a name.
#[tokio::test]
async fn files_are_copied_to_a_container() {
    let mut user = TestUser::new("cp-to").await;
    let file = user.folder.join("page.html");
    std::fs::write(&file, "hello").unwrap();
    for (to, unpack) in [
        ("web-a:/dir", ["tar", "-xmf", "-", "-C", "/dir"]),
        ("default/web-a:/tmp/new", ["tar", "-xmf", "-", "-C", "/tmp"]),
    ] {
        let words = vec![file.display().to_string(), to.to_owned()];
        let options = CopyOptions { words, ..CopyOptions::default() };
        let result = tokio::time::timeout(TIMEOUT, copy(&mut user.ctx, &options)).await.unwrap();
        assert_eq!(user.printed(result), (Some(0), String::new(), String::new()));
        let request = user.agent.requests().pop().unwrap();
        let command =
            unpack.map(|word| format!("command={}", gantry_formats::percent::encode(word))).join("&");
        assert!(request.contains(&command), "{request}");
        let input = user.agent.input();
        let mut archive = tar::Archive::new(&*input);
        let mut entries = archive.entries().unwrap();
        let entry = entries.next().unwrap().unwrap();
        let name = if to.ends_with("/dir") { "page.html" } else { "new" };
        assert_eq!((entry.path().unwrap().to_str(), entry.size()), (Some(name), 5));
        assert!(entries.next().is_none());
    }
    let missing = CopyOptions { words: words("/no/such web-a:/dir"), ..CopyOptions::default() };
    let refused = copy(&mut user.ctx, &missing).await.unwrap_err();
    assert_eq!(refused.lines(), "error: /no/such doesn't exist in local filesystem\n");
}

/// Files are copied from a container; links, and files outside of the destination, are not.
#[tokio::test]
async fn files_are_copied_from_a_container() {
    let mut user = TestUser::new("cp-from").await;
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(5);
    header.set_mode(0o644);
    builder.append_data(&mut header, "etc/app/conf", &b"hello"[..]).unwrap();
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    builder.append_link(&mut link, "etc/app/link", "/etc/passwd").unwrap();
    user.agent.sends(builder.into_inner().unwrap());
    let to = user.folder.join("copy");
    let options = CopyOptions {
        words: vec!["web-a:/etc/app".to_owned(), to.display().to_string()],
        ..CopyOptions::default()
    };
    let result = tokio::time::timeout(TIMEOUT, copy(&mut user.ctx, &options)).await.unwrap();
    let (code, out, err) = user.printed(result);
    assert_eq!((code, out.as_str()), (Some(0), ""));
    let why = format!(
        "warning: skipping symlink: {:?} -> \"/etc/passwd\" (consider using \"gantry exec -n \"\" \"web-a\" -- tar cf - \
         \"/etc/app\" | tar xf -\")\n",
        to.join("link")
    );
    assert_eq!(err, why);
    assert_eq!(std::fs::read_to_string(to.join("conf")).unwrap(), "hello");
    user.agent.sends(b"this is no archive of files, but text".repeat(40));
    let result = tokio::time::timeout(TIMEOUT, copy(&mut user.ctx, &options)).await.unwrap();
    assert!(result.is_err());
}
