//! Whoever lives in the same process as the server: controllers, a scheduler, nodes. To the server they are clients.

use std::fmt::Display;

use gantry_runtime::{Shutdown, Switch, shutdown};
use tokio::task::JoinSet;

/// Tasks that end together.
pub(crate) struct Company {
    switch: Switch,
    signal: Shutdown,
    tasks: JoinSet<Result<(), String>>,
}

impl Company {
    /// Nobody.
    pub(crate) fn none() -> Self {
        let (switch, signal) = shutdown();
        Self { switch, signal, tasks: JoinSet::new() }
    }

    /// Says when it is time to end.
    pub(crate) fn signal(&self) -> Shutdown {
        self.signal.clone()
    }

    /// Takes somebody in, who ends when the signal comes; `name` is for the log.
    pub(crate) fn join<E: Display>(
        &mut self,
        name: &'static str,
        work: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        self.tasks.spawn(async move { work.await.map_err(|error| format!("{name}: {error}")) });
    }

    /// Returns when somebody fails. Whoever ends without having been told to has failed, too.
    pub(crate) async fn failed(&mut self) -> String {
        match self.tasks.join_next().await {
            None => std::future::pending().await,
            Some(Ok(Err(message))) => message,
            Some(Ok(Ok(()))) => "a part of the process ended by itself; the log says more".to_owned(),
            Some(Err(error)) => format!("a part of the process broke down: {error}"),
        }
    }

    /// Asks everybody to end and waits until they have.
    pub(crate) async fn leave(&mut self) {
        self.switch.turn();
        while self.tasks.join_next().await.is_some() {}
    }
}
