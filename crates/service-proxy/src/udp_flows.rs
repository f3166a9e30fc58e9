//! Removes UDP flows from the kernel's connection tracking, by its netlink protocol (ctnetlink).

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use crate::ruleset::Family;
use crate::udp_routes::{UdpRoutes, address};

/// The types of messages: those of connection tracking, an acknowledgement or error, and the end of a list.
const GET: u16 = 0x0101;
const DELETE: u16 = 0x0102;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// Flags of messages: a request, an acknowledgement is requested, a list is requested.
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const LIST: u16 = 0x300;
/// The sizes of headers: of a message, with the part about the family, and of an attribute.
const MESSAGE: usize = 16;
const FAMILY: usize = 20;
const ATTRIBUTE: usize = 4;
/// The attributes of a flow: its original direction, and the reply direction.
const ORIGINAL: u16 = 1;
const REPLY: u16 = 2;
/// The protocol number of UDP.
const UDP: u8 = 17;
/// The flag of an attribute that contains others.
const NESTED: u16 = 0x8000;

/// A UDP flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UdpFlow {
    pub(crate) sent_to: SocketAddr,
    pub(crate) reply_from: SocketAddr,
    /// The attribute by which the kernel identifies it.
    original: Vec<u8>,
}

/// Removes the flows that lead to removed endpoints. Failures are logged: the flows expire when their clients pause.
pub(crate) async fn remove_stale(routes: UdpRoutes) {
    let removed = tokio::task::spawn_blocking(move || {
        let mut removed = 0;
        for family in routes.families() {
            removed += remove_stale_of(family, &routes)?;
        }
        Ok::<usize, Errno>(removed)
    });
    match removed.await {
        Ok(Ok(0)) => {}
        Ok(Ok(removed)) => tracing::debug!(removed, "removed UDP flows to removed endpoints"),
        Ok(Err(error)) => tracing::warn!(%error, "cannot remove UDP flows to removed endpoints"),
        Err(error) => tracing::warn!(%error, "cannot remove UDP flows"),
    }
}

fn remove_stale_of(family: Family, routes: &UdpRoutes) -> Result<usize, Errno> {
    let socket =
        socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::NETFILTER))?;
    let flows = list(&socket, family)?;
    let stale = flows.into_iter().filter(|flow| routes.is_stale(flow.sent_to, flow.reply_from));
    let mut removed = 0;
    for flow in stale {
        send(&socket, &message(DELETE, REQUEST | ACKNOWLEDGE, family, &flow.original), SendFlags::empty())?;
        let mut buffer = vec![0; 65_536];
        let (_, length) = recv(&socket, &mut *buffer, RecvFlags::empty())?;
        // It may have ended in the meantime.
        let is_removed = error_of(&buffer[..length.min(buffer.len())]) == Some(0);
        removed += usize::from(is_removed);
    }
    Ok(removed)
}

fn list(socket: &OwnedFd, family: Family) -> Result<Vec<UdpFlow>, Errno> {
    send(socket, &message(GET, REQUEST | LIST, family, &[]), SendFlags::empty())?;
    let mut flows = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        let (_, length) = recv(socket, &mut *buffer, RecvFlags::empty())?;
        let mut rest = &buffer[..length.min(buffer.len())];
        while let Some((kind, body, next)) = split_message(rest) {
            match kind {
                DONE => return Ok(flows),
                ERROR => return Err(Errno::from_raw_os_error(error_of(rest).unwrap_or(5))),
                _ => flows.extend(parse(body)),
            }
            rest = next;
        }
    }
}

/// Returns the type of the first message, its content, and the messages after it.
fn split_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let body = bytes.get(MESSAGE..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// Returns the error number in an acknowledgement; 0 is success.
fn error_of(bytes: &[u8]) -> Option<i32> {
    let (kind, body, _) = split_message(bytes)?;
    let code = i32::from_ne_bytes(body.get(..4)?.try_into().ok()?);
    (kind == ERROR).then_some(code.saturating_neg())
}

/// Parses a flow of a list; `None` if it is not a UDP flow.
pub(crate) fn parse(body: &[u8]) -> Option<UdpFlow> {
    let attributes = body.get(FAMILY - MESSAGE..)?;
    let original = attribute(attributes, ORIGINAL)?;
    let (_, sent_to) = addresses(original)?;
    let (reply_from, _) = addresses(attribute(attributes, REPLY)?)?;
    Some(UdpFlow { sent_to, reply_from, original: write_attribute(ORIGINAL | NESTED, original) })
}

/// Returns the source and the destination of one direction of a UDP flow.
fn addresses(tuple: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let (ip, protocol) = (attribute(tuple, 1)?, attribute(tuple, 2)?);
    if attribute(protocol, 1)? != [UDP] {
        return None;
    }
    let source = attribute(ip, 1).or_else(|| attribute(ip, 3))?;
    let destination = attribute(ip, 2).or_else(|| attribute(ip, 4))?;
    Some((address(source, attribute(protocol, 2)?)?, address(destination, attribute(protocol, 3)?)?))
}

/// Finds an attribute by its type.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?) & 0x3fff;
        let value = bytes.get(ATTRIBUTE..length)?;
        if kind == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

fn write_attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut out = u16::try_from(value.len() + ATTRIBUTE).unwrap_or(0).to_ne_bytes().to_vec();
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

fn message(kind: u16, flags: u16, family: Family, attributes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(FAMILY + attributes.len()).unwrap_or(0);
    let mut out = length.to_ne_bytes().to_vec();
    out.extend(kind.to_ne_bytes());
    out.extend(flags.to_ne_bytes());
    out.extend([0; 8]);
    let family = match family {
        Family::V4 => AddressFamily::INET,
        Family::V6 => AddressFamily::INET6,
    };
    out.push(u8::try_from(family.as_raw()).unwrap_or(0));
    out.extend([0; 3]);
    out.extend(attributes);
    out
}
