//! The kinds of volumes whose descriptions are a line for each of some fields, as tables.

use gantry_json::Value;

use super::line;
use crate::field::{at, list, members, number, shown, text};

/// How the value of a field is shown.
#[derive(Clone, Copy, Debug)]
enum Form {
    Text,
    Number,
    Flag,
    /// `a, b`
    Words,
    /// `[a b]`
    GoList,
    /// `map[a:b]`
    GoMap,
    /// A reference to a secret, as Go prints its type.
    Secret,
    /// What is absent is `<none>`.
    OrNone,
    /// What is absent is `<unset>`.
    OrUnset,
}

use Form::{Flag, GoList, GoMap, Number, OrNone, OrUnset, Secret, Text, Words};

/// Title, field and form of a line.
type Line = (&'static str, &'static str, Form);
/// The field of a volume, what kind it is, and its lines.
type Source = (&'static str, &'static str, &'static [Line]);

const READ_ONLY: Line = ("ReadOnly:", "readOnly", Flag);
const FS_TYPE: Line = ("FSType:", "fsType", Text);

/// The kinds of volumes of pods, most of which PersistentVolumes have too.
const SOURCES: &[Source] = &[
    (
        "hostPath",
        "HostPath (bare host directory volume)",
        &[("Path:", "path", Text), ("HostPathType:", "type", Text)],
    ),
    (
        "emptyDir",
        "EmptyDir (a temporary directory that shares a pod's lifetime)",
        &[("Medium:", "medium", Text), ("SizeLimit:", "sizeLimit", OrUnset)],
    ),
    (
        "gcePersistentDisk",
        "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
        &[("PDName:", "pdName", Text), FS_TYPE, ("Partition:", "partition", Number), READ_ONLY],
    ),
    (
        "awsElasticBlockStore",
        "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
        &[("VolumeID:", "volumeID", Text), FS_TYPE, ("Partition:", "partition", Number), READ_ONLY],
    ),
    (
        "gitRepo",
        "GitRepo (a volume that is pulled from git when the pod is created)",
        &[("Repository:", "repository", Text), ("Revision:", "revision", Text)],
    ),
    (
        "secret",
        "Secret (a volume populated by a Secret)",
        &[("SecretName:", "secretName", Text), ("Optional:", "optional", Flag)],
    ),
    (
        "configMap",
        "ConfigMap (a volume populated by a ConfigMap)",
        &[("Name:", "name", Text), ("Optional:", "optional", Flag)],
    ),
    (
        "nfs",
        "NFS (an NFS mount that lasts the lifetime of a pod)",
        &[("Server:", "server", Text), ("Path:", "path", Text), READ_ONLY],
    ),
    (
        "iscsi",
        "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)",
        &[
            ("TargetPortal:", "targetPortal", Text),
            ("IQN:", "iqn", Text),
            ("Lun:", "lun", Number),
            ("ISCSIInterface", "iscsiInterface", Text),
            FS_TYPE,
            READ_ONLY,
            ("Portals:", "portals", GoList),
            ("DiscoveryCHAPAuth:", "chapAuthDiscovery", Flag),
            ("SessionCHAPAuth:", "chapAuthSession", Flag),
            ("SecretRef:", "secretRef", Secret),
            ("InitiatorName:", "initiatorName", OrNone),
        ],
    ),
    (
        "persistentVolumeClaim",
        "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
        &[("ClaimName:", "claimName", Text), READ_ONLY],
    ),
    (
        "image",
        "Image (a container image or OCI artifact)",
        &[("Reference:", "reference", Text), ("PullPolicy:", "pullPolicy", Text)],
    ),
    (
        "fc",
        "FC (a Fibre Channel disk)",
        &[("TargetWWNs:", "targetWWNs", Words), ("LUN:", "lun", OrNone), FS_TYPE, READ_ONLY],
    ),
    (
        "flexVolume",
        "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
        &[
            ("Driver:", "driver", Text),
            FS_TYPE,
            ("SecretRef:", "secretRef", Secret),
            READ_ONLY,
            ("Options:", "options", GoMap),
        ],
    ),
    (
        "rbd",
        "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)",
        &[
            ("CephMonitors:", "monitors", GoList),
            ("RBDImage:", "image", Text),
            FS_TYPE,
            ("RBDPool:", "pool", Text),
            ("RadosUser:", "user", Text),
            ("Keyring:", "keyring", Text),
            ("SecretRef:", "secretRef", Secret),
            READ_ONLY,
        ],
    ),
    (
        "cephfs",
        "CephFS (a CephFS mount on the host that shares a pod's lifetime)",
        &[
            ("Monitors:", "monitors", GoList),
            ("Path:", "path", Text),
            ("User:", "user", Text),
            ("SecretFile:", "secretFile", Text),
            ("SecretRef:", "secretRef", Secret),
            READ_ONLY,
        ],
    ),
    (
        "glusterfs",
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        &[("EndpointsName:", "endpoints", Text), ("Path:", "path", Text), READ_ONLY],
    ),
    (
        "azureDisk",
        "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)",
        &[
            ("DiskName:", "diskName", Text),
            ("DiskURI:", "diskURI", Text),
            ("Kind:", "kind", Text),
            FS_TYPE,
            ("CachingMode:", "cachingMode", Text),
            READ_ONLY,
        ],
    ),
    (
        "azureFile",
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        &[("SecretName:", "secretName", Text), ("ShareName:", "shareName", Text), READ_ONLY],
    ),
    (
        "cinder",
        "Cinder (a Persistent Disk resource in OpenStack)",
        &[("VolumeID:", "volumeID", Text), FS_TYPE, READ_ONLY, ("SecretRef:", "secretRef", Secret)],
    ),
    (
        "vsphereVolume",
        "vSphereVolume (a Persistent Disk resource in vSphere)",
        &[("VolumePath:", "volumePath", Text), FS_TYPE, ("StoragePolicyName:", "storagePolicyName", Text)],
    ),
    ("portworxVolume", "PortworxVolume (a Portworx Volume resource)", &[("VolumeID:", "volumeID", Text)]),
    (
        "scaleIO",
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        &[
            ("Gateway:", "gateway", Text),
            ("System:", "system", Text),
            ("Protection Domain:", "protectionDomain", Text),
            ("Storage Pool:", "storagePool", Text),
            ("Storage Mode:", "storageMode", Text),
            ("VolumeName:", "volumeName", Text),
            FS_TYPE,
            READ_ONLY,
        ],
    ),
    (
        "storageos",
        "StorageOS (a StorageOS Persistent Disk resource)",
        &[
            ("VolumeName:", "volumeName", Text),
            ("VolumeNamespace:", "volumeNamespace", Text),
            FS_TYPE,
            READ_ONLY,
        ],
    ),
    (
        "quobyte",
        "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
        &[("Registry:", "registry", Text), ("Volume:", "volume", Text), READ_ONLY],
    ),
    (
        "flocker",
        "Flocker (a Flocker volume mounted by the Flocker agent)",
        &[("DatasetName:", "datasetName", Text), ("DatasetUUID:", "datasetUUID", Text)],
    ),
    (
        "photonPersistentDisk",
        "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
        &[("PdID:", "pdID", Text), FS_TYPE],
    ),
    (
        "local",
        "LocalVolume (a persistent volume backed by local storage on a node)",
        &[("Path:", "path", Text)],
    ),
];

/// The kinds of which PersistentVolumes have more to say than pods.
const PERSISTENT: &[Source] = &[
    (
        "glusterfs",
        "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
        &[
            ("EndpointsName:", "endpoints", Text),
            ("EndpointsNamespace:", "endpointsNamespace", OrUnset),
            ("Path:", "path", Text),
            READ_ONLY,
        ],
    ),
    (
        "azureFile",
        "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
        &[
            ("SecretName:", "secretName", Text),
            ("SecretNamespace:", "secretNamespace", Text),
            ("ShareName:", "shareName", Text),
            READ_ONLY,
        ],
    ),
    (
        "scaleIO",
        "ScaleIO (a persistent volume backed by a block device in ScaleIO)",
        &[
            ("Gateway:", "gateway", Text),
            ("System:", "system", Text),
            ("Protection Domain:", "protectionDomain", Text),
            ("Storage Pool:", "storagePool", Text),
            ("Storage Mode:", "storageMode", Text),
            ("VolumeName:", "volumeName", Text),
            ("SecretName:", "secretRef/name", Text),
            ("SecretNamespace:", "secretRef/namespace", Text),
            FS_TYPE,
            READ_ONLY,
        ],
    ),
];

/// A volume of a pod, if its kind is in the table.
pub(super) fn of_pod(volume: &Value) -> Option<String> {
    SOURCES.iter().find_map(|source| described(source, volume))
}

/// What a PersistentVolume is made of, if its kind is in a table.
pub(super) fn persistent(spec: &Value) -> Option<String> {
    PERSISTENT.iter().chain(SOURCES).find_map(|source| described(source, spec))
}

fn described((field, kind, lines): &Source, volume: &Value) -> Option<String> {
    let source = volume.get(field)?;
    let mut out = line("Type", kind);
    for (title, field, form) in *lines {
        out.push_str(&format!("    {title}\t{}\n", form.shown(source, &format!("/{field}"))));
    }
    Some(out)
}

impl Form {
    fn shown(self, source: &Value, pointer: &str) -> String {
        let value = at(source, pointer);
        let words = || list(source, pointer).iter().map(shown).collect::<Vec<_>>();
        let or = |absent: &str| if value.is_null() { absent.to_owned() } else { shown(value) };
        match self {
            Text => shown(value),
            Number => number(source, pointer).to_string(),
            Flag => (value == true).to_string(),
            Words => words().join(", "),
            GoList => format!("[{}]", words().join(" ")),
            GoMap => {
                let pairs = members(source, pointer).into_iter();
                let pairs: Vec<String> =
                    pairs.map(|(key, value)| format!("{key}:{}", shown(value))).collect();
                format!("map[{}]", pairs.join(" "))
            }
            Secret => secret(value),
            OrNone => or("<none>"),
            OrUnset => or("<unset>"),
        }
    }
}

fn secret(reference: &Value) -> String {
    let name = text(reference, "/name");
    match (reference, reference.get("namespace")) {
        (Value::Null, _) => "nil".to_owned(),
        (_, Some(namespace)) => format!("&SecretReference{{Name:{name},Namespace:{},}}", shown(namespace)),
        _ => format!("&LocalObjectReference{{Name:{name},}}"),
    }
}
