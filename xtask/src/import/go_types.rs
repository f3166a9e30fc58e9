//! Reads the information that only the Go types of an API package have: JSON names, when a field is omitted, pointers,
//! and the values of enumerations.
//!
//! It knows the layout that gofmt gives these files, not the language.

use std::collections::{BTreeMap, BTreeSet};

use super::message_name;

/// The types of all packages, by names such as `core/v1.Protocol`.
#[derive(Debug, Default)]
pub(super) struct GoTypes {
    /// The fields of structs that have protobuf numbers.
    pub(super) structs: BTreeMap<String, Vec<GoField>>,
    /// Types that are lists and, in protobuf, messages.
    pub(super) lists: BTreeSet<String>,
    /// Types that are marked as enumerations.
    enums: BTreeSet<String>,
    /// Constants by name.
    constants: BTreeMap<String, Constant>,
}

#[derive(Debug)]
struct Constant {
    kind: String,
    /// A text in quotes, or the name of another constant.
    value: String,
}

/// One field of a struct.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GoField {
    pub(super) number: u32,
    /// Its name in JSON; `*` if its own fields replace it.
    pub(super) json: String,
    /// Its name in Go, if it is not embedded.
    pub(super) name: Option<String>,
    /// The flags of `fields.tsv`.
    pub(super) flags: String,
    /// Its type as Go's errors name it, without the mark of a pointer: `map[string]v1.Time`.
    pub(super) kind: String,
    /// The type of it, its elements or its values, if that has a name.
    pub(super) element: Option<String>,
}

/// The packages that a file imports, by their names in the file.
type Imports = BTreeMap<String, String>;

enum Inside {
    TopLevel,
    Imports,
    Struct(String),
}

impl GoTypes {
    /// Adds the types of one file of a package such as `core/v1`.
    pub(super) fn read(&mut self, package: &str, text: &str) {
        let mut inside = Inside::TopLevel;
        let mut imports = Imports::new();
        let mut is_enum = false;
        for line in text.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            if let ["//", marker, ..] = words.as_slice() {
                is_enum |= *marker == "+enum";
                continue;
            }
            match (&inside, words.as_slice()) {
                (_, []) => continue,
                (Inside::TopLevel, ["import", "("]) => inside = Inside::Imports,
                (Inside::TopLevel, ["type", name, "struct", "{"]) => {
                    let name = format!("{package}.{name}");
                    self.structs.insert(name.clone(), Vec::new());
                    inside = Inside::Struct(name);
                }
                (Inside::TopLevel, ["type", name, "struct{}"]) => {
                    self.structs.insert(format!("{package}.{name}"), Vec::new());
                }
                (Inside::TopLevel, ["type", name, kind]) => {
                    let name = format!("{package}.{name}");
                    if kind.starts_with("[]") {
                        self.lists.insert(name.clone());
                    }
                    if is_enum {
                        self.enums.insert(name);
                    }
                }
                (Inside::TopLevel, _) => {
                    self.constants.extend(constant(package, line, &imports));
                }
                (Inside::Imports | Inside::Struct(_), [")" | "}", ..]) => inside = Inside::TopLevel,
                (Inside::Imports, words) => imports.extend(import(words)),
                (Inside::Struct(name), _) => {
                    let fields = self.structs.get_mut(name);
                    if let (Some(fields), Some(field)) = (fields, field(line, package, &imports)) {
                        fields.push(field);
                    }
                }
            }
            is_enum = false;
        }
    }

    /// The values of an enumeration, sorted; none if the type is something else.
    pub(super) fn values(&self, name: &str) -> Option<BTreeSet<&str>> {
        let name = self.enums.get(name)?;
        let constants = self.constants.values().filter(|constant| constant.kind == *name);
        Some(constants.filter_map(|constant| self.text(constant)).collect())
    }

    fn text<'t>(&'t self, constant: &'t Constant) -> Option<&'t str> {
        match constant.value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => self.constants.get(&constant.value).and_then(|other| self.text(other)),
        }
    }
}

/// Reads `"PATH"` or `NAME "PATH"`: the name of a package in the file, and its own name.
fn import(words: &[&str]) -> Option<(String, String)> {
    let path = words.last()?.trim_matches('"');
    let known_as = if words.len() > 1 { words[0] } else { path.rsplit('/').next()? };
    let qualified = message_name(&format!("{}.X", path.replace('/', ".")))?;
    Some((known_as.to_owned(), qualified.strip_suffix(".X")?.to_owned()))
}

/// Reads `NAME TYPE = "VALUE"` or `NAME = TYPE("VALUE")`, where the value may be another constant.
fn constant(package: &str, line: &str, imports: &Imports) -> Option<(String, Constant)> {
    let (declared, value) = line.split_once('=')?;
    let words: Vec<_> = declared.split_whitespace().filter(|word| *word != "const").collect();
    let value = value.trim();
    let (name, kind, value) = match words[..] {
        [name, kind] => (name, kind, value),
        [name] => {
            let (kind, value) = value.strip_suffix(')')?.split_once('(')?;
            (name, kind, value)
        }
        _ => return None,
    };
    let value = if value.starts_with('"') { value.to_owned() } else { element(value, package, imports)? };
    Some((format!("{package}.{name}"), Constant { kind: format!("{package}.{kind}"), value }))
}

/// Reads a field with its tags; none if it has no protobuf number.
fn field(line: &str, package: &str, imports: &Imports) -> Option<GoField> {
    let (declaration, tags) = line.split_once('`')?;
    let kind = declaration.split_whitespace().last()?;
    let number = tag(tags, "protobuf")?.split(',').nth(1)?.parse().ok()?;
    let mut options = tag(tags, "json")?.split(',');
    let json = options.next()?;
    let options: Vec<_> = options.collect();
    let is_inlined = json.is_empty();
    let flags = [
        ('i', is_inlined),
        ('o', !is_inlined && options.contains(&"omitempty")),
        ('z', !is_inlined && options.contains(&"omitzero")),
        ('p', !is_inlined && kind.starts_with('*')),
    ];
    Some(GoField {
        number,
        json: if is_inlined { "*" } else { json }.to_owned(),
        name: declaration.trim().split_once(char::is_whitespace).map(|(name, _)| name.to_owned()),
        flags: flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag).collect(),
        kind: printed(kind.trim_start_matches('*'), package, imports)?,
        element: element(kind, package, imports).filter(|_| !is_inlined),
    })
}

/// A type as Go's package `reflect` prints it: with the last part of the package's path, and `uint8` for `byte`.
fn printed(kind: &str, package: &str, imports: &Imports) -> Option<String> {
    if let Some(element) = kind.strip_prefix("[]") {
        return Some(format!("[]{}", printed(element, package, imports)?));
    }
    if let Some((key, value)) = kind.strip_prefix("map[").and_then(|map| map.split_once(']')) {
        return Some(format!(
            "map[{}]{}",
            printed(key, package, imports)?,
            printed(value, package, imports)?
        ));
    }
    Some(match element(kind, package, imports) {
        Some(name) => short_name(&name).to_owned(),
        None if kind == "byte" => "uint8".to_owned(),
        None => kind.to_owned(),
    })
}

/// The name of a type in Go's errors: `v1.Pod` for `core/v1.Pod`.
pub(super) fn short_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The full name of `T` in `*T`, `[]T` or `map[K]T`; none if it is built into the language.
fn element(kind: &str, package: &str, imports: &Imports) -> Option<String> {
    let name = kind.rsplit([']', '*']).next()?;
    match name.split_once('.') {
        Some((known_as, name)) => Some(format!("{}.{name}", imports.get(known_as)?)),
        None if name.starts_with(char::is_uppercase) => Some(format!("{package}.{name}")),
        None => None,
    }
}

fn tag<'t>(tags: &'t str, name: &str) -> Option<&'t str> {
    let start = tags.find(&format!("{name}:\""))? + name.len() + 2;
    tags[start..].split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
package v1

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Crane lifts.
type Crane struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty" protobuf:"bytes,1,opt,name=metadata"`

	Arm `json:",inline" protobuf:"bytes,2,opt,name=arm"`
	Moods []Mood `json:"moods" protobuf:"bytes,3,rep,name=moods"`
	Limit *int32 `json:"limit,omitempty" protobuf:"varint,4,opt,name=limit"`
	Since metav1.Time `json:"since,omitzero" protobuf:"bytes,5,opt,name=since"`
	Port *v1.Protocol `json:"port" protobuf:"bytes,6,opt,name=port"`
	Keys map[Mood][]byte `json:"keys" protobuf:"bytes,7,rep,name=keys"`
	Secret string `json:"-"`
}

type Empty struct{}

// Mood of a crane.
// +enum
type Mood string

const (
	// Upbeat is the usual one.
	Upbeat Mood = "Upbeat" // always
	Worn   Mood = "worn out"
	Gloomy = Mood("Gloomy")
	Borrowed = Mood(v1.Borrowed)
	Other Kind = "Other"
)

const Angry Mood = "Angry"

type Kind string

type Crew []string
"#;

    fn read() -> GoTypes {
        let mut types = GoTypes::default();
        types.read("harbour/v1", FILE);
        types.read("core/v1", "const Borrowed Whim = \"Wry\"");
        types
    }

    #[test]
    fn tags_have_names_flags_and_types() {
        let types = read();
        let fields: Vec<_> = types.structs["harbour/v1.Crane"]
            .iter()
            .map(|field| {
                (
                    field.number,
                    field.json.as_str(),
                    field.flags.as_str(),
                    field.kind.as_str(),
                    field.element.as_deref().unwrap_or("-"),
                )
            })
            .collect();
        assert_eq!(
            fields,
            [
                (1, "metadata", "o", "v1.ObjectMeta", "meta/v1.ObjectMeta"),
                (2, "*", "i", "v1.Arm", "-"),
                (3, "moods", "", "[]v1.Mood", "harbour/v1.Mood"),
                (4, "limit", "op", "int32", "-"),
                (5, "since", "z", "v1.Time", "meta/v1.Time"),
                (6, "port", "p", "v1.Protocol", "core/v1.Protocol"),
                (7, "keys", "", "map[v1.Mood][]uint8", "-"),
            ]
        );
        assert!(types.structs["harbour/v1.Empty"].is_empty());
        assert!(types.lists.contains("harbour/v1.Crew"));
    }

    #[test]
    fn only_marked_types_are_enumerations() {
        let types = read();
        let moods: Vec<_> = types.values("harbour/v1.Mood").unwrap().into_iter().collect();
        assert_eq!(moods, ["Angry", "Gloomy", "Upbeat", "Wry", "worn out"]);
        assert_eq!(types.values("harbour/v1.Kind"), None);
    }
}
