//! A client of container runtimes: CRI `runtime.v1` over a unix socket, as containerd and CRI-O serve it.
//!
//! [`Runtime`] calls the methods; [`wire`] has their messages. Errors are those of the runtime, with the messages that
//! a kubelet reports. *Invariant:* no decisions, no Kubernetes objects.

mod rpc;
mod runtime;
pub mod wire;

pub use rpc::RuntimeError;
pub use runtime::Runtime;
