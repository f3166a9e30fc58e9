//! The labels of a slice: those of its Service, and those that name its Service and its controller.

use gantry_model::{EndpointSlice, Labels, Service, keys};

use super::MANAGER;

/// Labels that a Service cannot pass on to its slices.
const RESERVED: [&str; 3] = [keys::SERVICE_NAME, keys::SLICE_MANAGED_BY, keys::HEADLESS];

/// The labels that the slices of a Service should have.
pub(super) fn of(service: &Service) -> Labels {
    let mut labels = inherited(&service.meta.labels);
    if !service.has_address() {
        labels.insert(keys::HEADLESS.to_owned(), String::new());
    }
    labels.insert(keys::SERVICE_NAME.to_owned(), service.meta.name.to_string());
    labels.insert(keys::SLICE_MANAGED_BY.to_owned(), MANAGER.to_owned());
    labels
}

/// Whether the labels of a slice differ from those of its Service. Differences in the reserved ones do not count.
pub(super) fn have_changed(slice: &EndpointSlice, service: &Service) -> bool {
    inherited(&slice.meta.labels) != inherited(&service.meta.labels)
}

fn inherited(labels: &Labels) -> Labels {
    let mut labels = labels.clone();
    labels.retain(|key, _| !RESERVED.contains(&key.as_str()));
    labels
}
