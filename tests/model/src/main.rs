//! Searches.
#![expect(clippy::print_stdout, reason = "a program that prints what it finds")]

use model::configs::CONFIGS;
use model::search::{Order, search};

fn main() {
    for config in CONFIGS {
        let found = search(config, Some(600_000), &[], Order::Depth);
        println!(
            "{:12} {:>9} {:>9} {:>4} {} {:?} {:?}",
            config.name, found.unique, found.generated, found.depth, found.complete, found.took, found.broken
        );
    }
}
