//! The families of hostile cases. Each turns a seed into a case; nothing is sent here.

mod columns;
mod floods;
mod frames;
mod headers;
mod json;
mod objects;
mod patches;
mod protobuf;
mod queries;
mod readers;
mod rules;
mod yaml;

use clap::ValueEnum;
use gantry_rng::Rng;

use crate::case::{Case, CaseId, Message, Step};

/// The largest body that the server accepts. Bodies are smaller, so that they are parsed, or slightly larger.
const BODY_BYTES_MAX: usize = 3 << 20;

/// The kind of hostile input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Family {
    /// YAML: aliases, depth, anchors, tags
    Yaml,
    /// JSON: depth, numbers, names, long lists
    Json,
    /// Protobuf: wire format that is nested, truncated or full of empty messages
    Protobuf,
    /// Patches of all four types that grow, nest or contradict themselves
    Patches,
    /// Headers: impersonation, repeated, contradictory, huge, beyond ASCII
    Headers,
    /// Paths, query parameters, selectors and continue tokens
    Queries,
    /// Printer columns with recursive descent over large custom objects
    Columns,
    /// CEL rules whose evaluation would not end in any reasonable time
    Rules,
    /// Bytes on connections that look like HTTP/1, HTTP/2 or TLS and are not
    Frames,
    /// Lists and watches that are requested and not read
    Readers,
    /// Many connections, bodies or requests at once
    Floods,
}

impl Family {
    /// Returns the name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Protobuf => "protobuf",
            Self::Patches => "patches",
            Self::Headers => "headers",
            Self::Queries => "queries",
            Self::Columns => "columns",
            Self::Rules => "rules",
            Self::Frames => "frames",
            Self::Readers => "readers",
            Self::Floods => "floods",
        }
    }
}

impl CaseId {
    /// Generates the case.
    pub(crate) fn case(self) -> Case {
        let mut rng = Rng::keyed(self.family.name(), &self.seed.to_string());
        let mut case = Case { id: self, steps: Vec::new(), created: Vec::new() };
        match self.family {
            Family::Yaml => yaml::case(&mut rng, &mut case),
            Family::Json => json::case(&mut rng, &mut case),
            Family::Protobuf => protobuf::case(&mut rng, &mut case),
            Family::Patches => patches::case(&mut rng, &mut case),
            Family::Headers => headers::case(&mut rng, &mut case),
            Family::Queries => queries::case(&mut rng, &mut case),
            Family::Columns => columns::case(&mut rng, &mut case),
            Family::Rules => rules::case(&mut rng, &mut case),
            Family::Frames => frames::case(&mut rng, &mut case),
            Family::Readers => readers::case(&mut rng, &mut case),
            Family::Floods => floods::case(&mut rng, &mut case),
        }
        case
    }
}

impl Case {
    fn send(&mut self, message: Message) {
        self.steps.push(Step::Send(message));
    }

    /// Creates an object that is deleted after the case.
    fn create(&mut self, collection: &str, name: &str, object: &gantry_json::Value) {
        self.send(Message::new("POST", collection).with(objects::JSON, object.to_string().into_bytes()));
        self.created.push(format!("{collection}/{name}"));
    }
}

/// Returns a number between two bounds; each order of magnitude is equally likely.
fn size(rng: &mut Rng, least: usize, most: usize) -> usize {
    let most_bits = usize::BITS - most.leading_zeros();
    let bits = rng.between(0, usize::try_from(most_bits).unwrap_or(0));
    rng.between(0, (1_usize << bits.min(40)) - 1).clamp(least, most)
}

/// Changes, drops, repeats and inserts bytes.
fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..rng.between(1, 8) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.index(bytes.len());
        let byte = rng.bytes(1)[0];
        match rng.below(6) {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            3 => bytes.truncate(at),
            4 => bytes.extend_from_within(at..(at + 40).min(bytes.len())),
            _ => bytes[at] ^= 1 << rng.below(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A replayed seed must generate the same case.
    #[test]
    fn a_seed_decides_a_case() {
        for family in Family::value_variants() {
            for seed in 0..4 {
                let id = CaseId { family: *family, seed };
                let (once, again) = (id.case(), id.case());
                assert!(once == again, "{id}");
                assert!(!once.steps.is_empty(), "{id}");
            }
        }
    }

    #[test]
    fn names_are_those_of_the_command_line() {
        for family in Family::value_variants() {
            assert_eq!(family.to_possible_value().unwrap().get_name(), family.name());
        }
    }

    #[test]
    fn sizes_stay_within_their_bounds() {
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| (3..=5000).contains(&size(&mut rng, 3, 5000))));
    }
}
