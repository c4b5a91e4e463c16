//! Lists the built files of the console at build time, each with its content and a tag of it.

use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::{env, fs};

const BUILT: &str = "../../console/dist";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={BUILT}");
    let mut paths = fs::read_dir(BUILT)?
        .map(|entry| Ok(entry?.path().canonicalize()?))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    // The order of a directory differs between machines, and equal sources must give equal programs.
    paths.sort();
    let mut list = format!("static FILES: [File; {}] = [\n", paths.len());
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file must have a plain name")?;
        let mut hasher = DefaultHasher::new();
        fs::read(&path)?.hash(&mut hasher);
        let tag = format!("{:016x}", hasher.finish());
        list.push_str(&format!(
            "    File {{ name: {name:?}, tag: {tag:?}, content: include_str!({path:?}) }},\n"
        ));
    }
    list.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or("cargo must set OUT_DIR")?;
    fs::write(Path::new(&out).join("files.rs"), list)?;
    Ok(())
}
