//! Standard input for sessions in containers, which may be a terminal.

use std::io::{self, IsTerminal as _, Read as _};
use std::thread;

use gantry_kubectl::verbs::{LocalTerminal, TerminalSize};
use rustix::termios::{self, OptionalActions, Termios};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// How much is read at a time.
const READ_BYTES: usize = 4 << 10;

/// Standard input. The terminal is restored when it is dropped.
#[derive(Default)]
pub(super) struct StandardInput {
    /// The settings of the terminal before it was made raw.
    before: Option<Termios>,
}

impl LocalTerminal for StandardInput {
    fn is_terminal(&self) -> bool {
        io::stdin().is_terminal()
    }

    fn read_input(&mut self) -> mpsc::Receiver<Vec<u8>> {
        let (sender, bytes) = mpsc::channel(8);
        // A thread, because a read cannot be cancelled; it ends with the process.
        thread::spawn(move || {
            let mut buffer = [0; READ_BYTES];
            while let Ok(count @ 1..) = io::stdin().read(&mut buffer) {
                if sender.blocking_send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        bytes
    }

    fn make_raw(&mut self) -> mpsc::Receiver<TerminalSize> {
        let (sender, sizes) = mpsc::channel(8);
        if let Ok(before) = termios::tcgetattr(io::stdin()) {
            let mut raw = before.clone();
            raw.make_raw();
            // On failure, the terminal keeps its settings and sends input line by line.
            if termios::tcsetattr(io::stdin(), OptionalActions::Now, &raw).is_ok() {
                self.before = Some(before);
            }
        }
        tokio::spawn(async move {
            let mut changed = signal(SignalKind::window_change()).ok();
            while let Ok(size) = termios::tcgetwinsize(io::stdin()) {
                let size = TerminalSize { width: size.ws_col, height: size.ws_row };
                let Some(changed) = &mut changed else { return };
                if sender.send(size).await.is_err() || changed.recv().await.is_none() {
                    return;
                }
            }
        });
        sizes
    }

    fn restore(&mut self) {
        if let Some(before) = self.before.take() {
            // The terminal may be closed already.
            let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

impl Drop for StandardInput {
    fn drop(&mut self) {
        self.restore();
    }
}
