//! The file of `--token`: bearer tokens and their users, in the format of kube-apiserver's token file.
//!
//! ```text
//! token
//! token,user,uid
//! token,user,uid,"group1,group2"
//! ```
//!
//! A token without a user is the administrator's.

use std::path::Path;

use gantry_apiserver::StaticToken;
use gantry_registry::access::{MASTERS, User};

/// Reads a file of tokens; the error names the file, the line and the fix.
pub(super) fn read(path: &Path) -> Result<Vec<StaticToken>, String> {
    let name = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("--token: cannot read {name}: {error}"))?;
    let tokens = parse(&text).map_err(|wrong| format!("--token: {name}, {wrong}"))?;
    if tokens.is_empty() {
        return Err(format!(
            "--token: {name} holds no token\nhint: a line is a token, or token,user,uid,\"groups\""
        ));
    }
    Ok(tokens)
}

fn parse(text: &str) -> Result<Vec<StaticToken>, String> {
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(at, line)| token(line).map_err(|wrong| format!("line {}: {wrong}", at + 1))).collect()
}

fn token(line: &str) -> Result<StaticToken, String> {
    let mut parts = line.splitn(4, ',').map(str::trim);
    let token = parts.next().filter(|token| !token.is_empty()).ok_or("the token is missing")?.to_owned();
    if token.contains(char::is_whitespace) {
        return Err("a token has no blanks".to_owned());
    }
    let Some(name) = parts.next() else {
        let groups = vec![MASTERS.to_owned()];
        return Ok(StaticToken { token, user: User { name: "admin".to_owned(), groups, ..User::default() } });
    };
    if name.is_empty() {
        return Err("the user is missing after the token".to_owned());
    }
    let uid = parts.next().unwrap_or_default().to_owned();
    let groups = parts.next().unwrap_or_default().trim_matches('"').split(',').map(str::trim);
    let groups = groups.filter(|group| !group.is_empty()).map(str::to_owned).collect();
    Ok(StaticToken { token, user: User { name: name.to_owned(), uid, groups, ..User::default() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A7.1: a static token authenticates a user with groups.
    #[test]
    fn token_files_are_parsed_as_by_kube_apiserver() {
        let tokens = parse("# ours\ns3cret\n\nabc, jane ,42,\"dev,ops\"\nxyz,bot\n").unwrap();
        let shown: Vec<_> = tokens
            .iter()
            .map(|token| (token.token.as_str(), token.user.name.as_str(), token.user.groups.join("+")))
            .collect();
        let masters = "system:masters".to_owned();
        assert_eq!(
            shown,
            [
                ("s3cret", "admin", masters),
                ("abc", "jane", "dev+ops".to_owned()),
                ("xyz", "bot", String::new())
            ]
        );
        assert_eq!(tokens[1].user.uid, "42");
    }

    #[test]
    fn an_invalid_line_of_a_token_file_is_reported() {
        assert_eq!(parse("a\n,jane").unwrap_err(), "line 2: the token is missing");
        assert_eq!(parse("a b").unwrap_err(), "line 1: a token has no blanks");
        assert_eq!(parse("a,").unwrap_err(), "line 1: the user is missing after the token");
    }
}
