//! Certificates over time: kept, renewed, refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::*;

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gantry-pki-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const DAY: Seconds = 24 * 3600;

fn open_at(directory: &Path, now: Seconds) -> Result<Pki, PkiError> {
    directory::open(directory, &ServerNames::default(), now)
}

fn refused(directory: &Path) -> String {
    Pki::in_directory(directory, &ServerNames::default()).unwrap_err().to_string()
}

#[test]
fn the_second_start_reuses_the_certificates_of_the_first() {
    let scratch = Scratch::new("again");
    let first = open_at(&scratch.0, now()).unwrap();
    let second = open_at(&scratch.0, now()).unwrap();
    assert_eq!(first.authority, second.authority);
    assert_eq!(first.server.certificate, second.server.certificate);
    assert_eq!(first.admin.key, second.admin.key);
}

#[test]
fn key_files_are_readable_by_their_owner_only() {
    let scratch = Scratch::new("modes");
    open_at(&scratch.0, now()).unwrap();
    let mode = |name: &str| fs::metadata(scratch.0.join(name)).unwrap().permissions().mode() & 0o777;
    for name in ["ca", "apiserver", "admin"] {
        assert_eq!(mode(&format!("{name}.key")), 0o600);
        assert_eq!(mode(&format!("{name}.crt")), 0o644);
    }
    assert_eq!(fs::metadata(&scratch.0).unwrap().permissions().mode() & 0o777, 0o700);

    fs::set_permissions(scratch.0.join("ca.key"), fs::Permissions::from_mode(0o644)).unwrap();
    open_at(&scratch.0, now()).unwrap();
    assert_eq!(mode("ca.key"), 0o600, "the key is no longer readable by others");
}

/// A0.2: the certificate covers the address that clients use.
#[test]
fn a_new_address_gets_a_new_certificate_of_the_same_authority() {
    let scratch = Scratch::new("names");
    let first = open_at(&scratch.0, now()).unwrap();
    let names = ServerNames::default().with("10.96.0.1").with("gantry.example");
    let second = Pki::in_directory(&scratch.0, &names).unwrap();
    assert_eq!(first.authority, second.authority);
    assert_ne!(first.server.certificate, second.server.certificate);
    assert!(parsed_certificate::ParsedCertificate::read(&second.server.certificate).unwrap().covers(&names));
    assert!(!parsed_certificate::ParsedCertificate::read(&first.server.certificate).unwrap().covers(&names));
    let fewer = open_at(&scratch.0, now()).unwrap();
    assert_eq!(
        fewer.server.certificate, second.server.certificate,
        "a certificate that covers more names is kept"
    );
}

#[test]
fn certificates_are_renewed_a_month_before_they_expire() {
    let scratch = Scratch::new("renewal");
    let start = now();
    let first = open_at(&scratch.0, start).unwrap();
    let later = open_at(&scratch.0, start + 334 * DAY).unwrap();
    assert_eq!(first.admin.certificate, later.admin.certificate);
    let due = open_at(&scratch.0, start + 336 * DAY).unwrap();
    assert_eq!(first.authority, due.authority);
    assert_ne!(first.admin.certificate, due.admin.certificate);
    assert_ne!(first.server.certificate, due.server.certificate);
}

#[test]
fn an_expired_ca_is_named_with_a_remedy() {
    let scratch = Scratch::new("expired");
    open_at(&scratch.0, now() - 4000 * DAY).unwrap();
    let error = refused(&scratch.0);
    assert!(error.contains("ca.crt expired at 20") && error.contains("hint: "), "{error}");
}

#[test]
fn damage_is_named_with_the_file_and_a_remedy() {
    for (file, text, found) in [
        ("ca.crt", "garbage", "ca.crt holds no PEM"),
        ("ca.key", "garbage", "ca.key holds no private key"),
        (
            "apiserver.crt",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "apiserver.crt holds no certificate",
        ),
        ("admin.key", "", "admin.key holds no private key"),
    ] {
        let scratch = Scratch::new(file);
        open_at(&scratch.0, now()).unwrap();
        fs::write(scratch.0.join(file), text).unwrap();
        let error = refused(&scratch.0);
        assert!(error.contains(found) && error.contains("\nhint: "), "{file}: {error}");
    }
}

#[test]
fn a_missing_key_or_one_of_another_authority_is_refused() {
    let scratch = Scratch::new("other-key");
    open_at(&scratch.0, now()).unwrap();
    fs::write(scratch.0.join("ca.key"), Authority::new(now()).unwrap().key()).unwrap();
    assert!(refused(&scratch.0).contains("ca.key is not the key of ca.crt"));
    fs::remove_file(scratch.0.join("ca.key")).unwrap();
    assert!(refused(&scratch.0).contains("ca.key is missing beside ca.crt"));
}

#[test]
fn certificates_of_another_ca_are_replaced() {
    let (scratch, other) = (Scratch::new("own"), Scratch::new("other"));
    open_at(&scratch.0, now()).unwrap();
    let foreign = open_at(&other.0, now()).unwrap();
    for name in ["admin.crt", "admin.key"] {
        fs::copy(other.0.join(name), scratch.0.join(name)).unwrap();
    }
    let again = open_at(&scratch.0, now()).unwrap();
    assert_ne!(again.admin.certificate, foreign.admin.certificate);
}

#[test]
fn keys_are_not_printed() {
    let pki = Pki::in_memory(&ServerNames::default()).unwrap();
    assert!(!format!("{pki:?} {:?}", pki.admin).contains("PRIVATE"));
}
