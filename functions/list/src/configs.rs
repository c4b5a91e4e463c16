//! Versions of the configs of services; only the service owner sees them, in either role.

use crate::filter::{Filter, single};
use crate::order::{AGE_AND_ID, Field, Orders};
use crate::page::{List, ListRequest, only_knows};
use domain::TeamId;
use domain::base::id::{ConfigId, ServiceId};
use domain::catalog::config::Config;
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, Reply};
use dovetail_table::{Source, Table};

const FIELDS: &[Field<Config>] = &[("version", |config| format!("{:020}", config.id.version()))];

/// Fields in the stored order of one service's versions.
const VERSIONS: &[&str] = &["version", "created", "id"];

/// Lists the configs of the caller's services, or of one of them.
pub(crate) async fn all(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    only_knows(call, &["service_id"])?;
    let team = call.caller.team.id;
    let mut filter = Filter::new();
    let (source, orders) = match single(&call.query, "service_id")?.and_then(ServiceId::new) {
        Some(id) => {
            let is_own = is_own(table, id, team).await?;
            let source = Source::<Config>::of_service(id);
            let orders = Orders::By { stored: VERSIONS, fields: &[] };
            (if is_own { source } else { source.emptied() }, orders)
        }
        None => {
            filter.ids(&call.query, "service_id", |config: &Config| config.service.id.get())?;
            (Source::<Config>::owned_by(team), Orders::By { stored: AGE_AND_ID, fields: FIELDS })
        }
    };
    List { request, source, filter, orders }.reply(view::service_config).await
}

/// Returns whether a service belongs to the team. If not, its configs are not read.
async fn is_own(table: &Table, service: ServiceId, team: TeamId) -> Result<bool, Failure> {
    let service = table.service_by_id(service).await?;
    Ok(service.is_some_and(|service| service.owner.id == team))
}

/// Returns one version.
pub(crate) async fn one(table: &Table, call: &Call) -> Result<Reply, Failure> {
    let id = call.id(ConfigId::parse)?;
    if !is_own(table, id.service(), call.caller.team.id).await? {
        return Err(Code::NotFound.into());
    }
    let config = table.config(id).await?.ok_or(Code::NotFound)?;
    Reply::new(200, view::service_config(&config, &Viewpoint::of(call)))
}
