//! A kubelet's messages about containers without a log.

/// The pod's node does not have the container.
pub fn not_available(container: &str, pod: &str) -> String {
    format!("container {container:?} in pod {pod:?} is not available")
}

/// The container was not restarted, so there is no log of its predecessor.
pub fn no_previous(container: &str, pod: &str) -> String {
    format!("previous terminated container {container:?} in pod {pod:?} not found")
}

/// The container waits for this reason and has never run.
pub fn waiting_to_start(container: &str, pod: &str, reason: &str) -> String {
    let why = match reason {
        "ErrImagePull" => "image can't be pulled",
        "ImagePullBackOff" => "trying and failing to pull image",
        _ => reason,
    };
    format!("container {container:?} in pod {pod:?} is waiting to start: {why}")
}
