//! From an event to a message for each interested webhook, delayed by the wait time of the webhook.

use crate::{DeliveryMetrics, Handles, MessageError};
use domain::State;
use domain::outreach::webhook::delivery::Delivery;
use domain::outreach::webhook::occasion::Occasion;
use futures_util::future::try_join_all;
use serde_json::Value;

/// Sends a message for each webhook of an event. A repetition causes more deliveries, under the same id.
pub(crate) async fn fan_out(handles: &Handles, detail: &Value) -> Result<DeliveryMetrics, MessageError> {
    let Some(occasion) = occasion(handles, detail).await? else { return Ok(DeliveryMetrics::default()) };
    // An event contains the ids of its parties, so the webhooks are all that is read, at the same time.
    let webhooks = try_join_all(occasion.teams().map(|team| handles.table.webhooks(team))).await?;
    for webhook in webhooks.iter().flatten().filter(|webhook| webhook.delivers(&occasion)) {
        let delivery = Delivery::new(webhook.id, detail.clone());
        let (message, group) = (delivery.to_message(), delivery.group());
        handles.queue.send(message, group, webhook.settings.wait_seconds).await?;
    }
    Ok(DeliveryMetrics::default())
}

/// Returns the facts of an event; none without parties that may have webhooks.
async fn occasion(handles: &Handles, detail: &Value) -> Result<Option<Occasion>, MessageError> {
    if let Some(occasion) = Occasion::parse(detail) {
        return Ok(Some(occasion));
    }
    // An event from before an upgrade may arrive after it. Such an event lacks the ids, but names the service.
    let text = |name: &str| detail.pointer(&format!("/data/{name}")).and_then(Value::as_str);
    let is_state = |name: &str| text(name).is_some_and(|state| State::parse(state).is_some());
    let is_transition = is_state("to") && (text("from").is_none() || is_state("from"));
    let title = text("service").filter(|_| is_transition && text("owner").is_some());
    let service = handles.table.service(title.ok_or(MessageError::Unreadable)?).await?;
    Ok(service.and_then(|service| Occasion::of_earlier(detail, &service)))
}
