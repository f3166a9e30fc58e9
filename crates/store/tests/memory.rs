//! The in-memory store passes the conformance suite of all backends.

use std::future::{Ready, ready};
use std::sync::Arc;

use gantry_store::Store;
use gantry_store::memory::MemoryStore;

fn in_memory() -> Ready<(Arc<dyn Store>, ())> {
    ready((Arc::new(MemoryStore::default()), ()))
}

gantry_store::conformance!(in_memory);
