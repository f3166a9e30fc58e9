//! The functions that expressions can call, a file for each library of Kubernetes' environment.
//!
//! Each file has its functions twice: in a table that says what they take and give, and in a `call` that gives it. To add one is
//! a line in the table and an arm in the `call` beside it.

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

use super::meter::{Fault, Meter};
use super::syntax::Call;
use super::types::Type;
use super::value::Value;

pub(super) use network::{Address, Network};
pub(super) use regexes::pattern;
pub(super) use urls::Url;
pub(super) use versions::Version;

/// Evaluates a function of a library; `None` if it has none of this name for these values.
type Called<'a> = Option<Result<Value<'a>, Fault>>;
type Library = for<'a> fn(&str, &[Value<'a>], &mut Meter) -> Called<'a>;

/// The functions of one name.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub(super) forms: Vec<Form>,
    libraries: Vec<Library>,
}

/// One way to call a function.
#[derive(Debug)]
pub(super) struct Form {
    /// Whether the first argument is what it is called on.
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

/// The functions of this name; those of a namespace have it before a dot.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.get(name)
}

/// Calls a function.
pub(super) fn call<'a>(call: &Call, args: &[Value<'a>], meter: &mut Meter) -> Result<Value<'a>, Fault> {
    if let Some(pattern) = &call.pattern {
        return regexes::call_with(&call.function, args, pattern, meter);
    }
    let libraries = find(&call.function).map(|function| function.libraries.as_slice()).unwrap_or_default();
    let called = libraries.iter().find_map(|library| library(&call.function, args, meter));
    called.unwrap_or_else(|| Err(Fault::no_overload()))
}

/// The type that a name stands for.
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

/// Reads `target.name(args) result`.
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

    /// Appendix E: what every library declares is read, none of it silently dropped.
    #[test]
    fn every_line_of_every_table_declares_a_function() {
        for line in LIBRARIES.iter().flat_map(|(lines, _)| *lines) {
            assert!(read(line).is_some(), "{line}");
        }
        assert!(find("sets.contains").is_some() && find("no").is_none());
    }
}
