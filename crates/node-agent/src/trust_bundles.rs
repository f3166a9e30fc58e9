//! The certificates of ClusterTrustBundles for volumes: of one bundle, or of all bundles of a signer that a selector
//! matches.

use std::collections::BTreeSet;

use gantry_model::Selector;
use k8s_openapi::api::certificates::v1::ClusterTrustBundle;
use k8s_openapi::api::core::v1 as core;

const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";
/// The length of the lines of a certificate.
const LINE: usize = 64;

/// Returns the selected certificates, each once; an error has a kubelet's message.
pub(crate) fn trust_anchors(
    projection: &core::ClusterTrustBundleProjection,
    bundles: &[ClusterTrustBundle],
) -> Result<String, String> {
    let optional = projection.optional == Some(true);
    if let Some(name) = &projection.name {
        let named = bundles.iter().find(|bundle| bundle.metadata.name.as_ref() == Some(name));
        return match named {
            Some(bundle) => Ok(normalized([bundle])),
            None if optional => Ok(String::new()),
            None => Err(format!(
                "while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io \"{name}\" not found"
            )),
        };
    }
    // Without a selector nothing matches.
    let selector = projection.label_selector.clone().map(Selector::parse);
    let selector = selector.transpose().map_err(|error| format!("while parsing label selector: {error}"))?;
    let matches = |bundle: &&ClusterTrustBundle| {
        let labels = bundle.metadata.labels.clone().unwrap_or_default();
        bundle.spec.signer_name == projection.signer_name
            && selector.as_ref().is_some_and(|selector| selector.matches(&labels))
    };
    let selected: Vec<_> = bundles.iter().filter(matches).collect();
    if selected.is_empty() && !optional {
        return Err("combination of signerName and labelSelector matched zero ClusterTrustBundles".to_owned());
    }
    Ok(normalized(selected))
}

/// The certificates without the text between them, each once, in an order that does not depend on the bundles.
fn normalized<'a>(bundles: impl IntoIterator<Item = &'a ClusterTrustBundle>) -> String {
    let texts = bundles.into_iter().map(|bundle| bundle.spec.trust_bundle.as_str());
    let certificates: BTreeSet<String> = texts.flat_map(certificates).collect();
    certificates.iter().map(|certificate| pem(certificate)).collect()
}

/// Returns the base64 of each certificate in a text.
fn certificates(text: &str) -> impl Iterator<Item = String> {
    let blocks = text.split(BEGIN).skip(1).filter_map(|rest| rest.split_once(END));
    blocks.map(|(block, _)| block.lines().filter(|line| !line.contains(':')).map(str::trim).collect())
}

fn pem(certificate: &str) -> String {
    let mut text = format!("{BEGIN}\n");
    let mut rest = certificate;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(LINE));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text + END + "\n"
}

#[cfg(test)]
mod tests {
    use gantry_json::{Value, json};

    use super::*;

    fn bundle(name: &str, signer: Option<&str>, certificates: &[&str]) -> ClusterTrustBundle {
        let pem = |it: &&str| format!("about {it}\n{BEGIN}\n{it}\n{END}\n");
        let text = certificates.iter().map(pem).collect::<Vec<_>>().concat();
        let spec = json!({"signerName": signer, "trustBundle": text});
        gantry_json::from_value(json!({"metadata": {"name": name, "labels": {"is": name}}, "spec": spec}))
            .unwrap()
    }

    fn shown(projection: Value) -> Result<Vec<String>, String> {
        let bundles = [
            bundle("plain", None, &["AA=="]),
            bundle("live", Some("example.com/s"), &["CC==", "BB=="]),
            bundle("next", Some("example.com/s"), &["BB==", "DD=="]),
        ];
        let text = trust_anchors(&gantry_json::from_value(projection).unwrap(), &bundles)?;
        Ok(certificates(&text).collect())
    }

    #[test]
    fn a_bundle_is_selected_by_name_or_by_signer_and_labels() {
        assert_eq!(shown(json!({"name": "plain", "path": "p"})), Ok(vec!["AA==".to_owned()]));
        let of_signer =
            |selector: Value| json!({"signerName": "example.com/s", "path": "p", "labelSelector": selector});
        let all = ["BB==", "CC==", "DD=="].map(str::to_owned).to_vec();
        assert_eq!(shown(of_signer(json!({}))), Ok(all), "each certificate occurs once");
        let live = shown(of_signer(json!({"matchLabels": {"is": "live"}})));
        assert_eq!(live, Ok(vec!["BB==".to_owned(), "CC==".to_owned()]));
    }

    #[test]
    fn a_missing_bundle_is_an_error_unless_it_is_optional() {
        let none = shown(json!({"name": "none", "path": "p"})).unwrap_err();
        assert!(none.ends_with("clustertrustbundle.certificates.k8s.io \"none\" not found"), "{none}");
        let none = shown(json!({"signerName": "example.com/s", "path": "p"})).unwrap_err();
        assert_eq!(none, "combination of signerName and labelSelector matched zero ClusterTrustBundles");
        assert_eq!(shown(json!({"name": "none", "path": "p", "optional": true})), Ok(Vec::new()));
    }

    #[test]
    fn certificates_are_written_in_lines() {
        let text = pem(&"A".repeat(65));
        assert_eq!(text, format!("{BEGIN}\n{}\nA\n{END}\n", "A".repeat(64)));
    }
}
