//! The repository's own commands, run as `cargo xtask <command>`.
//!
//! One file (or folder) per command; [`COMMANDS`] is the whole list, from which the usage text is made. Nothing here is
//! part of the product, and nothing here has a rule of Kubernetes.

mod bench;
mod cargo;
mod console;
mod dependencies;
mod failure;
mod function_order;
mod home;
mod import;
mod install;
mod lint;
mod mutants;
mod search;
mod sim;
mod sim_mutants;
mod stories;
mod test;
mod tidy;
mod tools;
mod tree;
mod workspace;

use failure::Failure;
use std::process::ExitCode;

/// One subcommand: its name, its summary, and its function.
struct Subcommand {
    name: &'static str,
    summary: &'static str,
    usage: &'static str,
    run: fn(&[String]) -> Result<(), Failure>,
}

const COMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "test",
        summary: "Run all steps of CI, in order, and stop at the first failure",
        usage: test::USAGE,
        run: test::run,
    },
    Subcommand {
        name: "lint",
        summary: "Check formatting, clippy and (where installed) cargo-deny",
        usage: lint::USAGE,
        run: lint::run,
    },
    Subcommand {
        name: "tidy",
        summary: "Run the repository's own checks: crate edges, modules, leftovers, links, rule coverage",
        usage: tidy::USAGE,
        run: tidy::run,
    },
    Subcommand {
        name: "bench",
        summary: "Measure decisions in time and instructions, and compare with an earlier run",
        usage: bench::USAGE,
        run: bench::run,
    },
    Subcommand {
        name: "stories",
        summary: "Rewrite the expected half of every story to the current behaviour",
        usage: stories::USAGE,
        run: stories::run,
    },
    Subcommand {
        name: "function-order",
        summary: "Record which functions a start executes, so that the linker puts them together",
        usage: function_order::USAGE,
        run: function_order::run,
    },
    Subcommand {
        name: "import",
        summary: "Regenerate the tables of Kubernetes' API from a checkout of Kubernetes, and show what changes",
        usage: import::USAGE,
        run: import::run,
    },
    Subcommand {
        name: "sim",
        summary: "Play scenarios with faults on a simulated cluster, and check every write",
        usage: sim::USAGE,
        run: sim::run,
    },
    Subcommand {
        name: "search",
        summary: "Run the long and random searches: worlds, inputs, crashes, histories, attacks (hours; not in CI)",
        usage: search::USAGE,
        run: search::run,
    },
    Subcommand {
        name: "tools",
        summary: "Install the third-party clients of the tests below target/tools",
        usage: tools::USAGE,
        run: tools::run,
    },
    Subcommand {
        name: "mutants",
        summary: "Change the decisions in small ways and check that a test fails (long; not in CI)",
        usage: mutants::USAGE,
        run: mutants::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::talk(&failure.to_string());
            failure.exit_code()
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let Some((name, rest)) = arguments.split_first() else {
        console::data(&usage());
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        console::data(&help(rest));
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(Failure::Usage(format!("no command is called `{name}`\n\n{}", usage())));
    };
    if rest.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h")) {
        console::data(command.usage);
        return Ok(());
    }
    (command.run)(rest).map_err(|failure| failure.with_usage(command.usage))
}

/// The text of `help`, or of `help <command>` when that command exists.
fn help(topic: &[String]) -> String {
    let named = topic.first().and_then(|name| COMMANDS.iter().find(|command| command.name == name));
    named.map_or_else(usage, |command| command.usage.to_owned())
}

fn usage() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("Usage: cargo xtask <command>\n\nCommands:\n");
    for Subcommand { name, summary, .. } in COMMANDS {
        let _ = writeln!(text, "  {name:<8} {summary}");
    }
    let _ = writeln!(text, "  {:<8} Print this text, or the options of one command", "help");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_has_one_line_for_every_command() {
        let text = usage();
        for command in COMMANDS {
            assert!(
                text.contains(&format!("\n  {:<8} {}\n", command.name, command.summary)),
                "{}",
                command.name
            );
        }
    }

    #[test]
    fn every_command_shows_how_it_is_typed() {
        for command in COMMANDS {
            let start = format!("Usage: cargo xtask {}", command.name);
            assert!(command.usage.starts_with(&start), "{}", command.usage);
        }
    }

    #[test]
    fn an_unknown_command_is_a_usage_failure_that_lists_the_known_ones() {
        let failure = dispatch(&["tset".to_owned()]).unwrap_err();
        assert!(matches!(&failure, Failure::Usage(text) if text.contains("`tset`") && text.contains("lint")));
    }
}
