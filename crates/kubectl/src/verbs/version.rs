//! `version`: the versions of the client and the server.

use gantry_client::ApiRequest;
use gantry_json::{Value, json};
use gantry_schema::encode;

use crate::client_context::ClientContext;
use crate::failure::Failure;
use crate::field::text;

/// The options of `version`.
#[derive(Clone, Debug, Default)]
pub struct VersionOptions {
    /// The value of `-o`.
    pub output: Option<String>,
    /// Unexpected arguments.
    pub words: Vec<String>,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Lines,
    Json,
    Yaml,
}

/// The order in which JSON has the fields of a version.
const ORDER: [&str; 13] = [
    "major",
    "minor",
    "emulationMajor",
    "emulationMinor",
    "minCompatibilityMajor",
    "minCompatibilityMinor",
    "gitVersion",
    "gitCommit",
    "gitTreeState",
    "buildDate",
    "goVersion",
    "compiler",
    "platform",
];

/// Returns the version of the client; no server is contacted.
pub fn client_version(options: &VersionOptions) -> Result<String, Failure> {
    Ok(render(options.shape()?, None))
}

/// Prints the versions of client and server. If the server cannot be reached, the client version is printed first.
pub async fn version(ctx: &mut ClientContext, options: &VersionOptions) -> Result<(), Failure> {
    let shape = options.shape()?;
    let response = ctx.request(ApiRequest::get("/version")).await;
    let (server, failure) = match response {
        Ok(server) => (Some(server), None),
        Err(failure) => (None, Some(failure)),
    };
    ctx.print(&render(shape, server.as_ref()))?;
    failure.map_or(Ok(()), Err)
}

impl VersionOptions {
    fn shape(&self) -> Result<Shape, Failure> {
        if !self.words.is_empty() {
            return Err(Failure::other(format!("extra arguments: [{}]", self.words.join(" "))));
        }
        match self.output.as_deref().unwrap_or_default() {
            "" => Ok(Shape::Lines),
            "json" => Ok(Shape::Json),
            "yaml" => Ok(Shape::Yaml),
            _ => Err(Failure::other("--output must be 'yaml' or 'json'")),
        }
    }
}

/// There is no line about Kustomize, which this client does not contain.
fn render(shape: Shape, server: Option<&Value>) -> String {
    if shape == Shape::Lines {
        let server = server.map(|server| format!("Server Version: {}\n", text(server, "/gitVersion")));
        return format!("Client Version: {}\n{}", client_name(), server.unwrap_or_default());
    }
    let client = client();
    let mut both = json!({"clientVersion": client});
    if let Some(server) = server {
        both["serverVersion"] = server.clone();
    }
    match shape {
        Shape::Json => {
            let parts = [("clientVersion", Some(&client)), ("serverVersion", server)];
            let parts = parts.into_iter().filter_map(|(name, part)| Some((name, ordered(part?))));
            let parts = parts.map(|(name, part)| format!("\"{name}\":{part}")).collect::<Vec<_>>();
            let laid_out = encode::pretty(format!("{{{}}}", parts.join(",")).as_bytes());
            String::from_utf8_lossy(&laid_out).trim_end().to_owned() + "\n"
        }
        _ => encode::yaml_text(&both) + "\n",
    }
}

/// The version with its most important fields first.
fn ordered(version: &Value) -> String {
    let known = ORDER.iter().filter_map(|name| Some(format!("\"{name}\":{}", version.get(name)?)));
    format!("{{{}}}", known.collect::<Vec<_>>().join(","))
}

fn client_name() -> String {
    concat!("v", env!("CARGO_PKG_VERSION"), "+gantry").to_owned()
}

/// The build information that every Kubernetes client prints.
fn client() -> Value {
    json!({
        "buildDate": "1970-01-01T00:00:00Z",
        "compiler": "rustc",
        "gitCommit": "gantry",
        "gitTreeState": "clean",
        "gitVersion": client_name(),
        "goVersion": "none",
        "major": env!("CARGO_PKG_VERSION_MAJOR"),
        "minor": env!("CARGO_PKG_VERSION_MINOR"),
        "platform": format!("{}/{}", std::env::consts::OS, architecture()),
    })
}

/// The architecture, as Go calls it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(output: &str) -> VersionOptions {
        VersionOptions { output: Some(output.to_owned()), words: Vec::new() }
    }

    #[test]
    fn versions_are_shown_in_lines_json_and_yaml() {
        let server = json!({"gitVersion": "v1.37.0"});
        let lines = render(Shape::Lines, Some(&server));
        assert_eq!(lines, format!("Client Version: {}\nServer Version: v1.37.0\n", client_name()));
        let yaml = render(Shape::Yaml, Some(&server));
        assert!(yaml.starts_with("clientVersion:\n  buildDate: "), "{yaml}");
        assert!(yaml.ends_with("serverVersion:\n  gitVersion: v1.37.0\n\n"), "{yaml}");
        assert!(
            render(Shape::Json, None).starts_with("{\n  \"clientVersion\": {\n    \"major\""),
            "{}",
            render(Shape::Json, None)
        );
    }

    /// K0.3: invalid arguments are an error.
    #[test]
    fn other_forms_are_refused() {
        let refused = client_version(&options("foo")).unwrap_err();
        assert_eq!(refused.lines(), "error: --output must be 'yaml' or 'json'\n");
        let more = VersionOptions { words: vec!["x".into()], ..VersionOptions::default() };
        assert_eq!(client_version(&more).unwrap_err().lines(), "error: extra arguments: [x]\n");
    }
}
