//! A ServiceAccount, with the secrets that its pods pull images with.

use gantry_json::Value;

use super::heading;
use super::labels_annotations::multiline;
use crate::field::{list, text};

/// A ServiceAccount.
pub(crate) fn service_account(account: &Value) -> String {
    let secrets = list(account, "/imagePullSecrets").iter();
    let secrets: Vec<String> = secrets.map(|secret| text(secret, "/name").to_owned()).collect();
    heading(account) + &multiline("Image pull secrets:", "", &secrets)
}
