//! From an event to a message for each interested webhook, delayed by the wait time of the webhook.

use crate::{DeliveryMetrics, Handles, MessageError};
use domain::State;
use domain::outreach::webhook::delivery::Delivery;
use serde_json::Value;

/// Sends a message for each webhook of an event. A repetition causes more deliveries, under the same id.
pub(crate) async fn fan_out(handles: &Handles, detail: &Value) -> Result<DeliveryMetrics, MessageError> {
    let text = |name: &str| detail.pointer(&format!("/data/{name}")).and_then(Value::as_str);
    let to = text("to").and_then(State::parse).ok_or(MessageError::Unreadable)?;
    let from = text("from").map(|from| State::parse(from).ok_or(MessageError::Unreadable)).transpose()?;
    let (Some(title), Some(owner)) = (text("service"), text("owner")) else {
        return Err(MessageError::Unreadable);
    };
    // A webhook belongs to the service owner, and gets no change instances of dependent teams.
    if text("service_owner_team") != Some(owner) {
        return Ok(DeliveryMetrics::default());
    }
    let Some(service) = handles.table.service(title).await? else { return Ok(DeliveryMetrics::default()) };
    for webhook in handles.table.webhooks(service.owner.id).await? {
        if webhook.service.id == service.id && webhook.delivers(from, to) {
            let delivery = Delivery::new(webhook.id, detail.clone());
            let (message, group) = (delivery.to_message(), delivery.group());
            handles.queue.send(message, group, webhook.settings.wait_seconds).await?;
        }
    }
    Ok(DeliveryMetrics::default())
}
