//! Parses resource arguments: `TYPE`, `TYPE NAME…`, `TYPE/NAME…`, `TYPE,TYPE` (K0.5).

use crate::failure::Failure;
use crate::resources::{ApiResource, Resources};

/// What one argument selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ResourceArg {
    /// One object.
    Named(ApiResource, String),
    /// All objects of a type.
    All(ApiResource),
}

/// All parsed arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceArgs {
    pub(crate) items: Vec<ResourceArg>,
    /// Whether an argument is a category of several types, such as `all`.
    pub(crate) by_category: bool,
    /// Warnings about ambiguous names.
    pub(crate) warnings: Vec<String>,
}

impl ResourceArg {
    pub(crate) fn resource(&self) -> &ApiResource {
        match self {
            Self::Named(resource, _) | Self::All(resource) => resource,
        }
    }
}

impl ResourceArgs {
    /// Parses the arguments after the verb.
    pub(crate) fn read(resources: &Resources, words: &[String]) -> Result<Self, Failure> {
        let Some((first, rest)) = words.split_first() else { return Ok(Self::default()) };
        if words.iter().any(|word| word.contains('/')) {
            let items = words.iter().map(|word| named(resources, word));
            return Ok(Self { items: items.collect::<Result<_, _>>()?, ..Self::default() });
        }
        let mut read = Self::default();
        let mut types: Vec<&ApiResource> = Vec::new();
        for word in first.split(',') {
            read.warnings.extend(resources.lower_priority_matches(word).map(|other| {
                let other = other.plural_with_group();
                format!("Warning: short name \"{word}\" could also match lower priority resource {other}")
            }));
            let category = resources.in_category(&word.to_lowercase());
            let found = if category.is_empty() { vec![resources.by_name(word)?] } else { category };
            read.by_category |= found.len() > 1;
            types.extend(found);
        }
        for one in types {
            if rest.is_empty() {
                read.items.push(ResourceArg::All(one.clone()));
            }
            read.items.extend(rest.iter().map(|name| ResourceArg::Named(one.clone(), name.clone())));
        }
        Ok(read)
    }

    /// Whether there is more than one type, so that each row needs its type.
    pub(crate) fn are_mixed(&self) -> bool {
        let first = self.items.first().map(ResourceArg::resource);
        self.by_category || self.items.iter().any(|item| Some(item.resource()) != first)
    }

    /// Whether exactly one object is named.
    pub(crate) fn is_one_object(&self) -> bool {
        matches!(self.items.as_slice(), [ResourceArg::Named(..)])
    }
}

fn named(resources: &Resources, word: &str) -> Result<ResourceArg, Failure> {
    let parts: Vec<&str> = word.split('/').collect();
    match parts.as_slice() {
        [_] => Err(Failure::other(
            "there is no need to specify a resource type as a separate argument when passing arguments in \
             resource/name form (e.g. 'kubectl get resource/<resource_name>' instead of 'kubectl get resource \
             resource/<resource_name>'",
        )),
        [kind, name] if !kind.is_empty() && !name.is_empty() => {
            Ok(ResourceArg::Named(resources.by_name(kind)?.clone(), (*name).to_owned()))
        }
        [_, _] => Err(Failure::other("arguments in resource/name form must have a single resource and name")),
        _ => Err(Failure::other("arguments in resource/name form may not have more than one slash")),
    }
}
