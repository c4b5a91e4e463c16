//! The figures of the whole system, in one table, in plots, and in docs/explanation/performance.md.

fn main() {
    bench::run(std::env::args().skip(1));
}
