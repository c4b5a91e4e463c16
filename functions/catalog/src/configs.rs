//! Versions of the config of a service.

use crate::ATTEMPTS_MAX;
use domain::base::id::ServiceId;
use domain::base::json;
use domain::catalog::config;
use domain::catalog::config::CONFIG_BYTES_MAX;
use domain::catalog::service::Service;
use dovetail_aws::pause;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply};
use dovetail_table::{Kept, Table};
use serde_json::{Map, Value};

/// Creates the next version of a config. At 100 versions, the write removes the oldest one.
pub(crate) async fn create(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let body = call.object()?;
    let service = service(table, call, &body).await;
    let text = config_text(&body);
    let (service, text) = match (service?, text) {
        (Ok(service), Ok(text)) => (service, text),
        (service, text) => {
            return Err([service.err(), text.err()].into_iter().flatten().collect::<Vec<_>>().into());
        }
    };
    for attempt in 0..ATTEMPTS_MAX {
        // The version is part of the key, and the write requires a free key. So the loser of a race takes the next
        // version.
        let newest = table.newest_config(service.id).await?;
        let next = config::next(&service, newest, text.clone(), &call.ctx()).ok_or(Code::OutOfNumbers)?;
        if table.keep_config(&next, &service, &call.ctx()).await? == Kept::Stored {
            return Ok(Reply::new(201, view::service_config(&next.config, &Viewpoint::of(call))));
        }
        pause(attempt).await;
    }
    Err(Code::Contended.into())
}

/// Returns the service in the body, an id or a URL, if the caller's team owns it.
async fn service(
    table: &Table,
    call: &Call,
    body: &Map<String, Value>,
) -> Result<Result<Service, FieldError>, Failure> {
    let id = body.get("service").and_then(|value| call.id_in(value, "services")).and_then(ServiceId::new);
    let service = match id {
        Some(id) => table.service_by_id(id).await?,
        None => None,
    };
    let own = service.filter(|service| service.owner.id == call.caller.team.id);
    Ok(own.ok_or_else(|| FieldError::new("service", "must be the id or the URL of a service of the team")))
}

/// Returns the config as canonical JSON.
fn config_text(body: &Map<String, Value>) -> Result<String, FieldError> {
    let config = body.get("config").filter(|config| config.is_object());
    let text = json::canonical(config.ok_or_else(|| FieldError::new("config", "must be a JSON object"))?);
    if text.len() > CONFIG_BYTES_MAX {
        return Err(FieldError::new("config", format!("must be at most {CONFIG_BYTES_MAX} bytes")));
    }
    Ok(text)
}
