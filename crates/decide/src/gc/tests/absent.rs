//! The cache of absent owners.

use gantry_model::{Identity, Namespace};

use super::{pod, replica_set};
use crate::gc::{ABSENT_OWNERS_MAX, AbsentOwners};

fn owner(n: usize) -> Identity {
    replica_set(&format!("web-{n}")).identity
}

/// G4.5: the cache holds 500 owners, and evicts the least recently used one.
#[test]
fn the_cache_evicts_the_least_recently_used_of_500() {
    let mut absent = AbsentOwners::new();
    (0..ABSENT_OWNERS_MAX).for_each(|n| absent.insert(owner(n)));
    assert_eq!(absent.len(), 500);
    assert!(absent.contains(&owner(0)), "nothing is evicted while there is room");

    absent.insert(owner(ABSENT_OWNERS_MAX));

    assert_eq!(absent.len(), 500);
    assert!(absent.contains(&owner(0)), "it was used most recently");
    assert!(!absent.contains(&owner(1)));
    assert!(absent.contains(&owner(ABSENT_OWNERS_MAX)));
}

/// G4.5: inserting an owner again counts as a use, and adds no second entry.
#[test]
fn an_owner_that_is_reported_twice_has_one_entry() {
    let mut absent = AbsentOwners::with_capacity(2);
    absent.insert(owner(1));
    absent.insert(owner(2));
    absent.insert(owner(1));
    absent.insert(owner(3));
    let remembered: Vec<_> = (1..=3).filter(|n| absent.contains(&owner(*n))).collect();
    assert_eq!(remembered, [1, 3]);
}

/// G4.5: the absence of one identity does not apply to another one with the same uid.
#[test]
fn absence_is_cached_for_all_coordinates_and_the_namespace() {
    let gone = pod("web").identity;
    let mut absent = AbsentOwners::new();
    assert!(absent.is_empty());
    absent.insert(gone.clone());

    assert!(absent.contains(&gone));
    for other in [
        Identity { kind: "Node".into(), ..gone.clone() },
        Identity { api_version: "v2".into(), ..gone.clone() },
        Identity { name: "shop".into(), ..gone.clone() },
        Identity { uid: "other".into(), ..gone.clone() },
        gone.in_namespace(Some(Namespace::from("elsewhere"))),
        gone.in_namespace(None),
    ] {
        assert!(!absent.contains(&other), "{other}");
    }
}
