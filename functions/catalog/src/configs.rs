//! Versions of the config of a service.

use domain::base::id::ServiceId;
use domain::catalog::config;
use domain::catalog::config::CONFIG_BYTES_MAX;
use domain::catalog::service::Service;
use dovetail_aws::retry;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Fields, Reply};
use dovetail_table::Table;

/// Creates the next version of a config. At 100 versions, the write removes the oldest one.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let mut fields = call.fields()?;
    let service = service(table, call, &mut fields).await?;
    let text = fields.object("config").canonical().max(CONFIG_BYTES_MAX).required();
    let (service, text) = fields.finish(|| Some((service?, text?)))?;
    let created = retry::until_stored(retry::WRITE, |_| async {
        // The version is part of the key, and the write requires a free key, so the loser of a race takes the next
        // version.
        let newest = table.newest_config(service.id).await?;
        let next = config::next(&service, newest, text.clone(), &call.ctx()).ok_or(Code::OutOfNumbers)?;
        let is_stored = table.put_config(&next, &service, &call.ctx()).await?.is_done();
        is_stored
            .then(|| Reply::new(201, view::service_config(&next.config, &Viewpoint::of(call))))
            .transpose()
    });
    Ok(created.await?.ok_or(Code::Contended)?)
}

/// Returns the service in the body, an id or a URL, if the caller's team owns it; none only after an error.
async fn service(table: &Table, call: &Call, fields: &mut Fields) -> Result<Option<Service>, Failure> {
    let expected = "must be the id or the URL of a service of the team";
    let id = |value| call.id_in(&value, "services").and_then(ServiceId::new);
    let Some(id) = fields.value("service", expected, id).required() else { return Ok(None) };
    let service = table.service_by_id(id).await?.filter(|service| service.owner.id == call.caller.team.id);
    if service.is_none() {
        fields.refuse("service", expected);
    }
    Ok(service)
}
