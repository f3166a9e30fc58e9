//! Counts allocations for `cargo xtask bench rollout --allocations`. Not part of the product: the feature `count-allocations` is off.

use std::alloc::System;
use std::path::PathBuf;
use std::time::Duration;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// The number of allocations does not depend on the allocator, and this one counts them.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Names the file that the count is written to.
const VARIABLE: &str = "GANTRY_ALLOCATIONS_FILE";

/// How often it is written.
const INTERVAL: Duration = Duration::from_millis(50);

/// Repeatedly writes the number of allocations of this process to a file, if the environment names one.
pub(crate) fn report() {
    let Some(file) = std::env::var_os(VARIABLE).map(PathBuf::from) else { return };
    std::thread::spawn(move || {
        loop {
            let stats = INSTRUMENTED_SYSTEM.stats();
            let count = stats.allocations + stats.reallocations;
            // A reader never sees a part of a number.
            let written = file.with_extension("part");
            if std::fs::write(&written, count.to_string())
                .and_then(|()| std::fs::rename(&written, &file))
                .is_err()
            {
                return;
            }
            std::thread::sleep(INTERVAL);
        }
    });
}
