//! TLS in both directions, and etcd's own users.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use gantry_store::suite::{key, prefix, soon};
use gantry_store::{Error, Notice, Store, Transaction};
use gantry_store_etcd::{Credentials, EtcdStore, Settings, Tls};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::etcd::{Etcd, open};

/// An authority that signs certificates for 127.0.0.1.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate and its key, in PEM.
    fn sign(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn tls(&self) -> Tls {
        let (certificate, key) = self.sign();
        let identity = Some((certificate.into_bytes(), key.into_bytes()));
        Tls { authorities: self.pem.clone().into_bytes(), identity, server_name: None }
    }
}

/// An etcd that accepts TLS only, and only clients with a certificate.
fn with_tls(authority: &Authority) -> Etcd {
    Etcd::start_with("https", &std::env::temp_dir(), 1, |directory| {
        let (certificate, key) = authority.sign();
        for (name, text) in [("ca", &authority.pem), ("cert", &certificate), ("key", &key)] {
            fs::write(directory.join(name), text).unwrap();
        }
        let file = |flag: &str, name: &str| format!("--{flag}={}", directory.join(name).display());
        let files = [file("trusted-ca-file", "ca"), file("cert-file", "cert"), file("key-file", "key")];
        let flags = ["--client-cert-auth", "--unsafe-no-fsync"].map(str::to_owned);
        files.into_iter().chain(flags).collect()
    })
}

fn ctl(etcd: &Etcd, user: &[&str], arguments: &[&str]) {
    let file = |flag: &str, name: &str| format!("--{flag}={}", etcd.directory().join(name).display());
    let files = [file("cacert", "ca"), file("cert", "cert"), file("key", "key")];
    let all: Vec<&str> = files
        .iter()
        .map(String::as_str)
        .chain(user.iter().copied())
        .chain(arguments.iter().copied())
        .collect();
    etcd.ctl(&all);
}

async fn refusal(settings: Settings) -> String {
    let settings = Settings { request_timeout: Duration::from_secs(60), ..settings };
    match EtcdStore::new(&settings).unwrap().ready().await {
        Err(Error::Unavailable { why }) => why,
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_sides_verify_certificates_and_unknown_ones_are_refused() {
    let authority = Authority::new();
    let etcd = with_tls(&authority);
    let store = open(&Settings { tls: Some(authority.tls()), ..etcd.settings() }).await;
    store.commit(Transaction::create(key("/a"), "v")).await.unwrap();

    let nameless = Tls { identity: None, ..authority.tls() };
    let why = refusal(Settings { tls: Some(nameless), ..etcd.settings() }).await;
    assert!(why.to_lowercase().contains("certificate"), "{why}");
    let stranger = Tls { authorities: Authority::new().pem.into_bytes(), ..authority.tls() };
    let why = refusal(Settings { tls: Some(stranger), ..etcd.settings() }).await;
    assert!(why.contains("UnknownIssuer") || why.contains("certificate"), "{why}");
}

/// A user with a role may do what the role permits; a token that etcd has lost is renewed without an error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_logs_in_again_when_etcd_has_lost_the_token() {
    let authority = Authority::new();
    let mut etcd = with_tls(&authority);
    let role = |grant: &[&'static str]| {
        ctl(&etcd, &[], &[&["role", "grant-permission", "gantry", "readwrite"], grant].concat());
    };
    ctl(&etcd, &[], &["role", "add", "gantry"]);
    role(&["!gantry/", "/registry0"]);
    role(&["compact_rev_key"]);
    for (name, role) in [("root", "root"), ("gantry", "gantry")] {
        ctl(&etcd, &[], &["user", "add", &format!("{name}:secret")]);
        ctl(&etcd, &[], &["user", "grant-role", name, role]);
    }
    ctl(&etcd, &[], &["auth", "enable"]);

    let user = |password: &str| Some(Credentials { name: "gantry".into(), password: password.into() });
    let settings = Settings { tls: Some(authority.tls()), credentials: user("secret"), ..etcd.settings() };
    let why = refusal(Settings { credentials: user("guessed"), ..settings.clone() }).await;
    assert!(why.contains("authentication failed"), "{why}");

    let store = open(&settings).await;
    let first = store.commit(Transaction::create(key("/registry/a"), "v")).await.unwrap();
    let denied = store.commit(Transaction::create(key("/zoo/a"), "v")).await.unwrap_err();
    assert!(denied.to_string().contains("permission denied"), "{denied}");
    let mut watch = store.watch(prefix("/registry/"), first).await.unwrap();

    // etcd keeps these tokens in memory.
    etcd.kill(0);
    etcd.launch(0);
    let second = soon("a write", commit(&store, Transaction::create(key("/registry/b"), "v"))).await;
    loop {
        match soon("a change", watch.next()).await.unwrap().unwrap() {
            Notice::Change(event) => return assert_eq!(event.revision, second),
            Notice::Progress(_) => {}
        }
    }
}

async fn commit(store: &Arc<dyn Store>, transaction: Transaction) -> gantry_store::Revision {
    store.commit(transaction).await.unwrap()
}
