//! The minimum work of a comparison of two documents: it reads and parses them.

use serde_json::Value;
use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let documents = env::args().skip(1).map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?));
    let documents: Vec<Value> = documents.collect::<Result<_, Box<dyn Error>>>()?;
    std::hint::black_box(&documents);
    Ok(())
}
