//! The files of a pod on the node's disk: volumes, `/etc/hosts`, termination messages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use gantry_cri::wire::{self, MountPropagation};
use gantry_formats::quantity::parse_billionths;
use k8s_openapi::api::core::v1 as core;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::expansion::expand;
use crate::volume_dirs::{own_all, sub_path, write_payload};
use crate::volume_payload::{PayloadInputs, payload};

/// The default path of the termination message.
const TERMINATION_LOG: &str = "/dev/termination-log";

/// The directory of the volumes of type emptyDir, as a kubelet names it.
const EMPTY_DIR: &str = "kubernetes.io~empty-dir";

/// The directory of one pod.
#[derive(Clone, Debug)]
pub(crate) struct PodFiles {
    root: PathBuf,
}

impl PodFiles {
    /// Returns the directory of a pod below that of the agent.
    pub(crate) fn new(agent: &Path, uid: &str) -> Self {
        Self { root: pods_directory(agent).join(uid) }
    }

    /// Mounts all volumes. Returns the errors by volume.
    pub(crate) fn mount_all(&self, inputs: PayloadInputs<'_>) -> Vec<(String, String)> {
        let volumes = inputs.pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        let mut problems = Vec::new();
        for volume in volumes {
            if let Err(problem) = self.mount(volume, inputs) {
                problems.push((volume.name.clone(), problem));
            }
        }
        problems
    }

    /// Updates the content of the volumes that show objects.
    pub(crate) fn refresh(&self, inputs: PayloadInputs<'_>) -> Result<(), String> {
        let volumes = inputs.pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        for volume in volumes {
            if let Some(files) = payload(volume, inputs) {
                let directory = self.volume(volume);
                write_payload(&directory, &files?, fs_group(inputs.pod))
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    fn mount(&self, volume: &core::Volume, inputs: PayloadInputs<'_>) -> Result<(), String> {
        let group = fs_group(inputs.pod);
        if let Some(source) = &volume.host_path {
            return check_host_path(source);
        }
        if volume.image.is_some() {
            // The runtime mounts it.
            return Ok(());
        }
        let directory = self.volume(volume);
        let text = |error: io::Error| error.to_string();
        if let Some(files) = payload(volume, inputs) {
            fs::create_dir_all(&directory).map_err(text)?;
            if volume.config_map.is_none() {
                mount_memory(&directory, None).map_err(text)?;
            }
            return write_payload(&directory, &files?, group).map_err(text);
        }
        let Some(source) = &volume.empty_dir else {
            return Err("this sort of volume is not supported by the node agent of Gantry".to_owned());
        };
        fs::create_dir_all(&directory).map_err(text)?;
        if source.medium.as_deref() == Some("Memory") {
            let limit = source.size_limit.as_ref().and_then(|limit| parse_billionths(&limit.0));
            mount_memory(&directory, limit.map(|limit| limit / 1_000_000_000)).map_err(text)?;
        }
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).map_err(text)?;
        group.map_or(Ok(()), |group| own_all(&directory, group)).map_err(text)
    }

    /// Returns the mounts of a container, and creates their files and directories.
    pub(crate) fn mounts(
        &self,
        pod: &core::Pod,
        container: &core::Container,
        attempt: u32,
        variables: &BTreeMap<String, String>,
    ) -> Result<Vec<wire::Mount>, String> {
        let text = |error: io::Error| error.to_string();
        let mut mounts = Vec::new();
        for volume_mount in container.volume_mounts.iter().flatten() {
            mounts.push(self.volume_mount(pod, volume_mount, variables)?);
        }
        let has =
            |mounts: &[wire::Mount], path: &str| mounts.iter().any(|mount| mount.container_path == path);
        if !has(&mounts, "/etc/hosts") {
            mounts.push(simple_mount(&self.hosts(), "/etc/hosts"));
        }
        let message = self.termination_message(&container.name, attempt);
        if let Some(parent) = message.parent() {
            fs::create_dir_all(parent).map_err(text)?;
        }
        fs::write(&message, "").map_err(text)?;
        fs::set_permissions(&message, fs::Permissions::from_mode(0o666)).map_err(text)?;
        let path = container.termination_message_path.as_deref().filter(|path| !path.is_empty());
        mounts.push(simple_mount(&message, path.unwrap_or(TERMINATION_LOG)));
        Ok(mounts)
    }

    fn volume_mount(
        &self,
        pod: &core::Pod,
        volume_mount: &core::VolumeMount,
        variables: &BTreeMap<String, String>,
    ) -> Result<wire::Mount, String> {
        let name = &volume_mount.name;
        let mut volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
        let volume = volumes.find(|volume| volume.name == *name);
        let volume = volume.ok_or_else(|| format!("cannot find volume {name:?} to mount"))?;
        let sub = match (&volume_mount.sub_path_expr, &volume_mount.sub_path) {
            (Some(expression), _) if !expression.is_empty() => {
                let expanded = expand(expression, variables);
                if expanded.contains("$(") {
                    return Err(format!("missing value for variable in subPathExpr {expression:?}"));
                }
                Some(expanded)
            }
            (_, Some(path)) if !path.is_empty() => Some(path.clone()),
            _ => None,
        };
        if let Some(source) = &volume.image {
            return Ok(wire::Mount {
                container_path: volume_mount.mount_path.clone(),
                readonly: true,
                image: Some(volume_image(source)),
                image_sub_path: sub.unwrap_or_default(),
                ..wire::Mount::default()
            });
        }
        let mut host_path = match &volume.host_path {
            Some(source) => PathBuf::from(&source.path),
            None => self.volume(volume),
        };
        if let Some(sub) = sub {
            host_path = sub_path(&host_path, &sub)
                .map_err(|error| format!("failed to prepare subPath for volumeMount {name:?}: {error}"))?;
        }
        let propagation = match volume_mount.mount_propagation.as_deref() {
            Some("HostToContainer") => MountPropagation::HostToContainer,
            Some("Bidirectional") => MountPropagation::Bidirectional,
            _ => MountPropagation::Private,
        };
        let is_fixed = volume.config_map.is_some()
            || volume.secret.is_some()
            || volume.projected.is_some()
            || volume.downward_api.is_some();
        Ok(wire::Mount {
            container_path: volume_mount.mount_path.clone(),
            host_path: host_path.to_string_lossy().into_owned(),
            readonly: volume_mount.read_only == Some(true) || is_fixed,
            propagation: propagation as i32,
            ..wire::Mount::default()
        })
    }

    /// Writes the pod's `/etc/hosts`.
    pub(crate) fn write_hosts(&self, text: &str) -> io::Result<()> {
        fs::create_dir_all(&self.root)?;
        fs::write(self.hosts(), text)?;
        fs::set_permissions(self.hosts(), fs::Permissions::from_mode(0o644))
    }

    /// Returns the file of a container's termination message.
    pub(crate) fn termination_message(&self, container: &str, attempt: u32) -> PathBuf {
        self.root.join("containers").join(container).join(attempt.to_string())
    }

    /// Unmounts and removes everything.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let root = self.root.to_string_lossy().into_owned();
        let mut points: Vec<_> = mounts
            .lines()
            .filter_map(|line| line.split(' ').nth(1))
            .filter(|point| point.starts_with(&format!("{root}/")))
            .collect();
        points.sort_by_key(|point| std::cmp::Reverse(point.len()));
        for point in points {
            unmount(point, UnmountFlags::DETACH)?;
        }
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn hosts(&self) -> PathBuf {
        self.root.join("etc-hosts")
    }

    /// Returns the directories of the volumes of type emptyDir, by their names.
    pub(crate) fn empty_dirs(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let directories =
            fs::read_dir(self.root.join("volumes").join(EMPTY_DIR)).into_iter().flatten().flatten();
        directories.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
    }

    /// Returns the directory of a volume, named as a kubelet names it.
    fn volume(&self, volume: &core::Volume) -> PathBuf {
        let plugin = match volume {
            it if it.config_map.is_some() => "kubernetes.io~configmap",
            it if it.secret.is_some() => "kubernetes.io~secret",
            it if it.projected.is_some() => "kubernetes.io~projected",
            it if it.downward_api.is_some() => "kubernetes.io~downward-api",
            _ => EMPTY_DIR,
        };
        self.root.join("volumes").join(plugin).join(&volume.name)
    }
}

/// Returns the directory of all pods.
pub(crate) fn pods_directory(agent: &Path) -> PathBuf {
    agent.join("pods")
}

fn volume_image(source: &core::ImageVolumeSource) -> wire::ImageSpec {
    let reference = source.reference.clone().unwrap_or_default();
    wire::ImageSpec {
        image: reference.clone(),
        user_specified_image: reference,
        ..wire::ImageSpec::default()
    }
}

fn simple_mount(host_path: &Path, container_path: &str) -> wire::Mount {
    wire::Mount {
        host_path: host_path.to_string_lossy().into_owned(),
        container_path: container_path.to_owned(),
        ..wire::Mount::default()
    }
}

fn fs_group(pod: &core::Pod) -> Option<i64> {
    pod.spec.as_ref()?.security_context.as_ref()?.fs_group
}

/// Mounts a file system in memory, unless it is mounted.
fn mount_memory(directory: &Path, limit: Option<i128>) -> io::Result<()> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let path = directory.to_string_lossy();
    if mounts.lines().any(|line| line.split(' ').nth(1) == Some(&*path)) {
        return Ok(());
    }
    let data = limit.map(|limit| format!("size={limit}")).unwrap_or_default();
    let data = std::ffi::CString::new(data)?;
    mount("tmpfs", directory, "tmpfs", MountFlags::empty(), Some(data.as_c_str()))?;
    Ok(())
}

/// Checks a path of the node, and creates it if its type requires that.
fn check_host_path(source: &core::HostPathVolumeSource) -> Result<(), String> {
    let path = Path::new(&source.path);
    let kind = source.type_.as_deref().unwrap_or_default();
    let metadata = fs::metadata(path).ok();
    let fits = |fits: fn(&fs::FileType) -> bool| metadata.as_ref().is_some_and(|it| fits(&it.file_type()));
    let is_right = match kind {
        "DirectoryOrCreate" if metadata.is_none() => {
            return fs::create_dir_all(path).map_err(|it| it.to_string());
        }
        "FileOrCreate" if metadata.is_none() => return fs::write(path, "").map_err(|it| it.to_string()),
        "Directory" | "DirectoryOrCreate" => fits(fs::FileType::is_dir),
        "File" | "FileOrCreate" => fits(fs::FileType::is_file),
        "Socket" => fits(fs::FileType::is_socket),
        "CharDevice" => fits(fs::FileType::is_char_device),
        "BlockDevice" => fits(fs::FileType::is_block_device),
        _ => return Ok(()),
    };
    let what = match kind {
        "Directory" | "DirectoryOrCreate" => "a directory",
        "File" | "FileOrCreate" => "a file",
        "Socket" => "a socket file",
        "CharDevice" => "a character device",
        _ => "a block device",
    };
    if is_right { Ok(()) } else { Err(format!("hostPath type check failed: {} is not {what}", source.path)) }
}

/// Returns the text of a pod's `/etc/hosts`.
pub(crate) fn hosts_text(
    pod: &core::Pod,
    ips: &[String],
    host_name: &str,
    full_name: Option<&str>,
    of_node: Option<&str>,
) -> String {
    let mut text = if let Some(of_node) = of_node {
        format!("# Kubernetes-managed hosts file (host network).\n{of_node}")
    } else {
        let mut text =
            "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost \
                        ip6-loopback\nfe00::\tip6-localnet\nfe00::\tip6-mcastprefix\nfe00::1\tip6-allnodes\n\
                        fe00::2\tip6-allrouters\n"
                .to_owned();
        for ip in ips {
            // Writing to a string cannot fail.
            let _ = match full_name {
                Some(full) => writeln!(text, "{ip}\t{full}\t{host_name}"),
                None => writeln!(text, "{ip}\t{host_name}"),
            };
        }
        text
    };
    let aliases = pod.spec.iter().flat_map(|spec| spec.host_aliases.iter().flatten());
    for (at, alias) in aliases.enumerate() {
        if at == 0 {
            text.push_str("\n# Entries added by HostAliases.\n");
        }
        let names = alias.hostnames.as_deref().unwrap_or_default().join("\t");
        let _ = writeln!(text, "{}\t{names}", alias.ip);
    }
    text
}

#[cfg(test)]
mod tests {
    use gantry_json::json;

    use super::*;

    #[test]
    fn an_image_is_mounted_by_the_runtime() {
        let pod: core::Pod = gantry_json::from_value(json!({
            "metadata": {"name": "web", "namespace": "shop", "uid": "u1"},
            "spec": {
                "volumes": [{"name": "site", "image": {"reference": "registry.example/site:1"}}],
                "containers": [{
                    "name": "web",
                    "volumeMounts": [{"name": "site", "mountPath": "/srv", "subPath": "www"}],
                }],
            },
        }))
        .unwrap();
        let root = std::env::temp_dir().join(format!("gantry-image-volume-{}", std::process::id()));
        let container = &pod.spec.as_ref().unwrap().containers[0];
        let mounts = PodFiles::new(&root, "u1").mounts(&pod, container, 0, &BTreeMap::new()).unwrap();
        let mount = mounts.iter().find(|mount| mount.container_path == "/srv").unwrap();
        assert_eq!(mount.image.as_ref().unwrap().image, "registry.example/site:1");
        assert_eq!((mount.image_sub_path.as_str(), mount.host_path.as_str()), ("www", ""));
        assert!(mount.readonly);
        fs::remove_dir_all(&root).unwrap();
    }
}
