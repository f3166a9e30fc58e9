//! `port-forward`: local ports that lead to a pod.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use gantry_client::{ApiRequest, ByteReader, ByteWriter, StreamConnection};
use gantry_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::exec::pod_path;
use super::pod_choice::{named, to_connect};
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, text};

/// The options of `port-forward`.
#[derive(Clone, Debug, Default)]
pub struct PortForwardOptions {
    /// A pod or `TYPE/NAME`, and ports: `PORT`, `LOCAL:REMOTE` or `:REMOTE`.
    pub words: Vec<String>,
    /// The addresses to listen on: IP addresses, or `localhost`.
    pub addresses: Vec<String>,
    /// How long to wait for a pod.
    pub timeout: Duration,
}

/// The protocol of streams for forwarded connections.
const PROTOCOL: &str = "portforward.k8s.io";
const READ_BYTES: usize = 32 << 10;

/// A local port, and the port of the pod that it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ForwardedPort {
    local: u16,
    remote: u16,
}

/// Listens on local ports and forwards connections, until the connection to the pod is lost.
pub async fn port_forward(ctx: &mut ClientContext, options: &PortForwardOptions) -> Result<(), Failure> {
    let (target, ports) = match options.words.split_first() {
        Some((target, ports)) if !ports.is_empty() => (target, ports),
        _ => {
            return Err(Failure::other(
                "TYPE/NAME and list of ports are required for port-forward\n\
                 See 'gantry port-forward -h' for help and examples",
            ));
        }
    };
    let object = named(ctx, target).await?;
    let service = (object.resource.kind == "Service").then(|| object.object.clone());
    let pod = to_connect(ctx, object, options.timeout).await?;
    let numbers = |ports: &[String]| -> Result<Vec<ForwardedPort>, String> {
        ports.iter().map(|port| parse(&numbered(port, service.as_ref(), &pod)?)).collect()
    };
    let ports = numbers(ports).map_err(Failure::other)?;
    let addresses = addresses(&options.addresses).map_err(Failure::other)?;
    let phase = text(&pod, "/status/phase");
    if phase != "Running" {
        return Err(Failure::other(format!(
            "unable to forward port because pod is not running. Current status={phase}"
        )));
    }
    let request = ApiRequest::connect(pod_path(&pod, "portforward"));
    let connection = ctx.open_streams(&request, PROTOCOL).await.map_err(|failure| {
        let message = failure.message();
        Failure::other(format!("error upgrading connection: {message}"))
    })?;
    let listeners = listen(ctx, &addresses, ports).await?;
    forward(ctx, &connection, listeners).await
}

/// A port with numbers only: names are those of a port of the service, or else of the pod.
fn numbered(port: &str, service: Option<&Value>, pod: &Value) -> Result<String, String> {
    let (local, remote) = match port.split(':').collect::<Vec<_>>().as_slice() {
        [local, remote] => ((*local).to_owned(), (*remote).to_owned()),
        [both] => ((*both).to_owned(), (*both).to_owned()),
        _ => return Err(format!("invalid port format '{port}'")),
    };
    let (local, number) = match service {
        Some(service) => of_service(service, pod, &local, &remote)?,
        None if remote.is_empty() => return Err("remote port cannot be empty".to_owned()),
        None if remote.parse::<i64>().is_ok() => (local, remote),
        None => {
            let number = container_port(pod, &remote)?;
            (if local == remote { number.clone() } else { local }, number)
        }
    };
    check_protocol(service, pod, &number)?;
    Ok(if local == number { number } else { format!("{local}:{number}") })
}

/// Translates a port of a service to that of the pod.
fn of_service(service: &Value, pod: &Value, local: &str, remote: &str) -> Result<(String, String), String> {
    let name = text(service, "/metadata/name");
    let ports = list(service, "/spec/ports");
    let number = match remote.parse::<i64>() {
        Ok(number) => number,
        Err(_) => ports
            .iter()
            .find(|port| text(port, "/name") == remote)
            .and_then(|port| port["port"].as_i64())
            .ok_or_else(|| format!("Service '{name}' does not have a named port '{remote}'"))?,
    };
    let local = if local == remote { number.to_string() } else { local.to_owned() };
    let port = ports.iter().find(|port| port["port"].as_i64() == Some(number));
    let port = port.ok_or_else(|| format!("Service {name} does not have a service port {number}"))?;
    if port["protocol"] == "UDP" {
        return Err(format!("UDP protocol is not supported for {remote}"));
    }
    let target = match &port["targetPort"] {
        _ if text(service, "/spec/clusterIP") == "None" => number.to_string(),
        Value::String(name) => container_port(pod, name)?,
        target => target.as_i64().filter(|target| *target != 0).unwrap_or(number).to_string(),
    };
    Ok((local, target))
}

/// The number of a container port.
fn container_port(pod: &Value, name: &str) -> Result<String, String> {
    let containers = ["/spec/containers", "/spec/initContainers"].into_iter().flat_map(|at| list(pod, at));
    let mut ports = containers.flat_map(|container| list(container, "/ports"));
    let port = ports.find(|port| text(port, "/name") == name).and_then(|port| port["containerPort"].as_i64());
    port.map(|port| port.to_string())
        .ok_or_else(|| format!("Pod '{}' does not have a named port '{name}'", text(pod, "/metadata/name")))
}

/// Refuses ports of pods that are UDP ports only.
fn check_protocol(service: Option<&Value>, pod: &Value, number: &str) -> Result<(), String> {
    let ports = list(pod, "/spec/containers").iter().flat_map(|container| list(container, "/ports"));
    let mut protocols = ports
        .filter(|port| number.parse().is_ok_and(|number: i64| port["containerPort"].as_i64() == Some(number)))
        .map(|port| port["protocol"].as_str().unwrap_or("TCP"))
        .peekable();
    if service.is_none() && protocols.peek().is_some() && protocols.all(|protocol| protocol == "UDP") {
        return Err(format!("UDP protocol is not supported for {number}"));
    }
    Ok(())
}

fn parse(port: &str) -> Result<ForwardedPort, String> {
    let (local, remote) = port.split_once(':').unwrap_or((port, port));
    let local = if local.is_empty() { "0" } else { local };
    let number = |which: &str, text: &str| {
        let why = match text.parse::<u64>() {
            Ok(_) => "value out of range",
            Err(_) => "invalid syntax",
        };
        text.parse::<u16>().map_err(|_| {
            format!("error parsing {which} port '{text}': strconv.ParseUint: parsing {text:?}: {why}")
        })
    };
    let (local, remote) = (number("local", local)?, number("remote", remote)?);
    if remote == 0 {
        return Err("remote port must be > 0".to_owned());
    }
    Ok(ForwardedPort { local, remote })
}

/// An address to listen on; whether it is one of several of which one is enough.
type ListenAddress = (IpAddr, bool);

fn addresses(texts: &[String]) -> Result<Vec<ListenAddress>, String> {
    let mut addresses = Vec::new();
    for text in texts {
        let found = match text.as_str() {
            "localhost" => {
                vec![(IpAddr::V4(Ipv4Addr::LOCALHOST), true), (IpAddr::V6(Ipv6Addr::LOCALHOST), true)]
            }
            text => vec![(text.parse().map_err(|_| format!("{text} is not a valid IP"))?, false)],
        };
        addresses.extend(found);
    }
    addresses.sort_by_key(|(address, _)| address.to_string());
    addresses.dedup_by_key(|(address, _)| *address);
    Ok(addresses)
}

type Listener = (TcpListener, ForwardedPort);

/// Listens on all ports that are available.
async fn listen(
    ctx: &mut ClientContext,
    addresses: &[ListenAddress],
    ports: Vec<ForwardedPort>,
) -> Result<Vec<Listener>, Failure> {
    let mut listeners = Vec::new();
    let requested = ports.iter().map(|port| format!("{{{} {}}}", port.local, port.remote));
    let requested = requested.collect::<Vec<_>>().join(" ");
    for mut port in ports {
        let (mut errors, mut is_enough) = (Vec::new(), true);
        let mut opened = Vec::new();
        for (address, is_optional) in addresses {
            match TcpListener::bind(SocketAddr::new(*address, port.local)).await {
                Ok(listener) => {
                    // The second address gets the port that the system chose for the first.
                    port.local = listener.local_addr().map_or(port.local, |address| address.port());
                    let at = SocketAddr::new(*address, port.local);
                    ctx.println(&format!("Forwarding from {at} -> {}", port.remote))?;
                    opened.push((listener, port));
                }
                Err(error) => {
                    let at = SocketAddr::new(*address, port.local);
                    errors.push(format!("unable to create listener: Error listen {at}: {error}"));
                    is_enough &= *is_optional;
                }
            }
        }
        if opened.is_empty() || !is_enough {
            let errors = errors.join(" ");
            ctx.eprintln(&format!(
                "Unable to listen on port {}: Listeners failed to create with the following errors: [{errors}]",
                port.local
            ));
        }
        listeners.extend(opened);
    }
    if listeners.is_empty() {
        return Err(Failure::other(format!("unable to listen on any of the requested ports: [{requested}]")));
    }
    Ok(listeners)
}

/// Events of forwarded connections.
enum ForwardEvent {
    Accepted(ForwardedPort),
    Failed(ForwardedPort, String),
}

async fn forward(
    ctx: &mut ClientContext,
    connection: &StreamConnection,
    listeners: Vec<Listener>,
) -> Result<(), Failure> {
    let (sender, mut events) = mpsc::channel(64);
    let mut tasks = tokio::task::JoinSet::new();
    for (index, (listener, port)) in listeners.into_iter().enumerate() {
        tasks.spawn(accept(listener, port, index, connection.clone(), sender.clone()));
    }
    drop(sender);
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = connection.closed() => None,
        };
        match event {
            Some(ForwardEvent::Accepted(port)) => {
                ctx.println(&format!("Handling connection for {}", port.local))?;
            }
            Some(ForwardEvent::Failed(port, why)) => {
                let ForwardedPort { local, remote } = port;
                ctx.eprintln(&format!("an error occurred forwarding {local} -> {remote}: {why}"));
                return Err(Failure::other("lost connection to pod"));
            }
            None => return Err(Failure::other("lost connection to pod")),
        }
    }
}

async fn accept(
    listener: TcpListener,
    port: ForwardedPort,
    index: usize,
    connection: StreamConnection,
    events: mpsc::Sender<ForwardEvent>,
) {
    // Each listener counts its own ids.
    let mut count = 0_u64;
    while let Ok((local, _)) = listener.accept().await {
        if events.send(ForwardEvent::Accepted(port)).await.is_err() {
            return;
        }
        let (connection, events, id) = (connection.clone(), events.clone(), format!("{index}{count:09}"));
        count += 1;
        tokio::spawn(async move {
            if let Err(why) = connect(local, port, &id, &connection).await {
                let _ = events.send(ForwardEvent::Failed(port, why)).await;
            }
        });
    }
}

/// Connects a local connection with the port of the pod. Fails with the error that the pod's node reports.
async fn connect(
    local: TcpStream,
    port: ForwardedPort,
    id: &str,
    connection: &StreamConnection,
) -> Result<(), String> {
    let remote = port.remote.to_string();
    let lost = |error: std::io::Error| error.to_string();
    let headers = |kind| [("streamtype", kind), ("port", remote.as_str()), ("requestid", id)];
    let mut errors = connection.open(&headers("error")).await.map_err(lost)?;
    errors.writer.finish().await.map_err(lost)?;
    let data = connection.open(&headers("data")).await.map_err(lost)?;
    let (read_half, write_half) = local.into_split();
    let sending = tokio::spawn(send(read_half, data.writer));
    receive(data.reader, write_half).await;
    // The pod sends nothing more, so input that was not sent yet is dropped.
    if !sending.is_finished() {
        sending.abort();
    }
    if let Ok(mut writer) = sending.await {
        let _ = writer.abort().await;
    }
    let why = errors.reader.to_end().await;
    if why.is_empty() { Ok(()) } else { Err(String::from_utf8_lossy(&why).trim_end().to_owned()) }
}

async fn send(mut local: OwnedReadHalf, mut remote: ByteWriter) -> ByteWriter {
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = local.read(&mut buffer).await {
        if remote.write(&buffer[..count]).await.is_err() {
            break;
        }
    }
    let _ = remote.finish().await;
    remote
}

async fn receive(mut remote: ByteReader, mut local: OwnedWriteHalf) {
    while let Some(bytes) = remote.next().await {
        if local.write_all(&bytes).await.is_err() {
            return;
        }
    }
    let _ = local.shutdown().await;
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    /// Ports are parsed as kubectl 1.37 does.
    #[test]
    fn ports_are_numbers_or_names() {
        let ports = json!([{"name": "http", "containerPort": 8080}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}]);
        let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"ports": ports}]}});
        let of_pod = |port: &str| numbered(port, None, &pod).and_then(|port| parse(&port));
        let port = |local, remote| Ok(ForwardedPort { local, remote });
        assert_eq!(of_pod("80"), port(80, 80));
        assert_eq!(of_pod("8888:80"), port(8888, 80));
        assert_eq!(of_pod(":80"), port(0, 80));
        assert_eq!(of_pod("http"), port(8080, 8080));
        assert_eq!(of_pod("80:http"), port(80, 8080));
        assert_eq!(of_pod("nope").unwrap_err(), "Pod 'p' does not have a named port 'nope'");
        assert_eq!(of_pod("80:").unwrap_err(), "remote port cannot be empty");
        assert_eq!(of_pod("53").unwrap_err(), "UDP protocol is not supported for 53");
        assert_eq!(of_pod("1:2:3").unwrap_err(), "invalid port format '1:2:3'");
        assert_eq!(of_pod("80:0").unwrap_err(), "remote port must be > 0");
        let why =
            "error parsing local port '99999': strconv.ParseUint: parsing \"99999\": value out of range";
        assert_eq!(of_pod("99999:80").unwrap_err(), why);
        let ports = json!([{"name": "web", "port": 80, "targetPort": "http"}, {"name": "plain", "port": 81}]);
        let service = json!({"metadata": {"name": "s"}, "spec": {"clusterIP": "10.0.0.1", "ports": ports}});
        let of_service = |port: &str| numbered(port, Some(&service), &pod).and_then(|port| parse(&port));
        assert_eq!(of_service("80"), port(80, 8080));
        assert_eq!(of_service("web"), port(80, 8080));
        assert_eq!(of_service("9000:plain"), port(9000, 81));
        assert_eq!(of_service("82").unwrap_err(), "Service s does not have a service port 82");
        assert_eq!(of_service("x").unwrap_err(), "Service 's' does not have a named port 'x'");
    }

    #[test]
    fn localhost_is_two_optional_addresses() {
        let parsed =
            |texts: &[&str]| addresses(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let both = vec![(IpAddr::V4(Ipv4Addr::LOCALHOST), true), (IpAddr::V6(Ipv6Addr::LOCALHOST), true)];
        assert_eq!(parsed(&["localhost"]), Ok(both));
        assert!(!parsed(&["10.0.0.1"]).unwrap()[0].1);
        assert_eq!(parsed(&["here"]).unwrap_err(), "here is not a valid IP");
    }
}
