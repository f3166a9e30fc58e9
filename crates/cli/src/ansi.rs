//! Renders styled lines with ANSI escape codes, unless `NO_COLOR` is set.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _};

use gantry_view::{Line, Style};
use rustix::termios;

/// The size of a terminal that does not report it.
pub(crate) const UNKNOWN_SIZE: (usize, usize) = (80, 24);

/// The width of standard output, if it is a terminal with escape codes.
pub(crate) fn columns() -> Option<usize> {
    (io::stdout().is_terminal() && !is_dumb()).then(|| size().0)
}

/// The columns and rows of the terminal.
pub(crate) fn size() -> (usize, usize) {
    let size = termios::tcgetwinsize(io::stdout()).ok();
    let size = size.filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or(UNKNOWN_SIZE, |size| (size.ws_col.into(), size.ws_row.into()))
}

/// Whether the terminal does not support escape codes.
pub(crate) fn is_dumb() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Whether colours are wanted.
pub(crate) fn with_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The lines with line ends, for standard output when it is a terminal.
pub(crate) fn page(lines: &[Line]) -> String {
    let colours = with_colours();
    let mut text = String::new();
    for line in lines {
        paint(&mut text, line, colours);
        text.push('\n');
    }
    text
}

/// Adds a line, without a line end.
pub(crate) fn paint(text: &mut String, line: &Line, colours: bool) {
    for span in &line.spans {
        // Writing to a string cannot fail.
        let _ = match sgr(span.style).filter(|_| colours) {
            Some(code) => write!(text, "\x1b[{code}m{}\x1b[0m", span.text),
            None => write!(text, "{}", span.text),
        };
    }
}

fn sgr(style: Style) -> Option<&'static str> {
    match style {
        Style::Plain => None,
        Style::Strong => Some("1"),
        Style::Dim => Some("2"),
        Style::Good => Some("32"),
        Style::Busy => Some("33"),
        Style::Bad => Some("1;31"),
    }
}
