//! The families of random requests. A family and a seed decide a case; nothing else does, but for what the server's OpenAPI
//! documents say about objects.

mod custom;
mod lists;
mod managers;
mod objects;
mod subresources;
mod watches;

use crate::case::Case;
use crate::dice::Dice;
use crate::schemas::Schemas;

/// What random requests are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Family {
    /// Objects of all kinds: created, replaced, patched, read, deleted
    Objects,
    /// CustomResourceDefinitions and objects of them
    Custom,
    /// Status, scale, binding, eviction and the other subresources
    Subresources,
    /// Lists: selectors, pages, versions
    Lists,
    /// Watches over a history of writes
    Watches,
    /// Server-side apply by several managers
    Managers,
}

impl Family {
    /// The name, as on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Objects => "objects",
            Self::Custom => "custom",
            Self::Subresources => "subresources",
            Self::Lists => "lists",
            Self::Watches => "watches",
            Self::Managers => "managers",
        }
    }

    /// Returns the case of a seed, about one of these resources if any are named.
    pub(crate) fn case(self, schemas: &Schemas, seed: u64, kinds: &[String]) -> Case {
        let dice = &mut Dice::new(self.name(), seed);
        match self {
            Self::Objects => objects::case(schemas, dice, kinds),
            Self::Custom => custom::case(dice),
            Self::Subresources => subresources::case(dice, kinds),
            Self::Lists => lists::case(dice, kinds),
            Self::Watches => watches::case(dice, kinds),
            Self::Managers => managers::case(dice, kinds),
        }
    }
}

/// Returns one of the resources, of those that are asked for if the family has any of them.
fn resource(dice: &mut Dice, resources: &[&'static str], kinds: &[String]) -> &'static str {
    let wanted: Vec<&'static str> =
        resources.iter().copied().filter(|resource| kinds.iter().any(|kind| kind == resource)).collect();
    dice.pick(if wanted.is_empty() { resources } else { &wanted })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_decides_the_whole_case() {
        for family in Family::value_variants() {
            let cases = |seed| family.case(&Schemas::default(), seed, &[]);
            assert!((0..100).all(|seed| cases(seed) == cases(seed)), "{}", family.name());
            let different: BTreeSet<String> =
                (0..100).map(|seed| cases(seed).to_json().to_string()).collect();
            assert!(different.len() > 90, "{}: {} different cases", family.name(), different.len());
        }
    }

    #[test]
    fn placeholders_refer_to_earlier_answers_only() {
        for family in Family::value_variants() {
            for seed in 0..300 {
                let case = family.case(&Schemas::default(), seed, &[]);
                for (index, request) in case.recorded().enumerate() {
                    let text = request.to_json().to_string();
                    for name in ["{rv.", "{uid.", "{continue."] {
                        for (at, _) in text.match_indices(name) {
                            let number: String =
                                text[at + name.len()..].chars().take_while(char::is_ascii_digit).collect();
                            assert!(
                                number.parse::<usize>().unwrap() < index,
                                "{} {seed}: {text}",
                                family.name()
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn only_the_kinds_that_are_asked_for_are_tried() {
        for family in [Family::Objects, Family::Lists, Family::Watches, Family::Managers] {
            let kinds = ["pods".to_owned()];
            assert!(
                (0..50).all(|seed| family.case(&Schemas::default(), seed, &kinds).kind == "pods"),
                "{}",
                family.name()
            );
        }
    }
}
