//! Hints by `spec.trafficDistribution`: clients should prefer endpoints in their zone, or on their node.

use gantry_model::{EndpointHints, SliceContent, TrafficDistribution};

use super::{Origin, Plan, Slice};

/// Sets the hints of every endpoint. A slice in which only the hints change is written too.
pub(super) fn give(traffic: TrafficDistribution, plan: &mut Plan<'_>) {
    for slice in &mut plan.write {
        hint(traffic, &mut slice.content);
    }
    for slice in std::mem::take(&mut plan.keep) {
        let mut content = slice.content.clone();
        hint(traffic, &mut content);
        if content == slice.content {
            plan.keep.push(slice);
        } else {
            plan.write.push(Slice { origin: Origin::Changed(slice), content });
        }
    }
}

fn hint(traffic: TrafficDistribution, content: &mut SliceContent) {
    for endpoint in &mut content.endpoints {
        // Only an endpoint that gets traffic can be preferred.
        let is_ready = endpoint.conditions.ready == Some(true);
        let zones = match traffic {
            TrafficDistribution::SameZone | TrafficDistribution::SameNode if is_ready => {
                endpoint.zone.clone()
            }
            _ => None,
        };
        let nodes = match traffic {
            TrafficDistribution::SameNode if is_ready => endpoint.node.as_ref().map(ToString::to_string),
            _ => None,
        };
        endpoint.hints =
            EndpointHints { zones: zones.into_iter().collect(), nodes: nodes.into_iter().collect() };
    }
}
