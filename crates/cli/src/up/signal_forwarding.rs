//! Forwards signals to the command of `gantry up -- COMMAND`.

use std::fs::File;

use rustix::process::{Pid, Signal, getpgrp, kill_process};
use tokio::signal::unix::{self, SignalKind, signal};

/// The forwarded signals.
pub(super) struct ForwardedSignals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hangup: unix::Signal,
    quit: unix::Signal,
}

impl ForwardedSignals {
    pub(super) fn new() -> Result<Self, String> {
        let on = |kind| signal(kind).map_err(|error| format!("cannot listen to signals: {error}"));
        Ok(Self {
            terminate: on(SignalKind::terminate())?,
            interrupt: on(SignalKind::interrupt())?,
            hangup: on(SignalKind::hangup())?,
            quit: on(SignalKind::quit())?,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hangup.recv() => Signal::HUP,
            _ = self.quit.recv() => Signal::QUIT,
        }
    }
}

/// Forwards a signal, unless the terminal sends it to the command, too.
pub(super) fn forward(signal: Signal, command: Option<u32>) {
    let is_of_terminal = matches!(signal, Signal::INT | Signal::QUIT) && is_in_foreground();
    let command = command.and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
    if let Some(command) = command.filter(|_| !is_of_terminal) {
        // Fails if the command has just ended.
        let _ = kill_process(command, signal);
    }
}

/// Whether keys such as Ctrl-C reach this process and, being in the same group, the command.
fn is_in_foreground() -> bool {
    let terminal = File::open("/dev/tty");
    terminal.is_ok_and(|terminal| rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp()))
}
