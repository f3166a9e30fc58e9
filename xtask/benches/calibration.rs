//! A benchmark of fixed work, whose instruction count changes only with the compiler.
//!
//! When the decisions seem slower, check this first: if these cases are slower, too, the cause is the machine or the
//! compiler. The file is also the smallest benchmark, to copy from.

use gantry_bench_protocol::Case;
use std::hint::black_box;
use std::process::ExitCode;

const CASES: &[Case] = &[
    Case {
        name: "fnv-1024-bytes",
        set_up: || {
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(1024).collect();
            Box::new(move || {
                black_box(fnv1a(black_box(&bytes)));
            })
        },
    },
    Case {
        name: "sort-1000-numbers",
        set_up: || {
            let numbers: Vec<u64> =
                (0..1_000_u64).map(|number| number.wrapping_mul(0x9E37_79B9) % 1_009).collect();
            Box::new(move || {
                let mut numbers = black_box(&numbers).clone();
                numbers.sort_unstable();
                black_box(numbers);
            })
        },
    },
];

fn main() -> ExitCode {
    gantry_bench_protocol::main(CASES)
}

fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
