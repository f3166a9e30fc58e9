//! Requests made from bytes: a recorded one with edits, or one whose body or query is the bytes themselves.

use std::path::PathBuf;

use bytes::Bytes;
use gantry_json::Value;
use http::Request;

/// A request as bytes, which may not be valid HTTP.
#[derive(Clone)]
pub(crate) struct Mutated {
    pub(crate) method: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) content_type: Vec<u8>,
    pub(crate) accept: Vec<u8>,
    /// Headers besides those above.
    pub(crate) headers: Vec<(&'static str, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

/// Recorded requests.
pub(crate) struct Seeds(Vec<Mutated>);

impl Seeds {
    pub(crate) fn recorded() -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../registry/tests/recorded");
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let exchanges = files.iter().flat_map(|file| {
            gantry_json::from_slice::<Vec<Value>>(&std::fs::read(file).unwrap()).unwrap_or_default()
        });
        Self(exchanges.filter_map(|exchange| Mutated::recorded(&exchange)).collect())
    }

    /// These requests.
    pub(crate) fn of(requests: Vec<Mutated>) -> Self {
        Self(requests)
    }

    /// The first two bytes choose a request; returns the rest.
    pub(crate) fn choose<'i>(&self, input: &'i [u8]) -> (Mutated, &'i [u8]) {
        let (choice, rest) = input.split_at(input.len().min(2));
        let choice = choice.iter().fold(0, |number, byte| number * 256 + usize::from(*byte));
        (self.0[choice % self.0.len()].clone(), rest)
    }

    /// Each three bytes after the choice are an edit.
    pub(crate) fn mutate(&self, input: &[u8]) -> Mutated {
        let (mut request, edits) = self.choose(input);
        for edit in edits.chunks_exact(3) {
            request.edit(edit[0], edit[1], edit[2]);
        }
        request
    }
}

impl std::fmt::Debug for Mutated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [&self.method, &self.path, &self.content_type, &self.accept, &self.body];
        let headers = self.headers.iter().map(|(_, value)| value);
        f.debug_list()
            .entries(parts.into_iter().chain(headers).map(|part| String::from_utf8_lossy(part)))
            .finish()
    }
}

impl Mutated {
    /// A request as it is, which accepts JSON.
    pub(crate) fn of(method: &str, path: &str, content_type: &str, body: &str) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            content_type: content_type.into(),
            accept: "application/json".into(),
            headers: Vec::new(),
            body: body.into(),
        }
    }

    fn recorded(exchange: &Value) -> Option<Self> {
        let line = exchange["request"].as_str().or(exchange["watch"].as_str())?;
        let (method, path) = line.split_once(' ')?;
        let text =
            |field: &str, otherwise: &str| exchange[field].as_str().unwrap_or(otherwise).as_bytes().to_vec();
        let body = match &exchange["send"] {
            Value::Null => String::new(),
            Value::String(text) => text.to_string(),
            object => object.to_string(),
        };
        Some(Self {
            method: method.as_bytes().to_vec(),
            path: path.replace("NS", "default").into_bytes(),
            content_type: text("content-type", "application/json"),
            accept: text("accept", "application/json"),
            headers: Vec::new(),
            body: body.replace("NS", "default").into_bytes(),
        })
    }

    /// A body for a create.
    pub(crate) fn body(choice: u8, body: &[u8]) -> Self {
        const FORMATS: [&str; 3] =
            ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
        const COLLECTIONS: [&str; 5] = [
            "/apis/example.com/v1/namespaces/default/widgets",
            "/apis/apps/v1/namespaces/default/deployments",
            "/api/v1/namespaces/default/pods",
            "/api/v1/namespaces/default/services",
            "/api/v1/namespaces",
        ];
        let (format, position) = (usize::from(choice) % FORMATS.len(), usize::from(choice) / FORMATS.len());
        let envelope: &[u8] = if format == 2 { b"k8s\0" } else { b"" };
        Self {
            method: b"POST".to_vec(),
            path: format!("{}?dryRun=All", COLLECTIONS[position % COLLECTIONS.len()]).into_bytes(),
            content_type: FORMATS[format].as_bytes().to_vec(),
            accept: b"application/json".to_vec(),
            headers: Vec::new(),
            body: [envelope, body].concat(),
        }
    }

    /// A query for a read.
    pub(crate) fn query(choice: u8, query: &[u8]) -> Self {
        const PARAMETERS: [&str; 6] = [
            "labelSelector=",
            "fieldSelector=",
            "limit=2&continue=",
            "resourceVersion=",
            "timeoutSeconds=1&watch=",
            "",
        ];
        let mut path =
            format!("/api/v1/pods?{}", PARAMETERS[usize::from(choice) % PARAMETERS.len()]).into_bytes();
        path.extend(query.iter().flat_map(|byte| format!("%{byte:02X}").into_bytes()));
        Self {
            method: b"GET".to_vec(),
            path,
            content_type: Vec::new(),
            accept: b"*/*".to_vec(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    fn edit(&mut self, action: u8, position: u8, byte: u8) {
        let part = match action % 8 {
            0 => &mut self.path,
            1 => &mut self.content_type,
            2 => &mut self.accept,
            3 if byte.is_multiple_of(16) => &mut self.method,
            _ => &mut self.body,
        };
        if part.is_empty() {
            part.push(byte);
            return;
        }
        let index = usize::from(position) * 37 % part.len();
        match action / 8 % 5 {
            0 => part[index] = byte,
            1 => part.insert(index, byte),
            2 => drop(part.remove(index)),
            3 => part.truncate(index),
            _ => part.extend_from_within(index..(index + usize::from(byte % 32)).min(part.len())),
        }
    }

    /// The request, if it is valid HTTP.
    pub(crate) fn request(&self) -> Option<Request<Bytes>> {
        let mut request = Request::builder().method(self.method.as_slice()).uri(self.path.as_slice());
        request = request.header("content-type", self.content_type.as_slice());
        request = request.header("accept", self.accept.as_slice()).header("user-agent", "fuzz/1");
        for (name, value) in &self.headers {
            request = request.header(*name, value.as_slice());
        }
        request.body(self.body.clone().into()).ok()
    }
}
