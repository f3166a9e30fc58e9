//! `describe` (K3): reads an object and what belongs to it, and prints what it is like.

use serde_json::Value;

use crate::call::Call;
use crate::describe::{self, deployment, events, node, pod, replica_set};
use crate::failure::Failure;
use crate::field::{list, selector, text};
use crate::print::aligned;
use crate::selection::{BareType, Found, Selection, find};
use crate::session::Session;
use crate::workload::is_controlled_by;

/// What to describe.
#[derive(Clone, Debug, Default)]
pub struct Describe {
    /// Which objects.
    pub selection: Selection,
    /// Whether events are told too.
    pub events: bool,
}

/// Describes objects.
pub async fn describe(session: &mut Session, asked: &Describe) -> Result<(), Failure> {
    if asked.selection.is_empty() {
        return Err(Failure::other(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    let (mut found, mut failures) = find(session, &asked.selection, BareType::All).await?;
    let mut by_beginning = false;
    if let ([], [failure], [kind, prefix]) =
        (found.as_slice(), failures.as_slice(), asked.selection.words.as_slice())
        && failure.is_not_found()
    {
        // Nobody types a whole name of a ReplicaSet: all whose names begin so are meant.
        let all = Selection { words: vec![kind.clone()], ..asked.selection.clone() };
        found = find(session, &all, BareType::All).await?.0;
        found.retain(|one| one.name.starts_with(prefix.as_str()));
        if !found.is_empty() {
            failures.clear();
            by_beginning = true;
        }
    }
    let mut told_any = false;
    for one in &found {
        match described(session, asked, one).await {
            Ok(text) if by_beginning => session.say(&text)?,
            Ok(text) if told_any => session.print(&format!("\n\n{text}"))?,
            Ok(text) => session.print(&text)?,
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        }
        told_any = true;
    }
    if found.is_empty() && failures.is_empty() {
        let line = if asked.selection.all_namespaces {
            "No resources found".to_owned()
        } else {
            format!("No resources found in {} namespace.", session.namespace)
        };
        session.tell(&line);
    }
    Failure::all(failures)
}

async fn described(session: &mut Session, asked: &Describe, one: &Found) -> Result<String, Failure> {
    let uid = text(&one.object, "/metadata/uid").to_owned();
    let place = &one.namespace;
    let now = session.now();
    let mut out = match (one.resource.group.as_str(), one.resource.kind.as_str()) {
        ("apps", "Deployment") => {
            let sets = selected(
                session,
                &format!("/apis/apps/v1/namespaces/{place}/replicasets"),
                &one.object,
                &uid,
            )
            .await?;
            deployment::deployment(&one.object, &sets)
        }
        ("apps", "ReplicaSet") => {
            let pods =
                selected(session, &format!("/api/v1/namespaces/{place}/pods"), &one.object, &uid).await?;
            replica_set::replica_set(&one.object, &pods)
        }
        ("", "Pod") => pod::pod(&one.object),
        // Nothing happens to a secret that anybody would report.
        ("", "Secret") => return Ok(aligned(&describe::secret(&one.object), 2)),
        ("", "Node") => {
            let on_it = format!("spec.nodeName={},status.phase!=Failed,status.phase!=Succeeded", one.name);
            let answer = session.ask(Call::get("/api/v1/pods").with("fieldSelector", on_it)).await?;
            let lease =
                format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{}", one.name);
            let lease = session.ask(Call::get(lease)).await.map_err(|failure| failure.message());
            node::node(&one.object, &node::Around { lease, pods: list(&answer, "/items").to_vec() }, now)
        }
        _ => describe::object(&one.object),
    };
    if asked.events {
        let about = match one.resource.kind.as_str() {
            // Kubelets report about nodes by their name.
            "Node" => one.name.clone(),
            _ => uid,
        };
        let about = format!(
            "involvedObject.name={},involvedObject.namespace={place},involvedObject.kind={},involvedObject.uid={about}",
            one.name, one.resource.kind
        );
        let path = if place.is_empty() {
            "/api/v1/events".to_owned()
        } else {
            format!("/api/v1/namespaces/{place}/events")
        };
        let answer = session.ask(Call::get(path).with("fieldSelector", about).with("limit", "500")).await?;
        out += &events(list(&answer, "/items"), now);
    }
    Ok(aligned(&out, 2))
}

/// The objects that the selector of another one selects and that it controls.
async fn selected(
    session: &mut Session,
    path: &str,
    owner: &Value,
    uid: &str,
) -> Result<Vec<Value>, Failure> {
    let call = Call::get(path).with("labelSelector", selector(owner, "/spec/selector"));
    let answer = session.ask(call).await?;
    Ok(list(&answer, "/items").iter().filter(|one| is_controlled_by(one, uid)).cloned().collect())
}
