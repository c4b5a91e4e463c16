//! What API Gateway does with an event: the authorizer first, then the function that the route leads to.

use aws_lambda_events::apigw::ApiGatewayRequestAuthorizer;
use aws_lambda_events::encodings::Body;
use dovetail_http::{AuthorizerEvent, CursorKey, Event, EventReply, Function, function_of};
use dovetail_table::{Error, Table};
use serde_json::{Value, json};

/// Where the system tells about itself; not part of the API.
const AUDIT: &str = "/_local/audit";

/// Answers an event as the deployed system would.
pub async fn answer(table: Table, key: CursorKey, mut event: Event) -> EventReply {
    let path = event.raw_path.clone().unwrap_or_default();
    if path == AUDIT {
        return audit(&table).await;
    }
    let asked = authorize::handle(&table, authorizer_event(&event)).await;
    let Ok(verdict) = asked else {
        // As API Gateway answers when an authorizer fails.
        return plain(500, &json!({"message": "Internal Server Error"}));
    };
    let mut authorizer = ApiGatewayRequestAuthorizer::default();
    authorizer.fields = verdict.context.into_iter().collect();
    event.request_context.authorizer = Some(authorizer);
    match function_of(event.request_context.http.method.as_str(), &path) {
        Function::Submit => submit::handle(&table, event).await,
        Function::List => list::handle(&table, &key, event).await,
        Function::UpdateState => update_state::handle(&table, event).await,
        Function::History => history::handle(&table, event).await,
        Function::Catalog => catalog::handle(&table, event).await,
    }
}

fn authorizer_event(event: &Event) -> AuthorizerEvent {
    let mut asked = AuthorizerEvent::default();
    asked.version = Some("2.0".to_owned());
    asked.type_ = Some("REQUEST".to_owned());
    asked.raw_path.clone_from(&event.raw_path);
    asked.raw_query_string.clone_from(&event.raw_query_string);
    asked.headers.clone_from(&event.headers);
    asked.request_context = event.request_context.clone();
    asked
}

/// The invariants that the table breaks; none, if all is well.
async fn audit(table: &Table) -> EventReply {
    match violations(table).await {
        Ok(violations) => plain(200, &json!({"violations": violations})),
        Err(error) => plain(500, &json!({"message": error.to_string()})),
    }
}

async fn violations(table: &Table) -> Result<Vec<Value>, Error> {
    let snapshot = table.snapshot().await?;
    let violations = domain::invariant::violations(&snapshot);
    let view =
        |v: &domain::invariant::Violation| json!({"rule": v.rule, "subject": v.subject, "detail": v.detail});
    Ok(violations.iter().map(view).collect())
}

fn plain(status: i64, body: &Value) -> EventReply {
    let mut reply = EventReply::default();
    reply.status_code = status;
    reply.body = Some(Body::Text(body.to_string()));
    reply
}
