//! What the functions cost at start and in memory: `cargo bench -p bench --bench lambda`.
#![expect(clippy::print_stdout, reason = "what a bench says")]

fn main() {
    for figure in bench::lambda::measure() {
        let passes = figure.passes.map_or("", |passes| if passes { "yes" } else { "NO" });
        println!("| {} | {} | {} | {passes} |", figure.what, figure.goal, figure.measured);
    }
}
