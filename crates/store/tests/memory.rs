//! The in-memory store before the judges every backend faces.

use std::future::{Ready, ready};
use std::sync::Arc;

use gantry_store::Store;
use gantry_store::memory::MemoryStore;

fn in_memory() -> Ready<(Arc<dyn Store>, ())> {
    ready((Arc::new(MemoryStore::default()), ()))
}

gantry_store::conformance!(in_memory);
