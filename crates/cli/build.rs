//! Links the binary so that less of it has to be in memory.
//!
//! A position-independent program has a table of every address in its data, to be adjusted when it is loaded: for us more
//! than a megabyte, read at every start and resident from then on. Packed, it is a few pages. Loaders can read that from
//! glibc 2.36 on, so it is done where the machine that builds has one.

use std::env::var;
use std::path::Path;
use std::process::Command;

/// The functions that a start executes, which are linked next to each other. `cargo xtask function-order` writes it.
const ORDER: &str = "function-order.txt";

/// Set where the symbols of a build of the profile `dist` are needed: to record its functions, or to profile it.
const KEEP_SYMBOLS: &str = "GANTRY_KEEP_SYMBOLS";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is_native = var("HOST").ok() == var("TARGET").ok();
    let is_glibc = var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    if is_native && is_glibc && glibc().is_some_and(|version| version >= (2, 36)) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if is_native && is_glibc && is_distributed() && links_with_lld() {
        let order = Path::new(&var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(ORDER);
        println!("cargo:rerun-if-changed={ORDER}");
        println!("cargo:rustc-link-arg-bins=-Wl,--symbol-ordering-file={}", order.display());
        println!("cargo:rustc-link-arg-bins=-Wl,--no-warn-symbol-ordering");
    }
    println!("cargo:rerun-if-env-changed={KEEP_SYMBOLS}");
    let is_linux = var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if is_linux && is_distributed() && var(KEEP_SYMBOLS).is_err() {
        println!("cargo:rustc-link-arg-bins=-Wl,--strip-all");
    }
}

/// Whether this is a build of the profile `dist`. The others do not optimise this crate.
fn is_distributed() -> bool {
    var("OPT_LEVEL").is_ok_and(|level| level == "3")
}

/// Whether the linker is the compiler's own, which is LLVM's on x86-64.
fn links_with_lld() -> bool {
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let has_own_linker = var("RUSTC_LINKER").is_ok()
        || var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64") && !has_own_linker
}

/// The version of this machine's C library, if it is glibc.
fn glibc() -> Option<(u32, u32)> {
    let printed = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let printed = String::from_utf8(printed.stdout).ok()?;
    let (major, minor) = printed.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
