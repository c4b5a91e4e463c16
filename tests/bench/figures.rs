//! Measures the whole system. The figures go to a table, to plots and to docs/explanation/performance.md.

fn main() {
    bench::run(std::env::args().skip(1));
}
