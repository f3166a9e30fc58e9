//! The OpenID discovery documents, with which other services verify service account tokens.

use gantry_json::json;

use crate::ApiServer;
use crate::error::ApiError;
use crate::request_info::RequestInfo;
use crate::response::ApiResponse;

const CONFIGURATION: &str = "/.well-known/openid-configuration";
const KEYS: &str = "/openid/v1/jwks";

/// Responds to the two paths of an OpenID issuer; `None` for others.
pub(super) async fn document(
    server: &ApiServer,
    path: &str,
    info: &RequestInfo,
) -> Option<Result<ApiResponse, ApiError>> {
    match path {
        CONFIGURATION => Some(Ok(configuration(server, info))),
        KEYS => Some(keys(server).await),
        _ => None,
    }
}

fn configuration(server: &ApiServer, info: &RequestInfo) -> ApiResponse {
    let host = info.host();
    ApiResponse::value(
        200,
        json!({
            "issuer": server.settings.access.issuer, "jwks_uri": format!("https://{host}{KEYS}"),
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }),
    )
}

async fn keys(server: &ApiServer) -> Result<ApiResponse, ApiError> {
    let key = server.signing_keys.get_or_create(server.objects.store.as_ref()).await?;
    Ok(ApiResponse::value(200, json!({"keys": [key.public()]})).of_type("application/jwk-set+json"))
}
