//! `label` and `annotate`.

use serde_json::{Map, Value, json};

use super::report::Report;
use crate::call::{Call, PatchKind};
use crate::failure::Failure;
use crate::selection::{BareType, Found, Selection, find};
use crate::session::Session;

/// What is put on objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Labels.
    Labels,
    /// Annotations.
    Annotations,
}

/// Which marks to put on or to take off.
#[derive(Clone, Debug)]
pub struct Relabel {
    /// Labels or annotations.
    pub marks: Marks,
    /// Which objects.
    pub selection: Selection,
    /// `key=value` and `key-`.
    pub changes: Vec<Change>,
    /// Whether marks that are there already may change.
    pub overwrite: bool,
    /// Who writes; kubectl's own name if nothing is said.
    pub manager: Option<String>,
    /// How it is told.
    pub report: Report,
}

/// One change of a mark: its key, and its value unless it goes.
pub type Change = (String, Option<String>);

impl Relabel {
    /// Parts the words into resources, and `key=value` or `key-`.
    pub fn parse(words: &[String]) -> (Vec<String>, Vec<Change>) {
        let (mut resources, mut changes) = (Vec::new(), Vec::new());
        for word in words {
            let change = match (word.split_once('='), word.strip_suffix('-')) {
                (Some((key, value)), _) => Some((key.to_owned(), Some(value.to_owned()))),
                (None, Some(key)) if !resources.is_empty() => Some((key.to_owned(), None)),
                _ => None,
            };
            match change {
                Some(change) => changes.push(change),
                None => resources.push(word.clone()),
            }
        }
        (resources, changes)
    }
}

impl Marks {
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

    /// What is said of an object.
    fn operation(self, changed: bool, taken_off: bool) -> &'static str {
        match (self, changed, taken_off) {
            (Self::Labels, false, _) => "not labeled",
            (Self::Labels, true, false) => "labeled",
            (Self::Labels, true, true) => "unlabeled",
            (Self::Annotations, ..) => "annotated",
        }
    }
}

/// Puts marks on objects, or takes them off.
pub async fn relabel(session: &mut Session, asked: &Relabel) -> Result<(), Failure> {
    if asked.selection.is_empty() {
        return Err(Failure::other(
            "one or more resources must be specified as <resource> <name> or <resource>/<name>",
        ));
    }
    if asked.changes.is_empty() {
        return Err(Failure::other(format!("at least one {} update is required", asked.marks.singular())));
    }
    let (found, mut failures) = find(session, &asked.selection, BareType::Mistake).await?;
    if found.is_empty() && failures.is_empty() {
        session.tell("No resources found");
    }
    for one in &found {
        failures.extend(relabel_one(session, asked, one).await.err());
    }
    Failure::all(failures)
}

async fn relabel_one(session: &mut Session, asked: &Relabel, one: &Found) -> Result<(), Failure> {
    let marks = &one.object["metadata"][asked.marks.member()];
    check(asked, marks)?;
    let mut patch = Map::new();
    for (key, value) in &asked.changes {
        let before = marks.get(key).and_then(Value::as_str);
        match (value, before) {
            (None, None) => session.say(&format!("{} \"{key}\" not found.", asked.marks.singular()))?,
            (None, Some(_)) => drop(patch.insert(key.clone(), Value::Null)),
            (Some(value), before) if before == Some(value) => {}
            (Some(value), _) => drop(patch.insert(key.clone(), value.clone().into())),
        }
    }
    let changed = !patch.is_empty();
    let taken_off = patch.values().all(Value::is_null);
    let object = if changed && !asked.report.dry_run.is_client() {
        let body = json!({"metadata": {asked.marks.member(): patch}});
        let manager = asked.manager.as_deref().unwrap_or(asked.marks.manager());
        session
            .ask(Call::patch(one.path(), PatchKind::Merge, &body).by(manager, asked.report.dry_run))
            .await?
    } else {
        one.object.clone()
    };
    asked.report.tell(session, &one.title(), asked.marks.operation(changed, taken_off), &object)
}

/// Refuses to change what is there already.
fn check(asked: &Relabel, marks: &Value) -> Result<(), Failure> {
    if asked.overwrite {
        return Ok(());
    }
    let taken: Vec<String> = asked
        .changes
        .iter()
        .filter(|(_, value)| value.is_some())
        .filter_map(|(key, value)| {
            let before = marks.get(key)?.as_str()?;
            (value.as_deref() != Some(before)).then(|| format!("'{key}' already has a value ({before})"))
        })
        .collect();
    match (asked.marks, taken.first()) {
        (_, None) => Ok(()),
        (Marks::Labels, Some(first)) => Err(Failure::other(format!("{first}, and --overwrite is false"))),
        (Marks::Annotations, Some(_)) => Err(Failure::other(format!(
            "--overwrite is false but found the following declared annotation(s): {}",
            taken.join("; ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_into_resources_and_changes() {
        let words: Vec<String> = ["deploy", "web", "tier=gold", "old-"].map(str::to_owned).to_vec();
        let (resources, changes) = Relabel::parse(&words);
        assert_eq!(resources, ["deploy", "web"]);
        assert_eq!(changes, [("tier".to_owned(), Some("gold".to_owned())), ("old".to_owned(), None)]);
    }
}
