//! `--record`: the change cause that kubectl records in the rollout history.

/// Flags without values.
const ALONE: [&str; 6] = ["record", "all", "local", "recursive", "show-managed-fields", "dry-run"];
/// Flags of one letter.
const SHORT: [(&str, &str); 5] =
    [("-n", "namespace"), ("-l", "selector"), ("-f", "filename"), ("-o", "output"), ("-R", "recursive")];

/// The command as kubectl records it: the program, the arguments, then the flags with their values.
pub(super) fn of_command(arguments: impl IntoIterator<Item = String>) -> String {
    let mut arguments = arguments.into_iter();
    let program = arguments.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    let (mut words, mut flags) = (vec![program], Vec::new());
    while let Some(argument) = arguments.next() {
        let short = SHORT.iter().find(|(short, _)| *short == argument).map(|(_, long)| *long);
        let Some(flag) = short.or_else(|| argument.strip_prefix("--")) else {
            words.push(argument);
            continue;
        };
        flags.push(match flag.split_once('=') {
            Some(_) => format!("--{flag}"),
            None if ALONE.contains(&flag) => format!("--{flag}=true"),
            None => format!("--{flag}={}", arguments.next().unwrap_or_default()),
        });
    }
    words.extend(flags);
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_precede_flags_in_the_change_cause() {
        let typed = [
            "/usr/bin/gantry",
            "-n",
            "shop",
            "set",
            "image",
            "--record",
            "deploy/web",
            "c=i:2",
            "-o",
            "name",
        ];
        assert_eq!(
            of_command(typed.map(str::to_owned)),
            "gantry set image deploy/web c=i:2 --namespace=shop --record=true --output=name"
        );
    }
}
