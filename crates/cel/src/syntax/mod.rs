//! The syntax tree of an expression.

mod literal;
mod macros;
mod parse;
mod token;

use std::sync::Arc;

use gantry_primitives::Pattern;

pub(super) use parse::{RESERVED, parse};

/// A node of the syntax tree and its position in the source.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) node: Node,
    /// The offset in bytes; of a binary operation, that of the operator.
    pub(super) at: usize,
    /// Its depth; limited, so that it can be walked recursively.
    height: usize,
}

/// The greatest depth of an expression.
const HIGHEST: usize = 150;

/// The kinds of nodes. Macros are nodes of their own.
#[derive(Debug)]
pub(super) enum Node {
    Literal(Literal),
    Name(String),
    Select {
        of: Box<Expr>,
        field: String,
        mode: Mode,
    },
    Has {
        of: Box<Expr>,
        field: String,
    },
    Index {
        of: Box<Expr>,
        by: Box<Expr>,
        mode: Mode,
    },
    List(Vec<(Expr, Mode)>),
    Map(Vec<(Expr, Expr, Mode)>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Choice(Box<[Expr; 3]>),
    Binary(Operator, Box<[Expr; 2]>),
    Call(Call),
    Loop(Box<Loop>),
    /// `value.optMap(name, then)`: `then` of the value inside the optional.
    IfPresent {
        of: Box<Expr>,
        name: String,
        then: Box<Expr>,
        wraps: bool,
    },
}

/// A function call; the receiver is the first argument.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) has_target: bool,
    pub(super) args: Vec<Expr>,
    /// The compiled pattern, if it is a literal argument.
    pub(super) pattern: Option<Arc<Pattern>>,
}

/// A comprehension over a list or map.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: Expr,
    /// One variable for elements or keys, or two: index and element, key and value.
    pub(super) names: Vec<String>,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

/// The result of a comprehension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    /// The elements for which it is true.
    Filter,
    /// A list of the results.
    List,
    /// A map of the same keys to the results.
    Map,
    /// A map of the results, each a map itself.
    Entries,
    /// The elements in the order of the results.
    SortBy,
}

/// Whether an access or element is optional: `a.?b`, `a[?b]`, `[?a]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Optional,
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

gantry_formats::text_enum! {
    /// Binary operators, except `&&` and `||`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Operator {
        Equal = "_==_",
        NotEqual = "_!=_",
        Less = "_<_",
        LessOrEqual = "_<=_",
        Greater = "_>_",
        GreaterOrEqual = "_>=_",
        In = "@in",
        Add = "_+_",
        Subtract = "_-_",
        Multiply = "_*_",
        Divide = "_/_",
        Modulo = "_%_",
    }

    /// The operator in error messages.
    pub(super) fn name(self) -> &'static str;
}

/// An error in an expression and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceError {
    pub(super) at: usize,
    pub(super) why: String,
}

impl Expr {
    fn new(node: Node, at: usize) -> Result<Self, SourceError> {
        let mut height = 0;
        node.each_part(&mut |part| height = height.max(part.height));
        if height >= HIGHEST {
            return Err(SourceError::new(at, format!("expression nests deeper than {HIGHEST} levels")));
        }
        Ok(Self { node, at, height: height + 1 })
    }

    /// Whether it mentions a variable that it does not declare itself.
    pub(super) fn mentions(&self, variable: &str) -> bool {
        let own = |names: &[String]| names.iter().any(|name| name == variable);
        match &self.node {
            Node::Name(name) => name == variable,
            Node::Loop(repeated) if own(&repeated.names) => repeated.range.mentions(variable),
            Node::IfPresent { of, name, .. } if name == variable => of.mentions(variable),
            node => {
                let mut found = false;
                node.each_part(&mut |part| found = found || part.mentions(variable));
                found
            }
        }
    }
}

impl Node {
    /// Visits its direct subexpressions.
    fn each_part(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Self::Literal(_) | Self::Name(_) => {}
            Self::Select { of, .. } | Self::Has { of, .. } | Self::Not(of) | Self::Negative(of) => visit(of),
            Self::Index { of, by, .. } => [of, by].into_iter().for_each(|part| visit(part)),
            Self::List(elements) => elements.iter().for_each(|(element, _)| visit(element)),
            Self::Map(entries) => entries.iter().for_each(|(key, value, _)| {
                visit(key);
                visit(value);
            }),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(visit),
            Self::Choice(parts) => parts.iter().for_each(visit),
            Self::Binary(_, sides) => sides.iter().for_each(visit),
            Self::Call(call) => call.args.iter().for_each(visit),
            Self::Loop(repeated) => {
                visit(&repeated.range);
                repeated.filter.iter().for_each(&mut *visit);
                visit(&repeated.body);
            }
            Self::IfPresent { of, then, .. } => [of, then].into_iter().for_each(|part| visit(part)),
        }
    }
}

impl SourceError {
    pub(super) fn new(at: usize, why: impl Into<String>) -> Self {
        Self { at, why: why.into() }
    }

    /// Renders the error with its line, unless that is very long, and a mark under the position.
    pub(super) fn shown(&self, text: &str) -> String {
        const LONGEST: usize = 1_000;
        let before = text.get(..self.at).unwrap_or(text);
        let row = before.matches('\n').count();
        let line = text.split('\n').nth(row).unwrap_or_default();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        if line.len() > LONGEST {
            return format!("ERROR: <input>:{}:{}: {}", row + 1, column + 1, self.why);
        }
        format!(
            "ERROR: <input>:{}:{}: {}\n | {line}\n | {}^",
            row + 1,
            column + 1,
            self.why,
            ".".repeat(column)
        )
    }
}
