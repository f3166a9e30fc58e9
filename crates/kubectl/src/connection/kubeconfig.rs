//! Kubeconfig files: reading and merging them.

use std::path::{Path, PathBuf};

use gantry_client::ExecPlugin;
use gantry_json::Value;
use gantry_schema::decode::{self, Format};

/// The content of a kubeconfig.
#[derive(Clone, Debug, Default)]
pub(super) struct KubeconfigFile {
    pub(super) clusters: Vec<Named<ClusterEntry>>,
    pub(super) users: Vec<Named<UserEntry>>,
    pub(super) contexts: Vec<Named<ContextEntry>>,
    pub(super) current_context: Option<String>,
}

/// An entry with its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Named<T> {
    pub(super) name: String,
    pub(super) entry: T,
}

/// A server.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterEntry {
    pub(super) server: Option<String>,
    pub(super) certificate_authority: Option<PemSource>,
    pub(super) skips_verification: bool,
    pub(super) tls_server_name: Option<String>,
    pub(super) proxy_url: Option<String>,
}

/// The credentials of a user.
#[derive(Clone, Debug, Default)]
pub(super) struct UserEntry {
    pub(super) client_certificate: Option<PemSource>,
    pub(super) client_key: Option<PemSource>,
    pub(super) token: Option<String>,
    pub(super) token_file: Option<PathBuf>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) act_as: Option<String>,
    pub(super) act_as_uid: Option<String>,
    pub(super) act_as_groups: Vec<String>,
    /// By key; a key with several values has several entries.
    pub(super) act_as_extra: Vec<(String, String)>,
    pub(super) exec: Option<ExecEntry>,
    /// The name of an authentication provider, which is a former kind of plugin.
    pub(super) auth_provider: Option<String>,
}

/// A credential plugin.
#[derive(Clone, Debug, Default)]
pub(super) struct ExecEntry {
    pub(super) plugin: ExecPlugin,
    /// Whether the cluster is passed to the plugin.
    pub(super) needs_cluster: bool,
}

/// A cluster and a user.
#[derive(Clone, Debug, Default)]
pub(super) struct ContextEntry {
    pub(super) cluster: String,
    pub(super) user: Option<String>,
    pub(super) namespace: Option<String>,
}

/// A certificate or key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PemSource {
    /// In the kubeconfig, as base64.
    Data(String),
    /// In a file.
    File(PathBuf),
}

impl KubeconfigFile {
    /// Reads a file. Paths in it are relative to its directory.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read(file).map_err(|error| error.to_string())?;
        Self::parse(&text, file.parent().unwrap_or(Path::new("")))
    }

    fn parse(text: &[u8], folder: &Path) -> Result<Self, String> {
        let (content, _) = decode::plain(text, Format::Yaml)
            .map_err(|error| error.trim_start_matches("yaml: ").to_owned())?;
        if content.is_null() {
            return Ok(Self::default());
        }
        let root = Fields { value: &content, path: String::new(), folder };
        root.check_type(content.is_object(), "a mapping")?;
        Ok(Self {
            clusters: root.entries("clusters", "cluster", ClusterEntry::parse)?,
            users: root.entries("users", "user", UserEntry::parse)?,
            contexts: root.entries("contexts", "context", ContextEntry::parse)?,
            current_context: root.text("current-context")?,
        })
    }

    /// Adds the entries of a file of lower precedence whose names are new.
    pub(super) fn merge(mut self, next: Self) -> Self {
        add_new(&mut self.clusters, next.clusters);
        add_new(&mut self.users, next.users);
        add_new(&mut self.contexts, next.contexts);
        self.current_context = self.current_context.or(next.current_context);
        self
    }
}

/// Returns the entry of this name.
pub(super) fn find<'a, T>(entries: &'a [Named<T>], name: &str) -> Option<&'a T> {
    entries.iter().find(|named| named.name == name).map(|named| &named.entry)
}

fn add_new<T>(entries: &mut Vec<Named<T>>, more: Vec<Named<T>>) {
    for named in more {
        if find(entries, &named.name).is_none() {
            entries.push(named);
        }
    }
}

impl ClusterEntry {
    fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        Ok(Self {
            server: fields.text("server")?,
            certificate_authority: fields.pem("certificate-authority")?,
            skips_verification: fields.flag("insecure-skip-tls-verify")?,
            tls_server_name: fields.text("tls-server-name")?,
            proxy_url: fields.text("proxy-url")?,
        })
    }
}

impl ContextEntry {
    fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        Ok(Self {
            cluster: fields.text("cluster")?.unwrap_or_default(),
            user: fields.text("user")?,
            namespace: fields.text("namespace")?,
        })
    }
}

impl UserEntry {
    fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        let exec = fields.member("exec");
        let auth_provider = fields.member("auth-provider");
        Ok(Self {
            client_certificate: fields.pem("client-certificate")?,
            client_key: fields.pem("client-key")?,
            token: fields.text("token")?,
            token_file: fields.text("tokenFile")?.map(|file| fields.folder.join(file)),
            username: fields.text("username")?,
            password: fields.text("password")?,
            act_as: fields.text("as")?,
            act_as_uid: fields.text("as-uid")?,
            act_as_groups: fields.texts("as-groups")?,
            act_as_extra: fields.extra("as-user-extra")?,
            exec: if exec.value.is_null() { None } else { Some(ExecEntry::parse(&exec)?) },
            auth_provider: if auth_provider.value.is_null() { None } else { auth_provider.text("name")? },
        })
    }
}

impl ExecEntry {
    fn parse(fields: &Fields<'_>) -> Result<Self, String> {
        let required =
            |name: &str| fields.text(name)?.ok_or_else(|| format!("{}.{name} is required", fields.path));
        let command = required("command")?;
        // As in a shell: a name is searched in PATH, a path is relative to the kubeconfig.
        let command =
            if command.contains('/') { fields.folder.join(&command).display().to_string() } else { command };
        let variable = |variable: &Fields<'_>| {
            Ok((variable.text("name")?.unwrap_or_default(), variable.text("value")?.unwrap_or_default()))
        };
        let plugin = ExecPlugin {
            command,
            args: fields.texts("args")?,
            env: fields.list("env")?.iter().map(variable).collect::<Result<_, String>>()?,
            api_version: required("apiVersion")?,
            install_hint: fields.text("installHint")?,
            is_interactive: fields.text("interactiveMode")?.as_deref() != Some("Never"),
            cluster: None,
        };
        Ok(Self { plugin, needs_cluster: fields.flag("provideClusterInfo")? })
    }
}

/// A mapping, where it is in the file, and the directory of the file.
struct Fields<'a> {
    value: &'a Value,
    path: String,
    folder: &'a Path,
}

impl<'a> Fields<'a> {
    fn member(&self, name: &str) -> Fields<'a> {
        let dot = if self.path.is_empty() { "" } else { "." };
        Fields { value: &self.value[name], path: format!("{}{dot}{name}", self.path), folder: self.folder }
    }

    fn check_type(&self, is_right: bool, expected: &str) -> Result<(), String> {
        if is_right || self.value.is_null() {
            return Ok(());
        }
        let path = if self.path.is_empty() { "the file" } else { &self.path };
        Err(format!("{path} must be {expected}, not {}", decode::json_word(self.value)))
    }

    /// Empty text is the same as none.
    fn text(&self, name: &str) -> Result<Option<String>, String> {
        let member = self.member(name);
        member.check_type(member.value.is_string(), "a string")?;
        Ok(member.value.as_str().filter(|text| !text.is_empty()).map(str::to_owned))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        let member = self.member(name);
        member.check_type(member.value.is_boolean(), "true or false")?;
        Ok(member.value.as_bool().unwrap_or(false))
    }

    fn list(&self, name: &str) -> Result<Vec<Fields<'a>>, String> {
        let member = self.member(name);
        member.check_type(member.value.is_array(), "a list")?;
        let items = member.value.as_array().map_or(&[][..], Vec::as_slice);
        let item =
            |(at, value)| Fields { value, path: format!("{}[{at}]", member.path), folder: self.folder };
        Ok(items.iter().enumerate().map(item).collect())
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let text = |item: Fields<'_>| {
            item.check_type(item.value.is_string(), "a string")?;
            Ok(item.value.as_str().unwrap_or_default().to_owned())
        };
        self.list(name)?.into_iter().map(text).collect()
    }

    fn extra(&self, name: &str) -> Result<Vec<(String, String)>, String> {
        let member = self.member(name);
        member.check_type(member.value.is_object(), "a mapping")?;
        let mut pairs = Vec::new();
        for key in member.value.as_object().into_iter().flat_map(gantry_json::Map::keys) {
            pairs.extend(member.texts(key)?.into_iter().map(|value| (key.to_string(), value)));
        }
        Ok(pairs)
    }

    /// The data of a certificate or key has precedence over its file, as in kubectl.
    fn pem(&self, name: &str) -> Result<Option<PemSource>, String> {
        let data = self.text(&format!("{name}-data"))?.map(PemSource::Data);
        let file = self.text(name)?.map(|file| PemSource::File(self.folder.join(file)));
        Ok(data.or(file))
    }

    fn entries<T>(
        &self,
        list: &str,
        member: &str,
        parse: impl Fn(&Fields<'_>) -> Result<T, String>,
    ) -> Result<Vec<Named<T>>, String> {
        let entry = |item: Fields<'_>| {
            item.check_type(item.value.is_object(), "a mapping")?;
            let content = item.member(member);
            content.check_type(content.value.is_object(), "a mapping")?;
            Ok(Named { name: item.text("name")?.unwrap_or_default(), entry: parse(&content)? })
        };
        self.list(list)?.into_iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<KubeconfigFile, String> {
        KubeconfigFile::parse(text.as_bytes(), Path::new("/home/ann/.kube"))
    }

    #[test]
    fn paths_are_relative_to_the_file_and_data_counts_more_than_files() {
        let file = parse(
            "clusters: [{name: c, cluster: {certificate-authority: ca.crt}}]\n\
             users: [{name: u, user: {client-key: k, client-key-data: aGk=, tokenFile: /run/token,\n\
             \x20 exec: {apiVersion: v, command: bin/login}}}]\n",
        )
        .unwrap();
        let authority = &find(&file.clusters, "c").unwrap().certificate_authority;
        assert_eq!(*authority, Some(PemSource::File("/home/ann/.kube/ca.crt".into())));
        let user = find(&file.users, "u").unwrap();
        assert_eq!(user.client_key, Some(PemSource::Data("aGk=".to_owned())));
        assert_eq!(user.token_file, Some("/run/token".into()));
        assert_eq!(user.exec.as_ref().unwrap().plugin.command, "/home/ann/.kube/bin/login");
    }

    #[test]
    fn the_first_file_that_has_a_name_counts() {
        let first = parse("current-context: a\nclusters: [{name: a, cluster: {server: one}}]").unwrap();
        let second = parse(
            "current-context: b\nclusters: [{name: a, cluster: {server: two}}, {name: b, cluster: {server: three}}]",
        );
        let merged = first.merge(second.unwrap());
        let server = |name| find(&merged.clusters, name).unwrap().server.clone().unwrap();
        assert_eq!((server("a"), server("b")), ("one".to_owned(), "three".to_owned()));
        assert_eq!(merged.current_context.as_deref(), Some("a"));
    }

    #[test]
    fn a_field_of_the_wrong_type_is_named() {
        let wrong = |text| parse(text).unwrap_err();
        assert_eq!(wrong("contexts: 3"), "contexts must be a list, not number");
        assert_eq!(wrong("[]"), "the file must be a mapping, not array");
        assert_eq!(
            wrong("users: [{name: u, user: {token: [x]}}]"),
            "users[0].user.token must be a string, not array"
        );
        assert_eq!(
            wrong("users: [{name: u, user: {exec: {command: x}}}]"),
            "users[0].user.exec.apiVersion is required"
        );
        assert!(parse("").unwrap().clusters.is_empty());
    }
}
