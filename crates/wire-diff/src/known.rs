//! Differences that `docs/compat.md` lists, by the response of Kubernetes: their cases are counted separately.

use gantry_json::Value;

/// A text in the response of Kubernetes, and why the other server responds differently.
const KNOWN: [(&str, &str); 1] =
    [("cost exceeds budget", "the cost of rules in CEL is not estimated when a definition is written")];

/// Returns why the first difference is known, if it is.
pub(crate) fn reason(left: &[Value], right: &[Value]) -> Option<&'static str> {
    let (differs, _) = left.iter().zip(right).find(|(left, right)| left != right)?;
    let text = differs.to_string();
    KNOWN.iter().find(|(part, _)| text.contains(part)).map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_json::json;

    #[test]
    fn only_the_first_difference_counts() {
        let costly = json!({"body": {"message": "estimated rule cost exceeds budget by factor of 2x"}});
        let (same, other) = (json!({"status": 200}), json!({"status": 404}));
        assert!(reason(&[same.clone(), costly.clone()], &[same.clone(), other.clone()]).is_some());
        assert_eq!(reason(&[same.clone(), costly.clone()], &[other.clone(), other.clone()]), None);
        assert_eq!(reason(&[costly.clone(), same.clone()], &[costly, other]), None);
        assert_eq!(reason(std::slice::from_ref(&same), std::slice::from_ref(&same)), None);
    }
}
