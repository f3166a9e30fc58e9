//! The `gantry` binary: argv in, exit code out. Everything worth testing lives elsewhere.

#[cfg(feature = "count-allocations")]
mod allocation_count;
mod ansi;
mod apiserver;
mod argv;
mod cluster;
mod clusters;
mod command;
mod completion;
mod controllers;
mod deployment_args;
mod fetch;
#[cfg(test)]
mod help;
mod kubectl;
mod node;
mod node_credentials;
mod output;
mod plan;
mod rollout;
mod rollout_watch;
mod server_process;
mod sim_profile;
mod simulate;
mod store;
mod token;
mod up;
mod usage_error;
mod why;

use std::process::ExitCode;

/// Faster than the system's allocator, and it returns memory after a peak; see decision 0062.
#[cfg(not(feature = "count-allocations"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    #[cfg(feature = "count-allocations")]
    allocation_count::report();
    command::run(std::env::args_os().collect())
}
