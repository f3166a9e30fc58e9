//! `cargo xtask bench`: the cost of a decision, in time and in instructions.
//!
//! Time is what users notice and differs from machine to machine; the instruction counts of two runs can be compared.
//! Benchmarks are ordinary bench targets with `harness = false` and this protocol:
//!
//! ```text
//! <binary> --list                           prints the case names, one per line
//! <binary> --case NAME --iterations N       sets the case up, runs it N times, prints `NAME <ns per iteration>`
//! ```
//!
//! Other arguments are ignored, because cargo passes `--bench`. Set-up must be the same in every run, so that the
//! instructions of two runs differ by the iterations only. `xtask/benches/calibration.rs` is the model to copy.

mod binaries;
mod measure;
mod report;
mod rollout;
mod whole;

use crate::cargo;
use crate::console;
use crate::failure::Failure;
use crate::install;
use crate::workspace::Workspace;
use binaries::{Case, Profile};
use report::Report;
use std::path::{Path, PathBuf};
use whole::Whole;

/// The usage of `bench`.
pub(crate) const USAGE: &str = "\
Usage: cargo xtask bench [NAME] [--save FILE] [--compare FILE]
       cargo xtask bench [NAME] --smoke
       cargo xtask bench store
       cargo xtask bench api
       cargo xtask bench get
       cargo xtask bench rollout [OPTIONS]
       cargo xtask bench start [--times N] [--directory DIRECTORY]

Measure every benchmark case: nanoseconds per iteration (median of 5 runs) and instructions per iteration
(counted by valgrind, which is installed from Debian when missing).

  NAME             Only the cases whose `bench/case` contains this
  --save FILE      Write the numbers as JSON, for a later --compare
  --compare FILE   Print the ratio of every number to the one in that file
  --smoke          Run every case once, unoptimised, and print no numbers, to check that the benchmarks work
  store            The embedded store and etcd side by side on this disk, by time: they print tables of their own
  api              The API server over TLS with 64 connections, with the bounds of its numbers
  get              `gantry get pods -A` and kubectl with 10,000 pods: first line and processor time
  rollout          Deployments created, rolled, doubled and deleted on `gantry up`, and on a Kubernetes if one is given:
                   time, CPU, memory, requests and store writes per pod. Its options follow; see docs/benchmarks.md
  start            The time from the start of `gantry up` to the first ready pod of a new Deployment, in memory, on a new
                   directory and on the same again, and the memory of an idle cluster without nodes

Options of rollout:
  --pods COUNTS            How many pods, such as 1000,10000 (default: 1000)
  --replicas N             The pods of each Deployment (default: 10)
  --namespaces N           The namespaces that the Deployments are in (default: 10)
  --kubelet KUBELETS       What runs the pods of Gantry: hollow (a process that reports them ready at once), nodes
                           (Gantry's own scheduler and nodes) (default: hollow,nodes)
  --nodes N                The nodes of Gantry per 1,000 pods (default: 30)
  --delays                 With the default times of pods on these nodes for pulling, starting and stopping
  --kubernetes KUBECONFIG  Run the same on this Kubernetes and print the ratios
  --pids PROCESSES         Its processes on this machine, as NAME=PID,…
  --delete-namespaces      Also delete namespaces with that many pods
  --rest SECONDS           How long to wait after the last step before memory is read again (default: 0)
  --allocations            Also count allocations per pod, with a server that is slower for it
  --requests               Also list the requests per pod by verb and resource
  --json FILE              Write the numbers as JSON
  --svg FILE               Draw the ready pods over time
  --directory DIRECTORY    The directory of the data, on the disk that is measured (default: temporary files)
";

/// The parsed arguments.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    name: Option<String>,
    smoke: bool,
    save: Option<PathBuf>,
    compare: Option<PathBuf>,
}

/// Measures, or only runs, the requested cases.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = cargo::repository_root()?;
    if let Some((name @ ("rollout" | "start"), options)) =
        arguments.split_first().map(|(name, rest)| (name.as_str(), rest))
    {
        return rollout::run(&root, name, options);
    }
    let options = Options::parse(arguments)?;
    if let Some(whole) = options.name.as_deref().filter(|_| !options.smoke).and_then(Whole::named) {
        return whole.run(&root);
    }
    if options.smoke { smoke(&root, options.name.as_deref()) } else { measure(&root, &options) }
}

/// Runs every case once, without measuring.
pub(crate) fn smoke(root: &Path, name: Option<&str>) -> Result<(), Failure> {
    let workspace = Workspace::read(root)?;
    let cases = binaries::build(root, &workspace, Profile::Unoptimised)?;
    for case in wanted(cases, name)? {
        measure::nanoseconds(&case, 1)?;
        console::talk(&format!("ran {}", case.label()));
    }
    Ok(())
}

fn measure(root: &Path, options: &Options) -> Result<(), Failure> {
    let earlier = options.compare.as_deref().map(Report::load).transpose()?;
    install::ensure(&[install::VALGRIND])?;
    let workspace = Workspace::read(root)?;
    let cases = binaries::build(root, &workspace, Profile::Optimised)?;
    let mut report = Report::default();
    for case in wanted(cases, options.name.as_deref())? {
        console::talk(&format!("measuring {}", case.label()));
        report.add(case.label(), measure::measure(&case)?);
    }
    console::data(&report.table(earlier.as_ref()));
    options.save.as_deref().map_or(Ok(()), |file| report.save(file))
}

fn wanted(cases: Vec<Case>, name: Option<&str>) -> Result<Vec<Case>, Failure> {
    let all: Vec<String> = cases.iter().map(Case::label).collect();
    let name = name.unwrap_or_default();
    let wanted: Vec<Case> = cases.into_iter().filter(|case| case.label().contains(name)).collect();
    if wanted.is_empty() {
        return Err(Failure::Failed(format!("no case is called `{name}`; there are: {}", all.join(", "))));
    }
    Ok(wanted)
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut file = || {
                let named = rest.next().map(PathBuf::from);
                named.ok_or_else(|| Failure::Usage(format!("`{argument}` needs a file")))
            };
            match argument.as_str() {
                "--smoke" => options.smoke = true,
                "--save" => options.save = Some(file()?),
                "--compare" => options.compare = Some(file()?),
                name if !name.starts_with('-') && options.name.is_none() => {
                    options.name = Some(name.to_owned());
                }
                other => return Err(Failure::unknown_argument(other)),
            }
        }
        if options.smoke && (options.save.is_some() || options.compare.is_some()) {
            return Err(Failure::Usage("--smoke measures nothing to save or compare".to_owned()));
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Failure> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_name_and_files_are_read_in_any_order() {
        let expected = Options {
            name: Some("deployment".to_owned()),
            smoke: false,
            save: Some("new.json".into()),
            compare: Some("old.json".into()),
        };
        assert_eq!(parse("--save new.json deployment --compare old.json").unwrap(), expected);
        assert_eq!(parse("").unwrap(), Options::default());
    }

    #[test]
    fn invalid_arguments_are_named() {
        for (line, word) in
            [("--save", "--save"), ("a b", "`b`"), ("--fast", "--fast"), ("--smoke --save x", "--smoke")]
        {
            let failure = parse(line).unwrap_err().to_string();
            assert!(failure.contains(word), "{line}: {failure}");
        }
    }
}
