//! Lists the built files of the console at build time, each with its content, the same compressed, and a tag.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const BUILT: &str = "../../console/dist";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={BUILT}");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo must set OUT_DIR")?);
    let entries = fs::read_dir(BUILT)?;
    let mut paths =
        entries.map(|entry| entry?.path().canonicalize()).collect::<Result<Vec<_>, io::Error>>()?;
    // The order of a directory differs between machines, and equal sources must give equal programs.
    paths.sort();
    let files = paths.iter().map(|path| file(path, &out)).collect::<Result<Vec<_>, _>>()?;
    let list = format!("static FILES: [File; {}] = [\n{}];\n", files.len(), files.concat());
    fs::write(out.join("files.rs"), list)?;
    Ok(())
}

/// Compresses a file, and returns its entry in the list.
fn file(path: &Path, out: &Path) -> Result<String, Box<dyn Error>> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file must have a plain name")?;
    let content = fs::read(path)?;
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let tag = format!("{:016x}", hasher.finish());
    let packed = out.join(format!("{name}.gz"));
    let mut encoder = GzEncoder::new(fs::File::create(&packed)?, Compression::best());
    encoder.write_all(&content)?;
    encoder.finish()?;
    Ok(format!(
        "    File {{ name: {name:?}, tag: {tag:?}, content: PackedFile {{ \
         text: include_str!({path:?}), packed: include_bytes!({packed:?}) }} }},\n"
    ))
}
