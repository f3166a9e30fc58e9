//! Bodies of very many objects are refused in every format: two bytes of a body are hundreds in memory.

use gantry_schema::decode::{self, Format, Gvk};

use crate::protobuf_writer::bytes;

const LIMIT: usize = 150_000;

/// Decodes a Pod with this many empty containers; returns how many there are, or the error.
fn containers(body: &[u8], format: Format) -> Result<usize, String> {
    let pod = Gvk::new("", "v1", "Pod");
    let decoded = decode::object(body, format, pod).map_err(|refusal| refusal.message)?;
    Ok(decoded.object["spec"]["containers"].as_array().map_or(0, Vec::len))
}

fn json(count: usize) -> Vec<u8> {
    let containers = vec!["{}"; count].join(",");
    format!(r#"{{"apiVersion":"v1","kind":"Pod","spec":{{"containers":[{containers}]}}}}"#).into_bytes()
}

fn protobuf(count: usize) -> Vec<u8> {
    let (mut meta, mut spec, mut raw, mut body) = (Vec::new(), Vec::new(), Vec::new(), b"k8s\0".to_vec());
    bytes(1, b"v1", &mut meta);
    bytes(2, b"Pod", &mut meta);
    (0..count).for_each(|_| bytes(2, b"", &mut spec));
    bytes(2, &spec, &mut raw);
    bytes(1, &meta, &mut body);
    bytes(2, &raw, &mut body);
    body
}

/// A body of 3 MiB can have 1,500,000 objects: as containers with their defaults they would take 600 MB.
#[test]
fn objects_are_counted_in_every_format() {
    let formats = [
        (Format::Json, json as fn(usize) -> Vec<u8>),
        // JSON is YAML, too.
        (Format::Yaml, json),
        (Format::Protobuf, protobuf),
    ];
    for (format, body) in formats {
        // The Pod and its spec count as well.
        assert_eq!(containers(&body(LIMIT - 2), format), Ok(LIMIT - 2), "{format:?}");
        let refused = containers(&body(LIMIT - 1), format).unwrap_err();
        assert!(refused.contains("more than 150000 objects"), "{format:?}: {refused}");
    }
}

/// Objects behind aliases count once per alias.
#[test]
fn objects_behind_aliases_count() {
    let row = vec!["{}"; 1000].join(",");
    let aliases =
        |count: usize| format!("a: &a [{row}]\nspec: {{containers: [{}]}}", vec!["*a"; count].join(","));
    let plain = |count| decode::plain(aliases(count).as_bytes(), Format::Yaml).map(|_| ());
    assert_eq!(plain(147), Ok(()), "including the copy for the aliases");
    assert_eq!(plain(149), Err("yaml: more than 150000 objects".to_owned()));
}
