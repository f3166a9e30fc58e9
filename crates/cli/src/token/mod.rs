//! `gantry token`: bootstrap tokens, with which nodes join a cluster.

mod objects;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};
use gantry_certificates::public_key_pin;
use gantry_client::ClientConfig;
use gantry_formats::base64;
use gantry_formats::bootstrap_token::{BootstrapToken, is_group, is_id, secret_name};
use gantry_json::Value;
use gantry_kubectl::Failure;
use gantry_primitives::{Timestamp, age};
use gantry_runtime::{DeleteParams, Form, ResourcePath};
use gantry_serving::SystemEnvironment;

use crate::cluster::{self, Cluster, ClusterFlags};
use crate::kubectl::{duration, now};
use crate::output::{print, print_stderr};

const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";
/// How long a new token may take to sign `cluster-info`.
const SIGNED_WITHIN: Duration = Duration::from_secs(5);

/// The subcommands of `gantry token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token, and print the command with which a machine joins as a node
    ///
    /// The first time, it also creates the ConfigMap by which machines find out how to trust the cluster, and the roles that let the
    /// users of tokens ask for certificates of nodes and have them approved: those of kubeadm, so that its tokens work as well.
    #[command(verbatim_doc_comment, after_help = CREATE_EXAMPLE)]
    Create(#[command(flatten)] CreateTokenFlags),
    /// List the tokens of a cluster, without their secrets
    #[command(after_help = "Example:\n  gantry token list --context dev")]
    List {
        #[command(flatten)]
        cluster: ClusterFlags,
    },
    /// Delete a token; nodes that have joined stay
    #[command(after_help = "Example:\n  gantry token delete 07401b")]
    Delete {
        /// The id of the token, or the token
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        cluster: ClusterFlags,
    },
}

const CREATE_EXAMPLE: &str = "\
Example:
  gantry token create
  gantry token create --ttl 1h --endpoint https://10.0.0.1:6443";

/// The flags of `gantry token create`.
#[derive(Debug, Args)]
pub(crate) struct CreateTokenFlags {
    /// How long the token is valid; 0 for ever
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration)]
    ttl: Duration,
    /// What the token is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The groups of the token's users, comma-separated
    #[arg(long, value_name = "GROUPS", value_delimiter = ',', default_value = objects::NODE_GROUP)]
    groups: Vec<String>,
    /// The address of the API server in the printed command [default: that of the kubeconfig]
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    #[command(flatten)]
    cluster: ClusterFlags,
}

impl TokenCommand {
    pub(crate) fn run(self, before: &ClusterFlags) -> ExitCode {
        cluster::run(async {
            let done = match self {
                Self::Create(flags) => {
                    let cluster = flags.cluster.clone().or(before);
                    create(&flags, &cluster).await
                }
                Self::List { cluster } => list(&cluster.or(before)).await,
                Self::Delete { id, cluster } => delete(&id, &cluster.or(before)).await,
            };
            match done {
                Ok(text) => print(&text),
                Err(failure) => {
                    print_stderr(failure.lines().trim_end());
                    ExitCode::FAILURE
                }
            }
        })
    }
}

async fn create(flags: &CreateTokenFlags, cluster_flags: &ClusterFlags) -> Result<String, Failure> {
    if let Some(wrong) = flags.groups.iter().find(|group| !is_group(group)) {
        return Err(Failure::other(format!(
            "--groups: {wrong:?} is not a valid group of bootstrap tokens: it must begin with \"system:bootstrappers:\" and go on with \
             lower-case letters, digits, \"-\" and \":\""
        )));
    }
    let config = cluster_flags.connection()?.config().await?;
    let authority = authority(&config)?;
    let cluster = Cluster::open(&config)?;
    let server = cluster.server().trim_end_matches('/').to_owned();
    objects::prepare(&cluster, &server, &authority).await?;
    let token = new_token();
    let expiration = (!flags.ttl.is_zero())
        .then(|| now().plus(i64::try_from(flags.ttl.as_secs()).unwrap_or(i64::MAX)).to_string());
    let secret = objects::secret(&token, expiration.as_deref(), flags.description.as_deref(), &flags.groups);
    let created: Result<Value, _> = cluster.api.create(&ResourcePath::path(SECRETS), &secret).await;
    created.map_err(|error| cluster.failure(error))?;
    if !objects::is_signed(&cluster, &token, SIGNED_WITHIN).await? {
        print_stderr(
            "warning: the token has not signed the ConfigMap cluster-info: the bootstrap-signer-controller does not run on this \
             cluster, and machines cannot join with the token",
        );
    }
    if let Some(expiration) = expiration {
        print_stderr(&format!(
            "The token is valid until {expiration}. On a machine that is to join, run as root:"
        ));
    }
    let server = flags.endpoint.as_deref().unwrap_or(&server);
    let pins = public_key_pin(authority.as_bytes()).into_iter().map(|pin| format!(" --ca-cert-hash {pin}"));
    Ok(format!("gantry node --server {server} --token {}{}\n", token.whole(), pins.collect::<String>()))
}

/// The certificates of the cluster's authority.
fn authority(config: &ClientConfig) -> Result<String, Failure> {
    config.trust.certificate_authorities().map(str::to_owned).ok_or_else(|| {
        Failure::other(
            "the kubeconfig names no certificate authority, by which machines that join could trust the cluster\n\
             hint: give --certificate-authority, or use the kubeconfig of the administrator",
        )
    })
}

fn new_token() -> BootstrapToken {
    use gantry_apiserver::Environment as _;
    // The random digits of uids: sixteen of each, without the two fixed ones.
    let mut bytes = Vec::new();
    BootstrapToken::from_random(move || {
        loop {
            if let Some(byte) = bytes.pop() {
                return byte;
            }
            bytes = random_bytes(&SystemEnvironment.uid());
        }
    })
}

/// The bytes of a random uid that are wholly random.
fn random_bytes(uid: &str) -> Vec<u8> {
    let digits: String = uid.chars().filter(char::is_ascii_hexdigit).collect();
    let bytes =
        (0..digits.len() / 2).filter_map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).ok());
    // The seventh and the ninth byte hold the version and the variant.
    bytes.enumerate().filter(|(at, _)| !matches!(at, 6 | 8)).map(|(_, byte)| byte).collect()
}

async fn list(flags: &ClusterFlags) -> Result<String, Failure> {
    let cluster = flags.open().await?;
    let query = [("fieldSelector", "type=bootstrap.kubernetes.io/token")];
    let listed: Result<Value, _> = cluster.api.list(&ResourcePath::path(SECRETS), Form::Whole, &query).await;
    let listed = listed.map_err(|error| cluster.failure(error))?;
    Ok(table(&listed, now()))
}

/// The tokens of a list of Secrets, as a table.
fn table(secrets: &Value, now: Timestamp) -> String {
    let head = ["ID", "TTL", "EXPIRES", "USAGES", "DESCRIPTION", "GROUPS"].map(str::to_owned);
    let mut rows = vec![head];
    for secret in secrets["items"].as_array().into_iter().flatten() {
        let data = |key: &str| {
            let text = base64::decode(secret["data"][key].as_str().unwrap_or_default()).unwrap_or_default();
            String::from_utf8_lossy(&text).into_owned()
        };
        let or = |text: String, empty: &str| if text.is_empty() { empty.to_owned() } else { text };
        let expiration = data("expiration");
        let left = Timestamp::parse(&expiration).map(|end| end.seconds_after(now));
        let left = match left {
            None if expiration.is_empty() => "<forever>".to_owned(),
            Some(left) if left > 0 => age::short(left),
            _ => "<invalid>".to_owned(),
        };
        let usages = ["authentication", "signing"];
        let usages = usages.into_iter().filter(|usage| data(&format!("usage-bootstrap-{usage}")) == "true");
        rows.push([
            data("token-id"),
            left,
            or(expiration, "<never>"),
            or(usages.collect::<Vec<_>>().join(","), "<none>"),
            or(data("description"), "<none>"),
            or(data("auth-extra-groups"), "<none>"),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("   ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

async fn delete(id: &str, flags: &ClusterFlags) -> Result<String, Failure> {
    let id = BootstrapToken::parse(id).map_or_else(|| id.to_owned(), |token| token.id().to_owned());
    if !is_id(&id) {
        return Err(Failure::other(format!(
            "{id:?} is not a valid token id: use the id that `gantry token list` shows, six lower-case letters or digits"
        )));
    }
    let cluster = flags.open().await?;
    let path = ResourcePath::path(format!("{SECRETS}/{}", secret_name(&id)));
    let deleted = cluster.api.delete(&path, &DeleteParams::default()).await;
    deleted.map_err(|error| cluster.failure(error))?;
    Ok(format!("token {id} deleted\n"))
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn a_list_shows_no_secret() {
        let text = |value: &str| json!(base64::encode(value.as_bytes()));
        let secrets = json!({"items": [
            {"data": {
                "token-id": text("07401b"), "token-secret": text("f395accd246ae52d"), "description": text("for rack 1"),
                "expiration": text("2026-01-02T00:00:00Z"), "usage-bootstrap-signing": text("true"),
            }},
            {"data": {"token-id": text("abcdef")}},
        ]});
        let now = Timestamp::parse("2026-01-01T22:00:00Z").unwrap();
        assert_eq!(
            table(&secrets, now),
            "ID       TTL         EXPIRES                USAGES    DESCRIPTION   GROUPS\n\
             07401b   120m        2026-01-02T00:00:00Z   signing   for rack 1    <none>\n\
             abcdef   <forever>   <never>                <none>    <none>        <none>\n"
        );
    }

    #[test]
    fn tokens_are_made_of_the_random_bits_of_a_uid() {
        let bytes = random_bytes("00112233-4455-4677-8899-aabbccddeeff");
        assert_eq!(bytes, [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x77, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff]);
        let (one, other) = (new_token(), new_token());
        assert_ne!(one, other);
        assert_eq!(BootstrapToken::parse(&one.whole()), Some(one));
    }
}
