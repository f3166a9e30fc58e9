//! The order of ports and subsets: Kubernetes sorts them by a hash of how Go prints them.
//!
//! The order is visible to clients that list endpoints, and endpoints that another controller wrote are only left
//! unchanged if they are in it.

use gantry_model::EndpointPort;

/// FNV-1a with 128 bits.
pub(crate) fn hash(printed: &str) -> u128 {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    printed.bytes().fold(OFFSET, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

/// The fields of a `core/v1` EndpointPort as Go prints them with their types.
pub(crate) fn core_port(port: &EndpointPort) -> String {
    format!(
        "{{Name:(string){} Port:(int32){} Protocol:(v1.Protocol){} AppProtocol:(*string){}}}",
        port.name,
        port.port.unwrap_or(0),
        port.protocol,
        port.app_protocol.as_deref().unwrap_or("<nil>")
    )
}

/// The fields of a `discovery/v1` EndpointPort as Go prints them with their types.
pub(crate) fn discovery_port(port: &EndpointPort) -> String {
    format!(
        "{{Name:(*string){} Protocol:(*v1.Protocol){} Port:(*int32){} AppProtocol:(*string){}}}",
        port.name,
        port.protocol,
        port.port.map_or_else(|| "<nil>".to_owned(), |number| number.to_string()),
        port.app_protocol.as_deref().unwrap_or("<nil>")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The orders in which kube-controller-manager 1.37 wrote the ports a to h of one Service.
    #[test]
    fn ports_are_in_the_order_of_kube_controller_manager() {
        let ports: Vec<EndpointPort> = (0..8_u8)
            .map(|nth| EndpointPort {
                name: char::from(b'a' + nth).to_string(),
                port: Some(1000 + i32::from(nth)),
                protocol: ["TCP", "UDP", "SCTP"][usize::from(nth % 3)].to_owned(),
                app_protocol: (nth == 2).then(|| "kubernetes.io/h2c".to_owned()),
            })
            .collect();
        let in_order = |print: fn(&EndpointPort) -> String| {
            let mut ports = ports.clone();
            ports.sort_by_key(|port| hash(&format!("(v1.EndpointPort){}", print(port))));
            ports.into_iter().map(|port| port.name).collect::<String>()
        };
        assert_eq!(in_order(core_port), "gehbdcfa");
        assert_eq!(in_order(discovery_port), "gadchbef");
    }
}
