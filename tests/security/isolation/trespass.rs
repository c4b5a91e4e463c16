//! Requests for foreign objects: paths, bodies and expected responses.

use super::tenants::Foreign;
use domain::base::actor::Role;
use domain::rules::visibility::Side;
use dovetail_http::{Access, Code, Operation, ROUTES, Route, Scope};
use serde_json::{Value, json};
use support::{Answer, Running};

/// A path of the table of routes with its parameters.
pub(super) struct Target {
    pub(super) path: String,
    pub(super) side: Side,
    pub(super) id: Option<u64>,
}

pub(super) fn targets(route: &Route, foreign: &Foreign) -> Vec<Target> {
    let mut targets = Vec::new();
    let sides = if route.path.contains("{pov}") { &Side::ALL[..] } else { &[Side::Consumer] };
    for side in sides {
        let path = route.path.replace("{pov}", side.name());
        if path.contains("{id}") {
            targets.extend(foreign.ids(&path).into_iter().map(|id| Target {
                path: format!("{}/", path.replace("{id}", &id.to_string())),
                side: *side,
                id: Some(id),
            }));
        } else {
            targets.push(Target { path: format!("{path}/"), side: *side, id: None });
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

/// Operations whose refusal does not depend on the body, because their ids are foreign or the empty body is invalid.
const IGNORES_THE_BODY: &[Operation] =
    &[Operation::CreateApiKey, Operation::RotateApiKey, Operation::AddMember, Operation::ChangeMember];

/// Returns the most harmful body for an operation.
#[expect(clippy::wildcard_enum_match_arm, reason = "the other operations have no fields")]
pub(super) fn body(operation: Operation, foreign: &Foreign) -> Value {
    match operation {
        Operation::Submit | Operation::ValidateSubmission => {
            json!({"Team-alphamark": {"Stolen": {"services": {}}}})
        }
        Operation::UpdateChangeInstance => {
            json!({"state": "COMPLETED", "log": "stolen", "deployed_item": {"ip": "stolen"}})
        }
        Operation::ClaimChangeInstances => json!({"worker": "stolen", "service": foreign.vm}),
        Operation::ClaimChangeInstance => json!({"worker": "stolen"}),
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
        other => {
            assert!(
                other.fields().is_none_or(|_| IGNORES_THE_BODY.contains(&other)),
                "{other:?} needs a body"
            );
            Value::Null
        }
    }
}

/// Returns the expected response to a team with a valid key and without a share.
pub(super) fn expected(route: &Route, target: &Target, foreign: &Foreign) -> (u16, Option<Code>) {
    let refused = |code: Code| (code.status(), Some(code));
    let is_consumer = target.side == Side::Consumer;
    match (route.scope, route.operation) {
        (Scope::Public | Scope::List, _) => {
            assert_eq!(target.id, None, "{} is a list, so its path has no id", target.path);
            (200, None)
        }
        (Scope::Own | Scope::Shared | Scope::Granted | Scope::Decision, _) => refused(Code::NotFound),
        (Scope::Declaration, _) => refused(Code::InvalidDeclaration),
        // Every consumer may read the catalogue, except private services.
        (Scope::Catalogue, Operation::GetService | Operation::GetServiceDocs)
            if is_consumer && target.id == Some(foreign.vm) =>
        {
            (200, None)
        }
        (Scope::Catalogue, Operation::ValidateService) => refused(Code::InvalidSchema),
        (Scope::Catalogue, Operation::PublishService) => refused(Code::ForeignService),
        (Scope::Catalogue, Operation::UpdateService | Operation::UploadServiceDocs)
            if target.id == Some(foreign.vm) =>
        {
            refused(Code::ForeignService)
        }
        (Scope::Catalogue, _) => refused(Code::NotFound),
        // Only operators reach it; see `operators`.
        (Scope::Creation, Operation::CreateTeam) => (201, None),
        // The consumer role has no such objects.
        (Scope::Creation, Operation::CreateMessage | Operation::CreateHealthcheck) if is_consumer => {
            refused(Code::NotFound)
        }
        (Scope::Creation, _) => refused(Code::InvalidField),
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
        Some(serving) => expected(serving, target, foreign),
    };
    // A problem names its place in the document, in the words of the request.
    (answer, expected, body.to_string().contains("alphamark"))
}
