//! One run of the program: its mode, and what several parts share.

use crate::Scale;
use crate::built::Built;
use crate::counted;
use crate::figure::Figure;
use crate::lambda::instructions::{self, Counted};
use std::cell::{OnceCell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use support::blocks;
use support::source::{Method, Source};

/// Whether a run writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Prints the figures.
    Check,
    /// Also writes them into the documents.
    Write,
}

/// A page of blocks, in the folder of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    Performance,
    Capacity,
}

impl Page {
    const fn name(self) -> &'static str {
        match self {
            Self::Performance => "reference/figures/performance.md",
            Self::Capacity => "reference/figures/capacity.md",
        }
    }
}

/// One run of the program.
pub struct Session {
    pub mode: Mode,
    pub scale: Scale,
    pub source: Source,
    functions: OnceCell<Built>,
    operations: OnceCell<Vec<Figure>>,
    instructions: OnceCell<Vec<Counted>>,
    problems: RefCell<Vec<String>>,
}

impl Session {
    /// Creates a run. Only a run that writes needs a commit.
    pub fn new(mode: Mode, scale: Scale) -> Self {
        let source = match mode {
            Mode::Check => Source::uncommitted(),
            Mode::Write => Source::of_commit(),
        };
        let (functions, operations, instructions) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { mode, scale, source, functions, operations, instructions, problems: RefCell::default() }
    }

    /// Returns the deployed functions. The first call builds them.
    pub fn functions(&self) -> &Built {
        self.functions.get_or_init(Built::functions)
    }

    /// Returns the operations with maximum units. The first call measures them, and renews the page of costs.
    pub fn operations(&self) -> &[Figure] {
        self.operations.get_or_init(|| counted::measure(self))
    }

    /// Returns the instructions of each operation. The first call counts them, and compares them with the ratchet.
    pub fn instructions(&self) -> &[Counted] {
        self.instructions.get_or_init(|| instructions::measure(self))
    }

    /// Prints the body of a block, and writes it.
    pub fn renew(&self, page: Page, name: &str, method: Method, body: &str) {
        println!("\n{}\n\n{}\n", body.trim(), self.source.line(method));
        if self.mode == Mode::Write {
            let path = docs().join(page.name());
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, blocks::replaced(&text, name, body, &self.source.line(method))).unwrap();
            println!("docs/{} has a new block `{name}`.", page.name());
        }
    }

    /// Adds a reason for an unsuccessful end.
    pub fn fail(&self, problem: String) {
        self.problems.borrow_mut().push(problem);
    }

    /// Returns all reasons for an unsuccessful end.
    pub fn problems(&self) -> Vec<String> {
        self.problems.borrow().clone()
    }
}

pub fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}
