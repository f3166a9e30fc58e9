//! Changes the links of a page while it is sent.

use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzDecoder, GzEncoder};
use http_body::Body as _;

use super::links::Links;
use crate::response::{Body, Chunks};

/// The encoding of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Identity,
    Gzip,
}

/// A longer tag is passed on unchanged.
const TAG_BYTES_MAX: usize = 64 << 10;
/// The number of bytes that are decoded at a time: the result may be a thousand times larger.
const PIECE_BYTES: usize = 4 << 10;

/// The attributes of tags that are links.
const LINK_ATTRIBUTES: [(&str, &[&str]); 25] = [
    ("a", &["href"]),
    ("applet", &["codebase"]),
    ("area", &["href"]),
    ("audio", &["src"]),
    ("base", &["href"]),
    ("blockquote", &["cite"]),
    ("body", &["background"]),
    ("button", &["formaction"]),
    ("command", &["icon"]),
    ("del", &["cite"]),
    ("embed", &["src"]),
    ("form", &["action"]),
    ("frame", &["longdesc", "src"]),
    ("head", &["profile"]),
    ("html", &["manifest"]),
    ("iframe", &["longdesc", "src"]),
    ("img", &["longdesc", "src", "usemap"]),
    ("input", &["src", "usemap", "formaction"]),
    ("ins", &["cite"]),
    ("link", &["href"]),
    ("object", &["classid", "codebase", "data", "usemap"]),
    ("q", &["cite"]),
    ("script", &["src"]),
    ("source", &["src"]),
    ("video", &["poster", "src"]),
];
/// Elements whose content is always text.
const TEXT_ELEMENTS: [&str; 9] =
    ["iframe", "noembed", "noframes", "noscript", "script", "style", "textarea", "title", "xmp"];

/// A page whose links are changed.
pub(super) struct HtmlBody {
    body: Body,
    /// Bytes that have arrived and are not decoded yet.
    arrived: Bytes,
    gzip: Option<Gzip>,
    page: PageRewriter,
    is_ended: bool,
    is_broken_off: bool,
}

/// Decodes received bytes, and encodes bytes to send.
struct Gzip {
    decoder: GzDecoder<Vec<u8>>,
    encoder: GzEncoder<Vec<u8>>,
}

impl Gzip {
    fn new() -> Self {
        let encoder = GzEncoder::new(Vec::new(), Compression::fast());
        Self { decoder: GzDecoder::new(Vec::new()), encoder }
    }
}

impl HtmlBody {
    pub(super) fn new(body: Body, coding: Coding, links: Links) -> Self {
        let gzip = (coding == Coding::Gzip).then(Gzip::new);
        let page = PageRewriter::new(links);
        Self { body, arrived: Bytes::new(), gzip, page, is_ended: false, is_broken_off: false }
    }

    /// The next bytes to send after these have arrived. Fails if they cannot be decoded.
    fn rewrite(&mut self, piece: &[u8]) -> std::io::Result<Vec<u8>> {
        let Some(Gzip { decoder, encoder }) = &mut self.gzip else { return Ok(self.page.push(piece)) };
        decoder.write_all(piece)?;
        let rewritten = self.page.push(&std::mem::take(decoder.get_mut()));
        encoder.write_all(&rewritten)?;
        // All received bytes are passed on, even if the rest takes long.
        encoder.flush()?;
        Ok(std::mem::take(encoder.get_mut()))
    }

    fn end(&mut self) -> std::io::Result<Vec<u8>> {
        let Some(Gzip { mut decoder, mut encoder }) = self.gzip.take() else { return Ok(self.page.end()) };
        decoder.try_finish()?;
        let mut rewritten = self.page.push(decoder.get_ref());
        rewritten.extend(self.page.end());
        encoder.write_all(&rewritten)?;
        encoder.finish()
    }
}

impl Chunks for HtmlBody {
    fn poll_chunk(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        while !this.is_ended {
            let result = if this.arrived.is_empty() {
                match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                    Some(Ok(frame)) => {
                        this.arrived = frame.into_data().unwrap_or_default();
                        continue;
                    }
                    None => {
                        this.is_ended = true;
                        this.is_broken_off = this.body.is_broken_off();
                        this.end()
                    }
                }
            } else {
                let length = this.arrived.len().min(PIECE_BYTES);
                let piece = this.arrived.split_to(length);
                this.rewrite(&piece)
            };
            match result {
                Ok(chunk) if chunk.is_empty() => {}
                Ok(chunk) => return Poll::Ready(Some(chunk.into())),
                Err(_) => (this.is_ended, this.is_broken_off) = (true, true),
            }
        }
        Poll::Ready(None)
    }

    fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }
}

/// Changes links in a page that arrives in pieces.
struct PageRewriter {
    links: Links,
    /// Bytes that have arrived and may be the beginning of an element.
    pending: Vec<u8>,
    inside: Inside,
}

/// The context of the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Page,
    Comment,
    TextElement(&'static str),
}

/// The token at the beginning of the bytes that have arrived.
enum Token {
    /// Bytes of this length that are not changed.
    Plain(usize),
    /// A start tag of this length.
    StartTag(usize),
    /// More bytes are needed.
    Unknown,
}

impl PageRewriter {
    fn new(links: Links) -> Self {
        Self { links, pending: Vec::new(), inside: Inside::Page }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        let mut out = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let (token, inside) = self.next_token(rest);
            match token {
                Token::Unknown if rest.len() <= TAG_BYTES_MAX => break,
                Token::Unknown => {
                    out.extend_from_slice(rest);
                    rest = &[];
                }
                Token::Plain(length) => {
                    out.extend_from_slice(&rest[..length]);
                    rest = &rest[length..];
                }
                Token::StartTag(length) => {
                    self.start_tag(&rest[..length], &mut out);
                    rest = &rest[length..];
                }
            }
            self.inside = inside;
        }
        self.pending = rest.to_vec();
        out
    }

    fn end(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    /// The next token, and the context after it.
    fn next_token(&self, rest: &[u8]) -> (Token, Inside) {
        match self.inside {
            Inside::Comment => match find(rest, b"-->") {
                Some(at) => (Token::Plain(at + 3), Inside::Page),
                None => (all_but(rest, 2), Inside::Comment),
            },
            Inside::TextElement(name) => match find_end_tag(rest, name) {
                Some(at) => (Token::Plain(at), Inside::Page),
                None => (all_but(rest, name.len() + 2), self.inside),
            },
            Inside::Page => page_token(rest),
        }
    }

    /// Appends a start tag with its links changed.
    fn start_tag(&self, tag: &[u8], out: &mut Vec<u8>) {
        let name = tag_name(tag);
        let links =
            LINK_ATTRIBUTES.iter().find(|(tag, _)| *tag == name).map_or(&[] as &[&str], |(_, links)| links);
        let mut copied = 0;
        for attribute in if links.is_empty() { Vec::new() } else { attributes(tag) } {
            let value = std::str::from_utf8(&tag[attribute.value.clone()]).unwrap_or_default();
            if links.contains(&attribute.name.as_str())
                && let Some(rewritten) = self.links.rewrite(value)
            {
                out.extend_from_slice(&tag[copied..attribute.value.start]);
                out.extend_from_slice(rewritten.as_bytes());
                copied = attribute.value.end;
            }
        }
        out.extend_from_slice(&tag[copied..]);
    }
}

/// The next token outside comments and text elements.
fn page_token(rest: &[u8]) -> (Token, Inside) {
    let text = rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len());
    if text > 0 {
        return (Token::Plain(text), Inside::Page);
    }
    match rest.get(1) {
        None => (Token::Unknown, Inside::Page),
        Some(b'!') if rest.starts_with(b"<!--") => (Token::Plain(4), Inside::Comment),
        Some(b'!') if b"<!--".starts_with(rest) => (Token::Unknown, Inside::Page),
        Some(b'!' | b'?' | b'/') => match rest.iter().position(|byte| *byte == b'>') {
            Some(end) => (Token::Plain(end + 1), Inside::Page),
            None => (Token::Unknown, Inside::Page),
        },
        Some(letter) if letter.is_ascii_alphabetic() => match tag_end(rest) {
            Some(end) => {
                let name = tag_name(rest);
                let text = TEXT_ELEMENTS.iter().find(|text| **text == name);
                (Token::StartTag(end), text.map_or(Inside::Page, |name| Inside::TextElement(name)))
            }
            None => (Token::Unknown, Inside::Page),
        },
        Some(_) => (Token::Plain(1), Inside::Page),
    }
}

/// All bytes but the last few, which may be the beginning of an end.
fn all_but(rest: &[u8], last: usize) -> Token {
    match rest.len().saturating_sub(last) {
        0 => Token::Unknown,
        length => Token::Plain(length),
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// The position at which the end tag of an element begins.
fn find_end_tag(rest: &[u8], name: &str) -> Option<usize> {
    rest.windows(name.len() + 2)
        .position(|window| window.starts_with(b"</") && window[2..].eq_ignore_ascii_case(name.as_bytes()))
}

/// The length of a start tag with its `>`; a `>` in quotes does not end it.
fn tag_end(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in tag.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            // A quote opens a quoted value only at the beginning of the value.
            (None, b'"' | b'\'') if tag[..at].trim_ascii_end().ends_with(b"=") => quote = Some(*byte),
            (Some(open), byte) if open == *byte => quote = None,
            _ => {}
        }
    }
    None
}

fn tag_name(tag: &[u8]) -> String {
    let name = tag[1..].iter().take_while(|byte| !byte.is_ascii_whitespace() && !b"/>".contains(byte));
    name.map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

struct Attribute {
    name: String,
    value: std::ops::Range<usize>,
}

/// The attributes of a tag that have values.
fn attributes(tag: &[u8]) -> Vec<Attribute> {
    let mut found = Vec::new();
    let skip = |mut at: usize, wanted: &dyn Fn(u8) -> bool| {
        while tag.get(at).is_some_and(|byte| wanted(*byte)) {
            at += 1;
        }
        at
    };
    let is_space = |byte: u8| byte.is_ascii_whitespace();
    let mut at = skip(0, &|byte| !byte.is_ascii_whitespace() && byte != b'>');
    loop {
        let start = skip(at, &|byte| byte.is_ascii_whitespace() || byte == b'/');
        let end = skip(start, &|byte| !byte.is_ascii_whitespace() && !b"/>=".contains(&byte));
        if end >= tag.len() - 1 {
            return found;
        }
        let name = String::from_utf8_lossy(&tag[start..end]).to_ascii_lowercase();
        let equals = skip(end, &is_space);
        if tag.get(equals) != Some(&b'=') {
            at = equals.max(end + usize::from(start == end));
            continue;
        }
        let begin = skip(equals + 1, &is_space);
        let value = match tag.get(begin) {
            Some(quote @ (b'"' | b'\'')) => begin + 1..skip(begin + 1, &|byte| byte != *quote),
            _ => begin..skip(begin, &|byte| !byte.is_ascii_whitespace() && byte != b'>'),
        };
        at = value.end + usize::from(value.start > begin);
        found.push(Attribute { name, value: value.start..value.end.min(tag.len()) });
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use http_body_util::BodyExt as _;

    use super::*;

    fn links() -> Links {
        Links::new("/pods/p/proxy", "10.0.0.7:80".to_owned(), "here".to_owned())
    }

    const PAGE: &str = r#"<!DOCTYPE html><HTML manifest="/m"><title>a < b <a href="/t"></title><link rel='x' href=/s.css>
<script src="/x.js">if (a<b) write("<a href='/q'>")</script><!-- <a href="/c"> --><body background=/bg.png>
<a class="x>y" href="/abs?x=1&amp;y=2#f">1</a><a HREF='rel/x'>2</a><a href = "http://10.0.0.7:80/same">3</a><a href>4</a>
<img src="/i.png" alt='"' disabled/><form action="/go/"><p onclick="/no">'"</p> < 3 <a href=/z>"#;
    const REWRITTEN: &str = r#"<!DOCTYPE html><HTML manifest="/pods/p/proxy/m"><title>a < b <a href="/t"></title><link rel='x' href=/pods/p/proxy/s.css>
<script src="/pods/p/proxy/x.js">if (a<b) write("<a href='/q'>")</script><!-- <a href="/c"> --><body background=/pods/p/proxy/bg.png>
<a class="x>y" href="/pods/p/proxy/abs?x=1&amp;y=2#f">1</a><a HREF='rel/x'>2</a><a href = "/pods/p/proxy/same">3</a><a href>4</a>
<img src="/pods/p/proxy/i.png" alt='"' disabled/><form action="/pods/p/proxy/go/"><p onclick="/no">'"</p> < 3 <a href=/pods/p/proxy/z>"#;

    /// The links that kube-apiserver 1.37 changes, wherever the page is cut into pieces.
    #[test]
    fn links_are_rewritten_across_chunk_boundaries() {
        for piece in [1, 2, 3, 7, 64, PAGE.len()] {
            let mut page = PageRewriter::new(links());
            let mut out = Vec::new();
            for piece in PAGE.as_bytes().chunks(piece) {
                out.extend(page.push(piece));
            }
            out.extend(page.end());
            assert_eq!(String::from_utf8(out).unwrap(), REWRITTEN, "in pieces of {piece}");
        }
    }

    #[test]
    fn unterminated_markup_is_passed_on() {
        for text in
            ["<a href=\"/x", "<!-- x", "<script>x", "<", "a<b", "<a =x>", "<a / = >", "<a ''=\"", "<a b=>c"]
        {
            let mut page = PageRewriter::new(links());
            let mut out = page.push(text.as_bytes());
            out.extend(page.end());
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[tokio::test]
    async fn a_compressed_page_stays_compressed() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(PAGE.as_bytes()).unwrap();
        let body = Body::Whole(Some(encoder.finish().unwrap().into()));
        let body = Body::Stream(Box::pin(HtmlBody::new(body, Coding::Gzip, links())));
        let sent = body.collect().await.unwrap().to_bytes();
        let mut page = String::new();
        flate2::read::GzDecoder::new(&*sent).read_to_string(&mut page).unwrap();
        assert_eq!(page, REWRITTEN);
    }

    #[tokio::test]
    async fn a_page_that_is_not_in_its_declared_coding_is_aborted() {
        let body = Body::Whole(Some(Bytes::from_static(b"not gzip, although the header says so")));
        let mut body = Body::Stream(Box::pin(HtmlBody::new(body, Coding::Gzip, links())));
        assert!(body.frame().await.is_none());
        assert!(body.is_broken_off());
    }
}
