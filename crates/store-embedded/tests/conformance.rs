//! The embedded store passes the conformance suite of all backends, on a real disk.

use std::future::{Ready, ready};
use std::sync::Arc;

use gantry_store::Store;
use gantry_store_embedded::{EmbeddedStore, Options};

mod scratch;

use scratch::Scratch;

fn embedded() -> Ready<(Arc<dyn Store>, Scratch)> {
    let scratch = Scratch::new("conformance");
    let store =
        EmbeddedStore::open(scratch.path(), Options::default()).expect("an empty directory can be opened");
    ready((Arc::new(store), scratch))
}

gantry_store::conformance!(embedded);
