//! Queries the DNS servers of the machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::timeout;

/// The timeout of one server.
const RESPONSE_MAX: Duration = Duration::from_secs(2);
/// The largest message.
const SIZE_MAX: usize = 65_535;

/// The DNS servers of the machine, which resolve the names that are not the cluster's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upstreams(pub(crate) Vec<SocketAddr>);

impl Upstreams {
    /// The servers of a `resolv.conf`, without the cluster's own, which would query itself.
    pub(crate) fn new(servers: &[String], own: IpAddr) -> Self {
        let addresses = servers.iter().filter_map(|server| server.parse::<IpAddr>().ok());
        Self(
            addresses.filter(|address| *address != own).map(|address| SocketAddr::new(address, 53)).collect(),
        )
    }

    /// Sends a query to one server after the other, until one responds.
    pub(crate) async fn forward(&self, query: &[u8], is_tcp: bool) -> Option<Vec<u8>> {
        for server in &self.0 {
            let exchange = async {
                if is_tcp { over_tcp(*server, query).await } else { over_udp(*server, query).await }
            };
            if let Ok(Ok(response)) = timeout(RESPONSE_MAX, exchange).await {
                return Some(response);
            }
        }
        None
    }
}

async fn over_udp(server: SocketAddr, query: &[u8]) -> std::io::Result<Vec<u8>> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(query).await?;
    let mut buffer = vec![0; SIZE_MAX];
    loop {
        let length = socket.recv(&mut buffer).await?;
        // The response has the ID of the query.
        if buffer[..length].get(..2) == query.get(..2) {
            buffer.truncate(length);
            return Ok(buffer);
        }
    }
}

async fn over_tcp(server: SocketAddr, query: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut connection = TcpStream::connect(server).await?;
    write_message(&mut connection, query).await?;
    read_message(&mut connection).await
}

/// Reads a message from a TCP connection; its length is sent first.
pub(crate) async fn read_message(connection: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut message = vec![0; usize::from(connection.read_u16().await?)];
    connection.read_exact(&mut message).await?;
    Ok(message)
}

/// Writes a message to a TCP connection.
pub(crate) async fn write_message(connection: &mut TcpStream, message: &[u8]) -> std::io::Result<()> {
    let mut framed = u16::try_from(message.len()).unwrap_or(u16::MAX).to_be_bytes().to_vec();
    framed.extend(&message[..message.len().min(SIZE_MAX)]);
    connection.write_all(&framed).await
}
