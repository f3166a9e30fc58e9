//! Messages of DNS (RFC 1035, EDNS of RFC 6891): queries are parsed, responses written.

use std::net::IpAddr;

/// The size of a header.
const HEADER: usize = 12;
/// The longest label and the longest name.
const LABEL_MAX: usize = 63;
const NAME_MAX: usize = 253;
/// The largest message over UDP without EDNS, and the largest that is sent with it.
const UDP_SIZE: usize = 512;
const UDP_SIZE_MAX: usize = 1232;
/// The largest message over TCP.
const TCP_SIZE_MAX: usize = 65_535;
/// The class of the Internet, and any class.
const CLASS_IN: u16 = 1;
const CLASS_ANY: u16 = 255;
/// The type of EDNS' record.
const OPT: u16 = 41;

/// How long a record may be cached, in seconds.
pub(crate) const TTL: u32 = 5;

/// The type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordType(pub(crate) u16);

impl RecordType {
    pub(crate) const A: Self = Self(1);
    pub(crate) const NS: Self = Self(2);
    pub(crate) const CNAME: Self = Self(5);
    pub(crate) const SOA: Self = Self(6);
    pub(crate) const PTR: Self = Self(12);
    pub(crate) const TXT: Self = Self(16);
    pub(crate) const AAAA: Self = Self(28);
    pub(crate) const SRV: Self = Self(33);
    pub(crate) const ANY: Self = Self(255);
}

/// The result of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseCode {
    NoError = 0,
    FormatError = 1,
    ServerFailure = 2,
    NameError = 3,
    NotImplemented = 4,
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub(crate) id: u16,
    pub(crate) wants_recursion: bool,
    /// The name, in lower case, without the final dot.
    pub(crate) name: String,
    /// The bytes of the question, which the response repeats.
    question: Vec<u8>,
    pub(crate) kind: RecordType,
    /// The maximum size of a UDP response that the client accepts; `None` without EDNS.
    udp_size: Option<usize>,
}

/// The data of a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecordData {
    /// A or AAAA.
    Address(IpAddr),
    /// CNAME.
    Alias(String),
    /// SRV.
    Service { port: u16, target: String },
    /// PTR.
    Pointer(String),
    /// TXT.
    Text(String),
    /// NS.
    NameServer(String),
    /// SOA: the name of the server, and the mailbox of the responsible person.
    Authority { server: String, person: String },
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) name: String,
    pub(crate) data: RecordData,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) code: ResponseCode,
    /// Whether the server is responsible for the name.
    pub(crate) is_authoritative: bool,
    pub(crate) answers: Vec<Record>,
    pub(crate) authorities: Vec<Record>,
    pub(crate) additionals: Vec<Record>,
}

impl RecordData {
    pub(crate) fn kind(&self) -> RecordType {
        match self {
            Self::Address(IpAddr::V4(_)) => RecordType::A,
            Self::Address(IpAddr::V6(_)) => RecordType::AAAA,
            Self::Alias(_) => RecordType::CNAME,
            Self::Service { .. } => RecordType::SRV,
            Self::Pointer(_) => RecordType::PTR,
            Self::Text(_) => RecordType::TXT,
            Self::NameServer(_) => RecordType::NS,
            Self::Authority { .. } => RecordType::SOA,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Address(IpAddr::V4(address)) => out.extend(address.octets()),
            Self::Address(IpAddr::V6(address)) => out.extend(address.octets()),
            Self::Alias(name) | Self::Pointer(name) | Self::NameServer(name) => write_name(out, name),
            Self::Service { port, target } => {
                // Priority and weight: all targets are equal.
                out.extend([0, 0, 0, 100]);
                out.extend(port.to_be_bytes());
                write_name(out, target);
            }
            Self::Text(text) => {
                let text = &text.as_bytes()[..text.len().min(255)];
                out.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
                out.extend(text);
            }
            Self::Authority { server, person } => {
                write_name(out, server);
                write_name(out, person);
                for number in [1, 7200, 1800, 86_400, TTL] {
                    out.extend(number.to_be_bytes());
                }
            }
        }
    }
}

impl Query {
    /// Parses a message. An error is the code to respond with; `None` if the message gets no response.
    pub(crate) fn parse(message: &[u8]) -> Result<Self, Option<(u16, ResponseCode)>> {
        let header = message.get(..HEADER).ok_or(None)?;
        let (id, flags) = (number(header, 0).ok_or(None)?, number(header, 2).ok_or(None)?);
        if flags & 0x8000 != 0 {
            // Nothing is sent in reply to a response, because that could continue without end.
            return Err(None);
        }
        let refuse = |code| Some((id, code));
        if (flags >> 11) & 0xf != 0 {
            return Err(refuse(ResponseCode::NotImplemented));
        }
        let malformed = || refuse(ResponseCode::FormatError);
        let counts: Vec<u16> = [4, 6, 8, 10].iter().filter_map(|at| number(header, *at)).collect();
        if counts[..3] != [1, 0, 0] {
            return Err(malformed());
        }
        let (name, end) = read_name(message, HEADER).ok_or_else(malformed)?;
        let question = message.get(HEADER..end + 4).ok_or_else(malformed)?.to_vec();
        let kind = number(message, end).ok_or_else(malformed)?;
        let class = number(message, end + 2).ok_or_else(malformed)?;
        if class != CLASS_IN && class != CLASS_ANY {
            return Err(refuse(ResponseCode::NotImplemented));
        }
        let udp_size = edns_size(message, end + 4, counts[3]).map_err(|Malformed| malformed())?;
        let wants_recursion = flags & 0x0100 != 0;
        Ok(Self { id, wants_recursion, name, question, kind: RecordType(kind), udp_size })
    }

    /// Writes the query for another name, to be sent to another server.
    pub(crate) fn for_name(&self, name: &str) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(self.id.to_be_bytes());
        out.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        write_name(&mut out, name);
        out.extend(self.kind.0.to_be_bytes());
        out.extend(CLASS_IN.to_be_bytes());
        out
    }

    /// Writes the response. Over UDP, records that do not fit are omitted, and the response is marked as truncated.
    pub(crate) fn respond(&self, response: &Response, is_tcp: bool) -> Vec<u8> {
        let limit = match self.udp_size {
            _ if is_tcp => TCP_SIZE_MAX,
            Some(size) => size.clamp(UDP_SIZE, UDP_SIZE_MAX),
            None => UDP_SIZE,
        };
        let edns = if self.udp_size.is_some() { EDNS.as_slice() } else { &[] };
        let mut out = header(self.id, response.code, self.wants_recursion, response.is_authoritative);
        out[4..6].copy_from_slice(&1u16.to_be_bytes());
        out.extend(&self.question);
        let sections = [&response.answers, &response.authorities, &response.additionals];
        for (index, section) in sections.into_iter().enumerate() {
            let mut count: u16 = 0;
            for record in section {
                let before = out.len();
                record.write(&mut out, &self.name);
                if out.len() + edns.len() > limit {
                    out.truncate(before);
                    // Clients can query omitted records of the additional section.
                    if index < 2 {
                        out[2] |= 0x02;
                    }
                    break;
                }
                count += 1;
            }
            out[6 + 2 * index..8 + 2 * index].copy_from_slice(&count.to_be_bytes());
        }
        if !edns.is_empty() {
            out.extend(edns);
            let additionals = number(&out, 10).unwrap_or(0) + 1;
            out[10..12].copy_from_slice(&additionals.to_be_bytes());
        }
        out
    }
}

/// The EDNS record of responses: the root's name, its type, and the maximum size of messages.
const EDNS: [u8; 11] = [0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0];

impl Record {
    /// Writes the record; the name of the question is a pointer to it.
    fn write(&self, out: &mut Vec<u8>, question: &str) {
        if self.name == question {
            out.extend([0xc0, u8::try_from(HEADER).unwrap_or(0)]);
        } else {
            write_name(out, &self.name);
        }
        out.extend(self.data.kind().0.to_be_bytes());
        out.extend(CLASS_IN.to_be_bytes());
        out.extend(TTL.to_be_bytes());
        let at = out.len();
        out.extend([0, 0]);
        self.data.write(out);
        let length = u16::try_from(out.len() - at - 2).unwrap_or(u16::MAX);
        out[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }
}

/// Writes a response without a question, to a message that could not be parsed.
pub(crate) fn failure(id: u16, code: ResponseCode) -> Vec<u8> {
    header(id, code, false, false)
}

/// Returns the addresses in the answers of another server's response; `None` if it is malformed or an error.
pub(crate) fn addresses_in(message: &[u8]) -> Option<Vec<IpAddr>> {
    let code = number(message, 2)? & 0xf;
    let (questions, answers) = (number(message, 4)?, number(message, 6)?);
    if code != 0 {
        return None;
    }
    let mut at = HEADER;
    for _ in 0..questions {
        at = skip_name(message, at)? + 4;
    }
    let mut found = Vec::new();
    for _ in 0..answers {
        at = skip_name(message, at)?;
        let (kind, length) = (number(message, at)?, usize::from(number(message, at + 8)?));
        let data = message.get(at + 10..at + 10 + length)?;
        if let (RecordType::A, Ok(octets)) = (RecordType(kind), <[u8; 4]>::try_from(data)) {
            found.push(IpAddr::from(octets));
        } else if let (RecordType::AAAA, Ok(octets)) = (RecordType(kind), <[u8; 16]>::try_from(data)) {
            found.push(IpAddr::from(octets));
        }
        at += 10 + length;
    }
    Some(found)
}

fn header(id: u16, code: ResponseCode, wants_recursion: bool, is_authoritative: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(UDP_SIZE);
    out.extend(id.to_be_bytes());
    out.push(0x80 | u8::from(is_authoritative) << 2 | u8::from(wants_recursion));
    // Recursion is available.
    out.push(0x80 | code as u8);
    out.extend([0; 8]);
    out
}

fn number(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]))
}

/// Reads a name without pointers, which a question does not need; returns it with the position after it.
fn read_name(message: &[u8], start: usize) -> Option<(String, usize)> {
    let (mut name, mut at) = (String::new(), start);
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        if length > LABEL_MAX {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        for byte in message.get(at..at + length)? {
            // A dot in a label would be read as its end.
            name.push(if byte.is_ascii_graphic() && *byte != b'.' {
                char::from(byte.to_ascii_lowercase())
            } else {
                '?'
            });
        }
        at += length;
        if name.len() > NAME_MAX {
            return None;
        }
    }
}

/// Returns the position after a name that may end with a pointer.
fn skip_name(message: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

/// The message is malformed.
struct Malformed;

/// Returns the size of messages in the record of EDNS of the additional section, if there is one.
fn edns_size(message: &[u8], start: usize, count: u16) -> Result<Option<usize>, Malformed> {
    let number = |at| number(message, at).ok_or(Malformed);
    let mut at = start;
    for _ in 0..count {
        let name = at;
        at = skip_name(message, at).ok_or(Malformed)?;
        let (kind, class, length) = (number(at)?, number(at + 2)?, usize::from(number(at + 8)?));
        if kind == OPT && message.get(name) == Some(&0) {
            return Ok(Some(usize::from(class)));
        }
        at += 10 + length;
    }
    Ok(None)
}

/// Writes a name. Labels that are too long are truncated: names of objects and those that were read have none.
fn write_name(out: &mut Vec<u8>, name: &str) {
    for label in name.split('.').filter(|label| !label.is_empty()) {
        let label = &label.as_bytes()[..label.len().min(LABEL_MAX)];
        out.push(u8::try_from(label.len()).unwrap_or(0));
        out.extend(label);
    }
    out.push(0);
}
