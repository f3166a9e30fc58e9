//! Objects in JSON of which only the fields that the rules need are decoded.
//!
//! They are decoded into the types of whole objects, so that the fields are interpreted in one place, the parsers of
//! `gantry_model`. The same fields of protobuf are in `gantry_model::protobuf`.

/// Decodes the fields of an object, by their names, into a struct that is returned; other fields are skipped.
macro_rules! decode {
    ($reader:ident, $decoded:ident: $type:ty, { $($arms:tt)* }) => {{
        let mut $decoded = <$type>::default();
        $reader.object(|$reader, name| {
            match name {
                $($arms)*
                _ => $reader.skip()?,
            }
            Some(())
        })?;
        Some($decoded)
    }};
}

pub(crate) mod pod;
pub(crate) mod workload;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::json_reader::JsonReader;

fn metadata(reader: &mut JsonReader<'_>) -> Option<ObjectMeta> {
    decode!(reader, meta: ObjectMeta, {
        b"name" => meta.name = reader.optional(JsonReader::string)?,
        b"namespace" => meta.namespace = reader.optional(JsonReader::string)?,
        b"uid" => meta.uid = reader.optional(JsonReader::string)?,
        b"resourceVersion" => meta.resource_version = reader.optional(JsonReader::string)?,
        b"generation" => meta.generation = reader.value()?,
        b"creationTimestamp" => meta.creation_timestamp = reader.value()?,
        b"deletionTimestamp" => meta.deletion_timestamp = reader.value()?,
        b"labels" => meta.labels = reader.optional(JsonReader::string_map)?,
        b"annotations" => meta.annotations = reader.optional(JsonReader::string_map)?,
        b"ownerReferences" => meta.owner_references = reader.value()?,
        b"finalizers" => meta.finalizers = reader.value()?,
    })
}
