//! Texts of tables: numbers, durations and prices.

use crate::prices::DOLLAR;
use std::time::Duration;

/// Returns a Markdown table with an empty line on both sides. A ` | ` separates the names of the columns.
pub fn markdown(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rule = "---|".repeat(head.split(" | ").count());
    let rows: String = rows.into_iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
    format!("\n| {head} |\n|{rule}\n{rows}\n")
}

/// Writes a duration with a readable unit.
pub fn time(time: Duration) -> String {
    let millis = time.as_millis();
    if millis < 1_000 {
        format!("{millis} ms")
    } else {
        format!("{}.{} s", millis / 1_000, millis % 1_000 / 100)
    }
}

/// Writes a number with a comma before each three digits.
pub fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// Writes dollars, with cents below 100 dollars.
pub fn dollars(price: u128) -> String {
    let cents = (price + DOLLAR / 200) / (DOLLAR / 100);
    if cents < 10_000 { format!("{}.{:02}", cents / 100, cents % 100) } else { grouped((cents + 50) / 100) }
}

/// Writes thousandths as a percentage.
pub fn percent(thousandths: u64) -> String {
    format!("{} %", (thousandths + 5) / 10)
}

/// Returns the share of a status in hundredths of a percent, as text.
pub fn share(count: usize, all: usize) -> String {
    let share = 1_000 * count / all.max(1);
    format!("{}.{} %", share / 10, share % 10)
}
