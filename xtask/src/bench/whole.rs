//! Benchmarks of whole stores and servers: they print their own tables, compare by time within one run, and have no
//! cases to count instructions of.

use crate::cargo::{self, cargo};
use crate::console;
use crate::failure::Failure;
use crate::install::{self, Tool};
use std::path::Path;

/// A benchmark of a whole store or server.
pub(super) struct Whole {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// Package and bench target of each part, in the order in which they run.
    parts: &'static [(&'static str, &'static str)],
    tools: &'static [Tool],
}

/// All benchmarks.
pub(super) const WHOLE: &[Whole] = &[
    Whole {
        name: "store",
        parts: &[("gantry-store-embedded", "store"), ("gantry-store-etcd", "side_by_side")],
        tools: &[install::ETCD],
    },
    Whole { name: "api", parts: &[("gantry", "api")], tools: &[] },
    Whole { name: "get", parts: &[("gantry", "get")], tools: &[] },
];

impl Whole {
    /// The benchmark of this name.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        WHOLE.iter().find(|whole| whole.name == name)
    }

    /// Runs it; it prints its own numbers.
    pub(super) fn run(&self, root: &Path) -> Result<(), Failure> {
        install::ensure(self.tools)?;
        for (package, bench) in self.parts {
            console::talk(&format!("== {package}: {bench}"));
            cargo::run(&mut cargo(root, &["bench", "--package", package, "--bench", bench]))?;
        }
        Ok(())
    }
}

/// Whether a bench target is part of one of them.
pub(super) fn is_part(package: &str, bench: &str) -> bool {
    WHOLE.iter().any(|whole| whole.parts.contains(&(package, bench)))
}
