//! From sockets to the API server: connections, TLS, certificates, kubeconfigs, and the real world around a server.
//!
//! ```text
//! socket ─► TLS (who is it?) ─► HTTP/1.1 or HTTP/2 ─► ApiServer::serve ─► an answer, or a watch
//! ```
//!
//! [`Pki`] makes and keeps the certificates, [`kubeconfig`] hands them to people, [`Listening`] serves until it is told
//! to stop, and [`RealWorld`] is the clock and the chance of a server that is not simulated.
//!
//! *Invariant:* this crate knows no object. What a request means is the API server's business, and what of it is
//! allowed too; here it is only found out who a client's certificate says it is.

mod certificate_user;
mod clients;
mod connection;
mod file;
pub mod kubeconfig;
mod lenient;
mod listening;
mod pki;
mod real_world;
mod served;
mod stop;
mod tls;

pub use listening::{Limits, Listening};
pub use pki::{Certified, Pki, PkiError, ServerNames};
pub use real_world::RealWorld;
pub use stop::{Stop, Stopper};
pub use tls::{Transport, TransportError};
