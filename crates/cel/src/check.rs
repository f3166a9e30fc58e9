//! Type checking of expressions.
//!
//! Unknown types are accepted: everything that Kubernetes accepts is accepted here, and some of what it rejects.

use std::sync::Arc;

use super::library;
use super::syntax::{Call, Expr, Literal, Loop, LoopKind, Mode, Node, Operator, SourceError};
use super::time;
use super::types::Type;

/// The variables in scope, innermost first.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s, 'a> {
    pub(super) name: &'s str,
    pub(super) kind: &'s Type<'a>,
    pub(super) outer: Option<&'s Scope<'s, 'a>>,
}

/// Returns the type of an expression and its errors.
pub(super) fn check<'a>(expr: &Expr, scope: &Scope<'_, 'a>) -> (Type<'a>, Vec<SourceError>) {
    let mut checker = Checker { errors: Vec::new() };
    let kind = checker.check(expr, scope);
    (kind, checker.errors)
}

struct Checker {
    errors: Vec<SourceError>,
}

impl Checker {
    fn check<'a>(&mut self, expr: &Expr, scope: &Scope<'_, 'a>) -> Type<'a> {
        match &expr.node {
            Node::Literal(literal) => of_literal(literal),
            Node::Name(name) => self.named(name, expr.at, scope),
            Node::Select { of, field, mode } => {
                let of = self.check(of, scope);
                self.select(of, field, *mode, expr.at)
            }
            Node::Has { of, field } => {
                let of = self.check(of, scope);
                self.select(of, field, Mode::Plain, expr.at);
                Type::Bool
            }
            Node::Index { of, by, mode } => {
                let (of, by) = (self.check(of, scope), self.check(by, scope));
                self.index(&of, &by, *mode, expr.at)
            }
            Node::List(elements) => {
                let mut common = None;
                for (element, mode) in elements {
                    let kind = present(self.check(element, scope), *mode);
                    self.join(&mut common, kind, element.at);
                }
                Type::List(Arc::new(common.unwrap_or(Type::Dyn)))
            }
            Node::Map(entries) => {
                let (mut keys, mut values) = (None, None);
                for (key, value, mode) in entries {
                    let kind = self.check(key, scope);
                    self.join(&mut keys, kind, key.at);
                    let kind = present(self.check(value, scope), *mode);
                    self.join(&mut values, kind, value.at);
                }
                Type::Map(Arc::new(keys.unwrap_or(Type::Dyn)), Arc::new(values.unwrap_or(Type::Dyn)))
            }
            Node::Not(inner) => self.boolean(inner, scope, "!_"),
            Node::Negative(inner) => {
                let kind = self.check(inner, scope);
                if !matches!(kind, Type::Int | Type::Double | Type::Dyn) {
                    self.no_overload(expr.at, "-_", &[&kind]);
                }
                kind
            }
            Node::And(parts) => self.booleans(parts, scope, "_&&_"),
            Node::Or(parts) => self.booleans(parts, scope, "_||_"),
            Node::Choice(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.boolean(condition, scope, "_?_:_");
                let (then, otherwise) = (self.check(then, scope), self.check(otherwise, scope));
                then.or(&otherwise)
            }
            Node::Binary(operator, sides) => {
                let [one, other] = &**sides;
                let (one, other) = (self.check(one, scope), self.check(other, scope));
                binary(*operator, &one, &other).unwrap_or_else(|| {
                    self.no_overload(expr.at, operator.name(), &[&one, &other]);
                    Type::Dyn
                })
            }
            Node::Call(call) => self.call(call, expr.at, scope),
            Node::Loop(repeated) => self.repeated(repeated, expr.at, scope),
            Node::IfPresent { of, name, then, wraps } => {
                let inner = match self.check(of, scope) {
                    Type::Optional(inner) => (*inner).clone(),
                    Type::Dyn => Type::Dyn,
                    other => {
                        self.no_overload(expr.at, "optMap", &[&other]);
                        Type::Dyn
                    }
                };
                let then = self.check(then, &Scope { name, kind: &inner, outer: Some(scope) });
                if *wraps { Type::Optional(Arc::new(then)) } else { then }
            }
        }
    }

    fn error(&mut self, at: usize, why: String) {
        self.errors.push(SourceError::new(at, why));
    }

    /// The common type of the elements of a list, which must all be of one type.
    fn join<'a>(&mut self, common: &mut Option<Type<'a>>, kind: Type<'a>, at: usize) {
        *common = Some(match common.take() {
            None => kind,
            Some(known) if known == kind => kind,
            Some(known) => {
                if !known.takes(&kind, &mut None) && !kind.takes(&known, &mut None) {
                    self.error(at, format!("expected type '{known}' but found '{kind}'"));
                }
                Type::Dyn
            }
        });
    }

    fn no_overload(&mut self, at: usize, function: &str, args: &[&Type<'_>]) {
        let args: Vec<_> = args.iter().map(ToString::to_string).collect();
        let why = format!("found no matching overload for '{function}' applied to '({})'", args.join(", "));
        self.error(at, why);
    }

    fn undeclared(&mut self, name: &str, at: usize) {
        self.error(at, format!("undeclared reference to '{name}' (in container '')"));
    }

    fn named<'a>(&mut self, name: &str, at: usize, scope: &Scope<'_, 'a>) -> Type<'a> {
        let mut next = Some(scope);
        while let Some(scope) = next {
            if scope.name == name {
                return scope.kind.clone();
            }
            next = scope.outer;
        }
        if library::type_named(name).is_some() {
            return Type::OfTypes;
        }
        self.undeclared(name, at);
        Type::Dyn
    }

    fn select<'a>(&mut self, of: Type<'a>, field: &str, mode: Mode, at: usize) -> Type<'a> {
        let found = match of {
            Type::Optional(inner) => {
                let found = self.select((*inner).clone(), field, Mode::Plain, at);
                return Type::Optional(Arc::new(present(found, Mode::Optional)));
            }
            Type::Dyn => Type::Dyn,
            Type::Map(_, value) => (*value).clone(),
            Type::Object(schema, is_resource) => {
                Type::member(schema, is_resource, field).unwrap_or_else(|| {
                    self.error(at, format!("undefined field '{field}'"));
                    Type::Dyn
                })
            }
            other => {
                self.error(at, format!("type '{other}' does not support field selection"));
                Type::Dyn
            }
        };
        if mode == Mode::Optional { Type::Optional(Arc::new(found)) } else { found }
    }

    fn index<'a>(&mut self, of: &Type<'a>, by: &Type<'a>, mode: Mode, at: usize) -> Type<'a> {
        let found = match of {
            Type::Optional(inner) => {
                let found = self.index(inner, by, Mode::Plain, at);
                return Type::Optional(Arc::new(found));
            }
            Type::Dyn => Type::Dyn,
            Type::List(element) if by.is_number() || *by == Type::Dyn => (**element).clone(),
            Type::Map(key, value) if key.takes(by, &mut None) || by.is_number() => (**value).clone(),
            _ => {
                self.no_overload(at, "_[_]", &[of, by]);
                Type::Dyn
            }
        };
        if mode == Mode::Optional { Type::Optional(Arc::new(found)) } else { found }
    }

    fn boolean<'a>(&mut self, expr: &Expr, scope: &Scope<'_, 'a>, operator: &str) -> Type<'a> {
        let kind = self.check(expr, scope);
        if !matches!(kind, Type::Bool | Type::Dyn) {
            self.no_overload(expr.at, operator, &[&kind]);
        }
        Type::Bool
    }

    fn booleans<'a>(&mut self, parts: &[Expr], scope: &Scope<'_, 'a>, operator: &str) -> Type<'a> {
        for part in parts {
            self.boolean(part, scope, operator);
        }
        Type::Bool
    }

    fn call<'a>(&mut self, call: &Call, at: usize, scope: &Scope<'_, 'a>) -> Type<'a> {
        let args: Vec<_> = call.args.iter().map(|arg| self.argument(call, arg, scope)).collect();
        let Some(function) = library::find(&call.function) else {
            self.undeclared(&call.function, at);
            return Type::Dyn;
        };
        let mut results = Vec::new();
        for form in &function.forms {
            if form.has_target != call.has_target || form.args.len() != args.len() {
                continue;
            }
            let mut same = None;
            let takes = form.args.iter().zip(&args).all(|(wanted, arg)| wanted.takes(arg, &mut same));
            if takes {
                results.push(form.result.with(same.as_ref()));
            }
        }
        let Some(result) = results.into_iter().reduce(|one, other| one.or(&other)) else {
            self.no_overload(at, &call.function, &args.iter().collect::<Vec<_>>());
            return Type::Dyn;
        };
        result
    }

    /// Checks an argument. Literal arguments of some functions are checked more or less strictly than others.
    fn argument<'a>(&mut self, call: &Call, arg: &Expr, scope: &Scope<'_, 'a>) -> Type<'a> {
        match (call.function.as_str(), &arg.node) {
            // The arguments of `format` may have different types.
            ("format", Node::List(elements)) => {
                for (element, _) in elements {
                    self.check(element, scope);
                }
                return Type::List(Arc::new(Type::Dyn));
            }
            ("duration", Node::Literal(Literal::Text(text)))
                if gantry_formats::duration::parse(text).is_err() =>
            {
                self.error(arg.at, "invalid duration argument".to_owned());
            }
            ("timestamp", Node::Literal(Literal::Text(text))) if time::timestamp(text).is_none() => {
                self.error(arg.at, "invalid timestamp argument".to_owned());
            }
            _ => {}
        }
        self.check(arg, scope)
    }

    fn repeated<'a>(&mut self, repeated: &Loop, at: usize, scope: &Scope<'_, 'a>) -> Type<'a> {
        let range = self.check(&repeated.range, scope);
        let (key, value, only) = match &range {
            Type::List(element) => (Type::Int, (**element).clone(), (**element).clone()),
            Type::Map(key, value) => ((**key).clone(), (**value).clone(), (**key).clone()),
            Type::Dyn => (Type::Dyn, Type::Dyn, Type::Dyn),
            other => {
                let why = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.error(at, why);
                (Type::Dyn, Type::Dyn, Type::Dyn)
            }
        };
        let body = |checker: &mut Self, expr: &Expr| match repeated.names.as_slice() {
            [first, second] => {
                let outer = Scope { name: first, kind: &key, outer: Some(scope) };
                checker.check(expr, &Scope { name: second, kind: &value, outer: Some(&outer) })
            }
            [name] => checker.check(expr, &Scope { name, kind: &only, outer: Some(scope) }),
            _ => Type::Dyn,
        };
        let expects_bool = matches!(
            repeated.kind,
            LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne | LoopKind::Filter
        );
        if let Some(filter) = &repeated.filter {
            let kind = body(self, filter);
            self.expect_bool(&kind, filter.at);
        }
        let result = body(self, &repeated.body);
        if expects_bool {
            self.expect_bool(&result, repeated.body.at);
        }
        match repeated.kind {
            LoopKind::All | LoopKind::Exists | LoopKind::ExistsOne => Type::Bool,
            LoopKind::Filter => Type::List(Arc::new(only)),
            LoopKind::List => Type::List(Arc::new(result)),
            LoopKind::Map => Type::Map(Arc::new(key), Arc::new(result)),
            LoopKind::Entries => result,
            LoopKind::SortBy => range,
        }
    }

    fn expect_bool(&mut self, kind: &Type<'_>, at: usize) {
        if !matches!(kind, Type::Bool | Type::Dyn) {
            self.error(at, format!("expected type 'bool' but found '{kind}'"));
        }
    }
}

fn of_literal<'a>(literal: &Literal) -> Type<'a> {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::Text(_) => Type::Text,
        Literal::Bytes(_) => Type::Bytes,
    }
}

/// The type inside an optional.
fn present(kind: Type<'_>, mode: Mode) -> Type<'_> {
    match (mode, kind) {
        (Mode::Optional, Type::Optional(inner)) => (*inner).clone(),
        (_, kind) => kind,
    }
}

/// The type of a binary operation; `None` if the operator does not apply to these types.
fn binary<'a>(operator: Operator, one: &Type<'a>, other: &Type<'a>) -> Option<Type<'a>> {
    let either_dyn = *one == Type::Dyn || *other == Type::Dyn;
    let takes = || one.takes(other, &mut None) || other.takes(one, &mut None);
    match operator {
        Operator::Equal | Operator::NotEqual => takes().then_some(Type::Bool),
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
            let ordered = |kind: &Type<'a>| {
                matches!(kind, Type::Bool | Type::Text | Type::Bytes | Type::Duration | Type::Timestamp)
            };
            let fits = either_dyn || (one.is_number() && other.is_number()) || (one == other && ordered(one));
            fits.then_some(Type::Bool)
        }
        Operator::In => match other {
            Type::List(element) => element.takes(one, &mut None).then_some(Type::Bool),
            Type::Map(key, _) => (key.takes(one, &mut None) || one.is_number()).then_some(Type::Bool),
            Type::Dyn => Some(Type::Bool),
            _ => None,
        },
        _ if either_dyn => Some(Type::Dyn),
        Operator::Add => match (one, other) {
            (Type::Text, Type::Text) | (Type::Bytes, Type::Bytes) | (Type::Duration, Type::Duration) => {
                Some(one.clone())
            }
            (Type::List(left), Type::List(right)) => Some(Type::List(Arc::new((**left).clone().or(right)))),
            (Type::Timestamp, Type::Duration) | (Type::Duration, Type::Timestamp) => Some(Type::Timestamp),
            _ => (one == other && one.is_number()).then(|| one.clone()),
        },
        Operator::Subtract => match (one, other) {
            (Type::Duration, Type::Duration) | (Type::Timestamp, Type::Timestamp) => Some(Type::Duration),
            (Type::Timestamp, Type::Duration) => Some(Type::Timestamp),
            _ => (one == other && one.is_number()).then(|| one.clone()),
        },
        Operator::Modulo if *one == Type::Double => None,
        Operator::Multiply | Operator::Divide | Operator::Modulo => {
            (one == other && one.is_number()).then(|| one.clone())
        }
    }
}
