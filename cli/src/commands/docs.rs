//! The command `docs`: the documentation of a service, in Markdown.

use crate::{
    api::{
        client::{Api, ORCABASE},
        kinds::Kind,
        object::{self, Found},
    },
    base::{
        failure::{Done, Failure},
        json::At as _,
    },
    document::file,
    output::Output,
};
use clap::Args;
use domain::Hash;
use dovetail_terminal::plain;
use std::path::{Path, PathBuf};

/// Prints the documentation of a service, or uploads it
#[derive(Args, Clone, Debug)]
pub(crate) struct Docs {
    /// Name or id of the service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// Markdown that replaces the documentation of a service of your team
    #[arg(long, value_name = "FILE.md")]
    upload: Option<PathBuf>,
}

/// Executes `docs`.
pub(crate) fn docs(api: &Api, command: &Docs, out: &mut Output) -> Result<Done, Failure> {
    if let Some(markdown) = &command.upload {
        return upload(api, &command.service, markdown, out);
    }
    let Found { side, value } = object::read(api, Kind::Services, &command.service, None)?;
    if !value.is_at("/has_md") {
        return Err(Failure::Failed("the service has no documentation".to_owned()));
    }
    let docs = api.get(&format!("{ORCABASE}/{side}/services/{}/docs/", value.at("/id")))?;
    if !out.json(&docs)? {
        // Markdown may have tabs, but nothing that a terminal would execute.
        let clean = |line: &str| line.split('\t').map(plain).collect::<Vec<_>>().join("\t") + "\n";
        out.text(&docs.text_at("/md_file").lines().map(clean).collect::<String>())?;
    }
    Ok(Done::Success)
}

fn upload(api: &Api, service: &str, markdown: &Path, out: &mut Output) -> Result<Done, Failure> {
    let text = file::read(markdown)?;
    let id = object::id_on(api, Kind::Services, &["serviceowner"], service)?;
    // The hash of the text cannot occur in the text.
    let boundary = format!("dovetail-{}", Hash::of(&text));
    let body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"md_file\"; filename=\"service.md\"\r\n\
         Content-Type: text/markdown\r\n\r\n{text}\r\n--{boundary}--\r\n"
    );
    let kind = format!("multipart/form-data; boundary={boundary}");
    let path = format!("{ORCABASE}/serviceowner/services/{id}/docs/");
    let docs = api.post(&path, &kind, body.as_bytes())?;
    if !out.json(&docs)? {
        out.text(&format!("{} has new documentation: {} bytes.\n", plain(service), text.len()))?;
    }
    Ok(Done::Success)
}
