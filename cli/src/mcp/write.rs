//! The tools with a declaration, and the tools that write.

use super::input::{CHANGE, id, picked, text};
use crate::{
    api::client::Api,
    base::{failure::Failure, json::At as _},
    commands::{
        decide::{self, Action, Details},
        request::Request,
    },
    output::plan::counts,
};
use serde_json::{Value, json};

/// The actions of `decide`, by their names.
pub(super) const ACTIONS: &[&str] = &["approve", "reject", "complete", "fail", "close", "retry"];

/// The members of a planned change.
const PLANNED: &[(&str, &str)] = &[
    ("change_type", "/change_type"),
    ("application", "/application/name"),
    ("service", "/service/name"),
    ("item", "/service_item/name"),
    ("owner", "/owner/name"),
    ("kind", "/kind"),
    ("differences", "/differences"),
    ("closes", "/closes"),
    ("never_in_service", "/never_in_service"),
    ("cost_per_change", "/cost_per_change"),
    ("monthly_cost", "/monthly_cost"),
];

fn request(api: &Api, input: &Value) -> Result<Request, Failure> {
    let applications = input.at("/applications").as_object().cloned().unwrap_or_default();
    Request::inline(api, applications, input.is_at("/whole"))
}

pub(super) fn validate(api: &Api, input: &Value) -> Result<Value, Failure> {
    let preview = request(api, input)?.preview(api)?;
    Ok(picked(
        &preview,
        &[
            ("is_valid", "/is_valid"),
            ("changed", "/changed"),
            ("warnings", "/warnings"),
            ("messages", "/messages"),
        ],
    ))
}

pub(super) fn plan(api: &Api, input: &Value) -> Result<Value, Failure> {
    let preview = request(api, input)?.plan(api)?;
    let changes = preview.list_at("/change_instances").iter().map(|change| picked(change, PLANNED));
    Ok(json!({
        "plan": preview.at("/plan"),
        "summary": counts(&preview),
        "changed": preview.at("/changed"),
        "changes": changes.collect::<Vec<_>>(),
        "metadata": preview.at("/metadata"),
        "warnings": preview.at("/warnings"),
        "messages": preview.at("/messages"),
    }))
}

pub(super) fn apply(api: &Api, input: &Value) -> Result<Value, Failure> {
    let request = request(api, input)?;
    let preview = request.plan(api)?;
    if preview.text_at("/plan") != text(input, "plan")? {
        return Err(Failure::PlanChanged);
    }
    let [commit, message] =
        ["/commit", "/message"].map(|pointer| input.at(pointer).as_str().map(str::to_owned));
    let submission = request.submit(api, &preview, commit, message)?;
    let changes = submission.list_at("/change_instances").iter().map(|change| picked(change, CHANGE));
    let changes: Vec<Value> = changes.collect();
    Ok(json!({"submission": submission.at("/id"), "changed": submission.at("/changed"), "changes": changes}))
}

pub(super) fn decide(api: &Api, input: &Value) -> Result<Value, Failure> {
    let action = match text(input, "action")? {
        "approve" => Action::Approve,
        "reject" => Action::Reject,
        "complete" => Action::Complete,
        "fail" => Action::Fail,
        "close" => Action::Close,
        _ => Action::Retry,
    };
    let (log, deployed) = (input.at("/log").as_str(), input.get("deployed_item").cloned());
    if deployed.is_some() && !matches!(action, Action::Complete) {
        return Err(Failure::Usage("/deployed_item: must come with the action `complete`".to_owned()));
    }
    let claim = input.at("/claim").as_u64();
    if claim.is_some() && !matches!(action, Action::Complete | Action::Fail | Action::Reject) {
        let message = "/claim: must come with the action `complete`, `fail` or `reject`";
        return Err(Failure::Usage(message.to_owned()));
    }
    let change = decide::one(api, action, id(input, "change")?, Details { log, deployed, claim })?;
    Ok(picked(&change, &[("id", "/id"), ("state", "/state"), ("log", "/log")]))
}
