//! Escapes characters in the first request line of a connection that are not valid in a URI: `curl …/pods?labelSelector=tier>1`.
//!
//! Kubernetes accepts characters in a path or query that a URI may not contain, such as `<` and `>`; hyper rejects them.
//! Only the first line of a connection is escaped, which is a request line in any case. Finding later ones would need the
//! lengths of bodies, and framing is hyper's alone; later requests on a connection must have valid URIs.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The size of a read of the first line.
const READ_BYTES: usize = 4 << 10;

/// A stream whose first request line is escaped.
#[derive(Debug)]
pub(crate) struct FirstRequestLine<S> {
    stream: S,
    position: Position,
    /// Bytes that were read and not passed on yet, from `passed` on.
    pending: Vec<u8>,
    passed: usize,
}

/// The position in the first line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Position {
    /// Before the request line, where empty lines are allowed.
    #[default]
    Start,
    Method,
    Target,
    /// After the target. Nothing is changed from here on.
    Done,
}

impl Position {
    /// Appends bytes to `out`, with the target escaped.
    fn escape(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        for (index, &byte) in bytes.iter().enumerate() {
            *self = match (*self, byte) {
                (Self::Done, _) => return out.extend_from_slice(&bytes[index..]),
                (Self::Start, b'\r' | b'\n') => Self::Start,
                (Self::Start, _) => Self::Method,
                (Self::Method, b' ') => Self::Target,
                (Self::Method, b'\n') | (Self::Target, b' ' | b'\n') => Self::Done,
                (position, _) => position,
            };
            if *self == Self::Target && must_be_escaped(byte) {
                out.extend_from_slice(format!("%{byte:02X}").as_bytes());
            } else {
                out.push(byte);
            }
        }
    }
}

/// Characters that browsers escape and hyper rejects.
fn must_be_escaped(byte: u8) -> bool {
    matches!(byte, b'<' | b'>' | b'"' | b'`' | b'{' | b'}' | b'|' | b'\\' | b'^') || !byte.is_ascii()
}

impl<S> FirstRequestLine<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, position: Position::default(), pending: Vec::new(), passed: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstRequestLine<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.passed == this.pending.len() {
            if this.position == Position::Done {
                return Pin::new(&mut this.stream).poll_read(context, buffer);
            }
            let mut space = [0; READ_BYTES];
            let mut read = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut read))?;
            this.pending.clear();
            this.passed = 0;
            this.position.escape(read.filled(), &mut this.pending);
        }
        let rest = &this.pending[this.passed..];
        let taken = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..taken]);
        this.passed += taken;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstRequestLine<S> {
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

    /// The output, which does not depend on how the input is split.
    fn escaped(input: &str) -> String {
        let whole = in_pieces(input, input.len());
        for size in [1, 2, 7] {
            assert_eq!(in_pieces(input, size), whole, "in pieces of {size}");
        }
        whole
    }

    fn in_pieces(input: &str, size: usize) -> String {
        let (mut position, mut out) = (Position::default(), Vec::new());
        input.as_bytes().chunks(size.max(1)).for_each(|piece| position.escape(piece, &mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_the_target_is_escaped() {
        let sent = "GET /pods?fieldSelector=a>b&q=\"{é}\" HTTP/1.1\r\nx-note: <a>\r\n\r\n";
        let passed = "GET /pods?fieldSelector=a%3Eb&q=%22%7B%C3%A9%7D%22 HTTP/1.1\r\nx-note: <a>\r\n\r\n";
        assert_eq!(escaped(sent), passed);
        assert_eq!(escaped(&format!("\r\n{sent}")), format!("\r\n{passed}"));
        let valid = "GET /api/v1/pods?limit=1 HTTP/1.1\r\nhost: x\r\n\r\n";
        assert_eq!(escaped(valid), valid);
    }

    #[test]
    fn bodies_and_later_requests_are_unchanged() {
        let rest = " HTTP/1.1\r\nContent-Length: 13\r\n\r\nGET /<b> HTTPGET /c> HTTP/1.1\r\n\r\n";
        assert_eq!(escaped(&format!("POST /a>{rest}")), format!("POST /a%3E{rest}"));
    }

    #[test]
    fn a_line_without_a_version_ends_with_the_line() {
        assert_eq!(escaped("GET /a>\r\n/b>\r\n"), "GET /a%3E\r\n/b>\r\n");
        assert_eq!(escaped("\u{1}\u{2}<\r\n>\r\n"), "\u{1}\u{2}<\r\n>\r\n");
    }
}
