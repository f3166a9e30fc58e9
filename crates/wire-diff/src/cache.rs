//! The responses of the left server, kept in a directory so that repeated comparisons send requests only to the right
//! one.
//!
//! A file has the case and its responses: when the generator changes, the case differs and is sent again.

use std::path::{Path, PathBuf};

use gantry_json::{Value, json};

use crate::case::Case;
use crate::trace::Trace;

/// The directory of kept responses; without one nothing is kept.
#[derive(Clone, Debug)]
pub(crate) struct Cache(Option<PathBuf>);

impl Cache {
    /// Opens the directory, which is created if it does not exist.
    pub(crate) fn open(directory: Option<&Path>) -> Result<Self, String> {
        if let Some(directory) = directory {
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("{}: {error}", directory.display()))?;
        }
        Ok(Self(directory.map(Path::to_owned)))
    }

    /// Returns both plays of a case, if they were kept.
    pub(crate) fn plays(&self, name: &str, case: &Case) -> Option<[Trace; 2]> {
        let kept = self.document(name)?;
        if kept["case"] != case.to_json() {
            return None;
        }
        Some([Trace::from_json(&kept["plays"][0])?, Trace::from_json(&kept["plays"][1])?])
    }

    /// Keeps both plays of a case.
    pub(crate) fn keep_plays(&self, name: &str, case: &Case, plays: &[Trace; 2]) -> Result<(), String> {
        let plays: Vec<Value> = plays.iter().map(Trace::to_json).collect();
        self.keep_document(name, &json!({"case": case.to_json(), "plays": plays}))
    }

    /// Returns a document that was kept under this name.
    pub(crate) fn document(&self, name: &str) -> Option<Value> {
        let file = self.0.as_ref()?.join(format!("{name}.json"));
        gantry_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    /// Keeps a document under this name.
    pub(crate) fn keep_document(&self, name: &str, document: &Value) -> Result<(), String> {
        let Some(directory) = &self.0 else { return Ok(()) };
        let file = directory.join(format!("{name}.json"));
        std::fs::write(&file, document.to_string()).map_err(|error| format!("{}: {error}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Request, Step};

    #[test]
    fn cached_responses_belong_to_exactly_one_case() {
        let directory = std::env::temp_dir().join(format!("wire-diff-cache-{}", std::process::id()));
        let cache = Cache::open(Some(&directory)).unwrap();
        let case = |path: &str| Case { kind: "pods".to_owned(), steps: vec![Step::Send(Request::get(path))] };
        let plays = [Trace::default(), Trace { namespace: "b".to_owned(), ..Trace::default() }];
        cache.keep_plays("lists-1", &case("/a"), &plays).unwrap();
        assert_eq!(cache.plays("lists-1", &case("/a")), Some(plays));
        assert_eq!(cache.plays("lists-1", &case("/b")), None);
        assert_eq!(cache.plays("lists-2", &case("/a")), None);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
