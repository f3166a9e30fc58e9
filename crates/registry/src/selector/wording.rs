//! What is wrong with a label's key or value in a selector, in one line; nothing is wrong with most.

use gantry_primitives::names::{label_value, qualified_name};

/// Everything that is wrong with a label key, or `None`.
pub(super) fn wrong_with_key(key: &str) -> Option<String> {
    joined(&qualified_name(key))
}

/// Everything that is wrong with a label value, or `None`.
pub(super) fn wrong_with_value(value: &str) -> Option<String> {
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
            assert_eq!(wrong_with_key(good), None, "{good}");
        }
        assert_eq!(wrong_with_key("/app").unwrap(), "prefix part must be non-empty");
        assert!(wrong_with_key("Example.com/app").unwrap().starts_with("prefix part a lowercase RFC 1123"));
        assert!(
            wrong_with_key("a/").unwrap().starts_with("name part must be non-empty; name part must consist")
        );
        assert!(wrong_with_key("a/b/c").unwrap().starts_with("a valid label key must consist"));
        assert_eq!(wrong_with_key(&"x".repeat(64)).unwrap(), "name part must be no more than 63 bytes");
        let prefixed = format!("{}/x", "x".repeat(254));
        assert_eq!(wrong_with_key(&prefixed).unwrap(), "prefix part must be no more than 253 characters");
    }

    /// A4.7: values may be empty, but not anything.
    #[test]
    fn values_may_be_empty() {
        for good in ["", "web", "1.2_3-a"] {
            assert_eq!(wrong_with_value(good), None, "{good}");
        }
        assert!(wrong_with_value("-a").unwrap().starts_with("a valid label must be an empty string"));
        assert_eq!(wrong_with_value(&"x".repeat(64)).unwrap(), "must be no more than 63 bytes");
    }
}
