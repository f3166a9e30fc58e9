//! Rejected certificates: expired, of another CA, for another name.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::shell_env::ShellEnv;

/// A certificate of the cluster's authority that expired yesterday, and its key.
fn expired(shell_env: &ShellEnv, usage: ExtendedKeyUsagePurpose) -> (String, String) {
    let read = |name: &str| std::fs::read_to_string(shell_env.pki(name)).unwrap();
    let authority = KeyPair::from_pem(&read("ca.key")).unwrap();
    let issuer = Issuer::from_ca_cert_pem(&read("ca.crt"), authority).unwrap();
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "user");
    let day = Duration::from_secs(24 * 3600);
    params.not_before = (SystemTime::now() - 30 * day).into();
    params.not_after = (SystemTime::now() - day).into();
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate().unwrap();
    (params.signed_by(&key, &issuer).unwrap().pem(), key.serialize_pem())
}

/// A TLS server with this certificate that never responds.
fn serve(certificate: &str, key: &str) -> SocketAddr {
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                // The client closes the connection.
                let _ = acceptor.accept(stream).await;
            }
        });
    });
    address
}

fn fails_with(shell_env: &ShellEnv, flags: &str, line: &str, hint: &str) {
    for verb in ["get pods", "why web", "controllers"] {
        let output = shell_env.run(&format!("{verb} {flags}"));
        assert_eq!((output.out.as_str(), output.code), ("", Some(1)), "{verb} {flags}: {output:?}");
        assert!(output.err.contains(line) && output.err.contains(hint), "{verb} {flags}: {output:?}");
    }
}

#[test]
fn an_expired_certificate_of_the_server_is_reported() {
    let shell_env = ShellEnv::new("expired-server");
    let (certificate, key) = expired(&shell_env, ExtendedKeyUsagePurpose::ServerAuth);
    let address = serve(&certificate, &key);
    fails_with(
        &shell_env,
        &format!("-s https://{address}"),
        "the certificate of the server has expired",
        "hint: renew it",
    );
}

#[test]
fn an_expired_certificate_of_the_client_is_reported() {
    let shell_env = ShellEnv::new("expired-client");
    let (certificate, key) = expired(&shell_env, ExtendedKeyUsagePurpose::ClientAuth);
    let (certificate, key) = (shell_env.write("old.crt", &certificate), shell_env.write("old.key", &key));
    let flags = format!("--client-certificate {certificate} --client-key {key}");
    fails_with(&shell_env, &flags, "certificate", "expired");
}

#[test]
fn a_server_of_another_authority_is_reported() {
    let (shell_env, other) = (ShellEnv::new("authority"), ShellEnv::new("other-authority"));
    let flags = format!("--certificate-authority {}", other.pki("ca.crt"));
    fails_with(
        &shell_env,
        &flags,
        "certificate signed by unknown authority",
        "hint: the kubeconfig may be of another cluster",
    );
}

#[test]
fn a_server_of_another_name_is_reported() {
    let shell_env = ShellEnv::new("name");
    fails_with(
        &shell_env,
        "--tls-server-name=shop.example",
        "is not valid for shop.example",
        "--tls-server-name",
    );
}
