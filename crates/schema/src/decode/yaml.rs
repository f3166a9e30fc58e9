//! Parses YAML into a tree: the scalars of YAML 1.1, aliases, merge keys.
//!
//! Kubernetes converts YAML to JSON first, so members are sorted by name and numbers lose the form in which they were
//! written. Duplicates are reported with their line. Only the first document of a stream is used.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use super::Finding;
use super::tree::{Document, ObjectCount, SHALLOW, Tree};
use super::yaml_errors::{alias_name, byte_of, has_control_characters, in_go_words};

/// The most nodes, and the most bytes of scalars, of a document with expanded aliases. Copies kept for aliases count.
const MOST_NODES: usize = 500_000;
const MOST_BYTES: usize = 16 << 20;
const TOO_DEEP: &str = "yaml: exceeded max depth";
const TOO_LARGE: &str = "yaml: document contains excessive aliasing";

/// Parses the first document; findings are duplicate keys.
pub(super) fn read(bytes: &[u8]) -> Result<(Document, Vec<Finding>), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "yaml: invalid leading UTF-8 octet".to_owned())?;
    if has_control_characters(text) {
        return Err("yaml: control characters are not allowed".to_owned());
    }
    let mut builder = Builder { text, ..Builder::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| in_go_words(&error, text))?;
        if matches!(event, Event::DocumentEnd | Event::StreamEnd) {
            break;
        }
        builder.event(event, span)?;
    }
    if let Some(problem) = builder.undecodable.take() {
        return Err(problem);
    }
    let findings = builder.doubles();
    Ok((Document { root: builder.root, depth: SHALLOW }, findings))
}

#[derive(Default)]
struct Builder<'t> {
    text: &'t str,
    /// An error that Go reports only after it has parsed the whole text.
    undecodable: Option<String>,
    root: Tree,
    open: Vec<Open>,
    /// Complete values by the number of their anchor.
    anchors: BTreeMap<usize, (Tree, Extent)>,
    nodes: usize,
    objects: ObjectCount,
    bytes: usize,
    doubled: Vec<String>,
}

struct Open {
    anchor: usize,
    /// The extent of the document before this value.
    before: Extent,
    /// The height of its highest child so far.
    height: usize,
    inside: Inside,
}

/// How large an expanded value is.
#[derive(Clone, Copy)]
struct Extent {
    nodes: usize,
    objects: usize,
    bytes: usize,
    /// The levels of lists and mappings.
    height: usize,
}

enum Inside {
    List(Vec<Tree>),
    Object { members: BTreeMap<String, Tree>, merged: BTreeMap<String, Tree>, key: Option<Key> },
}

enum Key {
    Named(String),
    /// `<<`: the members of the value are merged in, without replacing others.
    Merge,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.filter(|tag| tag.is_yaml_core_schema());
                let tag = tag.as_ref().map(|tag| tag.suffix.as_str());
                let plain = style == ScalarStyle::Plain;
                if plain && tag.is_none() && text == "<<" && self.awaits_key() {
                    self.set_key(Key::Merge);
                    return Ok(());
                }
                let value = match tag {
                    Some("str" | "binary") => Tree::String(text.into()),
                    None if !plain => Tree::String(text.into()),
                    _ => match scalar(&text) {
                        Ok(value) => value,
                        Err(problem) => {
                            self.undecodable.get_or_insert(problem);
                            Tree::Null
                        }
                    },
                };
                if let Some(tag) = tag.filter(|tag| !is_tagged(&value, tag)) {
                    let problem = format!("yaml: cannot decode !!str `{}` as a !!{tag}", name(&value));
                    self.undecodable.get_or_insert(problem);
                }
                let extent = Extent { nodes: 1, objects: 0, bytes: scalar_bytes(&value), height: 0 };
                self.count(extent)?;
                self.whole(value, anchor, extent, span)
            }
            Event::SequenceStart(anchor, _) => self.enter(anchor, Inside::List(Vec::new())),
            Event::MappingStart(anchor, _) => self.enter(
                anchor,
                Inside::Object { members: BTreeMap::new(), merged: BTreeMap::new(), key: None },
            ),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(closed) = self.open.pop() else { return Ok(()) };
                let objects = usize::from(matches!(closed.inside, Inside::Object { .. }));
                self.count(Extent { nodes: 1, objects, bytes: 0, height: 0 })?;
                let (before, now) = (closed.before, self.extent());
                let extent = Extent {
                    nodes: now.nodes - before.nodes,
                    objects: now.objects - before.objects,
                    bytes: now.bytes - before.bytes,
                    height: closed.height + 1,
                };
                self.whole(closed.inside.close(), closed.anchor, extent, span)
            }
            Event::Alias(anchor) => {
                let Some(&(_, extent)) = self.anchors.get(&anchor) else {
                    // The anchor is known, but its value is not complete yet.
                    let at = byte_of(self.text, span.start.index());
                    return Err(format!(
                        "yaml: anchor '{}' value contains itself",
                        alias_name(self.text, at)
                    ));
                };
                // Refused before it is copied: a few aliases of aliases expand to more than fits into memory.
                self.count(extent)?;
                let value = self.anchors.get(&anchor).map(|(value, _)| value.clone()).unwrap_or_default();
                self.whole(value, 0, extent, span)
            }
            _ => Ok(()),
        }
    }

    fn enter(&mut self, anchor: usize, inside: Inside) -> Result<(), String> {
        if self.open.len() >= SHALLOW {
            return Err(TOO_DEEP.to_owned());
        }
        self.open.push(Open { anchor, before: self.extent(), height: 0, inside });
        Ok(())
    }

    /// How large the document is so far.
    fn extent(&self) -> Extent {
        Extent { nodes: self.nodes, objects: self.objects.get(), bytes: self.bytes, height: 0 }
    }

    /// Counts a value at the current level; returns an error if the document becomes too large or too deep.
    fn count(&mut self, extent: Extent) -> Result<(), String> {
        self.nodes += extent.nodes;
        self.bytes += extent.bytes;
        if self.nodes > MOST_NODES || self.bytes > MOST_BYTES {
            return Err(TOO_LARGE.to_owned());
        }
        self.objects.add(extent.objects).map_err(|problem| format!("yaml: {problem}"))?;
        if self.open.len() + extent.height > SHALLOW {
            return Err(TOO_DEEP.to_owned());
        }
        Ok(())
    }

    /// Adds a complete value to the open list or mapping.
    fn whole(&mut self, value: Tree, anchor: usize, extent: Extent, span: Span) -> Result<(), String> {
        if anchor > 0 {
            self.count(extent)?;
            self.anchors.insert(anchor, (value.clone(), extent));
        }
        if let Some(open) = self.open.last_mut() {
            open.height = open.height.max(extent.height);
        }
        match self.open.last_mut().map(|open| &mut open.inside) {
            None => self.root = value,
            Some(Inside::List(elements)) => elements.push(value),
            Some(Inside::Object { key: slot @ None, .. }) => {
                if matches!(value, Tree::List(_) | Tree::Object(_)) {
                    self.undecodable
                        .get_or_insert_with(|| format!("yaml: invalid map key: {}", go_syntax(&value)));
                }
                *slot = Some(Key::Named(name(&value)));
            }
            Some(Inside::Object { members, merged, key }) => match key.take() {
                Some(Key::Named(name)) => {
                    if members.contains_key(&name) {
                        let line = span.start.line();
                        self.doubled.push(format!("  line {line}: key {name:?} already set in map"));
                    }
                    members.insert(name, value);
                }
                _ => {
                    if let Err(problem) = merge(value, merged) {
                        self.undecodable.get_or_insert(problem);
                    }
                }
            },
        }
        Ok(())
    }

    fn awaits_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { inside: Inside::Object { key: None, .. }, .. }))
    }

    fn set_key(&mut self, new: Key) {
        if let Some(Open { inside: Inside::Object { key, .. }, .. }) = self.open.last_mut() {
            *key = Some(new);
        }
    }

    fn doubles(&self) -> Vec<Finding> {
        if self.doubled.is_empty() {
            return Vec::new();
        }
        vec![Finding::Yaml(format!("yaml: unmarshal errors:\n{}", self.doubled.join("\n")))]
    }
}

impl Inside {
    fn close(self) -> Tree {
        match self {
            Self::List(elements) => Tree::List(elements),
            Self::Object { mut members, merged, .. } => {
                for (name, value) in merged {
                    members.entry(name).or_insert(value);
                }
                Tree::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
            }
        }
    }
}

fn merge(value: Tree, merged: &mut BTreeMap<String, Tree>) -> Result<(), String> {
    match value {
        Tree::Object(members) => {
            for (name, value) in members {
                merged.entry(name.into()).or_insert(value);
            }
            Ok(())
        }
        Tree::List(elements) => elements.into_iter().try_for_each(|element| merge(element, merged)),
        _ => Err("yaml: map merge requires map or sequence of maps as the value".to_owned()),
    }
}

/// A key as a string, whatever its type.
fn name(key: &Tree) -> String {
    match key {
        Tree::String(text) | Tree::Number(text) => text.to_string(),
        Tree::Bool(boolean) => boolean.to_string(),
        Tree::Null => "null".to_owned(),
        Tree::List(_) | Tree::Object(_) | Tree::Stored(_) => String::new(),
    }
}

/// The bytes of a scalar's text.
fn scalar_bytes(value: &Tree) -> usize {
    match value {
        Tree::String(text) | Tree::Number(text) => text.len(),
        _ => 0,
    }
}

/// Whether a value has the type of its tag.
fn is_tagged(value: &Tree, tag: &str) -> bool {
    match tag {
        "int" => matches!(value, Tree::Number(digits) if !digits.contains(['.', 'e'])),
        "float" => matches!(value, Tree::Number(_)),
        "bool" => matches!(value, Tree::Bool(_)),
        _ => true,
    }
}

/// A value in Go syntax.
fn go_syntax(value: &Tree) -> String {
    match value {
        Tree::Null => "interface {}(nil)".to_owned(),
        Tree::Bool(boolean) => boolean.to_string(),
        Tree::Number(digits) => digits.to_string(),
        Tree::String(text) => format!("{text:?}"),
        Tree::List(elements) => {
            let elements: Vec<String> = elements.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", elements.join(", "))
        }
        Tree::Object(members) => {
            let members = members.iter().map(|(key, value)| format!("{key:?}:{}", go_syntax(value)));
            format!("map[interface {{}}]interface {{}}{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        // Documents are not stored objects.
        Tree::Stored(value) => value.to_string(),
    }
}

/// Parses a scalar without quotes as in YAML 1.1.
fn scalar(text: &str) -> Result<Tree, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => Tree::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            Tree::Bool(false)
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Err("json: unsupported value: +Inf".to_owned());
        }
        "-.inf" | "-.Inf" | "-.INF" => return Err("json: unsupported value: -Inf".to_owned()),
        ".nan" | ".NaN" | ".NAN" => return Err("json: unsupported value: NaN".to_owned()),
        _ if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            Tree::String(text.into())
        }
        _ => number(text).map_or_else(|| Tree::String(text.into()), |digits| Tree::Number(digits.into())),
    })
}

/// A number in JSON's form.
fn number(text: &str) -> Option<String> {
    let digits = text.replace('_', "");
    let (sign, size) = match digits.strip_prefix('-') {
        Some(size) => ("-", size),
        None => ("", digits.strip_prefix('+').unwrap_or(&digits)),
    };
    if !size.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let prefixed =
        [("0b", 2), ("0x", 16), ("0X", 16), ("0o", 8), ("0", 8)].into_iter().find_map(|(prefix, radix)| {
            let rest = size.strip_prefix(prefix).filter(|rest| !rest.is_empty())?;
            u64::from_str_radix(rest, radix).ok()
        });
    if let Some(value) = prefixed {
        return Some(format!("{}{value}", if value == 0 { "" } else { sign }));
    }
    if size.bytes().all(|b| b.is_ascii_digit()) && size.parse::<u64>().is_ok() {
        return Some(format!("{sign}{}", size.parse::<u64>().ok()?));
    }
    let mantissa = size.split(['e', 'E']).next().unwrap_or(size);
    let float_like = mantissa.bytes().all(|b| b.is_ascii_digit() || b == b'.') && mantissa != ".";
    let value: f64 = size.parse().ok().filter(|value: &f64| value.is_finite() && float_like)?;
    Some(format!("{}{}", if value == 0.0 { "" } else { sign }, shortest(value)))
}

/// Go writes large and small numbers with an exponent and all others without.
fn shortest(value: f64) -> String {
    if value != 0.0 && !(1e-6..1e21).contains(&value) { format!("{value:e}") } else { format!("{value}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::{Value, json};

    fn value(text: &str) -> Value {
        read(text.as_bytes()).unwrap().0.root.take_value()
    }

    /// A2.12: YAML 1.1 has more words for true and false, but not in quotes.
    #[test]
    fn plain_scalars_are_those_of_yaml_1_1() {
        assert_eq!(
            value(
                "{a: y, b: off, c: 'on', d: ~, e: 0x1F, f: 010, g: 1_000, h: 2.0, i: 1e3, j: 2001-01-01, k: +5}"
            ),
            json!({"a": true, "b": false, "c": "on", "d": null, "e": 31, "f": 8, "g": 1000, "h": 2, "i": 1000,
                   "j": "2001-01-01", "k": 5})
        );
        assert_eq!(
            value("{a: !!str 5, 1: x, y: y, v: 1.2.3, w: 08, m: -0.5, t: 12:30:45}"),
            json!({
                "a": "5", "1": "x", "true": true, "v": "1.2.3", "w": 8, "m": -0.5, "t": "12:30:45"
            })
        );
    }

    #[test]
    fn text_blocks_and_the_first_document_are_read() {
        assert_eq!(
            value("data:\n  a: |\n    two\n    lines\n---\nother: 1\n"),
            json!({"data": {"a": "two\nlines\n"}})
        );
        assert_eq!(value(""), json!(null));
    }

    #[test]
    fn aliases_and_merge_keys_are_resolved() {
        assert_eq!(
            value("base: &b {x: 1, z: 2}\nmore:\n  <<: *b\n  z: 3\nsame: *b\n"),
            json!({"base": {"x": 1, "z": 2}, "more": {"x": 1, "z": 3}, "same": {"x": 1, "z": 2}})
        );
    }

    /// A2.23: duplicate keys are reported, and the last one is used.
    #[test]
    fn duplicate_keys_are_reported_with_their_line() {
        let (mut document, findings) = read(b"data:\n  a: 1\n  a: 2\n").unwrap();
        assert_eq!(document.root.take_value(), json!({"data": {"a": 2}}));
        let messages: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["yaml: unmarshal errors:\n  line 3: key \"a\" already set in map"]);
    }

    #[test]
    fn alias_bombs_and_invalid_documents_are_refused() {
        let mut bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
        for level in 1..8 {
            let before = format!("*a{}", level - 1);
            let row = format!("a{level}: &a{level} [{}]\n", vec![before; 10].join(", "));
            bomb.push_str(&row);
        }
        assert_eq!(read(bomb.as_bytes()).unwrap_err(), "yaml: document contains excessive aliasing");
        assert!(read(b"a: [").unwrap_err().starts_with("yaml: line"));
        assert!(read(b"\xff").is_err() && read(b"? [a]\n: b\n").is_err());
        assert!(
            read("[".repeat(20_000).as_bytes()).is_err() && read("- ".repeat(20_000).as_bytes()).is_err()
        );
    }

    /// A2.12: aliases are bounded in depth, nodes and bytes before they are expanded.
    #[test]
    fn aliases_that_expand_too_far_are_refused() {
        let nested = |level: usize, inner: &str| {
            format!("a{level}: &a{level} {}{inner}{}\n", "[".repeat(200), "]".repeat(200))
        };
        let aliases = (1..70).map(|level| nested(level, &format!("*a{}", level - 1)));
        let deep = nested(0, "1") + &aliases.collect::<Vec<_>>().concat();
        assert_eq!(read(deep.as_bytes()).unwrap_err(), TOO_DEEP);

        let long = format!("x: &a \"{}\"\ny: [{}]\n", "z".repeat(1 << 20), vec!["*a"; 20_000].join(", "));
        assert_eq!(read(long.as_bytes()).unwrap_err(), TOO_LARGE);

        // Each anchored list would be copied once for each level around it.
        let levels = 60;
        let anchored = (0..levels).map(|level| format!("&b{level} [")).collect::<Vec<_>>().concat();
        let copies = format!("{anchored}\"{}\"{}", "z".repeat(1 << 20), "]".repeat(levels));
        assert_eq!(read(copies.as_bytes()).unwrap_err(), TOO_LARGE);
    }

    /// Anchors are resolved without a search, so many of them take milliseconds.
    #[test]
    fn many_anchors_are_resolved() {
        let pairs = (0..80_000).map(|n| format!("- &a{n} x\n- *a{n}\n")).collect::<Vec<_>>().concat();
        assert_eq!(value(&pairs).as_array().unwrap().len(), 160_000);
    }
}
