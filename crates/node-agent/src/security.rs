//! Security contexts in the form of CRI.

use std::collections::BTreeMap;

use gantry_cri::wire::{self, NamespaceMode, ProfileType};
use k8s_openapi::api::core::v1 as core;

/// Paths of `/proc` and `/sys` that are hidden from containers, and those that are read-only.
const MASKED: [&str; 10] = [
    "/proc/asound",
    "/proc/acpi",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
];
const READ_ONLY: [&str; 5] = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/// Returns the security context of a sandbox.
pub(crate) fn sandbox(spec: &core::PodSpec) -> wire::LinuxSandboxSecurityContext {
    let fallback = core::PodSecurityContext::default();
    let context = spec.security_context.as_ref().unwrap_or(&fallback);
    let containers = || spec.init_containers.iter().flatten().chain(&spec.containers);
    let is_privileged =
        |it: &core::Container| it.security_context.as_ref().is_some_and(|it| it.privileged == Some(true));
    wire::LinuxSandboxSecurityContext {
        namespace_options: Some(namespaces(spec)),
        selinux_options: context.se_linux_options.as_ref().map(selinux),
        run_as_user: context.run_as_user.map(|value| wire::Int64Value { value }),
        run_as_group: context.run_as_group.map(|value| wire::Int64Value { value }),
        supplemental_groups: groups(context),
        privileged: containers().any(is_privileged),
        seccomp: Some(wire::SecurityProfile {
            profile_type: ProfileType::RuntimeDefault as i32,
            ..wire::SecurityProfile::default()
        }),
        ..wire::LinuxSandboxSecurityContext::default()
    }
}

/// Returns the kernel settings of a pod.
pub(crate) fn sysctls(spec: &core::PodSpec) -> BTreeMap<String, String> {
    let settings = spec.security_context.iter().flat_map(|context| context.sysctls.iter().flatten());
    settings.map(|setting| (setting.name.clone(), setting.value.clone())).collect()
}

/// Returns the security context of a container.
pub(crate) fn container(
    spec: &core::PodSpec,
    container: &core::Container,
) -> wire::LinuxContainerSecurityContext {
    let (of_pod, own) = (core::PodSecurityContext::default(), core::SecurityContext::default());
    let of_pod = spec.security_context.as_ref().unwrap_or(&of_pod);
    let own = container.security_context.as_ref().unwrap_or(&own);
    let is_privileged = own.privileged == Some(true);
    let is_unmasked = own.proc_mount.as_deref() == Some("Unmasked") || is_privileged;
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    let seccomp = own.seccomp_profile.as_ref().or(of_pod.seccomp_profile.as_ref());
    let apparmor = own.app_armor_profile.as_ref().or(of_pod.app_armor_profile.as_ref());
    wire::LinuxContainerSecurityContext {
        capabilities: own.capabilities.as_ref().map(|it| wire::Capability {
            add_capabilities: it.add.clone().unwrap_or_default(),
            drop_capabilities: it.drop.clone().unwrap_or_default(),
        }),
        privileged: is_privileged,
        namespace_options: Some(namespaces(spec)),
        selinux_options: own.se_linux_options.as_ref().or(of_pod.se_linux_options.as_ref()).map(selinux),
        run_as_user: run_as_user(spec, container).map(|value| wire::Int64Value { value }),
        run_as_group: own.run_as_group.or(of_pod.run_as_group).map(|value| wire::Int64Value { value }),
        readonly_rootfs: own.read_only_root_filesystem == Some(true),
        supplemental_groups: groups(of_pod),
        no_new_privs: own.allow_privilege_escalation == Some(false),
        masked_paths: if is_unmasked { Vec::new() } else { paths(&MASKED) },
        readonly_paths: if is_unmasked { Vec::new() } else { paths(&READ_ONLY) },
        seccomp: Some(match seccomp {
            _ if is_privileged => profile("Unconfined", None),
            Some(own) => profile(&own.type_, own.localhost_profile.as_deref()),
            None => profile("Unconfined", None),
        }),
        apparmor: apparmor.map(|own| profile(&own.type_, own.localhost_profile.as_deref())),
        supplemental_groups_policy: i32::from(of_pod.supplemental_groups_policy.as_deref() == Some("Strict")),
        run_as_username: String::new(),
    }
}

/// Returns the user that a container runs as, if the pod sets it.
pub(crate) fn run_as_user(spec: &core::PodSpec, container: &core::Container) -> Option<i64> {
    let own = container.security_context.as_ref().and_then(|context| context.run_as_user);
    own.or_else(|| spec.security_context.as_ref()?.run_as_user)
}

/// Returns a kubelet's message if a container would run as root but must not. `image` is its image.
pub(crate) fn root_problem(
    pod: &core::Pod,
    container: &core::Container,
    image: Option<&wire::Image>,
) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    let own = container.security_context.as_ref().and_then(|context| context.run_as_non_root);
    let of_pod = spec.security_context.as_ref().and_then(|context| context.run_as_non_root);
    if own.or(of_pod) != Some(true) {
        return None;
    }
    let name = &container.name;
    let long = format!(
        "{}_{}({})",
        pod.metadata.name.as_deref().unwrap_or_default(),
        pod.metadata.namespace.as_deref().unwrap_or_default(),
        pod.metadata.uid.as_deref().unwrap_or_default()
    );
    match (run_as_user(spec, container), image) {
        (Some(0), _) => {
            Some(format!("container's runAsUser breaks non-root policy (pod: \"{long}\", container: {name})"))
        }
        (None, Some(image)) if !image.username.is_empty() => Some(format!(
            "container has runAsNonRoot and image has non-numeric user ({}), cannot verify user is non-root \
             (pod: \"{long}\", container: {name})",
            image.username
        )),
        (None, Some(image)) if image.uid.as_ref().is_none_or(|uid| uid.value == 0) => Some(format!(
            "container has runAsNonRoot and image will run as root (pod: \"{long}\", container: {name})"
        )),
        (Some(_) | None, _) => None,
    }
}

fn namespaces(spec: &core::PodSpec) -> wire::NamespaceOption {
    let mode = |is_host: Option<bool>, otherwise: NamespaceMode| {
        if is_host == Some(true) { NamespaceMode::Node as i32 } else { otherwise as i32 }
    };
    let is_shared = spec.share_process_namespace == Some(true);
    let own_processes = if is_shared { NamespaceMode::Pod } else { NamespaceMode::Container };
    wire::NamespaceOption {
        network: mode(spec.host_network, NamespaceMode::Pod),
        pid: mode(spec.host_pid, own_processes),
        ipc: mode(spec.host_ipc, NamespaceMode::Pod),
        target_id: String::new(),
    }
}

fn groups(context: &core::PodSecurityContext) -> Vec<i64> {
    context.supplemental_groups.iter().flatten().copied().chain(context.fs_group).collect()
}

fn selinux(options: &core::SELinuxOptions) -> wire::SelinuxOption {
    wire::SelinuxOption {
        user: options.user.clone().unwrap_or_default(),
        role: options.role.clone().unwrap_or_default(),
        kind: options.type_.clone().unwrap_or_default(),
        level: options.level.clone().unwrap_or_default(),
    }
}

fn profile(kind: &str, localhost: Option<&str>) -> wire::SecurityProfile {
    let profile_type = match kind {
        "Localhost" => ProfileType::Localhost,
        "Unconfined" => ProfileType::Unconfined,
        _ => ProfileType::RuntimeDefault,
    };
    wire::SecurityProfile {
        profile_type: profile_type as i32,
        localhost_ref: localhost.unwrap_or_default().to_owned(),
    }
}
