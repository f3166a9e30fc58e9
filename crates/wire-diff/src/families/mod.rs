//! The families of random requests. A case depends only on its family, its seed, and the schemas in the server's
//! OpenAPI documents.

mod custom;
mod lists;
mod managers;
mod objects;
mod subresources;
mod watches;

use crate::case::Case;
use crate::schemas::Schemas;
use gantry_rng::Rng;

/// The subject of random requests.
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

    /// Returns the case of a seed, about one of these resources if any are given.
    pub(crate) fn case(self, schemas: &Schemas, seed: u64, kinds: &[String]) -> Case {
        let rng = &mut generator(self.name(), seed);
        match self {
            Self::Objects => objects::case(schemas, rng, kinds),
            Self::Custom => custom::case(rng),
            Self::Subresources => subresources::case(rng, kinds),
            Self::Lists => lists::case(rng, kinds),
            Self::Watches => watches::case(rng, kinds),
            Self::Managers => managers::case(rng, kinds),
        }
    }
}

/// Returns the generator of a seed. It depends on the family, so that families make different choices from equal seeds.
fn generator(family: &str, seed: u64) -> Rng {
    Rng::new(family.bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte))))
}

/// Returns one of the resources; if the family has any of the requested kinds, one of those.
fn resource(rng: &mut Rng, resources: &[&'static str], kinds: &[String]) -> &'static str {
    let wanted: Vec<&'static str> =
        resources.iter().copied().filter(|resource| kinds.iter().any(|kind| kind == resource)).collect();
    rng.pick(if wanted.is_empty() { resources } else { &wanted })
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
    fn a_seed_decides_all_choices_and_families_choose_differently() {
        let numbers = |mut rng: Rng| (0..20).map(|_| rng.below(1000)).collect::<Vec<_>>();
        assert_eq!(numbers(generator("lists", 7)), numbers(generator("lists", 7)));
        assert_ne!(numbers(generator("lists", 7)), numbers(generator("lists", 8)));
        assert_ne!(numbers(generator("lists", 7)), numbers(generator("watches", 7)));
    }

    #[test]
    fn placeholders_refer_to_earlier_responses_only() {
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
    fn only_the_requested_kinds_are_tried() {
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
