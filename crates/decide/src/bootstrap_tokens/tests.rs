//! Tokens that sign and expire.

use super::*;

const NOW: Timestamp = Timestamp::from_secs(1_000_000);

fn token(id: &str) -> TokenSecret {
    let data = [("token-id", id), ("token-secret", "0123456789abcdef"), ("usage-bootstrap-signing", "true")];
    TokenSecret {
        name: format!("{SECRET_PREFIX}{id}"),
        data: data.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        expiry: TokenExpiry::Never,
    }
}

#[test]
fn an_expired_token_is_deleted_and_does_not_sign() {
    let at =
        |seconds| TokenSecret { expiry: TokenExpiry::At(Timestamp::from_secs(seconds)), ..token("abcdef") };
    assert_eq!(cleaning(&token("abcdef"), NOW), TokenCleaning::Keep);
    assert_eq!(cleaning(&at(1_000_060), NOW), TokenCleaning::CheckAfter(Duration::from_secs(60)));
    assert_eq!(cleaning(&at(1_000_000), NOW), TokenCleaning::Delete);
    let malformed = TokenSecret { expiry: TokenExpiry::Malformed, ..token("abcdef") };
    assert_eq!(cleaning(&malformed, NOW), TokenCleaning::Delete);
    assert_eq!(signing_tokens([&at(1_000_060), &malformed], NOW).len(), 1);
    assert!(signing_tokens([&at(1_000_000)], NOW).is_empty());
}

#[test]
fn only_tokens_for_signing_sign_and_their_secrets_have_their_names() {
    let mut other_use = token("aaaaaa");
    other_use.data.remove("usage-bootstrap-signing");
    let mut other_name = token("bbbbbb");
    other_name.name = "bootstrap-token-cccccc".to_owned();
    let mut no_secret = token("dddddd");
    no_secret.data.remove("token-secret");
    let good = token("eeeeee");
    let tokens = [other_use, other_name, no_secret, good, token("TOOBIG1")];
    assert_eq!(signing_tokens(&tokens, NOW), BTreeMap::from([("eeeeee", "0123456789abcdef")]));
}

#[test]
fn signatures_of_deleted_tokens_are_removed() {
    let text = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let data = text(&[("kubeconfig", "k"), ("jws-kubeconfig-aaaaaa", "1"), ("other", "kept")]);
    assert_eq!(signed_data(&data, &text(&[("aaaaaa", "1")])), None, "the signatures are up to date");
    let signed = signed_data(&data, &text(&[("bbbbbb", "2")])).unwrap();
    assert_eq!(signed, text(&[("kubeconfig", "k"), ("jws-kubeconfig-bbbbbb", "2"), ("other", "kept")]));
    assert_eq!(signed_data(&data, &BTreeMap::new()).unwrap().len(), 2);
}
