//! Tasks of one process that end together: controllers, a scheduler, nodes, an endpoint.

use std::fmt::Display;

use futures::future::BoxFuture;
use tokio::task::JoinSet;

use crate::shutdown::{Shutdown, Switch, shutdown};

/// Tasks that end together. Dropping them aborts them.
#[derive(Debug)]
pub struct Tasks {
    switch: Switch,
    signal: Shutdown,
    tasks: JoinSet<Result<(), String>>,
}

impl Tasks {
    /// No task yet.
    #[expect(clippy::new_without_default, reason = "`Default` would hide that a shutdown signal is created")]
    pub fn new() -> Self {
        let (switch, signal) = shutdown();
        Self { switch, signal, tasks: JoinSet::new() }
    }

    /// The signal to end, for the tasks.
    pub fn signal(&self) -> Shutdown {
        self.signal.clone()
    }

    /// Starts a task that ends on the signal; `name` is for error messages.
    pub fn spawn<E: Display>(
        &mut self,
        name: &'static str,
        work: impl Future<Output = Result<(), E>> + Send + 'static,
    ) {
        self.spawn_boxed(Box::pin(async move { work.await.map_err(|error| format!("{name}: {error}")) }));
    }

    fn spawn_boxed(&mut self, work: BoxFuture<'static, Result<(), String>>) {
        self.tasks.spawn(work);
    }

    /// Returns when a task fails; one that ends before the signal has failed, too.
    pub async fn failed(&mut self) -> String {
        match self.tasks.join_next().await {
            None => std::future::pending().await,
            Some(Ok(Err(message))) => message,
            Some(Ok(Ok(()))) => "a part of the process ended unexpectedly; see the log".to_owned(),
            Some(Err(error)) => format!("a part of the process panicked: {error}"),
        }
    }

    /// Sends the signal and waits until every task has ended.
    pub async fn end(&mut self) {
        self.switch.turn();
        while self.tasks.join_next().await.is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_fails_is_named_and_the_others_end_on_the_signal() {
        let mut tasks = Tasks::new();
        let signal = tasks.signal();
        tasks.spawn("patient", async move {
            signal.wait().await;
            Ok::<(), String>(())
        });
        tasks.spawn("broken", async { Err("no disk") });
        assert_eq!(tasks.failed().await, "broken: no disk");
        tasks.end().await;
    }
}
