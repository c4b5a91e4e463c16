//! Prints the routes as a configuration of `cargo lambda watch`, for its option `--global`.

use std::io::{self, Write as _};

use dovetail_http::{FILES, ROUTES, Route};

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "[watch]\nrouter = [")?;
    for route in ROUTES {
        // `cargo lambda` compares whole paths, and clients may end a path with a slash.
        for slash in ["", "/"] {
            writeln!(out, "    {},", entry(route, slash))?;
        }
    }
    for file in FILES {
        writeln!(out, "    {},", entry(file, ""))?;
    }
    writeln!(out, "]")
}

/// Returns the entry of a route in TOML.
fn entry(route: &Route, slash: &str) -> String {
    let methods: Vec<String> = route.methods.iter().map(|method| format!("\"{method}\"")).collect();
    let (path, methods, function) = (route.path, methods.join(", "), route.function.name());
    format!("{{ path = \"{path}{slash}\", methods = [{methods}], function = \"{function}\" }}")
}
