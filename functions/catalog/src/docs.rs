//! Documentation of a service.

use crate::own_service;
use domain::catalog::docs::{DOCS_BYTES_MAX, Docs};
use domain::catalog::service;
use dovetail_aws::retry;
use dovetail_http::{Call, Code, Failure, FieldError, Reply, view};
use dovetail_table::Table;

/// The part of the body with the text.
const FILE: &str = "md_file";

/// Stores the documentation. The first documentation also marks the service, in the same transaction.
pub(crate) async fn upload(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let uploaded = retry::until_stored(retry::WRITE, |_| async {
        // The first documentation marks the service under its revision, so each attempt reads it again.
        let before = own_service(table, call).await?;
        let text = call.text_file(FILE, DOCS_BYTES_MAX).await?;
        if text.trim().is_empty() {
            return Err(FieldError::new(FILE, "must not be empty").into());
        }
        let ctx = call.ctx();
        let docs = Docs { service: before.to_ref(), text, request: ctx.request.clone(), modified: ctx.now };
        let after = service::documented(&before, call.now);
        let status = if before.has_docs { 200 } else { 201 };
        let is_stored = table.put_docs(&before, &after, &docs, &ctx).await?.is_done();
        is_stored.then(|| Reply::new(status, view::service_docs(&docs))).transpose()
    });
    Ok(uploaded.await?.ok_or(Code::Contended)?)
}
