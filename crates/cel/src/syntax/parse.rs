//! The parser of expressions.
//!
//! Chains of `&&` and `||` are flat, everything else nests. Expressions that nest too deeply are rejected, so that the
//! tree can be walked recursively.

use super::token::{Token, tokens};
use super::{Call, Expr, Literal, Mode, Node, Operator, SourceError, macros};
use crate::library;

/// The greatest nesting of an expression.
const DEEPEST: usize = 100;
/// The greatest length of an expression, in bytes.
const LONGEST: usize = 64 * 1024;

/// Words that cannot be identifiers.
pub(crate) const RESERVED: [&str; 18] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Parses an expression.
pub(crate) fn parse(text: &str) -> Result<Expr, SourceError> {
    if text.len() > LONGEST {
        return Err(SourceError::new(0, format!("expression is longer than {LONGEST} bytes")));
    }
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        _ => Err(parser.unexpected()),
    }
}

struct Parser<'t> {
    tokens: Vec<(Token<'t>, usize)>,
    next: usize,
    depth: usize,
}

type Parsed = Result<Expr, SourceError>;

impl<'t> Parser<'t> {
    fn expression(&mut self) -> Parsed {
        self.deeper(|parser| {
            let condition =
                parser.chain("||", Node::Or, |parser| parser.chain("&&", Node::And, Self::relation))?;
            let at = parser.at();
            if !parser.take("?") {
                return Ok(condition);
            }
            let then =
                parser.chain("||", Node::Or, |parser| parser.chain("&&", Node::And, Self::relation))?;
            parser.expect(":")?;
            let otherwise = parser.expression()?;
            Expr::new(Node::Choice(Box::new([condition, then, otherwise])), at)
        })
    }

    fn chain(
        &mut self,
        sign: &'static str,
        make: impl Fn(Vec<Expr>) -> Node,
        part: impl Fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let first = part(self)?;
        let at = self.at();
        let mut parts = vec![first];
        while self.take(sign) {
            parts.push(part(self)?);
        }
        match (parts.len(), parts.pop()) {
            (1, Some(only)) => Ok(only),
            (_, last) => {
                parts.extend(last);
                Expr::new(make(parts), at)
            }
        }
    }

    fn relation(&mut self) -> Parsed {
        self.operators(
            &[
                ("==", Operator::Equal),
                ("!=", Operator::NotEqual),
                ("<=", Operator::LessOrEqual),
                (">=", Operator::GreaterOrEqual),
                ("<", Operator::Less),
                (">", Operator::Greater),
                ("in", Operator::In),
            ],
            |parser| {
                parser.operators(&[("+", Operator::Add), ("-", Operator::Subtract)], |parser| {
                    parser.operators(
                        &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Modulo)],
                        Self::unary,
                    )
                })
            },
        )
    }

    /// Parses operands with left-associative operators of one precedence.
    fn operators(
        &mut self,
        ranked: &[(&'static str, Operator)],
        operand: impl Fn(&mut Self) -> Parsed,
    ) -> Parsed {
        let mut left = operand(self)?;
        let before = self.depth;
        loop {
            let at = self.at();
            let Some((_, operator)) = ranked.iter().find(|(sign, _)| self.take(sign)) else {
                self.depth = before;
                return Ok(left);
            };
            self.nest()?;
            let right = operand(self)?;
            left = Expr::new(Node::Binary(*operator, Box::new([left, right])), at)?;
        }
    }

    fn unary(&mut self) -> Parsed {
        let at = self.at();
        if self.take("!") {
            let inner = self.deeper(Self::unary)?;
            return Expr::new(Node::Not(Box::new(inner)), at);
        }
        if !self.take("-") {
            return self.member();
        }
        let number = match self.peek() {
            Token::Literal(Literal::Int(number)) => Literal::Int(number.wrapping_neg()),
            Token::Literal(Literal::Double(number)) => Literal::Double(-number),
            _ => {
                let inner = self.deeper(Self::unary)?;
                return Expr::new(Node::Negative(Box::new(inner)), at);
            }
        };
        self.next += 1;
        let number = Expr::new(Node::Literal(number), at)?;
        self.members(number)
    }

    fn member(&mut self) -> Parsed {
        let primary = self.primary()?;
        self.members(primary)
    }

    fn members(&mut self, first: Expr) -> Parsed {
        let mut of = first;
        let before = self.depth;
        loop {
            let at = self.at();
            if self.take(".") {
                self.nest()?;
                let mode = self.mode();
                let field = self.name()?;
                let (name, open) = (field.to_owned(), self.at());
                of = if mode == Mode::Plain && self.take("(") {
                    let args = self.list(")", Self::expression)?;
                    macros::method(of, name, args, at, open)?
                } else {
                    selected(of, name, mode, at)?
                };
            } else if self.take("[") {
                self.nest()?;
                let mode = self.mode();
                let by = Box::new(self.expression()?);
                self.expect("]")?;
                of = Expr::new(Node::Index { of: Box::new(of), by, mode }, at)?;
            } else {
                self.depth = before;
                return Ok(of);
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        let node = match self.peek() {
            // The smallest integer is only valid after a minus sign, and there is none.
            Token::Literal(Literal::Int(i64::MIN)) => {
                return Err(SourceError::new(at, "invalid int literal"));
            }
            Token::Literal(literal) => {
                self.next += 1;
                Node::Literal(literal)
            }
            Token::Sign("(") => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                self.next += 1;
                Node::List(self.list("]", |parser| {
                    let mode = parser.mode();
                    Ok((parser.expression()?, mode))
                })?)
            }
            Token::Sign("{") => {
                self.next += 1;
                Node::Map(self.list("}", |parser| {
                    let mode = parser.mode();
                    let key = parser.expression()?;
                    parser.expect(":")?;
                    Ok((key, parser.expression()?, mode))
                })?)
            }
            Token::Sign(".") => {
                self.next += 1;
                return self.named();
            }
            Token::Name(_) => return self.named(),
            Token::End => return Err(self.ended()),
            Token::Sign(_) => return Err(self.unexpected()),
        };
        Expr::new(node, at)
    }

    fn named(&mut self) -> Parsed {
        let at = self.at();
        let name = self.name()?;
        if RESERVED.contains(&name) {
            return Err(SourceError::new(at, format!("reserved identifier: {name}")));
        }
        if !self.take("(") {
            return Expr::new(Node::Name(name.to_owned()), at);
        }
        let args = self.list(")", Self::expression)?;
        macros::function(name, args, at)
    }

    /// Parses a list up to a closing token; a trailing comma is allowed.
    fn list<T>(
        &mut self,
        end: &'static str,
        element: impl Fn(&mut Self) -> Result<T, SourceError>,
    ) -> Result<Vec<T>, SourceError> {
        let mut elements = Vec::new();
        while !self.take(end) {
            elements.push(element(self)?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(elements)
    }

    fn mode(&mut self) -> Mode {
        if self.take("?") { Mode::Optional } else { Mode::Plain }
    }

    fn name(&mut self) -> Result<&'t str, SourceError> {
        match self.peek() {
            Token::Name(name) if name != "in" => {
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn deeper(&mut self, parse: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        self.nest()?;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn nest(&mut self) -> Result<(), SourceError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(SourceError::new(
                self.at(),
                format!("expression nests deeper than {DEEPEST} levels"),
            ));
        }
        Ok(())
    }

    fn peek(&self) -> Token<'t> {
        self.tokens.get(self.next).map_or(Token::End, |(token, _)| token.clone())
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(0, |(_, at)| *at)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is_next = match self.tokens.get(self.next) {
            Some((Token::Sign(next) | Token::Name(next), _)) => *next == sign,
            _ => false,
        };
        self.next += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), SourceError> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// The error for a source that ends where a value is expected.
    fn ended(&self) -> SourceError {
        let why = "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', \
                   NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
        SourceError::new(self.at(), why)
    }

    fn unexpected(&self) -> SourceError {
        let found = match self.peek() {
            Token::End => "<EOF>".to_owned(),
            Token::Name(name) => name.to_owned(),
            Token::Sign(sign) => sign.to_owned(),
            Token::Literal(literal) => format!("{literal:?}"),
        };
        SourceError::new(self.at(), format!("Syntax error: mismatched input '{found}'"))
    }
}

/// Selects a field, or names a type if the whole is a dotted type name.
fn selected(of: Expr, field: String, mode: Mode, at: usize) -> Parsed {
    let dotted = dotted(&of).map(|space| format!("{space}.{field}"));
    if let Some(name) = dotted.and_then(|name| library::type_named(&name)) {
        return Expr::new(Node::Name(name.to_owned()), at);
    }
    Expr::new(Node::Select { of: Box::new(of), field, mode }, at)
}

fn dotted(expr: &Expr) -> Option<String> {
    match &expr.node {
        Node::Name(name) => Some(name.clone()),
        Node::Select { of, field, .. } => match &of.node {
            Node::Name(name) => Some(format!("{name}.{field}")),
            _ => None,
        },
        _ => None,
    }
}

/// Parses a call that is not a macro.
pub(super) fn call(function: String, has_target: bool, args: Vec<Expr>, at: usize) -> Parsed {
    let pattern = match (function.as_str(), args.get(1)) {
        ("matches" | "find" | "findAll", Some(Expr { node: Node::Literal(Literal::Text(text)), at, .. })) => {
            Some(
                library::pattern(text)
                    .map_err(|why| SourceError::new(*at, format!("invalid {function} argument: {why}")))?,
            )
        }
        _ => None,
    };
    Expr::new(Node::Call(Call { function, has_target, args, pattern }), at)
}
