//! A terminal in tmux: sends keys and captures the screen.

use std::process::Command;
use std::time::{Duration, Instant};

/// The timeout until something appears on the screen of a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A terminal with a shell in it.
pub(crate) struct Tmux {
    socket: String,
}

impl Tmux {
    pub(crate) fn open(test: &str, columns: u16, rows: u16) -> Self {
        let tmux = Self { socket: format!("gantry-{test}-{}", std::process::id()) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = "env PS1='ready> ' LC_ALL=C.UTF-8 sh";
        tmux.run(&["new-session", "-d", "-x", &columns, "-y", &rows, shell]);
        tmux.wait_for("a prompt", |screen| screen.contains("ready>"));
        tmux
    }

    /// Types a line.
    pub(crate) fn type_line(&self, line: &str) {
        self.run(&["send-keys", "-l", line]);
        self.run(&["send-keys", "Enter"]);
    }

    /// Presses a key, by tmux's name for it.
    pub(crate) fn press(&self, key: &str) {
        self.run(&["send-keys", key]);
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.run(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// The text on the screen.
    pub(crate) fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// The text on the screen, with escape codes for colours.
    pub(crate) fn coloured(&self) -> String {
        self.run(&["capture-pane", "-p", "-e"])
    }

    /// Waits until the screen meets the condition, and returns it.
    pub(crate) fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let started = Instant::now();
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(started.elapsed() < TIMEOUT, "no {what} on the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-u", "-L", &self.socket, "-f", "/dev/null"])
            .args(arguments)
            .env_remove("TMUX")
            .output()
            .unwrap_or_else(|error| panic!("tmux, which `cargo xtask test` installs: {error}"));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}
