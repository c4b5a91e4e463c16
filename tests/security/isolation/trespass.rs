//! Requests for foreign objects: paths, bodies and expected responses.

use super::tenants::Foreign;
use domain::base::actor::Role;
use domain::rules::visibility::Pov;
use dovetail_http::{Access, Code, Operation, ROUTES, Route};
use serde_json::{Value, json};
use support::{Answer, Running};

/// A path of the table of routes with its parameters.
pub(super) struct Target {
    pub(super) path: String,
    pub(super) pov: Pov,
    pub(super) id: Option<u64>,
}

pub(super) fn targets(route: &Route, foreign: &Foreign) -> Vec<Target> {
    let mut targets = Vec::new();
    let povs = if route.path.contains("{pov}") { &Pov::ALL[..] } else { &[Pov::Consumer] };
    for pov in povs {
        let path = route.path.replace("{pov}", pov.name());
        if path.contains("{id}") {
            targets.extend(foreign.ids(&path).into_iter().map(|id| Target {
                path: format!("{}/", path.replace("{id}", &id.to_string())),
                pov: *pov,
                id: Some(id),
            }));
        } else {
            targets.push(Target { path: format!("{path}/"), pov: *pov, id: None });
        }
    }
    targets
}

/// Returns the routes with a required API key.
pub(super) fn guarded() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.access != Access::Anyone)
}

/// Returns the route of a path and method. Several routes can share a path.
pub(super) fn serving(path: &str, method: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.path == path && route.methods.contains(&method))
}

/// Returns the most harmful body for an operation.
pub(super) fn body(operation: Operation, foreign: &Foreign) -> Value {
    match operation {
        Operation::Submit | Operation::ValidateSubmission => {
            json!({"Team-alphamark": {"Stolen": {"services": {}}}})
        }
        Operation::UpdateChangeInstance => {
            json!({"state": "COMPLETED", "log": "stolen", "deployed_item": {"ip": "stolen"}})
        }
        Operation::CreateDeployedItem => {
            json!({"data": {"ip": "stolen"}, "change_instance": foreign.change})
        }
        Operation::PatchDeployedItem => json!({"data": {"ip": "stolen"}}),
        Operation::PublishService => json!({"title": "VM", "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "stolen": {"type": "string"}}}),
        // A consumer may have a webhook for a public service, but not for one that it cannot see.
        Operation::CreateWebhook => {
            json!({"service": foreign.private, "target_url": "https://stolen.example/"})
        }
        Operation::UpdateWebhook => json!({"target_url": "https://stolen.example/"}),
        Operation::CreateMessage => json!({"description": "stolen", "scopes": [foreign.vm]}),
        Operation::UpdateMessage => json!({"description": "stolen"}),
        Operation::CreateHealthcheck => {
            json!({"service": foreign.vm, "target_url": "https://stolen.example/"})
        }
        Operation::UpdateTeam => json!({"confirm_removals": true}),
        Operation::CreateTeam => json!({"name": "Stolen"}),
        Operation::UpdateService => json!({"approval_required": false, "allowed_teams": [foreign.team],
            "state": "DECOMMISSIONED", "tags": ["stolen"]}),
        Operation::CreateServiceConfig => json!({"service": foreign.vm, "config": {"ip": "stolen"}}),
        Operation::UpdateCharge | Operation::MarkCharge => json!({"processed": true}),
        Operation::UploadServiceDocs
        | Operation::GetServiceDocs
        | Operation::ListServiceConfigs
        | Operation::GetServiceConfig
        | Operation::ListTeams
        | Operation::GetTeam
        | Operation::CompareSubmissions
        | Operation::ExportDeclaration
        | Operation::Revert
        | Operation::ValidateRevert
        | Operation::ListSubmissions
        | Operation::GetSubmission
        | Operation::ListServiceItems
        | Operation::ListDependentServiceItems
        | Operation::GetServiceItem
        | Operation::GetServiceItemGraph
        | Operation::ListChangeInstances
        | Operation::ListDependentChangeInstances
        | Operation::ListReferencedChangeInstances
        | Operation::GetChangeInstance
        | Operation::RetryChangeInstance
        | Operation::ChangeInstanceHistory
        | Operation::ListDeployedItems
        | Operation::ListDependentDeployedItems
        | Operation::GetDeployedItem
        | Operation::ListServices
        | Operation::ListDependentServices
        | Operation::ListServiceTags
        | Operation::GetService
        | Operation::ValidateService
        | Operation::ListApplications
        | Operation::GetApplication
        | Operation::GetApplicationGraph
        | Operation::GetHealth
        | Operation::GetContract
        | Operation::GetDefinitionSchema
        | Operation::GetErrorPage
        | Operation::GetConsoleFile
        | Operation::GetConsoleSettings
        | Operation::ListApiKeys
        | Operation::GetApiKey
        | Operation::CreateApiKey
        | Operation::RotateApiKey
        | Operation::RevokeApiKey
        | Operation::ListMembers
        | Operation::GetMember
        | Operation::AddMember
        | Operation::ChangeMember
        | Operation::RemoveMember
        | Operation::ListRecords
        | Operation::ListAllTeams
        | Operation::ListQueues
        | Operation::GetStatus
        | Operation::ListCharges
        | Operation::ListAccumulatedCharges
        | Operation::GetCharge
        | Operation::ListWebhooks
        | Operation::GetWebhook
        | Operation::RemoveWebhook
        | Operation::RotateWebhook
        | Operation::TriggerWebhook
        | Operation::ListWebhookFailures
        | Operation::ListMessages
        | Operation::GetMessage
        | Operation::RemoveMessage
        | Operation::ListHealthchecks
        | Operation::GetHealthcheck
        | Operation::RemoveHealthcheck
        | Operation::CheckServiceItem
        | Operation::CheckService => Value::Null,
    }
}

/// Returns the expected response to a team with a valid key and without a share.
pub(super) fn expected(operation: Operation, target: &Target, foreign: &Foreign) -> (u16, Option<Code>) {
    let refused = |code: Code| (code.status(), Some(code));
    match operation {
        Operation::GetSubmission
        | Operation::GetTeam
        | Operation::UpdateTeam
        | Operation::CompareSubmissions
        | Operation::Revert
        | Operation::ValidateRevert
        | Operation::GetServiceItem
        | Operation::GetServiceItemGraph
        | Operation::GetChangeInstance
        | Operation::UpdateChangeInstance
        | Operation::RetryChangeInstance
        | Operation::ChangeInstanceHistory
        | Operation::GetDeployedItem
        | Operation::CreateDeployedItem
        | Operation::PatchDeployedItem
        | Operation::GetCharge
        | Operation::UpdateCharge
        | Operation::MarkCharge
        | Operation::GetApplication
        | Operation::GetApplicationGraph => refused(Code::NotFound),
        // Every consumer may read the catalogue, except private services.
        Operation::GetService if target.pov == Pov::Consumer && target.id == Some(foreign.vm) => (200, None),
        Operation::GetServiceDocs if target.pov == Pov::Consumer && target.id == Some(foreign.vm) => {
            (200, None)
        }
        Operation::GetService | Operation::GetServiceDocs | Operation::GetServiceConfig => {
            refused(Code::NotFound)
        }
        Operation::CreateServiceConfig => refused(Code::InvalidField),
        Operation::UpdateService | Operation::UploadServiceDocs if target.id == Some(foreign.private) => {
            refused(Code::NotFound)
        }
        Operation::UpdateService | Operation::UploadServiceDocs | Operation::PublishService => {
            refused(Code::ForeignService)
        }
        Operation::Submit | Operation::ValidateSubmission => refused(Code::InvalidDeclaration),
        Operation::ValidateService => refused(Code::InvalidSchema),
        Operation::ListTeams
        | Operation::ExportDeclaration
        | Operation::ListSubmissions
        | Operation::ListServiceItems
        | Operation::ListDependentServiceItems
        | Operation::ListChangeInstances
        | Operation::ListDependentChangeInstances
        | Operation::ListReferencedChangeInstances
        | Operation::ListDeployedItems
        | Operation::ListDependentDeployedItems
        | Operation::ListServices
        | Operation::ListDependentServices
        | Operation::ListServiceTags
        | Operation::ListServiceConfigs
        | Operation::ListApplications
        | Operation::GetHealth
        | Operation::GetContract
        | Operation::GetDefinitionSchema
        | Operation::ListApiKeys
        | Operation::ListMembers
        | Operation::ListRecords
        | Operation::ListAllTeams
        | Operation::ListQueues
        | Operation::GetStatus
        | Operation::ListCharges
        | Operation::ListAccumulatedCharges
        | Operation::ListWebhooks
        | Operation::ListMessages
        | Operation::ListHealthchecks
        | Operation::GetErrorPage
        | Operation::GetConsoleFile
        | Operation::GetConsoleSettings => (200, None),
        // The consumer role has no such objects.
        Operation::CreateMessage | Operation::CreateHealthcheck if target.pov == Pov::Consumer => {
            refused(Code::NotFound)
        }
        // Only operators reach it; see `operators`.
        Operation::CreateTeam => (201, None),
        Operation::CreateApiKey
        | Operation::AddMember
        | Operation::CreateWebhook
        | Operation::CreateMessage
        | Operation::CreateHealthcheck => refused(Code::InvalidField),
        Operation::GetApiKey
        | Operation::RotateApiKey
        | Operation::RevokeApiKey
        | Operation::GetMember
        | Operation::ChangeMember
        | Operation::RemoveMember
        | Operation::GetWebhook
        | Operation::UpdateWebhook
        | Operation::RemoveWebhook
        | Operation::RotateWebhook
        | Operation::TriggerWebhook
        | Operation::ListWebhookFailures
        | Operation::GetMessage
        | Operation::UpdateMessage
        | Operation::RemoveMessage
        | Operation::GetHealthcheck
        | Operation::RemoveHealthcheck
        | Operation::CheckServiceItem
        | Operation::CheckService => refused(Code::NotFound),
    }
}

/// Returns whether a response has the status and, if given, the code.
pub(super) fn is_answer(answer: &Answer, (status, code): (u16, Option<Code>)) -> bool {
    answer.status == status && code.is_none_or(|code| answer.at("/code") == code.name())
}

#[track_caller]
pub(super) fn assert_answer(answer: &Answer, expected: (u16, Option<Code>), what: &str) {
    assert!(is_answer(answer, expected), "{what}: {expected:?} expected: {answer:?}");
}

/// Returns the marks in the body or headers of a response.
pub(super) fn leaked_marks<'a>(answer: &Answer, markers: &[&'a str]) -> Vec<&'a str> {
    let text = format!("{} {:?}", answer.body, answer.headers);
    markers.iter().copied().filter(|marker| text.contains(marker)).collect()
}

#[track_caller]
pub(super) fn assert_unmarked(answer: &Answer, markers: &[&str], what: &str) {
    assert_eq!(leaked_marks(answer, markers), Vec::<&str>::new(), "{what}: {answer:?}");
}

/// Sends a request for a foreign object.
///
/// Returns the response, the expected one, and whether the response may repeat the request's text.
pub(super) fn trespass(
    system: &Running,
    foreign: &Foreign,
    (key, role): (&str, Role),
    target: &Target,
    route: &Route,
    method: &str,
) -> (Answer, (u16, Option<Code>), bool) {
    let serving = serving(route.path, method);
    let body = serving.map_or(Value::Null, |serving| body(serving.operation, foreign));
    let answer = system.call(method, &target.path, key, &body);
    let expected = match serving {
        None => (405, Some(Code::MethodNotAllowed)),
        Some(serving) if !serving.access.is_open_to(role) => (403, Some(serving.access.refusal(role))),
        Some(serving) => expected(serving.operation, target, foreign),
    };
    // A problem names its place in the document, in the words of the request.
    (answer, expected, body.to_string().contains("alphamark"))
}
