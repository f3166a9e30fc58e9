//! Reads manifests: YAML or JSON, multiple documents, lists, directories, standard input.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gantry_json::Value;
use gantry_registry::selector::LabelSelector;
use gantry_schema::decode::{Format, plain};

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{list, object_mut, text};
use crate::print::compact;
use crate::resources::{ApiResource, Resources};
use crate::verbs::{ResultPrinter, Validation};

/// An object of a manifest file.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The file as it was named, or `STDIN`.
    pub source: String,
    /// The object.
    pub object: Value,
}

/// The manifests of a command, and how they are written.
#[derive(Clone, Debug, Default)]
pub struct ManifestOptions {
    /// The files.
    pub files: Vec<String>,
    /// Whether directories are read recursively.
    pub recursive: bool,
    /// Only objects with these labels.
    pub selector: Option<String>,
    /// How unknown fields are handled.
    pub validation: Validation,
    /// The field manager; kubectl's own by default.
    pub manager: Option<String>,
    /// How results are printed.
    pub printer: ResultPrinter,
}

/// A manifest with its resource type and namespace.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedManifest {
    pub(crate) source: String,
    pub(crate) object: Value,
    pub(crate) resource: ApiResource,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The namespace of the command, and whether other namespaces are rejected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamespaceScope<'n> {
    pub(crate) namespace: &'n str,
    pub(crate) is_explicit: bool,
}

impl ManifestOptions {
    /// Reads the selected objects, and collects failures per file.
    pub(crate) fn read(&self) -> Result<(Vec<Manifest>, Vec<Failure>), Failure> {
        if self.files.is_empty() {
            return Err(no_files());
        }
        let (mut manifests, failures) = read_each(&self.files, self.recursive)?;
        if let Some(selector) = &self.selector {
            let selector =
                LabelSelector::parse(selector).map_err(|refusal| Failure::other(refusal.message))?;
            manifests.retain(|manifest| selector.matches(&manifest.object));
        }
        Ok((manifests, failures))
    }
}

/// The error if no files are named.
pub(crate) fn no_files() -> Failure {
    Failure::other("must specify one of -f and -k")
}

/// Reads all objects of these files and folders; `-` is standard input.
pub fn read(files: &[String], recursive: bool) -> Result<Vec<Manifest>, Failure> {
    let (manifests, failures) = read_each(files, recursive)?;
    Failure::all(failures).map(|()| manifests)
}

/// As `read`, but collects failures per file.
pub(crate) fn read_each(files: &[String], recursive: bool) -> Result<(Vec<Manifest>, Vec<Failure>), Failure> {
    let (mut all, mut failures) = (Vec::new(), Vec::new());
    let mut note = |read: Result<Vec<Manifest>, Failure>| match read {
        Ok(manifests) => all.extend(manifests),
        Err(failure) => failures.push(failure),
    };
    for file in files {
        match file.as_str() {
            "-" => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.map_err(|error| Failure::other(format!("cannot read standard input: {error}")))?;
                note(parse("STDIN", &text));
            }
            url if url.starts_with("http://") || url.starts_with("https://") => {
                return Err(Failure::other(format!(
                    "cannot read {url}: URLs are not supported\nhint: download it first"
                )));
            }
            path => {
                for file in files_of(Path::new(path), recursive)? {
                    let shown = file.display().to_string();
                    let bytes = fs::read(&file)
                        .map_err(|error| Failure::other(format!("cannot read {shown}: {error}")))?;
                    note(parse(&shown, &String::from_utf8_lossy(&bytes)));
                }
            }
        }
    }
    Ok((all, failures))
}

/// Reads all documents of a text.
pub(crate) fn parse(source: &str, content: &str) -> Result<Vec<Manifest>, Failure> {
    let mut manifests = Vec::new();
    for document in documents(source, content)? {
        if document.is_null() {
            continue;
        }
        if text(&document, "/kind").ends_with("List") && document.get("items").is_some() {
            for item in list(&document, "/items") {
                manifests.push(Manifest { source: source.to_owned(), object: item.clone() });
            }
            continue;
        }
        manifests.push(Manifest { source: source.to_owned(), object: document });
    }
    Ok(manifests)
}

/// Checks manifests and finds their resource types and namespaces, each with its own failure.
pub(crate) async fn resolve_each(
    ctx: &mut ClientContext,
    manifests: Vec<Manifest>,
    validation: Validation,
) -> Result<Vec<Result<ResolvedManifest, Failure>>, Failure> {
    let resources = ctx.resources().await?;
    let place = NamespaceScope { namespace: &ctx.namespace, is_explicit: ctx.namespace_is_explicit };
    let resolve =
        |manifest: Manifest| manifest.checked(validation).and_then(|()| manifest.resolve(&resources, place));
    Ok(manifests.into_iter().map(resolve).collect())
}

impl Manifest {
    /// Checks `kind` only, as without validation.
    pub(crate) fn check_kind(&self) -> Result<(), Failure> {
        if !text(&self.object, "/kind").is_empty() {
            return Ok(());
        }
        let source = &self.source;
        if self.object.is_object() {
            let object = compact(&self.object);
            return Err(Failure::other(format!(
                "unable to decode \"{source}\": Object 'Kind' is missing in '{object}'"
            )));
        }
        let word = go_word(&self.object);
        Err(Failure::other(format!(
            "unable to decode \"{source}\": json: cannot unmarshal {word} into Go value of type unstructured.detector"
        )))
    }

    /// Checks `apiVersion` and `kind`, with the messages for this validation mode.
    pub(crate) fn checked(&self, validation: Validation) -> Result<(), Failure> {
        match validation {
            Validation::Ignore => self.check_kind(),
            Validation::Strict | Validation::Warn => self.check(),
        }
    }

    /// Checks `apiVersion` and `kind`.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if !self.object.is_object() {
            return Err(self.invalid("invalid object to validate"));
        }
        let problem = |field: &str| match self.object.get(field) {
            None | Some(Value::Null) => Some(format!("{field} not set")),
            Some(Value::String(text)) => text.is_empty().then(|| format!("{field} not set")),
            Some(_) => Some(format!("{field} isn't string type")),
        };
        let problems: Vec<String> = ["apiVersion", "kind"].into_iter().filter_map(problem).collect();
        match problems.as_slice() {
            [] => Ok(()),
            [only] => Err(self.invalid(only)),
            several => Err(self.invalid(&format!("[{}]", several.join(", ")))),
        }
    }

    /// Rejects `apiVersion` and `metadata` of a wrong type.
    fn check_types(&self) -> Result<(), Failure> {
        let is_text = |value: &Value| value.is_string() || value.is_null();
        let is_map = |value: &Value| value.is_object() || value.is_null();
        let wrong = match (self.object.get("apiVersion"), self.object.get("metadata")) {
            (Some(version), _) if !is_text(version) => Some((version, "TypeMeta.apiVersion of type string")),
            (_, Some(metadata)) if !is_map(metadata) => Some((metadata, "metadata of type v1.ObjectMeta")),
            _ => None,
        };
        let Some((value, field)) = wrong else { return Ok(()) };
        Err(Failure::other(format!(
            "unable to decode \"{}\": json: cannot unmarshal {} into Go struct field metadataOnlyObject.{field}",
            self.source,
            go_word(value)
        )))
    }

    fn invalid(&self, problem: &str) -> Failure {
        Failure::other(format!(
            "error validating \"{}\": error validating data: {problem}; if you choose to ignore these errors, turn \
             validation off with --validate=false",
            self.source
        ))
    }

    /// Finds the resource type and the namespace of the object.
    pub(crate) fn resolve(
        self,
        resources: &Resources,
        place: NamespaceScope<'_>,
    ) -> Result<ResolvedManifest, Failure> {
        self.check_types()?;
        let (api_version, kind) = (text(&self.object, "/apiVersion"), text(&self.object, "/kind"));
        let name = text(&self.object, "/metadata/name").to_owned();
        let stated_namespace = text(&self.object, "/metadata/namespace").to_owned();
        let Some(resource) = resources.of_kind(api_version, kind).cloned() else {
            return Err(Failure::other(format!(
                "resource mapping not found for name: \"{name}\" namespace: \"{stated_namespace}\" from \"{}\": no matches \
                 for kind \"{kind}\" in version \"{api_version}\"\nensure CRDs are installed first",
                self.source
            )));
        };
        if place.is_explicit
            && resource.namespaced
            && !stated_namespace.is_empty()
            && stated_namespace != place.namespace
        {
            return Err(Failure::other(format!(
                "the namespace from the provided object \"{stated_namespace}\" does not match the namespace \"{}\". You must \
                 pass '--namespace={stated_namespace}' to perform this operation.",
                place.namespace
            )));
        }
        let namespace =
            if stated_namespace.is_empty() { place.namespace.to_owned() } else { stated_namespace };
        let mut object = self.object;
        if resource.namespaced {
            object_mut(&mut object, &["metadata"]).insert("namespace", namespace.clone().into());
        }
        Ok(ResolvedManifest { source: self.source, object, resource, namespace, name })
    }
}

impl ResolvedManifest {
    pub(crate) fn path(&self) -> String {
        self.resource.object(&self.namespace, &self.name)
    }

    pub(crate) fn collection(&self) -> String {
        self.resource.collection(Some(&self.namespace))
    }
}

/// The type of a value in the errors of Go's JSON decoder.
fn go_word(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(_) | Value::Null => "number",
    }
}

fn files_of(path: &Path, recursive: bool) -> Result<Vec<PathBuf>, Failure> {
    if !path.exists() {
        return Err(Failure::other(format!("the path \"{}\" does not exist", path.display())));
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path)
        .map_err(|error| Failure::other(format!("cannot read {}: {error}", path.display())))?;
    let mut entries: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            if recursive {
                files.extend(files_of(&entry, true)?);
            }
        } else if entry.extension().is_some_and(|end| ["json", "yaml", "yml"].iter().any(|one| end == *one)) {
            files.push(entry);
        }
    }
    if files.is_empty() && !recursive {
        return Err(Failure::other(format!(
            "error reading [{}]: recognized file extensions are [.json .yaml .yml]",
            path.display()
        )));
    }
    Ok(files)
}

fn documents(source: &str, content: &str) -> Result<Vec<Value>, Failure> {
    let is_parted = content.lines().any(is_separator);
    if content.trim_start().starts_with('{') && !is_parted {
        return json_documents(content)
            .map_err(|problem| Failure::other(format!("error parsing {source}: {problem}")));
    }
    let mut documents = Vec::new();
    let parts =
        split(content).map_err(|separator| Failure::other(format!("error parsing {source}: {separator}")))?;
    for document in parts {
        let read = plain(document.as_bytes(), Format::Yaml);
        let (value, _) = read.map_err(|problem| {
            Failure::other(format!("error parsing {source}: error converting YAML to JSON: {problem}"))
        })?;
        documents.push(value);
    }
    Ok(documents)
}

/// The documents of a JSON text; errors are Go's, with byte offsets.
fn json_documents(content: &str) -> Result<Vec<Value>, String> {
    let mut stream = serde_json::Deserializer::from_str(content).into_iter::<Value>();
    let mut documents = Vec::new();
    loop {
        let begin = stream.byte_offset();
        match stream.next() {
            None => return Ok(documents),
            Some(Ok(document)) => documents.push(document),
            Some(Err(error)) if error.is_eof() => return Err("unexpected EOF".to_owned()),
            Some(Err(error)) => {
                let before: usize =
                    content.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
                let words = plain(&content.as_bytes()[begin..], Format::Json).err();
                let words = words.unwrap_or_else(|| error.to_string());
                return Err(format!("json: offset {}: {words}", before + error.column()));
            }
        }
    }
}

fn is_separator(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r']))
}

/// The documents of a stream, separated by lines of `---`. Lines are counted from the beginning of a document, and a
/// separator at the beginning of the stream counts as one.
fn split(content: &str) -> Result<Vec<String>, String> {
    let mut documents = vec![String::new()];
    for (nth, line) in content.lines().enumerate() {
        if is_separator(line) {
            let rest = line.trim_start_matches('-').trim();
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(format!("invalid Yaml document separator: {rest}"));
            }
            documents.push(if nth == 0 { "\n".to_owned() } else { String::new() });
        } else if let Some(document) = documents.last_mut() {
            document.push_str(line);
            document.push('\n');
        }
    }
    documents.retain(|document| !document.trim().is_empty());
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_split_and_lists_flattened() {
        let text = "# first\nkind: A\n---\n---\nkind: List\nitems:\n- kind: B\n- kind: C\n---\n# nothing\n";
        let kinds: Vec<_> =
            parse("s.yaml", text).unwrap().into_iter().map(|one| one.object["kind"].clone()).collect();
        assert_eq!(kinds, ["A", "B", "C"]);
        let json = parse("s.json", "{\"kind\":\"A\"}\n{\"kind\":\"B\"}").unwrap();
        assert_eq!(json.len(), 2);
    }

    /// K1 table: a YAML error names its line.
    #[test]
    fn bad_yaml_is_reported_with_its_line() {
        let failure = parse("s.yaml", "a: 1\nb: 2\nc: d: e\n").unwrap_err();
        assert_eq!(
            failure.lines(),
            "error: error parsing s.yaml: error converting YAML to JSON: yaml: line 3: mapping values are not allowed \
             in this context\n"
        );
    }

    /// K1 table: an object without a kind is rejected.
    #[test]
    fn an_object_without_a_kind_is_refused() {
        let manifest = parse("s.yaml", "apiVersion: v1\nmetadata: {name: x}\n").unwrap().remove(0);
        assert_eq!(
            manifest.check().unwrap_err().lines(),
            "error: error validating \"s.yaml\": error validating data: kind not set; if you choose to ignore these \
             errors, turn validation off with --validate=false\n"
        );
    }
}
