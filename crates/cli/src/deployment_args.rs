//! Parses which Deployments a command is for: names or selectors.

use gantry_schema::kinds::{Kind, kinds};

/// The requested Deployments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DeploymentArgs {
    /// One name.
    One(String),
    /// Several names.
    Names(Vec<String>),
    /// A selection by labels, in one namespace or in all.
    All {
        /// A label selector; empty for all.
        labels: String,
        /// The value of --all-namespaces.
        all_namespaces: bool,
    },
}

impl DeploymentArgs {
    /// Parses names, such as `web`, `deployment/web` or `deployments web api`, and selection flags.
    pub(crate) fn parse(
        words: &[String],
        labels: Option<&str>,
        all_namespaces: bool,
    ) -> Result<Self, String> {
        let is_kind_alone = matches!(words, [kind] if is_deployment(kind));
        if words.is_empty() || is_kind_alone {
            if !is_kind_alone && labels.is_none() && !all_namespaces {
                return Err(
                    "no Deployment is named\nhint: name one, such as deployment/web, or use -l or -A"
                        .to_owned(),
                );
            }
            return Ok(Self::All { labels: labels.unwrap_or_default().to_owned(), all_namespaces });
        }
        if labels.is_some() {
            return Err("names cannot be combined with -l\nhint: leave out the one or the other".to_owned());
        }
        if all_namespaces {
            return Err("names cannot be combined with -A\nhint: say the namespace with -n".to_owned());
        }
        let mut names = names(words)?;
        Ok(if names.len() == 1 { Self::One(names.remove(0)) } else { Self::Names(names) })
    }
}

/// The one Deployment that arguments name: `web`, `deployment/web`, `deploy web`.
pub(crate) fn deployment_name(words: &[String]) -> Result<String, String> {
    match DeploymentArgs::parse(words, None, false)? {
        DeploymentArgs::One(name) => Ok(name),
        DeploymentArgs::Names(_) | DeploymentArgs::All { .. } => {
            Err("name one Deployment, such as deployment/web".to_owned())
        }
    }
}

fn names(words: &[String]) -> Result<Vec<String>, String> {
    if let [kind, names @ ..] = words
        && !names.is_empty()
        && !kind.contains('/')
        && kind_of(kind).is_some()
    {
        return names.iter().map(|name| named(Some(kind), name)).collect();
    }
    let words = words.iter();
    words
        .map(|word| {
            word.split_once('/').map_or_else(|| named(None, word), |(kind, name)| named(Some(kind), name))
        })
        .collect()
}

fn named(kind: Option<&str>, name: &str) -> Result<String, String> {
    if let Some(kind) = kind
        && !is_deployment(kind)
    {
        let kind = kind_of(kind).map_or_else(|| kind.to_lowercase(), |kind| kind.resource.to_owned());
        return Err(format!(
            "only Deployments are supported, not {kind}\nhint: name a Deployment, such as deployment/web"
        ));
    }
    if name.is_empty() || name.contains('/') {
        return Err("the name is missing\nhint: write deployment/NAME".to_owned());
    }
    Ok(name.to_owned())
}

fn is_deployment(word: &str) -> bool {
    kind_of(word).is_some_and(|kind| kind.resource == "deployments")
}

/// Finds a kind by any of its names, with or without its group.
fn kind_of(word: &str) -> Option<&'static Kind> {
    let word = word.to_lowercase();
    kinds().all().find(|kind| {
        let word = word.strip_suffix(&format!(".{}", kind.group)).unwrap_or(&word);
        kind.resource == word || kind.singular == word || kind.short_names.contains(&word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<DeploymentArgs, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        DeploymentArgs::parse(&words, None, false)
    }

    #[test]
    fn a_deployment_is_named_as_for_kubectl() {
        for words in [
            &["web"][..],
            &["deployment/web"],
            &["deploy/web"],
            &["deployments.apps/web"],
            &["Deployment", "web"],
        ] {
            assert_eq!(parsed(words), Ok(DeploymentArgs::One("web".to_owned())), "{words:?}");
        }
        assert_eq!(parsed(&["web.deploy"]), Ok(DeploymentArgs::One("web.deploy".to_owned())));
        assert!(parsed(&["deployment/"]).unwrap_err().contains("the name is missing"));
        assert!(parsed(&[]).unwrap_err().contains("no Deployment is named"));
        assert!(
            deployment_name(&["a".to_owned(), "b".to_owned()]).unwrap_err().contains("name one Deployment")
        );
    }

    #[test]
    fn other_kinds_are_named_in_full() {
        for words in [&["rs/web"][..], &["rs", "web"], &["ReplicaSet/web"], &["web", "replicasets.apps/web"]]
        {
            let error = parsed(words).unwrap_err();
            assert!(
                error.starts_with("only Deployments are supported, not replicasets\n"),
                "{words:?}: {error}"
            );
        }
        assert!(
            parsed(&["fruit/web"]).unwrap_err().starts_with("only Deployments are supported, not fruit\n")
        );
    }

    #[test]
    fn several_are_named_or_selected() {
        let both = DeploymentArgs::Names(vec!["web".to_owned(), "api".to_owned()]);
        for words in [&["web", "api"][..], &["deploy", "web", "api"], &["deploy/web", "deployment/api"]] {
            assert_eq!(parsed(words).as_ref(), Ok(&both), "{words:?}");
        }
        let all = DeploymentArgs::All { labels: String::new(), all_namespaces: false };
        assert_eq!(parsed(&["deployments"]), Ok(all));
        let labels = DeploymentArgs::All { labels: "app=web".to_owned(), all_namespaces: true };
        assert_eq!(DeploymentArgs::parse(&[], Some("app=web"), true), Ok(labels));
        let web = ["web".to_owned()];
        assert!(DeploymentArgs::parse(&web, Some("app=web"), false).unwrap_err().contains("-l"));
        assert!(DeploymentArgs::parse(&web, None, true).unwrap_err().contains("-A"));
    }
}
