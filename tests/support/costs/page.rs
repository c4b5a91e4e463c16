//! The page of costs.

use super::figures::{Figures, decimal};
use super::goal::Held;
use crate::request::Answer;

/// Price of a million units, in thousandths of a dollar.
const WRITE_PRICE: u64 = 625;
const READ_PRICE: u64 = 125;

/// Headings of the sections, in the order of the page.
pub const HEADINGS: [&str; 16] = [
    "Submissions",
    "Decisions",
    "A service with words",
    "A service that replaces",
    "Claims of workers",
    "Reads",
    "Derived values",
    "References elsewhere, and parts of definitions",
    "What references show",
    "Operators",
    "Generation, per work record",
    "Charges of a service with both prices",
    "Deliveries and healthchecks",
    "Lists, page by page",
    "Pages of a list of 10,000 rows",
    "Impact of a definition on 10,000 items",
];

/// A section of the page: a table under a heading.
pub struct Table {
    /// The section as Markdown.
    pub text: String,
    /// Operations with a goal.
    pub held: Vec<Held>,
}

impl Table {
    pub(super) fn new(heading: &str) -> Self {
        let head = "| operation | write units | read units | round trips | $ per million | goal, at most |\n\
            |---|---:|---:|---:|---:|---|\n";
        Self { text: format!("## {heading}\n\n{head}"), held: Vec::new() }
    }

    /// Begins a table with its own columns.
    pub(super) fn beginning(text: &str) -> Self {
        Self { text: text.to_owned(), held: Vec::new() }
    }

    /// Adds a row with these cells.
    pub(super) fn line(&mut self, name: &str, cells: &str) {
        self.text.push_str(&["| ", name, " | ", cells, " |\n"].concat());
    }

    pub(super) fn row(&mut self, operation: &'static str, figures: Figures) {
        self.cells(operation, figures, &cells(figures));
    }

    /// Adds a row of an operation by its response.
    #[track_caller]
    pub(super) fn answer(&mut self, operation: &'static str, answer: &Answer) {
        self.row(operation, Figures::from_answer(answer));
    }

    /// Adds a row of an operation without a goal.
    pub(super) fn named_row(&mut self, operation: &str, figures: Figures) {
        self.line(operation, &format!("{} | ", cells(figures).join(" | ")));
    }

    /// Adds a row of units alone. Round trips depend on the number of items.
    pub(super) fn units(&mut self, operation: &'static str, figures: Figures) {
        let [write, read, _, price] = cells(figures);
        self.cells(operation, figures, &[write, read, String::new(), price]);
    }

    /// Adds a row of write units alone. Concurrent items can conflict, and then need further reads.
    pub(super) fn writes(&mut self, operation: &'static str, figures: Figures) {
        self.cells(
            operation,
            figures,
            &[decimal(figures.write, 3, 0), String::new(), String::new(), String::new()],
        );
    }

    fn cells(&mut self, operation: &'static str, figures: Figures, cells: &[String; 4]) {
        let held = Held::of(operation, figures);
        let goal = held.as_ref().map_or("", |held| held.goal.as_str());
        self.line(operation, &format!("{} | {goal}", cells.join(" | ")));
        self.held.extend(held);
    }
}

/// Returns write units, read units, round trips and price.
fn cells(Figures { write, read, round_trips }: Figures) -> [String; 4] {
    [decimal(write, 3, 0), decimal(read, 3, 0), round_trips.to_string(), price(write, read)]
}

/// Returns the price of a million operations, in dollars.
fn price(write: u64, read: u64) -> String {
    // Thousandths of a unit times thousandths of a dollar per million units: millionths of a dollar per million.
    decimal(write * WRITE_PRICE + read * READ_PRICE, 6, 2)
}

/// Returns the page with these sections.
pub fn page(sections: &[&str]) -> String {
    format!("{INTRODUCTION}\n{}", sections.join("\n"))
}

const INTRODUCTION: &str = "\
# Costs

[`tests/meta/cost.rs`](../../../tests/meta/cost.rs) measures the cost of each operation at the table, on the embedded
engine. The test fails if this page has another figure. This command updates the page:

```sh
UPDATE_EXPECT=1 cargo test -p tests meta::cost::
```

Successful responses report their figures in `Server-Timing`. Deployed functions report them as
[metrics](../metrics.md).

- **Units** are those of DynamoDB. A write unit is a write of up to 1 KB, and a read unit is a strongly consistent read
  of up to 4 KB. An eventually consistent read costs half a unit. In a transaction, a write to the table costs twice as
  much, but a write to an index does not. The items here are small: each has a name and two numbers.
- **Round trips** are sequential calls. Concurrent calls count as one, and so do the attempts of one call.
- **The price** is that of us-east-1 on demand: $0.625 per million write units and $0.125 per million read units.
- **An empty cell** means that the figure is not measured.
- **Included** are the indexes and the declarations outside the transaction.
- **Not included** are API Gateway, Lambda, storage and the authorizer's read of one unit. Lambda reads the stream for
  free, and DynamoDB does not report the units of a rejected write. Each process also reads one and a half units per
  minute, for messages and metadata schemas. Generation has its own section.
";
