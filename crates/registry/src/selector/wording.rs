//! What is wrong with a label's key or value, in words; nothing is wrong with most.

const NAME_MAX: usize = 63;
const PREFIX_MAX: usize = 253;

const NAME_FORM: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                         alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
                         validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const PREFIX_FORM: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
                           '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
                           for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_FORM: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                          and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
                          '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// Everything that is wrong with a label key, or `None`.
pub(super) fn wrong_with_key(key: &str) -> Option<String> {
    let mut wrong = Vec::new();
    let name = match key.split('/').collect::<Vec<_>>()[..] {
        [name] => name,
        ["", name] => {
            wrong.push("prefix part must be non-empty".to_owned());
            name
        }
        [prefix, name] => {
            if prefix.len() > PREFIX_MAX {
                wrong.push(format!("prefix part must be no more than {PREFIX_MAX} bytes"));
            }
            if !is_subdomain(prefix) {
                wrong.push(format!("prefix part {PREFIX_FORM}"));
            }
            name
        }
        _ => {
            return Some(format!(
                "a qualified name {NAME_FORM} with an optional DNS subdomain prefix and '/' \
                 (e.g. 'example.com/MyName')"
            ));
        }
    };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > NAME_MAX {
        wrong.push(format!("name part must be no more than {NAME_MAX} bytes"));
    }
    if !is_name(name) {
        wrong.push(format!("name part {NAME_FORM}"));
    }
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

/// Everything that is wrong with a label value, or `None`.
pub(super) fn wrong_with_value(value: &str) -> Option<String> {
    let mut wrong = Vec::new();
    if value.len() > NAME_MAX {
        wrong.push(format!("must be no more than {NAME_MAX} bytes"));
    }
    if !value.is_empty() && !is_name(value) {
        wrong.push(VALUE_FORM.to_owned());
    }
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

fn is_name(text: &str) -> bool {
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_subdomain(text: &str) -> bool {
    let lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.split('.').map(str::as_bytes).all(|part| {
        part.first().is_some_and(lower)
            && part.last().is_some_and(lower)
            && part.iter().all(|byte| lower(byte) || *byte == b'-')
    })
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
        assert!(wrong_with_key("a/b/c").unwrap().starts_with("a qualified name must consist"));
        assert_eq!(wrong_with_key(&"x".repeat(64)).unwrap(), "name part must be no more than 63 bytes");
        let prefixed = format!("{}/x", "x".repeat(254));
        assert_eq!(wrong_with_key(&prefixed).unwrap(), "prefix part must be no more than 253 bytes");
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
