//! Profiles: the behaviour of pods without annotations.

use std::fmt;

use gantry_json::{Map, Value};
use gantry_schema::decode::{self, Finding, Format};

use super::{DurationRange, InvalidTrait, Pull, Ready, Traits};

/// The behaviour of pods without annotations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    default: Traits,
    images: Vec<ImageRule>,
}

/// The traits of matching images.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ImageRule {
    images: ImageMatcher,
    traits: Traits,
}

/// Selects images.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ImageMatcher {
    /// Images that match a pattern with stars.
    Pattern(String),
    /// Images whose tag contains `broken` or is `404`.
    Broken,
}

/// Why a profile is invalid, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidProfile {
    /// It is neither YAML nor JSON; the parser's message, with the line.
    Syntax(String),
    /// An invalid, unknown or duplicate field.
    Field {
        /// Its path, such as `images[1].pattern`.
        path: String,
        /// Why it is invalid, and how to fix it.
        problem: String,
    },
}

impl Profile {
    /// Returns the default profile.
    ///
    /// Images whose tag contains `broken` or is `404` cannot be pulled, to demonstrate rollouts that get stuck.
    pub fn built_in() -> Self {
        let default = Traits {
            pull: Some(Pull::Works),
            pull_seconds: Some(DurationRange::between(500, 1500)),
            start_seconds: Some(DurationRange::between(200, 600)),
            ready_seconds: Some(DurationRange::millis(0)),
            terminate_seconds: Some(DurationRange::between(300, 900)),
            ..Traits::default()
        };
        let fails = Traits { pull: Some(Pull::Fails), ..Traits::default() };
        Self { default, images: vec![ImageRule { images: ImageMatcher::Broken, traits: fails }] }
    }

    /// Parses a profile, which overrides the built-in one.
    ///
    /// ```yaml
    /// default:                  # for every container
    ///   start-seconds: 1..3     # a range, from which each pod gets its own value
    /// images:                   # all matching rules apply; later ones override earlier ones
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
            return Err(from_finding(finding));
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
                _ => return Err(field(name, "unknown section; the sections are default and images")),
            }
        }
        Ok(profile)
    }

    /// Adds a rule for images that match a pattern with stars, which overrides earlier ones.
    #[must_use]
    pub fn with_rule(mut self, pattern: &str, traits: Traits) -> Self {
        self.images.push(ImageRule { images: ImageMatcher::Pattern(pattern.to_owned()), traits });
        self
    }

    /// Whether all containers of an image become ready and stay ready, unless annotations of a pod override that.
    pub fn stays_ready(&self, image: &str) -> bool {
        let traits = self.traits_of(image);
        let ends =
            [traits.crash_after, traits.oom_after, traits.liveness_fails_after, traits.init_crash_after];
        traits.pull != Some(Pull::Fails)
            && traits.ready != Some(Ready::Never)
            && traits.startup != Some(Ready::Never)
            && ends.iter().all(Option::is_none)
            && traits.flap_seconds.is_none()
            && traits.crash_percent.is_none_or(|percent| percent == 0)
    }

    /// Returns the traits of an image, before annotations.
    pub(crate) fn traits_of(&self, image: &str) -> Traits {
        let rules = self.images.iter().filter(|rule| rule.images.matches(image));
        rules.fold(self.default, |traits, rule| traits.overlaid(&rule.traits))
    }
}

impl ImageMatcher {
    fn matches(&self, image: &str) -> bool {
        match self {
            Self::Pattern(pattern) => matches(pattern, image),
            Self::Broken => tag(image).is_some_and(|tag| tag == "404" || tag.contains("broken")),
        }
    }
}

/// Returns the tag of an image; the port of a registry is not one.
fn tag(image: &str) -> Option<&str> {
    let last = image.split('@').next()?.rsplit('/').next()?;
    last.split_once(':').map(|(_, tag)| tag)
}

fn rules(section: Value) -> Result<Vec<ImageRule>, InvalidProfile> {
    let Value::Array(rules) = section else {
        return Err(field("images", "must be a list; begin each rule with `- pattern: ...`"));
    };
    rules.into_iter().enumerate().map(|(n, rule)| image_rule(rule, &format!("images[{n}]"))).collect()
}

fn image_rule(rule: Value, path: &str) -> Result<ImageRule, InvalidProfile> {
    let mut rule = object(rule, path)?;
    match rule.remove("pattern") {
        Some(Value::String(pattern)) => {
            Ok(ImageRule { images: ImageMatcher::Pattern(pattern.into()), traits: traits(rule, path)? })
        }
        Some(_) => Err(field(format!("{path}.pattern"), "must be a string; put it in quotes")),
        None => Err(field(format!("{path}.pattern"), "is required; for example \"*:crash\"")),
    }
}

fn traits(written: Map, path: &str) -> Result<Traits, InvalidProfile> {
    let mut traits = Traits::default();
    for (name, value) in written {
        let text = match value {
            Value::String(text) => text.into(),
            other => other.to_string(),
        };
        let invalid = |problem: InvalidTrait| field(path, &problem.to_string());
        traits.set(&name, &text).map_err(invalid)?;
    }
    Ok(traits)
}

fn object(value: Value, path: &str) -> Result<Map, InvalidProfile> {
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(field(path, "must be an object; write `name: value` lines")),
    }
}

fn from_finding(finding: &Finding) -> InvalidProfile {
    match finding {
        Finding::Duplicate(path) => field(path, "duplicate field; remove one"),
        Finding::Unknown(path) => field(path, "unknown field; remove it"),
        Finding::Yaml(message) => InvalidProfile::Syntax(message.clone()),
        Finding::Operation(finding) => from_finding(finding),
    }
}

fn field(path: impl Into<String>, problem: &str) -> InvalidProfile {
    InvalidProfile::Field { path: path.into(), problem: problem.to_owned() }
}

/// Whether a text matches a pattern, in which `*` matches any text.
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
            Self::Syntax(message) => f.write_str(message),
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
    fn later_rules_override_earlier_ones() {
        let profile = Profile::read(
            "default: {start-seconds: 1..3}\n\
             images:\n\
             - {pattern: \"*/shop:*\", ready-seconds: 10, start-seconds: 2}\n\
             - {pattern: \"*:404\", image-pull: works}\n\
             - {pattern: \"*/shop:slow\", ready: never}\n",
        )
        .unwrap();
        let shop = profile.traits_of("r.io/shop:slow");
        assert_eq!(shop.start_seconds, Some(DurationRange::millis(2000)));
        assert_eq!(shop.ready_seconds, Some(DurationRange::millis(10_000)));
        assert_eq!(shop.ready, Some(Ready::Never));
        assert_eq!(profile.traits_of("other:404").pull, Some(Pull::Works));
        assert_eq!(profile.traits_of("other").start_seconds, Some(DurationRange::between(1000, 3000)));
        assert_eq!(
            profile.traits_of("other").pull_seconds,
            Some(DurationRange::between(500, 1500)),
            "the built-in profile applies"
        );
    }

    #[test]
    fn profiles_may_be_json_or_empty() {
        let json =
            Profile::read("{\"images\": [{\"pattern\": \"*\", \"crash-after\": 5, \"exit-code\": 3}]}")
                .unwrap();
        assert_eq!(json.traits_of("x").exit_code, Some(3));
        assert_eq!(Profile::read("").unwrap(), Profile::built_in());
    }

    #[test]
    fn errors_name_the_field_and_the_fix() {
        assert_eq!(problem("defaults: {}"), "defaults: unknown section; the sections are default and images");
        assert_eq!(problem("images: {}"), "images: must be a list; begin each rule with `- pattern: ...`");
        assert_eq!(
            problem("images: [{pattern: a}, {ready: never}]"),
            "images[1].pattern: is required; for example \"*:crash\""
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
                .starts_with("default: colour: unknown trait; the traits are image-pull")
        );
        assert!(problem("default: {flap-seconds: 0}").starts_with("default: flap-seconds"));
        assert!(problem("default: {exit-code: 256}").starts_with("default: exit-code"));
        assert_eq!(problem("[1]"), "the file: must be an object; write `name: value` lines");
    }

    #[test]
    fn syntax_errors_name_the_line() {
        assert!(
            problem("default:\n  start-seconds: [1\n").contains("line"),
            "{}",
            problem("default:\n  start-seconds: [1\n")
        );
        assert!(problem("default: {ready: never, ready: never}").contains("ready"));
    }

    #[test]
    fn stars_match_any_text() {
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
