//! `label` and `annotate`.

use gantry_client::{ApiRequest, PatchForm};
use gantry_json::{Map, Value, json};

use super::result_printer::ResultPrinter;
use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::{members, object_mut, shown};
use crate::resources::ApiResource;
use crate::selection::{BareType, FoundObject, Selection, find_each, for_each};
use crate::verbs::result_printer::WriteParameters as _;

/// The metadata field to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataField {
    /// Labels.
    Labels,
    /// Annotations.
    Annotations,
}

/// The options of `label` and `annotate`.
#[derive(Clone, Debug)]
pub struct LabelAnnotateOptions {
    /// Labels or annotations.
    pub field: MetadataField,
    /// The objects.
    pub selection: Selection,
    /// `key=value` and `key-`.
    pub changes: Vec<MetadataChange>,
    /// The value of `--overwrite`.
    pub overwrite: bool,
    /// The value of `--list`.
    pub list: bool,
    /// The expected resource version.
    pub resource_version: Option<String>,
    /// The field manager; kubectl's own by default.
    pub manager: Option<String>,
    /// How results are printed.
    pub printer: ResultPrinter,
}

/// A change of a label or annotation: its key and its value; `None` removes it.
pub type MetadataChange = (String, Option<String>);

impl LabelAnnotateOptions {
    /// Splits the arguments into resources, and `key=value` or `key-`.
    pub fn parse(
        field: MetadataField,
        words: &[String],
    ) -> Result<(Vec<String>, Vec<MetadataChange>), Failure> {
        let (mut resources, mut changes): (Vec<String>, Vec<MetadataChange>) = (Vec::new(), Vec::new());
        for word in words {
            let change = match (word.split_once('='), word.strip_suffix('-')) {
                (Some((key, value)), _) if !key.is_empty() => Some((key.to_owned(), Some(value.to_owned()))),
                (None, Some(key)) if !key.is_empty() => Some((key.to_owned(), None)),
                _ => None,
            };
            match change {
                Some(change) => changes.push(change),
                None if changes.is_empty() => resources.push(word.clone()),
                None => {
                    return Err(Failure::other(format!(
                        "all resources must be specified before {} changes: {word}",
                        field.singular()
                    )));
                }
            }
        }
        field.check(&changes)?;
        Ok((resources, changes))
    }
}

impl MetadataField {
    fn member(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Annotations => "annotations",
        }
    }

    fn singular(self) -> &'static str {
        match self {
            Self::Labels => "label",
            Self::Annotations => "annotation",
        }
    }

    fn manager(self) -> &'static str {
        match self {
            Self::Labels => "kubectl-label",
            Self::Annotations => "kubectl-annotate",
        }
    }

    /// Rejects contradicting changes and invalid values.
    fn check(self, changes: &[MetadataChange]) -> Result<(), Failure> {
        let taken_off = |key: &String| changes.contains(&(key.clone(), None));
        let mut both = changes.iter().filter(|(key, value)| value.is_some() && taken_off(key));
        match (self, both.next()) {
            (Self::Labels, Some(_)) => {
                return Err(Failure::other("can not both modify and remove a label in the same command"));
            }
            (Self::Annotations, Some((key, _))) => {
                return Err(Failure::other(format!(
                    "can not both modify and remove the following annotation(s) in the same command: {key}"
                )));
            }
            (_, None) => {}
        }
        let malformed =
            changes.iter().find(|(_, value)| value.as_deref().is_some_and(|value| value.contains('=')));
        if let (Self::Labels, Some((key, Some(value)))) = (self, malformed) {
            return Err(Failure::other(format!("invalid label spec: {key}={value}")));
        }
        let wrong = changes.iter().find(|(_, value)| value.as_deref().is_some_and(|value| !is_label(value)));
        match (self, wrong) {
            (Self::Labels, Some((key, value))) => Err(Failure::other(format!(
                "invalid label value: \"{key}={}\": a valid label must be an empty string or consist of alphanumeric \
                 characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  \
                 or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                value.as_deref().unwrap_or_default()
            ))),
            _ => Ok(()),
        }
    }

    /// The operation in the result line.
    fn operation(self, changed: bool, taken_off: bool) -> &'static str {
        match (self, changed, taken_off) {
            (Self::Labels, false, _) => "not labeled",
            (Self::Labels, true, false) => "labeled",
            (Self::Labels, true, true) => "unlabeled",
            (Self::Annotations, ..) => "annotated",
        }
    }
}

/// Sets or removes labels or annotations.
pub async fn label_or_annotate(
    ctx: &mut ClientContext,
    options: &LabelAnnotateOptions,
) -> Result<(), Failure> {
    if options.selection.is_empty() {
        return Err(Failure::other(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>",
        ));
    }
    if options.selection.local && options.selection.files.is_empty() {
        let example = if options.field == MetadataField::Labels { "pod" } else { "rsrc" };
        return Err(Failure::other(format!(
            "can only use local files by -f {example}.yaml or --filename={example}.json when --local=true is set"
        )));
    }
    if options.selection.all && options.selection.fields.is_some() {
        return Err(Failure::other("cannot set --all and --field-selector at the same time"));
    }
    if options.changes.is_empty() && !options.list {
        return Err(Failure::other(format!("at least one {} update is required", options.field.singular())));
    }
    let found = find_each(ctx, &options.selection, BareType::Error).await?;
    let alone = found.len() == 1 && !options.selection.all && options.selection.selector.is_none();
    if options.resource_version.is_some() && !alone {
        return Err(Failure::other("--resource-version may only be used with a single resource"));
    }
    for_each(ctx, found, async |ctx, one| change_object(ctx, options, &one, alone).await).await
}

async fn change_object(
    ctx: &mut ClientContext,
    options: &LabelAnnotateOptions,
    one: &FoundObject,
    alone: bool,
) -> Result<(), Failure> {
    let member = options.field.member();
    let entries = &one.object["metadata"][member];
    check(options, entries)?;
    let mut patch = Map::new();
    for (key, value) in &options.changes {
        let before = entries.get(key).and_then(Value::as_str);
        match (value, before) {
            (None, None) if options.field == MetadataField::Labels => {
                ctx.println(&format!("label \"{key}\" not found."))?;
            }
            (None, None) => {}
            (None, Some(_)) => drop(patch.insert(key.clone(), Value::Null)),
            (Some(value), before) if before == Some(value) => {}
            (Some(value), _) => drop(patch.insert(key.clone(), value.clone().into())),
        }
    }
    let changed = !patch.is_empty();
    let taken_off = patch.values().all(Value::is_null);
    let object = if changed && !options.printer.dry_run.is_client() && !options.selection.local {
        let mut body = json!({"metadata": {member: patch}});
        if let Some(version) = &options.resource_version {
            body["metadata"]["resourceVersion"] = version.as_str().into();
        }
        let manager = options.manager.as_deref().unwrap_or(options.field.manager());
        ctx.request(
            ApiRequest::patch(one.path(), PatchForm::JsonMerge, &body).by(manager, options.printer.dry_run),
        )
        .await?
    } else {
        marked(&one.object, member, patch)
    };
    if options.list {
        return list(ctx, options, one, &object, alone);
    }
    options.printer.print(ctx, &one.title(), options.field.operation(changed, taken_off), &object)
}

/// The object after the change.
fn marked(object: &Value, member: &str, patch: Map) -> Value {
    let mut object = object.clone();
    if !patch.is_empty() {
        let entries = object_mut(&mut object, &["metadata", member]);
        for (key, value) in patch {
            if value.is_null() {
                entries.remove(&key);
            } else {
                entries.insert(key, value);
            }
        }
    }
    object
}

/// Prints the labels or annotations of an object, below its name if there are more objects.
fn list(
    ctx: &mut ClientContext,
    options: &LabelAnnotateOptions,
    one: &FoundObject,
    object: &Value,
    alone: bool,
) -> Result<(), Failure> {
    let indent = if alone { "" } else { " " };
    if !alone {
        let ApiResource { kind, group, .. } = &one.resource;
        ctx.println(&format!("Listing {} for {kind}.{group}/{}:", options.field.member(), one.name))?;
    }
    for (key, value) in members(object, &format!("/metadata/{}", options.field.member())) {
        ctx.println(&format!("{indent}{key}={}", shown(value)))?;
    }
    Ok(())
}

/// Whether a text is a valid label value.
fn is_label(value: &str) -> bool {
    let is_inner = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let is_outer = |letter: Option<char>| letter.is_none_or(|letter| letter.is_ascii_alphanumeric());
    value.chars().all(is_inner) && is_outer(value.chars().next()) && is_outer(value.chars().next_back())
}

/// Rejects changes of existing values without `--overwrite`.
fn check(options: &LabelAnnotateOptions, entries: &Value) -> Result<(), Failure> {
    if options.overwrite {
        return Ok(());
    }
    let taken: Vec<String> = options
        .changes
        .iter()
        .filter(|(_, value)| value.is_some())
        .filter_map(|(key, value)| {
            let before = entries.get(key)?.as_str()?;
            (value.as_deref() != Some(before)).then(|| format!("'{key}' already has a value ({before})"))
        })
        .collect();
    match (options.field, taken.first()) {
        (_, None) => Ok(()),
        (MetadataField::Labels, Some(first)) => {
            Err(Failure::other(format!("{first}, and --overwrite is false")))
        }
        (MetadataField::Annotations, Some(_)) => Err(Failure::other(format!(
            "--overwrite is false but found the following declared annotation(s): {}",
            taken.join("; ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_into_resources_and_changes() {
        let words: Vec<String> = ["deploy", "web", "tier=gold", "old-"].map(str::to_owned).to_vec();
        let (resources, changes) = LabelAnnotateOptions::parse(MetadataField::Labels, &words).unwrap();
        assert_eq!(resources, ["deploy", "web"]);
        assert_eq!(changes, [("tier".to_owned(), Some("gold".to_owned())), ("old".to_owned(), None)]);
    }

    #[test]
    fn changes_that_contradict_each_other_are_refused() {
        let rendered = |field: MetadataField, words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            LabelAnnotateOptions::parse(field, &words).unwrap_err().lines()
        };
        assert_eq!(
            rendered(MetadataField::Labels, &["deploy", "web", "a=b", "c"]),
            "error: all resources must be specified before label changes: c\n"
        );
        assert_eq!(
            rendered(MetadataField::Labels, &["deploy", "web", "a=b", "a-"]),
            "error: can not both modify and remove a label in the same command\n"
        );
        assert_eq!(
            rendered(MetadataField::Annotations, &["deploy", "web", "a=b", "a-"]),
            "error: can not both modify and remove the following annotation(s) in the same command: a\n"
        );
        assert_eq!(
            rendered(MetadataField::Labels, &["deploy", "web", "a=b=c"]),
            "error: invalid label spec: a=b=c\n"
        );
        let wrong = rendered(MetadataField::Labels, &["deploy", "web", "a=b c"]);
        assert!(wrong.starts_with("error: invalid label value: \"a=b c\": a valid label must"), "{wrong}");
    }
}
