//! The tokens of a label selector.

/// A token; `in` and `notin` are words, which the parser reads as operators where it expects one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A key, a value, or an operator word.
    Word(&'t str),
    /// `=`, `==`, `!=`, `!`, `<`, `>`, `(`, `)` or a comma.
    Sign(&'t str),
    /// The end of the input.
    End,
}

impl<'t> Token<'t> {
    /// The token as typed; the end is empty.
    pub(super) fn text(self) -> &'t str {
        match self {
            Token::Word(text) | Token::Sign(text) => text,
            Token::End => "",
        }
    }
}

/// A tokenizer with one token of lookahead.
pub(super) struct Tokens<'t> {
    rest: &'t str,
    next: Token<'t>,
}

impl<'t> Tokens<'t> {
    /// Starts at the first token.
    pub(super) fn of(text: &'t str) -> Self {
        let mut tokens = Self { rest: text, next: Token::End };
        tokens.take();
        tokens
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&self) -> Token<'t> {
        self.next
    }

    /// Consumes the next token.
    pub(super) fn take(&mut self) -> Token<'t> {
        let rest = self.rest.trim_start_matches(is_space);
        let length = match rest.as_bytes() {
            [] | [0, ..] => 0,
            [b'=' | b'!', b'=', ..] => 2,
            [first, ..] if is_sign(char::from(*first)) => 1,
            _ => rest.find(|c| is_space(c) || is_sign(c) || c == '\0').unwrap_or(rest.len()),
        };
        let (text, rest) = rest.split_at(length);
        let token = match text.chars().next() {
            None => Token::End,
            Some(first) if is_sign(first) => Token::Sign(text),
            Some(_) => Token::Word(text),
        };
        self.rest = rest;
        std::mem::replace(&mut self.next, token)
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_sign(c: char) -> bool {
    matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_need_no_spaces_and_the_longest_wins() {
        let mut tokens = Tokens::of(" a!=b,c===d in(é)");
        let mut seen = Vec::new();
        while tokens.peek() != Token::End {
            seen.push(tokens.take().text());
        }
        assert_eq!(seen, ["a", "!=", "b", ",", "c", "==", "=", "d", "in", "(", "é", ")"]);
        assert_eq!(tokens.take(), Token::End);
    }
}
