//! What others need to check service account tokens themselves: who signs them, and with which key.

use gantry_registry::Refusal;
use http::header::HOST;
use http::request::Parts;
use serde_json::json;

use crate::ApiServer;
use crate::answer::Answer;

const CONFIGURATION: &str = "/.well-known/openid-configuration";
const KEYS: &str = "/openid/v1/jwks";

/// Answers the two documents of an OpenID issuer; any other path is somebody else's.
pub(super) async fn document(
    server: &ApiServer,
    path: &str,
    parts: &Parts,
) -> Option<Result<Answer, Refusal>> {
    match path {
        CONFIGURATION => Some(Ok(configuration(server, parts))),
        KEYS => Some(keys(server).await),
        _ => None,
    }
}

fn configuration(server: &ApiServer, parts: &Parts) -> Answer {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    Answer::value(
        200,
        &json!({
            "issuer": server.settings.access.issuer, "jwks_uri": format!("https://{host}{KEYS}"),
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }),
    )
}

async fn keys(server: &ApiServer) -> Result<Answer, Refusal> {
    let key = server.guard.keys.ensured(server.objects.store.as_ref()).await?;
    Ok(Answer::value(200, &json!({"keys": [key.public()]})).of_type("application/jwk-set+json"))
}
