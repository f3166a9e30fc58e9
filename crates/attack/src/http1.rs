//! HTTP/1.1 as bytes: requests that no library would send, and responses.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

use crate::case::Message;

/// The size of the part of a body that is kept for messages.
const KEPT_BYTES: usize = 256 << 10;
/// The largest head that is read; a larger one is a finding.
pub(crate) const HEAD_BYTES_MAX: usize = 128 << 10;

/// A response; only the part of its body that messages show is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) body_bytes: usize,
    pub(crate) head_bytes: usize,
}

impl Response {
    /// The value of a header; its name must be in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Whether the server keeps the connection open.
    pub(crate) fn keeps_connection(&self) -> bool {
        self.header("connection").is_none_or(|value| !value.eq_ignore_ascii_case("close"))
    }

    /// Returns the kept part of the body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Returns the head of a request as bytes. A message that sets `host` or a length itself gets no other ones.
pub(crate) fn encode_head(message: &Message, host: &str, token: &str) -> Vec<u8> {
    let mut bytes = format!("{} {} HTTP/1.1\r\n", message.method, message.path).into_bytes();
    let has = |name: &str| message.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    if !has("host") {
        bytes.extend_from_slice(format!("host: {host}\r\n").as_bytes());
    }
    if message.is_authenticated && !token.is_empty() && !has("authorization") {
        bytes.extend_from_slice(format!("authorization: Bearer {token}\r\n").as_bytes());
    }
    let has_length = has("content-length") || has("transfer-encoding");
    if !has_length && (!message.body.is_empty() || matches!(message.method, "POST" | "PUT" | "PATCH")) {
        bytes.extend_from_slice(format!("content-length: {}\r\n", message.body.len()).as_bytes());
    }
    for (name, value) in &message.headers {
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// Reads the head of a response, skipping interim ones.
pub(crate) async fn read_head(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Response> {
    loop {
        let response = read_one_head(stream).await?;
        if response.status >= 200 {
            return Ok(response);
        }
    }
}

async fn read_one_head(stream: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Response> {
    let mut response = Response::default();
    loop {
        let mut line = Vec::new();
        let left = u64::try_from(HEAD_BYTES_MAX.saturating_sub(response.head_bytes)).unwrap_or(0);
        let read = (&mut *stream).take(left).read_until(b'\n', &mut line).await?;
        if read == 0 {
            let is_large = response.head_bytes >= HEAD_BYTES_MAX;
            let why = if is_large { "the head of the response is too large" } else { "closed" };
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
        }
        response.head_bytes += read;
        let line = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        if response.status == 0 {
            let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
            let is_http = line.starts_with("HTTP/1.");
            response.status = status.filter(|_| is_http).ok_or_else(|| malformed(&line))?;
        } else if line.is_empty() {
            return Ok(response);
        } else if let Some((name, value)) = line.split_once(':') {
            response.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
}

/// Reads the body of a response to its end.
pub(crate) async fn read_body(
    stream: &mut (impl AsyncBufRead + Unpin),
    method: &str,
    response: &mut Response,
) -> io::Result<()> {
    if method == "HEAD" || matches!(response.status, 204 | 304) {
        return Ok(());
    }
    if response.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunks(stream, response).await;
    }
    match response.header("content-length").map(str::parse) {
        Some(Ok(length)) => read_exactly(stream, response, length).await,
        Some(Err(_)) => Err(malformed("content-length")),
        None => read_exactly(stream, response, usize::MAX).await,
    }
}

async fn read_chunks(stream: &mut (impl AsyncBufRead + Unpin), response: &mut Response) -> io::Result<()> {
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(|_| malformed(&line))?;
        read_exactly(stream, response, length).await?;
        let mut end = String::new();
        stream.read_line(&mut end).await?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// Reads this many bytes, or to the end of the connection for `usize::MAX`.
async fn read_exactly(
    stream: &mut (impl AsyncBufRead + Unpin),
    response: &mut Response,
    length: usize,
) -> io::Result<()> {
    let mut left = length;
    while left > 0 {
        let buffer = stream.fill_buf().await?;
        if buffer.is_empty() {
            let is_end = length == usize::MAX;
            return if is_end { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let taken = buffer.len().min(left);
        let kept = taken.min(KEPT_BYTES.saturating_sub(response.body.len()));
        response.body.extend_from_slice(&buffer[..kept]);
        stream.consume(taken);
        response.body_bytes += taken;
        left -= taken;
    }
    Ok(())
}

fn malformed(what: &str) -> io::Error {
    let shown: String = what.chars().take(100).collect();
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed response: {shown:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8], method: &str) -> io::Result<Response> {
        let mut stream = bytes;
        let mut response = read_head(&mut stream).await?;
        read_body(&mut stream, method, &mut response).await?;
        Ok(response)
    }

    #[tokio::test]
    async fn responses_are_read_by_length_by_chunks_and_to_the_end() {
        let by_length = read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc", "GET").await.unwrap();
        assert_eq!((by_length.status, by_length.text()), (200, "ab".to_owned()));
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(read(chunked, "GET").await.unwrap().text(), "abc");
        assert_eq!(read(b"HTTP/1.0 404 No\r\n\r\nall", "GET").await.unwrap().text(), "all");
        assert_eq!(
            read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", "GET").await.unwrap().status,
            204
        );
    }

    #[tokio::test]
    async fn a_head_without_end_is_an_error() {
        let head = format!("HTTP/1.1 200 OK\r\nwarning: {}\r\n\r\n", "x".repeat(HEAD_BYTES_MAX));
        assert!(read(head.as_bytes(), "GET").await.unwrap_err().to_string().contains("too large"));
        assert!(read(b"SSH-2.0\r\n", "GET").await.is_err());
    }

    #[test]
    fn headers_of_the_message_replace_ours() {
        let message = Message::new("POST", "/a").header("Host", "evil").header("content-length", "9");
        let text = String::from_utf8(encode_head(&message, "real", "t")).unwrap();
        assert_eq!(
            text,
            "POST /a HTTP/1.1\r\nauthorization: Bearer t\r\nHost: evil\r\ncontent-length: 9\r\n\r\n"
        );
    }
}
