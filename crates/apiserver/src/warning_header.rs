//! `Warning` headers: each text once, and no more than Kubernetes sends.
//!
//! Texts that are too long are truncated, each and in total; they contain a client's field names, which may be as large
//! as a body.

use std::collections::BTreeSet;

use gantry_registry::validation::warnings::{SHOWN_CHARS_MAX, SHOWN_ITEM_CHARS_MAX};

/// Returns the headers of these warnings.
pub(crate) fn truncated(warnings: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts: Vec<_> =
        warnings.iter().filter(|text| !text.is_empty() && seen.insert(text.as_str())).collect();
    let whole: usize = texts.iter().map(|text| text.chars().count()).sum();
    if whole <= SHOWN_CHARS_MAX {
        return texts.into_iter().map(|text| header(text)).collect();
    }
    let mut written = 0;
    let mut headers = Vec::new();
    for text in texts {
        if written >= SHOWN_CHARS_MAX {
            break;
        }
        let shown: String = text.chars().take(SHOWN_ITEM_CHARS_MAX).collect();
        written += shown.chars().count();
        headers.push(header(&shown));
    }
    headers
}

fn header(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("299 - \"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(texts: &[&str]) -> Vec<String> {
        truncated(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn each_text_is_sent_once() {
        assert_eq!(headers(&["a \"b\"", "c", "c", ""]), [r#"299 - "a \"b\"""#, r#"299 - "c""#]);
    }

    #[test]
    fn texts_up_to_4096_characters_are_whole() {
        let long = "é".repeat(4095);
        assert_eq!(headers(&[&long, "x"]), [format!("299 - \"{long}\""), "299 - \"x\"".to_owned()]);
    }

    #[test]
    fn longer_ones_are_truncated_to_256_characters_each_and_4096_in_total() {
        let long = "x".repeat(1 << 20);
        assert_eq!(
            headers(&["short", &long]),
            ["299 - \"short\"".to_owned(), format!("299 - \"{}\"", "x".repeat(256))]
        );
        let many: Vec<String> = (0..100).map(|number| format!("{number:0300}")).collect();
        let shown = headers(&many.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(shown.len(), 16);
    }
}
