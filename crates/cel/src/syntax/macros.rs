//! Macros: `has`, `all`, `map` and others, whose arguments are not evaluated like those of functions.

use super::parse::call;
use super::{Expr, Loop, LoopKind, Mode, Node, SourceError};
use crate::library;

type Parsed = Result<Expr, SourceError>;

/// `name(args)`.
pub(super) fn function(name: &str, args: Vec<Expr>, at: usize) -> Parsed {
    if name != "has" {
        return call(name.to_owned(), false, args, at);
    }
    match only(args).map(|arg| arg.node) {
        Some(Node::Select { of, field, mode: Mode::Plain }) => Expr::new(Node::Has { of, field }, at),
        _ => Err(SourceError::new(at, "invalid argument to has() macro")),
    }
}

/// `target.name(args)`; `at` is the position of the dot, `open` that of the parenthesis.
pub(super) fn method(target: Expr, name: String, args: Vec<Expr>, at: usize, open: usize) -> Parsed {
    if let Node::Name(space) = &target.node {
        let qualified = format!("{space}.{name}");
        if library::find(&qualified).is_some() {
            return call(qualified, false, args, at);
        }
    }
    match (name.as_str(), args.len()) {
        ("optMap" | "optFlatMap", 2) => {
            let wraps = name == "optMap";
            let mut args = args.into_iter();
            match (args.next(), args.next()) {
                (Some(variable), Some(then)) => {
                    let name = variable_name(&variable)?;
                    let (of, then) = (Box::new(target), Box::new(then));
                    Expr::new(Node::IfPresent { of, name, then, wraps }, open)
                }
                _ => Err(SourceError::new(at, "optMap() wants a name and an expression")),
            }
        }
        _ => match loop_of(&name, args.len()) {
            Some((kind, names, has_filter)) => looped(kind, names, has_filter, target, args, open),
            None => call(name, true, std::iter::once(target).chain(args).collect(), open),
        },
    }
}

/// The comprehension that a method with this many arguments is: its kind, number of variables, and whether it filters.
/// `None` if it is an ordinary method.
fn loop_of(name: &str, args: usize) -> Option<(LoopKind, usize, bool)> {
    Some(match (name, args) {
        ("all", 2) => (LoopKind::All, 1, false),
        ("all", 3) => (LoopKind::All, 2, false),
        ("exists", 2) => (LoopKind::Exists, 1, false),
        ("exists", 3) => (LoopKind::Exists, 2, false),
        ("exists_one" | "existsOne", 2) => (LoopKind::ExistsOne, 1, false),
        ("exists_one" | "existsOne", 3) => (LoopKind::ExistsOne, 2, false),
        ("filter", 2) => (LoopKind::Filter, 1, false),
        ("map", 2) => (LoopKind::List, 1, false),
        ("map", 3) => (LoopKind::List, 1, true),
        ("transformList", 3) => (LoopKind::List, 2, false),
        ("transformList", 4) => (LoopKind::List, 2, true),
        ("transformMap", 3) => (LoopKind::Map, 2, false),
        ("transformMap", 4) => (LoopKind::Map, 2, true),
        ("transformMapEntry", 3) => (LoopKind::Entries, 2, false),
        ("transformMapEntry", 4) => (LoopKind::Entries, 2, true),
        ("sortBy", 2) => (LoopKind::SortBy, 1, false),
        _ => return None,
    })
}

fn looped(kind: LoopKind, names: usize, has_filter: bool, range: Expr, args: Vec<Expr>, at: usize) -> Parsed {
    let mut args = args.into_iter();
    let mut variables = Vec::with_capacity(names);
    for variable in args.by_ref().take(names) {
        let name = variable_name(&variable)?;
        if variables.contains(&name) {
            return Err(SourceError::new(variable.at, "two variables have the same name"));
        }
        variables.push(name);
    }
    let filter = if has_filter { args.next() } else { None };
    let body = args.next().ok_or_else(|| SourceError::new(at, "an expression is missing"))?;
    Expr::new(Node::Loop(Box::new(Loop { kind, range, names: variables, filter, body })), at)
}

fn variable_name(expr: &Expr) -> Result<String, SourceError> {
    match &expr.node {
        Node::Name(name) => Ok(name.clone()),
        _ => Err(SourceError::new(expr.at, "argument must be a simple name")),
    }
}

fn only(args: Vec<Expr>) -> Option<Expr> {
    let mut args = args.into_iter();
    args.next().filter(|_| args.next().is_none())
}
