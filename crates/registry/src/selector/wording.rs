//! Errors in the keys and values of label selectors, each as one line.

use gantry_primitives::names::{label_value, qualified_name};

/// Returns all errors in a label key as one line, or `None`.
pub(super) fn key_error(key: &str) -> Option<String> {
    joined(&qualified_name(key))
}

/// Returns all errors in a label value as one line, or `None`.
pub(super) fn value_error(value: &str) -> Option<String> {
    joined(&label_value(value))
}

fn joined(wrong: &[String]) -> Option<String> {
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A4.7: keys are qualified names.
    #[test]
    fn keys_have_a_name_and_may_have_a_prefix() {
        for good in ["app", "example.com/app", "a.b-c_d", "A1"] {
            assert_eq!(key_error(good), None, "{good}");
        }
        assert_eq!(key_error("/app").unwrap(), "prefix part must be non-empty");
        assert!(key_error("Example.com/app").unwrap().starts_with("prefix part a lowercase RFC 1123"));
        assert!(key_error("a/").unwrap().starts_with("name part must be non-empty; name part must consist"));
        assert!(key_error("a/b/c").unwrap().starts_with("a valid label key must consist"));
        assert_eq!(key_error(&"x".repeat(64)).unwrap(), "name part must be no more than 63 bytes");
        let prefixed = format!("{}/x", "x".repeat(254));
        assert_eq!(key_error(&prefixed).unwrap(), "prefix part must be no more than 253 characters");
    }

    /// A4.7: a value may be empty; otherwise it must be a valid label value.
    #[test]
    fn values_may_be_empty() {
        for good in ["", "web", "1.2_3-a"] {
            assert_eq!(value_error(good), None, "{good}");
        }
        assert!(value_error("-a").unwrap().starts_with("a valid label must be an empty string"));
        assert_eq!(value_error(&"x".repeat(64)).unwrap(), "must be no more than 63 bytes");
    }
}
