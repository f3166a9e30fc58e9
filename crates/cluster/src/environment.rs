//! The environment of a cluster: time, uids and names, and the connections between its components.

use std::fmt;
use std::sync::Arc;

use gantry_apiserver::{ApiService, Environment};
use gantry_runtime::{ApiTransport, Clock};
use gantry_serving::SystemEnvironment;

/// The clock of the components, and the time, uids and names of the server.
///
/// Both clocks must show the same time.
#[derive(Clone, Debug)]
pub struct ProcessEnvironment {
    /// The clock of the controllers, the scheduler and the nodes.
    pub clock: Clock,
    /// The environment of the API server.
    pub server: Arc<dyn Environment>,
}

/// Makes the transports by which the components of a cluster reach its server.
#[derive(Clone)]
pub struct Connector(Arc<Connect>);

type Connect = dyn Fn(ApiService, &str) -> ApiTransport + Send + Sync;

impl Connector {
    /// A connector that calls this function with the server and the name of the component, such as `gantry-scheduler`.
    pub fn new(connect: impl Fn(ApiService, &str) -> ApiTransport + Send + Sync + 'static) -> Self {
        Self(Arc::new(connect))
    }

    pub(crate) fn connect(&self, service: ApiService, component: &str) -> ApiTransport {
        (self.0)(service, component)
    }
}

impl Default for ProcessEnvironment {
    /// The system clock and secure randomness.
    fn default() -> Self {
        Self { clock: Clock::system(), server: Arc::new(SystemEnvironment) }
    }
}

impl Default for Connector {
    /// Direct function calls.
    fn default() -> Self {
        Self::new(|service, _| ApiTransport::in_process(service))
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}
