//! The option `--jq`: a filter for the JSON form of the output.

use crate::base::failure::Failure;
use dovetail_terminal::{plain, printed};
use jaq_core::{
    Compiler, Ctx, Filter, Vars,
    data::JustLut,
    load::{self, Arena, Error, File, Loader, span},
};
use jaq_json::{Val, read};
use serde_json::Value;
use std::io;

/// The formats of jq that the library lacks.
const FORMATS: &str = r#"
def @tsv: map(
  if type == "string" then
    split("\\") | join("\\\\") | split("\t") | join("\\t") | split("\n") | join("\\n") | split("\r") | join("\\r")
  elif . == null then "" else tostring end) | join("\t");
def @csv: map(
  if type == "string" then "\"" + (split("\"") | join("\"\"")) + "\"" elif . == null then "" else tostring end)
  | join(",");
"#;

/// A compiled filter.
pub(crate) struct Jq(Filter<JustLut<Val>>);

impl Jq {
    /// Compiles a filter.
    pub(crate) fn new(code: &str) -> Result<Self, Failure> {
        let formats = load::parse(FORMATS, |parser| parser.defs()).unwrap_or_default();
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(formats);
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let arena = Arena::default();
        let modules = Loader::new(definitions).load(&arena, File { code, path: () }).map_err(|errors| {
            invalid(errors.iter().map(|(file, error)| syntax(file.code, error)).collect())
        })?;
        let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
            let unknown = errors.iter().flat_map(|(_, undefined)| undefined);
            invalid(
                unknown.map(|(name, kind)| format!("no {} has the name `{name}`", kind.as_str())).collect(),
            )
        })?;
        Ok(Self(filter))
    }

    /// Prints each result: a string as it is, anything else as JSON. Ends with the reader of the results.
    pub(crate) fn each(
        &self,
        value: &Value,
        mut print: impl FnMut(&str) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let input = read::parse_single(value.to_string().as_bytes()).map_err(Failure::failed)?;
        let context = Ctx::<JustLut<Val>>::new(&self.0.lut, Vars::new([]));
        for result in self.0.id.run((context, input)) {
            let result = result.map_err(|exception| match exception.get_err() {
                Ok(error) => Failure::Failed(format!("--jq: {}", plain(&error.to_string()))),
                Err(_) => Failure::Failed("--jq: the filter stopped itself".to_owned()),
            })?;
            let is_printed = if let Val::TStr(text) = &result {
                print(&String::from_utf8_lossy(text))
            } else {
                print(&result.to_string())
            };
            if is_printed.is_err() {
                return printed(is_printed).map_err(Failure::failed);
            }
        }
        Ok(())
    }
}

/// Returns the error of an invalid filter.
fn invalid(problems: Vec<String>) -> Failure {
    Failure::Usage(format!("--jq must be a filter of jq: {}", problems.join(", ")))
}

/// Describes an error of the syntax, with its place.
fn syntax(code: &str, error: &Error<&str>) -> String {
    let at = |part: &str| format!("at character {}", span(code, part).start + 1);
    let places: Vec<String> = match error {
        Error::Io(modules) => modules.iter().map(|(name, error)| format!("{name}: {error}")).collect(),
        Error::Lex(errors) => errors
            .iter()
            .map(|(expected, rest)| format!("{} expected {}", expected.as_str(), at(rest)))
            .collect(),
        Error::Parse(errors) => {
            let place = |found: &str| if found.is_empty() { "at the end".to_owned() } else { at(found) };
            errors
                .iter()
                .map(|(expected, found)| format!("{} expected {}", expected.as_str(), place(found)))
                .collect()
        }
    };
    places.join(", ")
}
