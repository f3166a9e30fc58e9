//! OpenAPI documents of all kinds and their operations, generated from the tables.
//!
//! [`v3`] renders one document per group version, [`v2`] one of everything, and [`gnostic`] the latter in the protobuf
//! format of old clients. Parts are serialized as soon as they are rendered: a whole document as one value would be
//! many times as large as its text. Nothing is cached here.
//!
//! Names, types and merge strategies are complete; `descriptions.tsv` has descriptions of all kinds and of the most
//! used fields.
//!
//! *Invariant:* documents contain only what is in the tables.

mod custom;
mod gnostic;
mod operations;
mod paths;
mod schemas;

use std::collections::BTreeMap;

use gantry_json::Value;

use gantry_schema::encode;
use gantry_schema::kinds::{GroupVersion, Kind, Kinds};
use schemas::Schemas;

/// The version of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    V2,
    V3,
}

/// How the parts of a document are serialized.
#[derive(Clone, Copy)]
struct Writing {
    path: fn(&Value) -> Vec<u8>,
    schema: fn(&Value) -> Vec<u8>,
}

/// Serialized parts of a document by name.
type Parts = BTreeMap<String, Vec<u8>>;

/// The version in the `info` of documents.
const VERSION: &str = "v1.37.0";

const JSON: Writing = Writing { path: encode::plain, schema: encode::plain };
const PROTOBUF: Writing = Writing { path: gnostic::path_item, schema: gnostic::schema };

/// All kinds in OpenAPI 2, as JSON.
pub fn v2(kinds: &Kinds) -> Vec<u8> {
    let (paths, schemas) = parts(kinds, kinds.all(), Dialect::V2, JSON);
    let mut document = head("swagger", "2.0");
    members(&paths, &mut document);
    document.extend_from_slice(b",\"definitions\":");
    members(&schemas, &mut document);
    document.push(b'}');
    document
}

/// All kinds in OpenAPI 2, as gnostic's protobuf.
pub fn gnostic(kinds: &Kinds) -> Vec<u8> {
    let (paths, schemas) = parts(kinds, kinds.all(), Dialect::V2, PROTOBUF);
    gnostic::document(&paths, &schemas)
}

/// One group version in OpenAPI 3, as JSON.
pub fn v3(kinds: &Kinds, group: &str, version: &str) -> Option<Vec<u8>> {
    let (paths, schemas) = parts(kinds, kinds.of(group, version), Dialect::V3, JSON);
    if paths.is_empty() {
        return None;
    }
    let mut document = head("openapi", "3.0.0");
    members(&paths, &mut document);
    document.extend_from_slice(b",\"components\":{\"schemas\":");
    members(&schemas, &mut document);
    document.extend_from_slice(b"}}");
    Some(document)
}

/// The group versions with a document of their own.
pub fn group_versions(kinds: &Kinds) -> Vec<GroupVersion> {
    let groups = kinds.groups().iter();
    groups
        .flat_map(|group| group.versions.iter().map(|version| GroupVersion { group: group.name, version }))
        .collect()
}

/// The paths of these kinds, and the schemas that they refer to.
fn parts<'k>(
    kinds: &Kinds,
    chosen: impl IntoIterator<Item = &'k Kind>,
    dialect: Dialect,
    writing: Writing,
) -> (Parts, Parts) {
    let mut schemas = Schemas::new(kinds, dialect, writing);
    let mut paths = Parts::new();
    for kind in chosen {
        paths::add(kind, &mut schemas, &mut paths);
    }
    (paths, schemas.finish())
}

/// The start of a document, up to its paths.
fn head(language: &str, version: &str) -> Vec<u8> {
    format!(
        "{{\"{language}\":\"{version}\",\"info\":{{\"title\":\"Kubernetes\",\"version\":\"{VERSION}\"}},\"paths\":"
    )
    .into_bytes()
}

/// Writes parts as a JSON object.
fn members(parts: &Parts, out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, part)) in parts.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        out.extend_from_slice(&encode::plain(&Value::from(name.as_str())));
        out.push(b':');
        out.extend_from_slice(part);
    }
    out.push(b'}');
}
