//! Logs: what containers wrote, if anybody can tell.

use gantry_registry::kinds::kinds;
use gantry_registry::pods::logs::LogOptions;
use gantry_registry::{Refusal, pods};

use super::super::call::Call;
use super::no_such_resource;
use crate::answer::Answer;
use crate::logs::{LogRequest, Reading};
use crate::objects::Place;

impl Call<'_> {
    pub(super) async fn log(&self) -> Result<Answer, Refusal> {
        let place = self.place();
        let options = LogOptions::read(&self.query.0, place.name)?;
        let pod = self.server.objects.get(place).await?;
        let container = pods::container(&pod, &options.container)?;
        let Some(node) = pods::node(&pod) else {
            // Nobody runs it yet, so nobody wrote anything.
            return Ok(Answer::text(204, ""));
        };
        let Some(logs) = &self.server.settings.logs else {
            self.check_node(node).await?;
            return Err(unavailable(format!(
                "the logs of pod {} cannot be read: no node agent answers for node {node}",
                place.name
            )));
        };
        let wanted = LogRequest {
            node,
            namespace: self.namespace.unwrap_or_default(),
            pod: place.name,
            uid: pod["metadata"]["uid"].as_str().unwrap_or_default(),
            container,
            options: &options,
        };
        let stream = logs.open(wanted).await?;
        Ok(Answer::stream(Reading(stream)).of_type("text/plain"))
    }

    /// Refuses what needs a node that does not exist.
    pub(super) async fn check_node(&self, name: &str) -> Result<(), Refusal> {
        let kind = kinds().resource("", "v1", "nodes").ok_or_else(no_such_resource)?;
        self.server.objects.fetch(Place { kind, namespace: None, name }).await.map(drop)
    }
}

/// What is said when somebody else would have to do it and is not there.
pub(super) fn unavailable(message: String) -> Refusal {
    Refusal { code: 503, reason: "ServiceUnavailable", message, details: None }
}
