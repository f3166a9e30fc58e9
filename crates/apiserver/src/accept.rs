//! Content negotiation: parses the `Accept` header.

use gantry_registry::table::Version;

use crate::error::ApiError;

/// The representation of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The objects themselves.
    Plain,
    /// A table, as `kubectl get` prints it.
    Table(Version),
    /// Metadata of one object.
    Partial(Version),
    /// Metadata of the objects of a list.
    PartialList(Version),
    /// Aggregated discovery.
    Discovery,
}

/// The representations that an endpoint offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Objects,
    /// Objects, but no tables of them.
    NoTables,
    Discovery,
}

/// The media type of a response that is not a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    Json,
    Yaml,
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Returns the first accepted representation that is offered, or 406.
pub(crate) fn negotiate(accept: &str, offer: Offer) -> Result<View, ApiError> {
    if accept.trim().is_empty() {
        return Ok(View::Plain);
    }
    let found = clauses(accept).find_map(|(media, clause)| media.and_then(|_| view(clause, offer)));
    found.ok_or_else(|| ApiError::NotAcceptable { known: is_known(accept), tables: offer != Offer::NoTables })
}

/// Returns the media type of the first clause that is supported; JSON if there is none.
pub(crate) fn media(accept: &str) -> Media {
    let wanted = clauses(accept).find_map(|(media, clause)| {
        media.filter(|_| view(clause, Offer::Objects).or_else(|| view(clause, Offer::Discovery)).is_some())
    });
    wanted.unwrap_or(Media::Json)
}

/// The clauses of an `Accept` header by descending quality, each with its media type if that is supported.
fn clauses(accept: &str) -> impl Iterator<Item = (Option<Media>, &str)> {
    let mut clauses: Vec<(f32, &str)> = accept.split(',').map(|clause| (quality(clause), clause)).collect();
    clauses.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let wanted = clauses.into_iter().filter(|(quality, _)| *quality > 0.0);
    wanted.map(|(_, clause)| {
        let media = match media_type(clause) {
            "application/json" | "*/*" | "application/*" => Some(Media::Json),
            "application/yaml" => Some(Media::Yaml),
            _ => None,
        };
        (media, clause)
    })
}

/// Whether any of the media types is known, offered or not.
fn is_known(accept: &str) -> bool {
    accept.split(',').any(|clause| {
        let known = ["*/*", "application/*", "application/json", "application/yaml", PROTOBUF];
        known.contains(&media_type(clause))
    })
}

fn media_type(clause: &str) -> &str {
    clause.split(';').next().unwrap_or_default().trim()
}

fn quality(clause: &str) -> f32 {
    parameter(clause, "q").and_then(|q| q.parse().ok()).unwrap_or(1.0)
}

fn parameter<'a>(clause: &'a str, name: &str) -> Option<&'a str> {
    let parameters = clause.split(';').skip(1).filter_map(|parameter| parameter.trim().split_once('='));
    parameters.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim())
}

fn view(clause: &str, offer: Offer) -> Option<View> {
    let Some(form) = parameter(clause, "as") else { return Some(View::Plain) };
    let (group, version) =
        (parameter(clause, "g").unwrap_or_default(), parameter(clause, "v").unwrap_or_default());
    if offer == Offer::Discovery {
        let wanted = (form, group, version) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2");
        return wanted.then_some(View::Discovery);
    }
    let version = match (group, version) {
        ("meta.k8s.io", "v1") => Version::V1,
        ("meta.k8s.io", "v1beta1") => Version::V1Beta1,
        _ => return None,
    };
    match form {
        "Table" if offer != Offer::NoTables => Some(View::Table(version)),
        "PartialObjectMetadata" => Some(View::Partial(version)),
        "PartialObjectMetadataList" => Some(View::PartialList(version)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(accept: &str) -> Option<View> {
        negotiate(accept, Offer::Objects).ok()
    }

    /// A9.1, A9.2, A5.1, A5.7: the first clause that can be served wins.
    #[test]
    fn the_first_supported_form_wins() {
        assert_eq!(objects(""), Some(View::Plain));
        assert_eq!(objects("application/vnd.kubernetes.protobuf,application/json"), Some(View::Plain));
        assert_eq!(objects("application/vnd.kubernetes.protobuf, */*"), Some(View::Plain));
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        assert_eq!(objects(kubectl), Some(View::Table(Version::V1)));
        assert_eq!(
            objects("application/json;as=Nonsense;v=v1;g=meta.k8s.io,application/json"),
            Some(View::Plain)
        );
        let metadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        assert_eq!(objects(metadata), Some(View::Partial(Version::V1)));
        assert_eq!(objects("application/cbor"), None);
        assert_eq!(objects("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io"), None, "A5.5");
        assert_eq!(
            objects("application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io"),
            Some(View::Table(Version::V1))
        );
    }

    /// A9.1, A9.2: unknown media types and known ones that are not offered get different messages.
    #[test]
    fn there_are_two_messages_of_406() {
        let refused = |accept: &str| negotiate(accept, Offer::Objects).unwrap_err().refusal();
        let unknown = refused("text/html, application/cbor");
        assert_eq!(
            (unknown.reason.code(), unknown.message.as_str()),
            (
                406,
                "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
            )
        );
        assert!(unknown.details.is_some());
        for known in ["application/vnd.kubernetes.protobuf", "application/json;as=Foo;v=v1;g=meta.k8s.io"] {
            let refused = refused(known);
            assert!(refused.message.starts_with("only the following media types are accepted: "), "{known}");
            assert_eq!(refused.details, None);
        }
    }

    /// A9.2: YAML is written if its quality is the highest.
    #[test]
    fn yaml_is_written_on_request() {
        assert_eq!(media("application/yaml"), Media::Yaml);
        assert_eq!(media("application/yaml;q=0.5,application/json"), Media::Json);
        assert_eq!(media("text/html"), Media::Json, "the media type of an error is always supported");
        assert_eq!(media(""), Media::Json);
    }

    /// A1.3: aggregated discovery is requested by its group, version and kind.
    #[test]
    fn aggregated_discovery_is_requested_by_name() {
        let wanted = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
        assert_eq!(negotiate(wanted, Offer::Discovery).ok(), Some(View::Discovery));
        let older =
            "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        assert_eq!(negotiate(older, Offer::Discovery).ok(), Some(View::Plain));
    }
}
