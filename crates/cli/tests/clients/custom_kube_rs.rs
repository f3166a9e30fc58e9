//! kube-rs with a custom kind: typed, as its derive macro would define it, and by discovery only.

use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;
use gantry_json::{from_value, json};
use gantry_schema::decode::{Format, plain};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::{WatchStreamExt as _, reflector, watcher};
use kube::{Client, ResourceExt as _};
use serde::{Deserialize, Serialize};

use super::running::{InMemory, Scratch, Server, client};
use super::script;

const DEFINITION: &str = "boats.sea.example.com";
/// The timeout of each wait; a busy machine is slow.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A typed boat.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(tag = "kind", rename = "Boat")]
struct Boat {
    #[serde(rename = "apiVersion")]
    api_version: String,
    metadata: ObjectMeta,
    spec: BoatSpec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<BoatStatus>,
}

#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
struct BoatSpec {
    crew: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
struct BoatStatus {
    phase: Option<String>,
}

impl k8s_openapi::Resource for Boat {
    const API_VERSION: &'static str = "sea.example.com/v1";
    const GROUP: &'static str = "sea.example.com";
    const KIND: &'static str = "Boat";
    const VERSION: &'static str = "v1";
    const URL_PATH_SEGMENT: &'static str = "boats";
    type Scope = k8s_openapi::NamespaceResourceScope;
}

impl k8s_openapi::Metadata for Boat {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

fn boat(name: &str, crew: u32) -> Boat {
    let boat = json!({
        "apiVersion": "sea.example.com/v1", "kind": "Boat", "metadata": {"name": name}, "spec": {"crew": crew},
    });
    from_value(boat).unwrap()
}

/// Creates the definition, and waits until it is established, as programs do.
async fn define(client: &Client) {
    let text = std::fs::read(script("boats.yaml")).unwrap();
    let (definition, _) = plain(&text, Format::Yaml).unwrap();
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &from_value(definition).unwrap()).await.unwrap();
    let established = await_condition(definitions, DEFINITION, conditions::is_crd_established());
    tokio::time::timeout(TIMEOUT, established).await.unwrap().unwrap();
}

/// Deletes the definition, and waits until it is removed.
async fn delete_definition(client: &Client) {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let uid = definitions.get(DEFINITION).await.unwrap().uid().unwrap();
    definitions.delete(DEFINITION, &DeleteParams::default()).await.unwrap();
    let gone = await_condition(definitions, DEFINITION, conditions::is_deleted(&uid));
    tokio::time::timeout(TIMEOUT, gone).await.unwrap().unwrap();
}

/// Appendix E, with kube-rs.
#[tokio::test]
async fn kube_rs_works_with_custom_kinds() {
    let server = InMemory::apiserver();
    let client = client(server.kubeconfig()).await;
    define(&client).await;
    let boats: Api<Boat> = Api::default_namespaced(client.clone());
    writes_typed_objects(&boats).await;
    finds_them_by_discovery(&client).await;
    delete_definition(&client).await;
    assert!(
        matches!(boats.list(&ListParams::default()).await, Err(kube::Error::Api(status)) if status.code == 404)
    );
}

async fn writes_typed_objects(boats: &Api<Boat>) {
    let mut anna = boats.create(&PostParams::default(), &boat("anna", 3)).await.unwrap();
    assert_eq!(anna.spec.port.as_deref(), Some("Hamburg"), "the default of the schema");
    anna.spec.crew = 4;
    anna.status = Some(BoatStatus { phase: Some("ignored".to_owned()) });
    let mut replaced = boats.replace("anna", &PostParams::default(), &anna).await.unwrap();
    assert_eq!((replaced.spec.crew, &replaced.status, replaced.metadata.generation), (4, &None, Some(2)));
    let conflict = boats.replace("anna", &PostParams::default(), &anna).await.unwrap_err();
    assert!(matches!(conflict, kube::Error::Api(status) if status.reason == "Conflict"));
    replaced.status = Some(BoatStatus { phase: Some("at sea".to_owned()) });
    let updated = boats.replace_status("anna", &PostParams::default(), &replaced).await.unwrap();
    assert_eq!((&updated.status, updated.metadata.generation), (&replaced.status, Some(2)));
    let scale = Patch::Merge(json!({"spec": {"replicas": 5}}));
    boats.patch_scale("anna", &PatchParams::default(), &scale).await.unwrap();
    let scale = boats.get_scale("anna").await.unwrap();
    assert_eq!(scale.spec.and_then(|spec| spec.replicas), Some(5));
    let applied = Patch::Apply(boat("bertha", 2));
    assert_eq!(boats.patch("bertha", &PatchParams::apply("session"), &applied).await.unwrap().spec.crew, 2);
    let wrong = Patch::Merge(json!({"spec": {"crew": "many"}}));
    let refused = boats.patch("anna", &PatchParams::default(), &wrong).await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(status) if status.reason == "Invalid"));
}

async fn finds_them_by_discovery(client: &Client) {
    let kind = GroupVersionKind::gvk("sea.example.com", "v1", "Boat");
    let (resource, capabilities) = kube::discovery::pinned_kind(client, &kind).await.unwrap();
    assert_eq!(resource.plural, "boats");
    assert!(capabilities.subresources.iter().any(|(part, _)| part.plural == "scale"), "{capabilities:?}");
    let boats: Api<DynamicObject> = Api::default_namespaced_with(client.clone(), &resource);
    let names = |list: kube::core::ObjectList<DynamicObject>| -> Vec<String> {
        list.items.iter().map(kube::ResourceExt::name_any).collect()
    };
    let listed = boats.list(&ListParams::default()).await.unwrap();
    assert_eq!(names(listed), ["anna", "bertha"]);
    assert_eq!(boats.get("anna").await.unwrap().data["spec"]["crew"], 5);
    assert_eq!(boats.list_metadata(&ListParams::default()).await.unwrap().items.len(), 2);
    boats
        .delete_collection(&DeleteParams::default(), &ListParams::default().fields("metadata.name=anna"))
        .await
        .unwrap();
    let listed = boats.list(&ListParams::default()).await.unwrap();
    assert_eq!(names(listed), ["bertha"]);
}

/// A4.2, Appendix E: an informer continues after a crash and restart of the server, and after its kind was deleted and
/// defined again.
#[tokio::test]
async fn an_informer_survives_a_restart_and_a_deleted_definition() {
    let scratch = Scratch::new("boats");
    let (data, kubeconfig) = (scratch.join("data"), scratch.join("kubeconfig"));
    let mut server = Server::in_directory(&data, &kubeconfig);
    let client = server.client().await;
    define(&client).await;
    let boats: Api<Boat> = Api::default_namespaced(client.clone());
    let (reader, writer) = reflector::store();
    let stream = watcher(boats.clone(), watcher::Config::default()).default_backoff().reflect(writer);
    let informer = tokio::spawn(stream.for_each(|_| async {}));
    let knows = async |names: &[&str]| {
        let is_known = || {
            let mut known: Vec<_> = reader.state().iter().map(|boat| boat.name_any()).collect();
            known.sort();
            known == names
        };
        let waiting = async {
            while !is_known() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(
            tokio::time::timeout(TIMEOUT, waiting).await.is_ok(),
            "the informer never has exactly {names:?}"
        );
    };
    boats.create(&PostParams::default(), &boat("anna", 3)).await.unwrap();
    knows(&["anna"]).await;
    server = restarted(server, &data, &kubeconfig);
    boats.create(&PostParams::default(), &boat("bertha", 2)).await.unwrap();
    boats.delete("anna", &DeleteParams::default()).await.unwrap();
    knows(&["bertha"]).await;
    delete_definition(&client).await;
    define(&client).await;
    boats.create(&PostParams::default(), &boat("carla", 1)).await.unwrap();
    knows(&["carla"]).await;
    informer.abort();
    drop(server);
}

/// The server after a crash, on the same data and address.
fn restarted(mut server: Server, data: &Path, kubeconfig: &Path) -> Server {
    let address = server.address().to_owned();
    server.kill();
    Server::start(&address, kubeconfig, &["--data-dir", &data.display().to_string()])
}
