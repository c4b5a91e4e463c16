//! Measures the figures of the documents and writes them: `just figures`.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench::run(std::env::args().skip(1))
}
