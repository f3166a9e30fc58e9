//! References to variables in commands, arguments and values: `$(NAME)`.

use std::collections::BTreeMap;

/// Replaces `$(NAME)` by the value of the variable. References to unknown variables are kept, and `$$` becomes `$`.
pub(crate) fn expand(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some((name, after)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            if let Some(value) = variables.get(name) {
                expanded.push_str(value);
            } else {
                expanded.push_str("$(");
                expanded.push_str(name);
                expanded.push(')');
            }
            rest = after;
        } else {
            expanded.push('$');
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_variables_are_replaced() {
        let variables =
            BTreeMap::from([("A".to_owned(), "1".to_owned()), ("B".to_owned(), "$(A)".to_owned())]);
        for (text, expanded) in [
            ("$(A)", "1"),
            ("x$(A)y$(A)", "x1y1"),
            ("$(B)", "$(A)"),
            ("$(C)", "$(C)"),
            ("$$(A)", "$(A)"),
            ("$$$(A)", "$1"),
            ("$A $ $(A", "$A $ $(A"),
            ("$", "$"),
        ] {
            assert_eq!(expand(text, &variables), expanded, "{text}");
        }
    }
}
