//! Escapes request targets that are not valid URIs: `curl …/pods?labelSelector=tier>1`.
//!
//! Kubernetes accepts characters in a path or query that a URI may not hold, such as `<` and `>`; the HTTP library
//! rejects them while parsing. So on HTTP/1.1 they are escaped before it. That needs the boundaries of messages, no
//! more: what does not look like HTTP is passed on unchanged, for the library to reject.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The size of a read.
const PIECE: usize = 16 << 10;
/// Longer header lines cannot be those about the length of a message.
const LINE_MAX: usize = 256;

/// A stream whose request targets are escaped.
#[derive(Debug)]
pub(crate) struct RequestLineEscaper<S> {
    stream: S,
    messages: Messages,
    /// Read bytes that are ready, from `passed` on.
    ready: Vec<u8>,
    passed: usize,
}

/// The position in a series of requests.
#[derive(Debug, Default)]
struct Messages {
    at: At,
    line: Vec<u8>,
    body: Length,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// Before the target of a request line.
    #[default]
    Start,
    Target,
    /// After the target of a request line.
    Version,
    Header,
    /// In a body with so many bytes left.
    Body(u64),
    ChunkSize,
    Trailer,
    /// Not HTTP: nothing is changed any more.
    NotHttp,
}

/// The length of the current message's body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    #[default]
    None,
    Bytes(u64),
    Chunked,
}

impl Messages {
    /// Passes on bytes, with the target escaped.
    fn pass(&mut self, mut piece: &[u8], out: &mut Vec<u8>) {
        while let Some(&byte) = piece.first() {
            let taken = match self.at {
                At::NotHttp => piece.len(),
                At::Body(left) => {
                    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
                    self.skip(left - taken as u64);
                    taken
                }
                At::Target if must_be_escaped(byte) => {
                    out.extend_from_slice(format!("%{byte:02X}").as_bytes());
                    piece = &piece[1..];
                    continue;
                }
                _ => {
                    self.see(byte);
                    1
                }
            };
            out.extend_from_slice(&piece[..taken]);
            piece = &piece[taken..];
        }
    }

    fn skip(&mut self, left: u64) {
        self.at = match (left, self.body) {
            (0, Length::Chunked) => At::ChunkSize,
            (0, _) => At::Start,
            _ => At::Body(left),
        };
    }

    /// Consumes one byte of a line.
    fn see(&mut self, byte: u8) {
        if byte == b'\n' {
            let line = std::mem::take(&mut self.line);
            return self.end_line(line.strip_suffix(b"\r").unwrap_or(&line));
        }
        if self.line.len() < LINE_MAX {
            self.line.push(byte);
        }
        self.at = match (self.at, byte) {
            (At::Start, b' ') => At::Target,
            (At::Target, b' ') => At::Version,
            (at, _) => at,
        };
    }

    fn end_line(&mut self, line: &[u8]) {
        self.at = match self.at {
            // There may be an empty line between two requests.
            At::Start | At::Trailer if line.is_empty() => At::Start,
            At::Version => {
                self.body = Length::None;
                At::Header
            }
            At::Header if line.is_empty() => match self.body {
                Length::None | Length::Bytes(0) => At::Start,
                Length::Bytes(length) => At::Body(length),
                Length::Chunked => At::ChunkSize,
            },
            At::Header => self.header(line),
            At::ChunkSize => chunk(line),
            At::Trailer => At::Trailer,
            _ => At::NotHttp,
        };
    }

    fn header(&mut self, line: &[u8]) -> At {
        let text = String::from_utf8_lossy(line).to_ascii_lowercase();
        match text.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("content-length", length)) => match length.parse() {
                Ok(length) => self.body = Length::Bytes(length),
                Err(_) => return At::NotHttp,
            },
            Some(("transfer-encoding", _)) => self.body = Length::Chunked,
            Some(("upgrade", _)) => return At::NotHttp,
            _ => {}
        }
        At::Header
    }
}

/// The size of a chunk, and the line end after it; the last one has no size.
fn chunk(line: &[u8]) -> At {
    let text = String::from_utf8_lossy(line);
    let size = text.split(';').next().unwrap_or_default().trim();
    match u64::from_str_radix(size, 16) {
        Ok(0) => At::Trailer,
        Ok(size) if size < u64::MAX - 2 => At::Body(size + 2),
        _ => At::NotHttp,
    }
}

/// What a browser would escape and the HTTP library rejects.
fn must_be_escaped(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'"' | b'`' | b'{' | b'}' | b'|' | b'\\' | b'^') || !byte.is_ascii()
}

impl<S> RequestLineEscaper<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, messages: Messages::default(), ready: Vec::new(), passed: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RequestLineEscaper<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.passed == this.ready.len() {
            let mut space = [0; PIECE];
            let mut piece = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut piece))?;
            this.ready.clear();
            this.passed = 0;
            this.messages.pass(piece.filled(), &mut this.ready);
        }
        let rest = &this.ready[this.passed..];
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..taken]);
        this.passed += taken;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for RequestLineEscaper<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output, however the requests are cut into pieces.
    fn passed(requests: &str) -> String {
        let whole = in_pieces(requests, requests.len());
        for size in [1, 2, 7] {
            assert_eq!(in_pieces(requests, size), whole, "in pieces of {size}");
        }
        whole
    }

    fn in_pieces(requests: &str, size: usize) -> String {
        let (mut messages, mut out) = (Messages::default(), Vec::new());
        requests.as_bytes().chunks(size.max(1)).for_each(|piece| messages.pass(piece, &mut out));
        String::from_utf8(out).unwrap()
    }

    const GOOD: &str = "GET /api/v1/pods?limit=1 HTTP/1.1\r\nhost: x\r\n\r\n";

    #[test]
    fn what_no_uri_may_hold_is_escaped_in_the_target_alone() {
        let asked = "GET /pods?fieldSelector=a>b&q=\"{é}\" HTTP/1.1\r\nx-note: <a>\r\n\r\n";
        let meant = "GET /pods?fieldSelector=a%3Eb&q=%22%7B%C3%A9%7D%22 HTTP/1.1\r\nx-note: <a>\r\n\r\n";
        assert_eq!(passed(asked), meant);
        assert_eq!(passed(GOOD), GOOD);
    }

    #[test]
    fn bodies_are_left_alone_and_the_request_behind_them_is_found() {
        let bodies = [
            "POST /a> HTTP/1.1\r\nContent-Length: 13\r\n\r\nGET /<b> HTTP",
            "POST /a> HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n</<>>\r\n2\r\n\r\n\r\n0\r\nx: >\r\n\r\n",
        ];
        for body in bodies {
            let series = format!("{body}{GOOD}\r\nGET /c> HTTP/1.1\r\n\r\n");
            let expected = series.replace("/a>", "/a%3E").replace("/c>", "/c%3E");
            assert_eq!(passed(&series), expected);
        }
    }

    #[test]
    fn what_is_no_http_is_passed_on_as_it_is() {
        for nonsense in [
            "\u{1}\u{2}<\r\n>\r\nGET /a> HTTP/1.1\r\n",
            "GET /\r\n/a>\r\n",
            "P / H\r\ncontent-length: x\r\n\r\n<",
        ] {
            assert_eq!(passed(nonsense), nonsense);
        }
    }
}
