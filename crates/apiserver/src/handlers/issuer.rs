//! The OpenID discovery documents, with which others verify service account tokens.

use gantry_registry::Refusal;
use http::header::HOST;
use http::request::Parts;
use serde_json::json;

use crate::ApiServer;
use crate::response::ApiResponse;

const CONFIGURATION: &str = "/.well-known/openid-configuration";
const KEYS: &str = "/openid/v1/jwks";

/// Responds to the two paths of an OpenID issuer; `None` for others.
pub(super) async fn document(
    server: &ApiServer,
    path: &str,
    parts: &Parts,
) -> Option<Result<ApiResponse, Refusal>> {
    match path {
        CONFIGURATION => Some(Ok(configuration(server, parts))),
        KEYS => Some(keys(server).await),
        _ => None,
    }
}

fn configuration(server: &ApiServer, parts: &Parts) -> ApiResponse {
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    ApiResponse::value(
        200,
        &json!({
            "issuer": server.settings.access.issuer, "jwks_uri": format!("https://{host}{KEYS}"),
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }),
    )
}

async fn keys(server: &ApiServer) -> Result<ApiResponse, Refusal> {
    let key = server.signing_keys.get_or_create(server.objects.store.as_ref()).await?;
    Ok(ApiResponse::value(200, &json!({"keys": [key.public()]})).of_type("application/jwk-set+json"))
}
