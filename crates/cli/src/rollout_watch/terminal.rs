//! The terminal: an alternate screen, keyboard input, and restoration on exit.

use std::io::{self, Read as _, Write as _};
use std::thread;

use gantry_view::Line;
use gantry_view::live::{Canvas, Charset};
use rustix::termios::{self, OptionalActions, Termios};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::ansi;

/// Enters the alternate screen, hides the cursor, disables line wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// Reverts `ENTER`.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Terminal input.
pub(super) enum Input {
    /// Quit.
    Quit,
    /// The size changed.
    Resized,
}

/// A terminal in raw mode; restored on drop and on panic.
pub(super) struct Terminal {
    before: Termios,
    colours: bool,
    charset: Charset,
    keys: UnboundedReceiver<u8>,
    resized: Signal,
    ended: [Signal; 2],
}

impl Terminal {
    /// Switches to raw mode and the alternate screen.
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

    /// The current canvas.
    pub(super) fn canvas(&self) -> Canvas {
        let (columns, rows) = ansi::size();
        Canvas { columns, rows, charset: self.charset }
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = "\x1b[H".to_owned();
        for (row, line) in lines.iter().enumerate() {
            // Not after the last line: the screen would scroll.
            text.push_str(if row == 0 { "" } else { "\r\n" });
            // Cleared before the line: after a line that fills the row, it would erase the last character.
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
                    // Without input there is no way to quit.
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
    // Errors are ignored: the terminal may be closed already.
    let _ = write(LEAVE);
    let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, before);
}

/// Installs a panic hook that restores the terminal first, so that the message is readable.
fn restore_on_panic(before: Termios) {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        restore(&before);
        tell(panic);
    }));
}

/// Keyboard input, byte by byte.
///
/// The reader thread is never joined: a read from a terminal cannot be cancelled.
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

/// The character set of the locale.
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
