//! The functions of expressions, one file for each library of Kubernetes' environment.
//!
//! Each file has a table of declarations and a `call` that implements them. To add a function, add a line to the table
//! and an arm to `call`.

mod conversions;
mod format;
mod formats;
mod lists;
mod network;
mod optionals;
mod quantities;
mod regexes;
mod strings;
mod times;
mod urls;
mod versions;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::cost::{CostMeter, EvaluationError};
use super::syntax::Call;
use super::types::Type;
use super::value::Value;

pub(super) use network::{Address, Network};
pub(super) use regexes::pattern;
pub(super) use urls::Url;
pub(super) use versions::Version;

/// Evaluates a function of a library; `None` if it has no such function for these values.
type Called<'a> = Option<Result<Value<'a>, EvaluationError>>;
type Library = for<'a> fn(&str, &[Value<'a>], &mut CostMeter) -> Called<'a>;

/// The overloads of a function.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub(super) forms: Vec<Form>,
    libraries: Vec<Library>,
}

/// One overload.
#[derive(Debug)]
pub(super) struct Form {
    /// Whether the first argument is the receiver.
    pub(super) has_target: bool,
    pub(super) args: Vec<Type<'static>>,
    pub(super) result: Type<'static>,
}

const LIBRARIES: [(&[&str], Library); 12] = [
    (conversions::FUNCTIONS, conversions::call),
    (format::FUNCTIONS, format::call),
    (formats::FUNCTIONS, formats::call),
    (lists::FUNCTIONS, lists::call),
    (network::FUNCTIONS, network::call),
    (optionals::FUNCTIONS, optionals::call),
    (quantities::FUNCTIONS, quantities::call),
    (regexes::FUNCTIONS, regexes::call),
    (strings::FUNCTIONS, strings::call),
    (times::FUNCTIONS, times::call),
    (urls::FUNCTIONS, urls::call),
    (versions::FUNCTIONS, versions::call),
];

static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> = LazyLock::new(|| {
    let mut functions: BTreeMap<_, Function> = BTreeMap::new();
    for (lines, library) in LIBRARIES {
        for (name, form) in lines.iter().filter_map(|line| read(line)) {
            let function = functions.entry(name).or_default();
            function.forms.push(form);
            if !function.libraries.iter().any(|known| std::ptr::fn_addr_eq(*known, library)) {
                function.libraries.push(library);
            }
        }
    }
    functions
});

/// The function of this name; a namespace comes before a dot.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.get(name)
}

/// Returns the names of the functions that have a receiver, or of those that have none.
#[cfg(test)]
pub(super) fn function_names(has_target: bool) -> Vec<&'static str> {
    let is_meant = |function: &Function| function.forms.iter().any(|form| form.has_target == has_target);
    FUNCTIONS.iter().filter(|(_, function)| is_meant(function)).map(|(name, _)| *name).collect()
}

/// Calls a function.
pub(super) fn call<'a>(
    call: &Call,
    args: &[Value<'a>],
    meter: &mut CostMeter,
) -> Result<Value<'a>, EvaluationError> {
    if let Some(pattern) = &call.pattern {
        return regexes::call_with(&call.function, args, pattern, meter);
    }
    let libraries = find(&call.function).map(|function| function.libraries.as_slice()).unwrap_or_default();
    let called = libraries.iter().find_map(|library| library(&call.function, args, meter));
    called.unwrap_or_else(|| Err(EvaluationError::no_overload()))
}

/// The type that an identifier names.
pub(super) fn type_named(name: &str) -> Option<&'static str> {
    const TYPES: [&str; 18] = [
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "list",
        "map",
        "null_type",
        "type",
        "optional_type",
        "google.protobuf.Duration",
        "google.protobuf.Timestamp",
        "kubernetes.Quantity",
        "kubernetes.URL",
        "kubernetes.Semver",
        "net.IP",
        "net.CIDR",
    ];
    TYPES.into_iter().find(|known| *known == name)
}

/// Parses `target.name(args) result`.
fn read(line: &'static str) -> Option<(&'static str, Form)> {
    let (callee, rest) = line.split_once('(')?;
    let (args, result) = rest.rsplit_once(") ")?;
    let target = callee.rsplit_once('.').and_then(|(of, name)| Some((Type::read(of)?, name)));
    let (name, target) = match target {
        Some((target, name)) => (name, Some(target)),
        None => (callee, None),
    };
    let has_target = target.is_some();
    let args = args.split(", ").filter(|arg| !arg.is_empty()).map(Type::read);
    let args = target.map(Some).into_iter().chain(args).collect::<Option<Vec<_>>>()?;
    Some((name, Form { has_target, args, result: Type::read(result)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appendix E: all declarations of the libraries are parsed, none is dropped silently.
    #[test]
    fn every_line_of_every_table_declares_a_function() {
        for line in LIBRARIES.iter().flat_map(|(lines, _)| *lines) {
            assert!(read(line).is_some(), "{line}");
        }
        assert!(find("sets.contains").is_some() && find("no").is_none());
    }
}
