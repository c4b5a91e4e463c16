//! The graph of an application, or around one item: items, their references, and dependent teams.

mod positions;

use crate::bound::WHOLE;
use crate::page::ListRequest;
use domain::base::id::ApplicationId;
use domain::catalog::service::Service;
use domain::views::graph::Graph;
use domain::{Item, ItemId};
use dovetail_http::view::{self, Viewpoint};
use dovetail_http::{Call, Code, Failure, FieldError, Reply, fitting};
use dovetail_table::{Direction, Read, Source, Table};
use positions::positions;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Number of items in one read.
const AT_ONCE: usize = 1_000;

/// Returns a page of the graph of an application.
pub(crate) async fn of_application(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    let id = call.own_id(ApplicationId::parse, ApplicationId::team)?;
    let page = Wanted::parse(request)?;
    let application = table.application(id).await?.ok_or(Code::NotFound)?;
    let items = visible(table, call, id).await?;
    page.reply(&Graph::of(&items), &view::graph_application(id, &application.name)).await
}

/// Returns a page of the graph around an item. The graph of a gone item is the item alone.
pub(crate) async fn of_item(request: ListRequest<'_>) -> Result<Reply, Failure> {
    let ListRequest { table, call, .. } = request;
    let id = call.id_of(ItemId::parse, ItemId::team)?;
    let page = Wanted::parse(request)?;
    let item = table.item(id).await?.filter(|item| call.side.shows_item(item, call.caller.team.id));
    let item = item.ok_or(Code::NotFound)?;
    let application = item.application_id();
    let items = if item.gone { vec![item.clone()] } else { visible(table, call, application).await? };
    page.reply(&Graph::of(&items).around(id), &view::graph_application(application, &item.application)).await
}

/// Returns the items of an application that are not gone, as far as the caller sees them.
///
/// A reference has the name of its item, and no index of names exists, so each page reads all items.
async fn visible(table: &Table, call: &Call, application: ApplicationId) -> Result<Vec<Item>, Failure> {
    let source = Source::<Item>::of_application_number(application).live();
    let mut rows = table.rows(&source, Direction::Ascending, None).at_once(AT_ONCE);
    let (mut read, mut items) = (Read::default(), Vec::new());
    while let Some(batch) = read.by(rows.next()).await? {
        if read.reaches(&WHOLE) {
            let message = format!(
                "must be the id of an application with at most {} items that are not gone",
                WHOLE.rows
            );
            return Err(Call::bad_filter(&FieldError::new("id", message)));
        }
        read.rows(batch.len());
        let all = batch.into_iter().map(|row| row.value);
        // A retired application has no live item, because the items under its number belong to another application
        // (R45).
        let own = all.filter(|item| item.application_id() == application);
        items.extend(own.filter(|item| call.side.shows_item(item, call.caller.team.id)));
    }
    Ok(items)
}

/// The requested page.
struct Wanted<'a> {
    request: ListRequest<'a>,
    limit: usize,
    /// The last item of the page before.
    after: Option<ItemId>,
}

impl<'a> Wanted<'a> {
    fn parse(request: ListRequest<'a>) -> Result<Self, Failure> {
        let ListRequest { key, call, .. } = request;
        call.only_knows(&["limit", "cursor"])?;
        let limit = call.query.document_limit()?;
        let after = call.position(key, &identity(call))?.map(|cursor| {
            let id = cursor.after.parse().ok().and_then(ItemId::parse);
            id.ok_or_else(|| Failure::from(Code::InvalidCursor))
        });
        Ok(Self { request, limit, after: after.transpose()? })
    }

    async fn reply(&self, graph: &Graph<'_>, application: &Value) -> Result<Reply, Failure> {
        let ListRequest { table, key, call } = self.request;
        let rest = graph.items().values().copied();
        let rest = rest.filter(|item| self.after.is_none_or(|after| item.id > after));
        let page: Vec<&Item> = rest.clone().take(self.limit).collect();
        let titles: BTreeSet<&str> = page.iter().map(|item| item.service.title.as_str()).collect();
        let services = table.services(&titles).await?;
        let positions = positions(table, graph, &page, &services).await?;
        let viewpoint = Viewpoint::of(call);
        let nodes: Vec<(Value, Vec<Value>)> = page
            .iter()
            .zip(positions)
            .map(|(item, positions)| {
                let reference =
                    |(to, pointer): &(ItemId, String)| view::graph_reference(item.id, *to, pointer);
                (view::graph_item(item, &viewpoint), positions.iter().map(reference).collect())
            })
            .collect();
        let shown = fitting(&nodes).min(nodes.len());
        let last = page.get(shown.saturating_sub(1)).filter(|_| shown < rest.count());
        let next = last.map(|item| call.page_after(key, &identity(call), &item.id.to_string()));
        let (items, references): (Vec<_>, Vec<_>) = nodes.into_iter().take(shown).unzip();
        let body = json!({
            "application": application,
            "service_items": items,
            "references": references.concat(),
            "dependants": self.dependants(&services),
            "next": next,
        });
        Reply::new(200, body)
    }

    /// Returns the dependent teams of the services that the caller sees.
    fn dependants(&self, services: &[Service]) -> Vec<Value> {
        let Call { side, caller, .. } = self.request.call;
        let mut visible: Vec<&Service> =
            services.iter().filter(|service| side.shows_service(service, caller.team.id)).collect();
        visible.sort_by_key(|service| service.id);
        visible.into_iter().flat_map(view::graph_dependants).collect()
    }
}

/// Returns the identity of the list for its cursors.
fn identity(call: &Call) -> String {
    json!([call.path.trim_end_matches('/')]).to_string()
}
