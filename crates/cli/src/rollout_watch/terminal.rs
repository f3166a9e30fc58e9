//! The terminal: one screen to draw on, keys to hear, and everything as it was when it is over.

use std::io::{self, Read as _, Write as _};
use std::thread;

use gantry_view::Line;
use gantry_view::live::{Canvas, Charset};
use rustix::termios::{self, OptionalActions, Termios};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::ansi;

/// Another screen, no cursor, no wrapping of lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// All of that back.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// What a person at the terminal does.
pub(super) enum Input {
    /// Has seen enough.
    Quit,
    /// Has changed the size.
    Resized,
}

/// A terminal in use; dropping it, or a panic, leaves it as it was.
pub(super) struct Terminal {
    before: Termios,
    colours: bool,
    charset: Charset,
    keys: UnboundedReceiver<u8>,
    resized: Signal,
    ended: [Signal; 2],
}

impl Terminal {
    /// Takes over the terminal.
    pub(super) fn open() -> io::Result<Self> {
        let before = termios::tcgetattr(io::stdin())?;
        let terminal = Self {
            colours: ansi::with_colours(),
            charset: charset(),
            keys: keys(),
            resized: signal(SignalKind::window_change())?,
            ended: [signal(SignalKind::terminate())?, signal(SignalKind::hangup())?],
            before: before.clone(),
        };
        let mut raw = before.clone();
        raw.make_raw();
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        restore_on_panic(before);
        write(ENTER)?;
        Ok(terminal)
    }

    /// What there is to draw on now.
    pub(super) fn canvas(&self) -> Canvas {
        let (columns, rows) = ansi::size();
        Canvas { columns, rows, charset: self.charset }
    }

    /// Shows these lines and nothing else.
    pub(super) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = "\x1b[H".to_owned();
        for (row, line) in lines.iter().enumerate() {
            // Not after the last one: the screen would move up.
            text.push_str(if row == 0 { "" } else { "\r\n" });
            // Before the line: behind one that fills the row, it would take the last letter.
            text.push_str(if row + 1 == lines.len() { "\x1b[J" } else { "\x1b[K" });
            ansi::paint(&mut text, line, self.colours);
        }
        write(&text)
    }

    /// Waits for a key, a change of size or a signal.
    pub(super) async fn input(&mut self) -> Input {
        const CONTROL_C: u8 = 3;
        let [terminated, hung_up] = &mut self.ended;
        loop {
            tokio::select! {
                key = self.keys.recv() => match key {
                    // Without a keyboard there would be no way to quit.
                    Some(b'q' | b'Q' | CONTROL_C) | None => return Input::Quit,
                    Some(_) => {}
                },
                _ = self.resized.recv() => return Input::Resized,
                _ = terminated.recv() => return Input::Quit,
                _ = hung_up.recv() => return Input::Quit,
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore(&self.before);
    }
}

fn restore(before: &Termios) {
    // The terminal may be gone, and then there is nothing to restore.
    let _ = write(LEAVE);
    let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, before);
}

/// Restores the terminal before a panic is told, so that it can be read.
fn restore_on_panic(before: Termios) {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore(&before);
        tell(panic);
    }));
}

/// What is typed, byte by byte.
///
/// A thread of its own, which is never joined: a read from a terminal cannot be called off.
fn keys() -> UnboundedReceiver<u8> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for key in io::stdin().lock().bytes() {
            let Ok(key) = key else { return };
            if sender.send(key).is_err() {
                return;
            }
        }
    });
    receiver
}

/// What the locale says the terminal can show.
fn charset() -> Charset {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some(value)
    });
    let name = set.unwrap_or_default().to_uppercase();
    if name.contains("UTF-8") || name.contains("UTF8") { Charset::Unicode } else { Charset::Ascii }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
