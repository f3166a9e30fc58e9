//! The pod template: opaque, except for its labels and for comparison.

mod canonical;
mod plain;

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::PodTemplateSpec;

use crate::{Labels, keys};

/// A pod template, compared by meaning.
///
/// Two templates are equal when they differ only in the hash label and in notation: a missing or an empty list,
/// `1000m` or `1` of CPU. The canonical form is computed once, when the template is parsed, so that comparing is
/// comparing bytes.
#[derive(Clone)]
pub struct Template {
    written: Arc<PodTemplateSpec>,
    canonical: Arc<[u8]>,
}

impl Template {
    /// Parses a template.
    pub fn parse(template: PodTemplateSpec) -> Self {
        let canonical = canonical::bytes(&template).into();
        Self { written: Arc::new(template), canonical }
    }

    /// The template in its wire format.
    pub fn render(&self) -> PodTemplateSpec {
        PodTemplateSpec::clone(&self.written)
    }

    /// The template in its wire format, by reference.
    pub fn written(&self) -> &PodTemplateSpec {
        &self.written
    }

    /// Equal bytes for equal templates, stable from one run to the next.
    pub fn canonical(&self) -> &[u8] {
        &self.canonical
    }

    /// The images of its containers, in their order.
    pub fn images(&self) -> impl Iterator<Item = &str> {
        let containers = self.written.spec.iter().flat_map(|spec| &spec.containers);
        containers.filter_map(|container| container.image.as_deref())
    }

    /// The labels of pods made from it.
    pub fn labels(&self) -> Option<&Labels> {
        self.written.metadata.as_ref()?.labels.as_ref()
    }

    /// The same template with the hash label set to `hash`.
    #[must_use]
    pub fn with_hash(&self, hash: &str) -> Self {
        self.edited(|labels| {
            labels.insert(keys::HASH_LABEL.to_owned(), hash.to_owned());
        })
    }

    /// The same template without the hash label.
    #[must_use]
    pub fn without_hash(&self) -> Self {
        self.edited(|labels| {
            labels.remove(keys::HASH_LABEL);
        })
    }

    /// Changes labels that the canonical form leaves out.
    fn edited(&self, edit: impl FnOnce(&mut Labels)) -> Self {
        let mut written = self.render();
        edit(written.metadata.get_or_insert_default().labels.get_or_insert_default());
        Self { written: Arc::new(written), canonical: Arc::clone(&self.canonical) }
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Template {}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({})", String::from_utf8_lossy(&self.canonical))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(json: &str) -> Template {
        Template::parse(gantry_json::from_str(json).unwrap())
    }

    fn with_container(fields: &str) -> Template {
        template(&format!(r#"{{"spec":{{"containers":[{{"name":"main",{fields}}}]}}}}"#))
    }

    /// D5.1: unset and empty maps and lists are equal, quantities are compared by value, times by instant.
    #[test]
    fn equivalent_templates_are_equal() {
        for (a, b) in [
            (r#""args":[]"#, r#""image":"""#),
            (r#""resources":{}"#, r#""env":[]"#),
            (r#""resources":{"limits":{}}"#, r#""ports":[]"#),
            (r#""resources":{"limits":{"cpu":"1000m"}}"#, r#""resources":{"limits":{"cpu":"1"}}"#),
            (r#""resources":{"limits":{"memory":"1Gi"}}"#, r#""resources":{"limits":{"memory":"1024Mi"}}"#),
            (r#""stdin":false"#, r#""tty":false"#),
            (r#""livenessProbe":{"initialDelaySeconds":0}"#, r#""livenessProbe":{}"#),
        ] {
            assert_eq!(with_container(a), with_container(b));
        }
        assert_eq!(
            template(
                r#"{"metadata":{"creationTimestamp":"2026-01-01T01:00:00+01:00"},"spec":{"containers":[]}}"#
            ),
            template(
                r#"{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","labels":{}},"spec":{"containers":[]}}"#
            ),
        );
        let divisor = |d: &str| {
            with_container(&format!(
                r#""env":[{{"name":"A","valueFrom":{{"resourceFieldRef":{{"resource":"limits.cpu"{d}}}}}}}]"#
            ))
        };
        assert_eq!(divisor(r#","divisor":"0""#), divisor(""));
    }

    /// D5.1: every other difference counts.
    #[test]
    fn templates_that_differ_are_not_equal() {
        for (a, b) in [
            (r#""image":"nginx:1""#, r#""image":"nginx:2""#),
            (r#""args":["a","b"]"#, r#""args":["b","a"]"#),
            (r#""args":["ab"]"#, r#""args":["a","b"]"#),
            (r#""args":[""]"#, r#""args":[]"#),
            (r#""securityContext":{}"#, r#""args":[]"#),
            (r#""securityContext":{"runAsUser":0}"#, r#""securityContext":{}"#),
            (r#""securityContext":{"privileged":false}"#, r#""securityContext":{}"#),
            (r#""resources":{"limits":{"cpu":"0"}}"#, r#""resources":{}"#),
            (r#""resources":{"limits":{"cpu":"1"}}"#, r#""resources":{"requests":{"cpu":"1"}}"#),
            (r#""livenessProbe":{"httpGet":{"port":80}}"#, r#""livenessProbe":{"httpGet":{"port":"80"}}"#),
        ] {
            assert_ne!(with_container(a), with_container(b));
        }
        let grace = |s: &str| template(&format!(r#"{{"spec":{{"containers":[]{s}}}}}"#));
        assert_ne!(grace(r#","terminationGracePeriodSeconds":0"#), grace(""));
        assert_ne!(
            grace(r#","volumes":[{"name":"v","emptyDir":{}}]"#),
            grace(r#","volumes":[{"name":"v"}]"#)
        );
        let annotated = |a: &str| template(&format!(r#"{{"metadata":{{"annotations":{{{a}}}}}}}"#));
        assert_ne!(annotated(r#""at":"1""#), annotated(r#""at":"2""#));
        assert_ne!(annotated(r#""at":"""#), annotated(""));
    }

    /// D5.1: the hash label is the only ignored field, and only on the template itself.
    #[test]
    fn only_the_hash_label_is_ignored() {
        let labelled = |labels: &str| template(&format!(r#"{{"metadata":{{"labels":{{{labels}}}}}}}"#));
        let plain = labelled(r#""app":"web""#);
        assert_eq!(plain, labelled(r#""app":"web","pod-template-hash":"abc""#));
        assert_eq!(plain, plain.with_hash("abc"));
        assert_eq!(plain.with_hash("abc").without_hash().labels(), plain.labels());
        assert_eq!(
            labelled(""),
            labelled(r#""pod-template-hash":"abc""#),
            "labels with only the hash label are like no labels"
        );
        assert_ne!(plain, labelled(r#""app":"web","pod-template-hash2":"abc""#));
        assert_ne!(
            template(r#"{"metadata":{"annotations":{"pod-template-hash":"a"}}}"#),
            template(r#"{"metadata":{"annotations":{"pod-template-hash":"b"}}}"#),
        );
    }
}
