//! The text of an expression and the tree it stands for.

mod literal;
mod macros;
mod parse;
mod token;

use std::sync::Arc;

use gantry_primitives::Pattern;

pub(super) use parse::{RESERVED, parse};

/// An expression, and where it stands in its text.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) node: Node,
    /// In bytes from the start; of an operator, where the operator stands.
    pub(super) at: usize,
    /// How many levels it has; bounded, so that it can be walked recursively.
    height: usize,
}

/// How many levels an expression may have.
const HIGHEST: usize = 150;

/// What an expression is made of. What Kubernetes calls macros are nodes of their own.
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
    /// `value.optMap(name, then)`: `then` of what is there.
    IfPresent {
        of: Box<Expr>,
        name: String,
        then: Box<Expr>,
        wraps: bool,
    },
}

/// A call of a function, the target among the arguments if it has one.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: String,
    pub(super) has_target: bool,
    pub(super) args: Vec<Expr>,
    /// The pattern among the arguments, where it is written out.
    pub(super) pattern: Option<Arc<Pattern>>,
}

/// An expression that is evaluated for each element of a list or key of a map.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) range: Expr,
    /// One name for elements or keys, or two: index and element, key and value.
    pub(super) names: Vec<String>,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

/// What is made of the results.
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

/// Whether something may be missing: `a.?b`, `a[?b]`, `[?a]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Plain,
    Optional,
}

/// A value that is written out.
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

/// Operators with two sides, except those of logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) at: usize,
    pub(super) why: String,
}

impl Expr {
    fn new(node: Node, at: usize) -> Result<Self, Complaint> {
        let mut height = 0;
        node.each_part(&mut |part| height = height.max(part.height));
        if height >= HIGHEST {
            return Err(Complaint::new(at, format!("expression nests deeper than {HIGHEST} levels")));
        }
        Ok(Self { node, at, height: height + 1 })
    }

    /// Whether a variable is mentioned anywhere in it that is not one of its own.
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
    /// Shows the expressions that it is made of.
    fn each_part(&self, look: &mut dyn FnMut(&Expr)) {
        match self {
            Self::Literal(_) | Self::Name(_) => {}
            Self::Select { of, .. } | Self::Has { of, .. } | Self::Not(of) | Self::Negative(of) => look(of),
            Self::Index { of, by, .. } => [of, by].into_iter().for_each(|part| look(part)),
            Self::List(elements) => elements.iter().for_each(|(element, _)| look(element)),
            Self::Map(entries) => entries.iter().for_each(|(key, value, _)| {
                look(key);
                look(value);
            }),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(look),
            Self::Choice(parts) => parts.iter().for_each(look),
            Self::Binary(_, sides) => sides.iter().for_each(look),
            Self::Call(call) => call.args.iter().for_each(look),
            Self::Loop(repeated) => {
                look(&repeated.range);
                repeated.filter.iter().for_each(&mut *look);
                look(&repeated.body);
            }
            Self::IfPresent { of, then, .. } => [of, then].into_iter().for_each(|part| look(part)),
        }
    }
}

impl Operator {
    /// As complaints name it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Equal => "_==_",
            Self::NotEqual => "_!=_",
            Self::Less => "_<_",
            Self::LessOrEqual => "_<=_",
            Self::Greater => "_>_",
            Self::GreaterOrEqual => "_>=_",
            Self::In => "@in",
            Self::Add => "_+_",
            Self::Subtract => "_-_",
            Self::Multiply => "_*_",
            Self::Divide => "_/_",
            Self::Modulo => "_%_",
        }
    }
}

impl Complaint {
    pub(super) fn new(at: usize, why: impl Into<String>) -> Self {
        Self { at, why: why.into() }
    }

    /// With the line it is about, unless that is very long, and a mark under the place.
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
