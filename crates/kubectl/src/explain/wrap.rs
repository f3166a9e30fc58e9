//! Breaking lines between words, and indenting them.

/// Breaks lines that are longer than this; a longer word stays whole.
pub(super) fn wrapped(text: &str, limit: usize) -> String {
    text.split('\n').map(|line| wrapped_line(line, limit)).collect::<Vec<_>>().join("\n")
}

/// Puts that many spaces before every line, empty ones too.
pub(super) fn indented(text: &str, amount: usize) -> String {
    let spaces = " ".repeat(amount);
    format!("{spaces}{}", text.replace('\n', &format!("\n{spaces}")))
}

fn wrapped_line(line: &str, limit: usize) -> String {
    let (mut out, mut width) = (String::new(), 0);
    let mut rest = line;
    while !rest.is_empty() {
        let word_begins = rest.find(|letter: char| !is_space(letter)).unwrap_or(rest.len());
        let (spaces, after) = rest.split_at(word_begins);
        let (word, after) = after.split_at(after.find(is_space).unwrap_or(after.len()));
        let (gap, length) = (spaces.chars().count(), word.chars().count());
        let is_too_long = width + gap + length > limit;
        if word.is_empty() {
            // Spaces at the end stay if there is room for them.
            out.push_str(if is_too_long { "" } else { spaces });
        } else if is_too_long && width + gap > 1 {
            out.push('\n');
            out.push_str(word);
            width = length;
        } else {
            out.push_str(spaces);
            out.push_str(word);
            width += gap + length;
        }
        rest = after;
    }
    out
}

fn is_space(letter: char) -> bool {
    letter.is_whitespace() && letter != '\u{a0}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("one\n\ntwo ", 7), "one\n\ntwo ");
        assert_eq!(wrapped("a-very-long-word and", 7), "a-very-long-word\nand");
        assert_eq!(wrapped("is a-very-long-word", 7), "is\na-very-long-word");
        assert_eq!(indented("a\n", 2), "  a\n  ");
    }
}
