//! API servers on etcd: writes of one are visible to the other; and an etcd that requires client certificates.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod running;

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::TryStreamExt as _;
use gantry_json::json;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{
    Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::core::GroupVersionKind;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use running::{Scratch, Server};

/// An etcd process; dropping it kills it.
struct Etcd {
    process: Child,
    url: String,
}

impl Etcd {
    fn start(scratch: &Scratch) -> Self {
        Self::start_on(scratch, "http", &[])
    }

    /// Starts an etcd that accepts only clients with certificates that the authority of these files has signed.
    fn start_with_tls(scratch: &Scratch) -> Self {
        let files = [("trusted-ca-file", "ca"), ("cert-file", "cert"), ("key-file", "key")];
        let files = files.map(|(flag, file)| format!("--{flag}={}", scratch.join(file).display()));
        Self::start_on(scratch, "https", &[&files[..], &["--client-cert-auth".to_owned()]].concat())
    }

    /// Starts an etcd on a free port, and retries on another one if a different process takes the port first.
    fn start_on(scratch: &Scratch, scheme: &str, flags: &[String]) -> Self {
        let started = (0..10).find_map(|_| Self::try_to_start(scratch, free_url(scheme), flags));
        started.expect("etcd ends as soon as it is started")
    }

    fn try_to_start(scratch: &Scratch, client: String, flags: &[String]) -> Option<Self> {
        let peer = free_url("http");
        let process = Command::new("etcd")
            .args(["--unsafe-no-fsync", "--name=m", "--log-level=error"])
            .arg(format!("--data-dir={}", scratch.join("etcd").display()))
            .args([format!("--listen-client-urls={client}"), format!("--advertise-client-urls={client}")])
            .args([format!("--listen-peer-urls={peer}"), format!("--initial-advertise-peer-urls={peer}")])
            .arg(format!("--initial-cluster=m={peer}"))
            .args(flags)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let process = process.unwrap_or_else(|error| {
            panic!(
                "etcd does not start ({error}); `cargo xtask test` installs it (Debian package etcd-server)"
            )
        });
        let mut etcd = Self { process, url: client };
        let deadline = Instant::now() + Duration::from_secs(120);
        while std::net::TcpStream::connect(etcd.url.split_once("://").unwrap().1).is_err() {
            if etcd.process.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(Instant::now() < deadline, "etcd does not listen on {}", etcd.url);
            std::thread::sleep(Duration::from_millis(10));
        }
        Some(etcd)
    }
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_url(scheme: &str) -> String {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    format!("{scheme}://{address}")
}

/// Writes `ca`, and a certificate for this machine with its key, `cert` and `key`.
fn write_certificates(scratch: &Scratch) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap().pem();
    for (name, pem) in [("ca", authority), ("cert", certificate), ("key", key.serialize_pem())] {
        std::fs::write(scratch.join(name), pem).unwrap();
    }
}

#[tokio::test]
async fn an_etcd_behind_tls_is_reached_with_kube_apiservers_flags() {
    let scratch = Scratch::new("etcd-tls");
    write_certificates(&scratch);
    let etcd = Etcd::start_with_tls(&scratch);
    let file = |flag: &str, name: &str| format!("--etcd-{flag}={}", scratch.join(name).display());
    let [ca, cert, key] = [file("cafile", "ca"), file("certfile", "cert"), file("keyfile", "key")];
    let server =
        Server::start("127.0.0.1:0", &scratch.join("kubeconfig"), &["--etcd", &etcd.url, &ca, &cert, &key]);
    let maps: Api<ConfigMap> = Api::default_namespaced(server.client().await);
    let object = gantry_json::from_value(json!({"metadata": {"name": "kept"}})).unwrap();
    let created = maps.create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(maps.get("kept").await.unwrap(), created);

    let refused = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_gantry")).arg("apiserver").args(arguments).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let nameless = refused(&["--etcd", &etcd.url, &ca, "--listen=127.0.0.1:0"]);
    assert!(nameless.contains("--etcd") && nameless.contains("certificate"), "{nameless}");
    let pointless = refused(&["--in-memory", &ca, "--listen=127.0.0.1:0"]);
    assert!(pointless.contains("--etcd-cafile"), "{pointless}");
}

#[tokio::test]
async fn two_servers_on_one_etcd_see_each_others_writes_at_once() {
    let scratch = Scratch::new("two-servers");
    let etcd = Etcd::start(&scratch);
    let serve = |name: &str| Server::start("127.0.0.1:0", &scratch.join(name), &["--etcd", &etcd.url]);
    let (one, other) = (serve("one"), serve("other"));
    let one: Api<ConfigMap> = Api::default_namespaced(one.client().await);
    let other: Api<ConfigMap> = Api::default_namespaced(other.client().await);
    let mut watch = Box::pin(other.watch(&WatchParams::default().disable_bookmarks(), "0").await.unwrap());
    for round in 0..20 {
        let name = format!("news-{round}");
        let object = gantry_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let created = one.create(&PostParams::default(), &object).await.unwrap();
        assert_eq!(other.get(&name).await.unwrap(), created, "writes of one server are visible to the other");
        let patch = Patch::Merge(json!({"data": {"round": round.to_string()}}));
        let patched = other.patch(&name, &PatchParams::default(), &patch).await.unwrap();
        let stale = one.replace(&name, &PostParams::default(), &created).await.unwrap_err();
        assert!(matches!(stale, kube::Error::Api(status) if status.reason == "Conflict"));
        assert_eq!(one.get(&name).await.unwrap(), patched);
        one.delete(&name, &DeleteParams::default()).await.unwrap();
        assert_eq!(other.get_opt(&name).await.unwrap(), None);
    }
    let mut events = Vec::new();
    while events.len() < 60 {
        let event = tokio::time::timeout(Duration::from_secs(60), watch.try_next()).await.unwrap().unwrap();
        events.push(match event.expect("the watch does not end") {
            WatchEvent::Added(object) => format!("added {}", object.metadata.name.unwrap()),
            WatchEvent::Modified(object) => format!("modified {}", object.metadata.name.unwrap()),
            WatchEvent::Deleted(object) => format!("deleted {}", object.metadata.name.unwrap()),
            other => panic!("{other:?}"),
        });
    }
    let expected =
        (0..20).flat_map(|round| ["added", "modified", "deleted"].map(|word| format!("{word} news-{round}")));
    assert_eq!(events, expected.collect::<Vec<_>>());
}

/// Appendix E: a kind that is defined or deleted by one server is served or rejected by the other, also in discovery.
#[tokio::test]
async fn two_servers_on_one_etcd_serve_the_same_kinds() {
    let scratch = Scratch::new("two-catalogues");
    let etcd = Etcd::start(&scratch);
    let serve = |name: &str| Server::start("127.0.0.1:0", &scratch.join(name), &["--etcd", &etcd.url]);
    let servers = [serve("one"), serve("other")];
    let clients = [servers[0].client().await, servers[1].client().await];
    for round in 0..10 {
        // The servers take turns.
        let (one, other) = (&clients[round % 2], &clients[(round + 1) % 2]);
        let definitions: Api<CustomResourceDefinition> = Api::all(one.clone());
        definitions.create(&PostParams::default(), &definition()).await.unwrap();
        let boat: DynamicObject = gantry_json::from_value(json!({
            "apiVersion": "sea.example.com/v1", "kind": "Boat", "metadata": {"name": "anna"}, "spec": {"crew": 3},
        }))
        .unwrap();
        let created = boats(other).create(&PostParams::default(), &boat).await.unwrap();
        assert_eq!(
            boats(one).get("anna").await.unwrap(),
            created,
            "writes of one server are visible to the other"
        );
        let groups = other.list_api_groups().await.unwrap().groups;
        assert!(groups.iter().any(|group| group.name == "sea.example.com"), "{groups:?}");

        let mut watch = Box::pin(boats(other).watch(&WatchParams::default(), "0").await.unwrap());
        definitions.delete("boats.sea.example.com", &DeleteParams::default()).await.unwrap();
        let refused = boats(other).create(&PostParams::default(), &boat).await.unwrap_err();
        assert!(matches!(&refused, kube::Error::Api(status) if status.code == 404), "{refused}");
        let events = tokio::time::timeout(Duration::from_secs(60), async {
            let mut events = Vec::new();
            while let Ok(Some(event)) = watch.try_next().await {
                events.push(event);
            }
            events
        });
        let events = events.await.expect("a watch ends with its kind, on any server");
        let [WatchEvent::Added(_), .., WatchEvent::Deleted(_)] = &events[..] else { panic!("{events:?}") };
    }
}

/// Appendix E: a deletion that is interrupted because its server is killed is finished by the other server.
#[tokio::test]
async fn a_kind_whose_deletion_a_crash_interrupted_is_deleted_by_the_other_server() {
    let scratch = Scratch::new("half-ended");
    let etcd = Etcd::start(&scratch);
    let serve = |name: &str| Server::start("127.0.0.1:0", &scratch.join(name), &["--etcd", &etcd.url]);
    let (mut one, other) = (serve("one"), serve("other"));
    let (doomed, client) = (one.client().await, other.client().await);
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &definition()).await.unwrap();
    for number in 0..100 {
        let boat: DynamicObject = gantry_json::from_value(json!({
            "apiVersion": "sea.example.com/v1", "kind": "Boat", "metadata": {"name": format!("boat-{number}")},
        }))
        .unwrap();
        boats(&client).create(&PostParams::default(), &boat).await.unwrap();
    }
    let mut watch = Box::pin(boats(&client).watch(&WatchParams::default(), "0").await.unwrap());
    let deletion = tokio::spawn(async move {
        let definitions: Api<CustomResourceDefinition> = Api::all(doomed);
        // The client never gets a response.
        let _ = definitions.delete("boats.sea.example.com", &DeleteParams::default()).await;
    });
    while !matches!(watch.try_next().await.unwrap(), Some(WatchEvent::Deleted(_))) {}
    one.kill();
    deletion.await.unwrap();
    // A server processes definitions periodically, and whenever one is written.
    let (mut tugs, name) = (definition(), "tugs.sea.example.com");
    tugs.metadata.name = Some(name.to_owned());
    (tugs.spec.names.plural, tugs.spec.names.kind) = ("tugs".to_owned(), "Tug".to_owned());
    definitions.create(&PostParams::default(), &tugs).await.unwrap();
    assert!(
        definitions.get_opt("boats.sea.example.com").await.unwrap().is_none(),
        "the definition is deleted"
    );
    definitions.create(&PostParams::default(), &definition()).await.unwrap();
    let left = boats(&client).list(&ListParams::default()).await.unwrap().items;
    assert_eq!(left.len(), 0, "its objects are deleted");
}

fn boats(client: &kube::Client) -> Api<DynamicObject> {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("sea.example.com", "v1", "Boat"));
    Api::default_namespaced_with(client.clone(), &kind)
}

fn definition() -> CustomResourceDefinition {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
    let names = json!({"plural": "boats", "kind": "Boat"});
    let spec =
        json!({"group": "sea.example.com", "scope": "Namespaced", "names": names, "versions": [version]});
    gantry_json::from_value(json!({"metadata": {"name": "boats.sea.example.com"}, "spec": spec})).unwrap()
}
