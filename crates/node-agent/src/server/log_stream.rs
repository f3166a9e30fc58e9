//! Sends the log of a container, and follows it while the container runs.

use std::convert::Infallible;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use gantry_cri::wire::RuntimeContainerState;
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::Body;
use super::log_lines::{LogSelection, limited};
use crate::agent::Agent;

/// How often a followed log is read.
const POLL_EVERY: Duration = Duration::from_millis(100);
/// How many chunks may wait for the client.
const PIECES_MAX: usize = 16;

/// Returns the log files of a container, the latest first.
pub(super) fn log_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let number = |path: &PathBuf| path.file_stem().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let mut files: Vec<_> =
        entries.map(|entry| entry.path()).filter_map(|path| Some((number(&path)?, path))).collect();
    files.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    files.into_iter().map(|(_, path)| path).collect()
}

/// Returns the body of a response with a log. `container` is the ID of the container, to follow it until it ends.
pub(super) fn body(
    agent: Arc<Agent>,
    file: PathBuf,
    options: LogSelection,
    container: Option<String>,
) -> Body {
    let (sender, receiver) = mpsc::channel(PIECES_MAX);
    tokio::spawn(send(agent, file, options, container, sender));
    Pieces(receiver).boxed_unsync()
}

async fn send(
    agent: Arc<Agent>,
    file: PathBuf,
    options: LogSelection,
    container: Option<String>,
    sender: mpsc::Sender<Bytes>,
) {
    let mut left = options.limit_bytes.unwrap_or(usize::MAX);
    let mut position = 0;
    let mut is_first = true;
    loop {
        // Determined before the file is read, so that all output before the end of the container is read.
        let is_running = match &container {
            Some(id) if options.follow => agent
                .cri
                .container_status(id)
                .await
                .is_ok_and(|status| status.state() == RuntimeContainerState::Running),
            _ => false,
        };
        let text = read_from(&file, &mut position);
        let start = if std::mem::take(&mut is_first) { options.tail_start(&text) } else { 0 };
        let shown = limited(options.shown(&text[start..]), left);
        left -= shown.len();
        if !shown.is_empty() && sender.send(Bytes::from(shown)).await.is_err() {
            return;
        }
        if !is_running || left == 0 || sender.is_closed() {
            return;
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Reads the whole lines of a log from a position on, and advances it.
fn read_from(file: &Path, position: &mut u64) -> String {
    let mut read = || {
        let mut log = std::fs::File::open(file)?;
        // A log that became shorter was rotated.
        if log.metadata()?.len() < *position {
            *position = 0;
        }
        log.seek(SeekFrom::Start(*position))?;
        let mut bytes = Vec::new();
        log.read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    let mut bytes = read().unwrap_or_default();
    bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    *position += bytes.len() as u64;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A body of chunks that are sent as they arrive.
struct Pieces(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
