//! Profiles: how pods behave unless they say otherwise.

use std::fmt;

use gantry_registry::decode::{self, Finding, Format};
use serde_json::{Map, Value};

use super::{InvalidTrait, Pull, Span, Traits};

/// How pods behave unless they say otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    default: Traits,
    images: Vec<ImageRule>,
}

/// Traits of some images.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ImageRule {
    which: Images,
    traits: Traits,
}

/// Which images.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Images {
    /// Those that match a pattern with stars.
    Like(String),
    /// Those whose tag contains `broken` or is `404`.
    Broken,
}

/// Why a file is no profile: where in it, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidProfile {
    /// It is neither YAML nor JSON; the reader's words, with the line.
    Syntax(String),
    /// A field that nobody knows or that stands twice.
    Field {
        /// Where, such as `images[1].pattern`.
        path: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
}

impl Profile {
    /// How pods behave when nobody says anything.
    ///
    /// Images whose tag contains `broken` or is `404` cannot be pulled, so that anyone can see a rollout get stuck.
    pub fn built_in() -> Self {
        let default = Traits {
            pull: Some(Pull::Works),
            pull_seconds: Some(Span::between(500, 1500)),
            start_seconds: Some(Span::between(200, 600)),
            ready_seconds: Some(Span::millis(0)),
            terminate_seconds: Some(Span::between(300, 900)),
            ..Traits::default()
        };
        let fails = Traits { pull: Some(Pull::Fails), ..Traits::default() };
        Self { default, images: vec![ImageRule { which: Images::Broken, traits: fails }] }
    }

    /// Reads a profile: the built-in one, and on top of it what the file says.
    ///
    /// ```yaml
    /// default:                  # for every container
    ///   start-seconds: 1..3     # a range: each pod gets its own
    /// images:                   # for some images; all rules that match count, the last one most
    ///   - pattern: "*/shop:*"   # a star stands for any text
    ///     ready-seconds: 10
    ///   - pattern: "*:crash"
    ///     crash-after: 5
    ///     exit-code: 3
    /// ```
    ///
    /// The names are those of [`Traits::set`].
    pub fn read(text: &str) -> Result<Self, InvalidProfile> {
        let mut profile = Self::built_in();
        let (value, findings) =
            decode::plain(text.as_bytes(), Format::Yaml).map_err(InvalidProfile::Syntax)?;
        if let Some(finding) = findings.first() {
            return Err(found(finding));
        }
        let sections = match value {
            Value::Null => Map::new(),
            other => object(other, "the file")?,
        };
        for (name, section) in sections {
            match name.as_str() {
                "default" => {
                    let traits = traits(object(section, "default")?, "default")?;
                    profile.default = profile.default.overlaid(&traits);
                }
                "images" => profile.images.extend(rules(section)?),
                _ => return Err(field(name, "there is no such section; there are default and images")),
            }
        }
        Ok(profile)
    }

    /// How containers of an image behave, before the pod says anything.
    pub(crate) fn traits_of(&self, image: &str) -> Traits {
        let rules = self.images.iter().filter(|rule| rule.which.contain(image));
        rules.fold(self.default, |traits, rule| traits.overlaid(&rule.traits))
    }
}

impl Images {
    fn contain(&self, image: &str) -> bool {
        match self {
            Self::Like(pattern) => matches(pattern, image),
            Self::Broken => tag(image).is_some_and(|tag| tag == "404" || tag.contains("broken")),
        }
    }
}

/// The tag of an image; the port of a registry is none.
fn tag(image: &str) -> Option<&str> {
    let last = image.split('@').next()?.rsplit('/').next()?;
    last.split_once(':').map(|(_, tag)| tag)
}

fn rules(section: Value) -> Result<Vec<ImageRule>, InvalidProfile> {
    let Value::Array(rules) = section else {
        return Err(field("images", "this is no list; begin each rule with `- pattern: ...`"));
    };
    rules.into_iter().enumerate().map(|(n, rule)| image_rule(rule, &format!("images[{n}]"))).collect()
}

fn image_rule(rule: Value, path: &str) -> Result<ImageRule, InvalidProfile> {
    let mut rule = object(rule, path)?;
    match rule.remove("pattern") {
        Some(Value::String(pattern)) => {
            Ok(ImageRule { which: Images::Like(pattern), traits: traits(rule, path)? })
        }
        Some(_) => Err(field(format!("{path}.pattern"), "this is no text; put it in quotes")),
        None => Err(field(format!("{path}.pattern"), "it is missing; write an image such as \"*:crash\"")),
    }
}

fn traits(written: Map<String, Value>, path: &str) -> Result<Traits, InvalidProfile> {
    let mut traits = Traits::default();
    for (name, value) in written {
        let text = match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let invalid = |problem: InvalidTrait| field(path, &problem.to_string());
        traits.set(&name, &text).map_err(invalid)?;
    }
    Ok(traits)
}

fn object(value: Value, path: &str) -> Result<Map<String, Value>, InvalidProfile> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(field(path, "this has no fields; write `name: value` lines")),
    }
}

fn found(finding: &Finding) -> InvalidProfile {
    match finding {
        Finding::Duplicate(path) => field(path, "it stands twice; remove one"),
        Finding::Unknown(path) => field(path, "it is unknown; remove it"),
        Finding::Yaml(words) => InvalidProfile::Syntax(words.clone()),
        Finding::Operation(finding) => found(finding),
    }
}

fn field(path: impl Into<String>, problem: &str) -> InvalidProfile {
    InvalidProfile::Field { path: path.into(), problem: problem.to_owned() }
}

/// Whether a text matches a pattern in which stars stand for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl fmt::Display for InvalidProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(words) => f.write_str(words),
            Self::Field { path, problem } => write!(f, "{path}: {problem}"),
        }
    }
}

impl std::error::Error for InvalidProfile {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::Ready;

    fn problem(text: &str) -> String {
        Profile::read(text).unwrap_err().to_string()
    }

    #[test]
    fn a_broken_tag_cannot_be_pulled() {
        let profile = Profile::built_in();
        for (image, pull) in [
            ("nginx:broken", Pull::Fails),
            ("registry:5000/shop:v2-broken-again", Pull::Fails),
            ("nginx:404", Pull::Fails),
            ("nginx", Pull::Works),
            ("broken", Pull::Works),
            ("localhost:5000/broken", Pull::Works),
            ("nginx:1.404", Pull::Works),
        ] {
            assert_eq!(profile.traits_of(image).pull, Some(pull), "{image}");
        }
    }

    #[test]
    fn the_last_rule_that_matches_counts_most() {
        let profile = Profile::read(
            "default: {start-seconds: 1..3}\n\
             images:\n\
             - {pattern: \"*/shop:*\", ready-seconds: 10, start-seconds: 2}\n\
             - {pattern: \"*:404\", image-pull: works}\n\
             - {pattern: \"*/shop:slow\", ready: never}\n",
        )
        .unwrap();
        let shop = profile.traits_of("r.io/shop:slow");
        assert_eq!(shop.start_seconds, Some(Span::millis(2000)));
        assert_eq!(shop.ready_seconds, Some(Span::millis(10_000)));
        assert_eq!(shop.ready, Some(Ready::Never));
        assert_eq!(profile.traits_of("other:404").pull, Some(Pull::Works));
        assert_eq!(profile.traits_of("other").start_seconds, Some(Span::between(1000, 3000)));
        assert_eq!(profile.traits_of("other").pull_seconds, Some(Span::between(500, 1500)), "as built in");
    }

    #[test]
    fn json_is_read_as_well_and_an_empty_file_says_nothing() {
        let json =
            Profile::read("{\"images\": [{\"pattern\": \"*\", \"crash-after\": 5, \"exit-code\": 3}]}")
                .unwrap();
        assert_eq!(json.traits_of("x").exit_code, Some(3));
        assert_eq!(Profile::read("").unwrap(), Profile::built_in());
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        assert_eq!(
            problem("defaults: {}"),
            "defaults: there is no such section; there are default and images"
        );
        assert_eq!(problem("images: {}"), "images: this is no list; begin each rule with `- pattern: ...`");
        assert_eq!(
            problem("images: [{pattern: a}, {ready: never}]"),
            "images[1].pattern: it is missing; write an image such as \"*:crash\""
        );
        assert_eq!(
            problem("default: {start-seconds: soon}"),
            "default: start-seconds: \"soon\" is not a number of seconds such as 2.5, or a range such as 1..3"
        );
        assert_eq!(
            problem("images: [{pattern: a, ready: maybe}]"),
            "images[0]: ready: \"maybe\" is not eventually or never"
        );
        assert!(
            problem("default: {colour: red}")
                .starts_with("default: colour: there is no such trait; there are image-pull")
        );
        assert!(problem("default: {flap-seconds: 0}").starts_with("default: flap-seconds"));
        assert!(problem("default: {exit-code: 256}").starts_with("default: exit-code"));
        assert_eq!(problem("[1]"), "the file: this has no fields; write `name: value` lines");
    }

    #[test]
    fn syntax_errors_tell_the_line() {
        assert!(
            problem("default:\n  start-seconds: [1\n").contains("line"),
            "{}",
            problem("default:\n  start-seconds: [1\n")
        );
        assert!(problem("default: {ready: never, ready: never}").contains("ready"));
    }

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text) in
            [("*", ""), ("a*c", "abc"), ("a*c", "ac"), ("*b*", "abc"), ("abc", "abc"), ("*:x*", "a:b:x")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*c", "ab"), ("*b*b", "ab"), ("ab*ba", "aba"), ("", "a")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
