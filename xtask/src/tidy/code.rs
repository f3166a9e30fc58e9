//! Rust text without comments and the content of literals, which are blanked, so that positions do not change.
//!
//! Not a parser. It knows just enough of the language's lexical rules that a word found in the result is really code,
//! and that positions in the result are positions in the file.

/// Replaces comments and the inside of string and character literals by spaces.
///
/// The result has the same length and the same line breaks as the source.
pub(super) fn only(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let previous = code.chars().next_back();
        let skipped = comment(rest).or_else(|| literal(rest, previous));
        let length = skipped.unwrap_or(first.len_utf8());
        let (taken, after) = rest.split_at(length);
        match skipped {
            Some(_) => blank(taken, &mut code),
            None => code.push_str(taken),
        }
        rest = after;
    }
    code
}

/// The words and single signs of blanked code, each with its position.
pub(super) fn tokens(code: &str) -> Vec<(usize, &str)> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(first) = code[position..].chars().next() {
        let rest = &code[position..];
        let is_word = is_word_char(first);
        let end =
            if is_word { rest.find(|it| !is_word_char(it)).unwrap_or(rest.len()) } else { first.len_utf8() };
        if !first.is_whitespace() {
            tokens.push((position, &rest[..end]));
        }
        position += end;
    }
    tokens
}

/// Returns whether a character may be part of an identifier.
pub(super) fn is_word_char(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// The length of the comment that starts here, if one does. Block comments nest.
fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if !rest.starts_with("/*") {
        return None;
    }
    let (mut depth, mut position) = (0_usize, 0);
    while position < rest.len() {
        let here = &rest.as_bytes()[position..];
        let step = match here {
            [b'/', b'*', ..] => {
                depth += 1;
                2
            }
            [b'*', b'/', ..] => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        position += step;
        if depth == 0 {
            break;
        }
    }
    Some(position)
}

/// The length of the string or character literal that starts here, if one does.
fn literal(rest: &str, previous: Option<char>) -> Option<usize> {
    // `r`, `b` and `c` start a literal only where a word may start: the `b` of `grab"…"` does not.
    let prefix = if previous.is_some_and(is_word_char) { 0 } else { prefix_length(rest) };
    let (raw, body) = (rest[..prefix].contains('r'), &rest[prefix..]);
    let hashes = body.len() - body.trim_start_matches('#').len();
    if raw && body[hashes..].starts_with('"') {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = prefix + hashes + 1;
        return Some(rest[start..].find(&end).map_or(rest.len(), |found| start + found + end.len()));
    }
    if body.starts_with('"') {
        return Some(prefix + quoted(body, b'"'));
    }
    is_character(body).then(|| prefix + quoted(body, b'\''))
}

fn prefix_length(rest: &str) -> usize {
    ["br", "cr", "r", "b", "c"]
        .into_iter()
        .find(|prefix| {
            let after = rest.strip_prefix(prefix);
            after.is_some_and(|after| {
                after.trim_start_matches('#').starts_with('"') || after.starts_with('\'')
            })
        })
        .map_or(0, str::len)
}

/// A quote is a character literal when it closes after one character or an escape; otherwise a lifetime.
fn is_character(body: &str) -> bool {
    let mut signs = body.chars();
    signs.next() == Some('\'')
        && match signs.next() {
            Some('\\') => true,
            Some(_) => signs.next() == Some('\''),
            None => false,
        }
}

/// The length of a quoted literal with escapes, both quotes included.
fn quoted(body: &str, quote: u8) -> usize {
    let bytes = body.as_bytes();
    let mut position = 1;
    while position < bytes.len() {
        match bytes[position] {
            b'\\' => position += 2,
            sign if sign == quote => return position + 1,
            _ => position += 1,
        }
    }
    bytes.len()
}

fn blank(text: &str, code: &mut String) {
    for sign in text.chars() {
        match sign {
            '\n' => code.push('\n'),
            other => (0..other.len_utf8()).for_each(|_| code.push(' ')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        let code = only(source);
        assert_eq!(code.len(), source.len(), "positions do not change");
        tokens(&code).into_iter().map(|(_, word)| word.to_owned()).collect()
    }

    #[test]
    fn nested_comments_are_not_code() {
        assert_eq!(words("a // mod b;\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
    }

    #[test]
    fn strings_of_all_quotes_are_not_code() {
        let source = r##"a("mod \" b;", r#"mod " c;"#, b"d", br"e\", c"f") g"##;
        assert_eq!(words(source), ["a", "(", ",", ",", ",", ",", ")", "g"]);
    }

    #[test]
    fn a_lifetime_is_code_and_a_character_is_not() {
        assert_eq!(words(r"&'a x '{' '\'' b'}' 'static y"), ["&", "'", "a", "x", "'", "static", "y"]);
    }

    #[test]
    fn an_unfinished_literal_ends_with_the_file() {
        assert_eq!(words("a \"b"), ["a"]);
        assert_eq!(words("a /* b"), ["a"]);
        assert_eq!(words("a \"b\\"), ["a"]);
    }

    #[test]
    fn other_alphabets_keep_their_positions() {
        let code = only("\"–é\" mod ü;");
        assert_eq!(tokens(&code).first(), Some(&("\"–é\" ".len(), "mod")));
    }
}
