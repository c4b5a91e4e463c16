//! The routes as data: methods, path, operation, function and access.

use crate::code::Code;
use crate::operation::{Function, Operation};
use crate::reply::{Failure, Reply};
use domain::base::actor::Role;
use domain::base::suggest;
use domain::rules::visibility::Pov;

/// The access that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No credentials.
    Anyone,
    /// Any key, or a person without a chosen team.
    Authenticated,
    /// Any key, or a person with a chosen team.
    Read,
    /// The roles `GENERAL` and `ADMIN`.
    Write,
    /// The role `ADMIN`.
    Admin,
    /// The role `PLATFORM`.
    Platform,
}

impl Access {
    /// Returns whether a role has this access.
    pub fn is_open_to(self, role: Role) -> bool {
        match self {
            Self::Anyone | Self::Authenticated | Self::Read => true,
            Self::Write => !role.only_reads(),
            Self::Admin => role == Role::Admin,
            Self::Platform => role == Role::Platform,
        }
    }

    /// Returns the error for a role without this access.
    pub fn refusal(self, role: Role) -> Code {
        if self == Self::Platform {
            Code::NeedsPlatform
        } else if role.only_reads() {
            Code::ReadOnlyKey
        } else {
            Code::NeedsAdmin
        }
    }
}

/// A route of the API.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub methods: &'static [&'static str],
    /// `{pov}` is `serviceowner` or `consumer`, `{id}` an integer, `{code}` a word.
    pub path: &'static str,
    pub operation: Operation,
    pub function: Function,
    pub access: Access,
}

const GET: &[&str] = &["GET"];
const POST: &[&str] = &["POST"];
const PATCH: &[&str] = &["PATCH"];
const DELETE: &[&str] = &["DELETE"];
const POST_OR_PATCH: &[&str] = &["POST", "PATCH"];
const PATCH_OR_PUT: &[&str] = &["PATCH", "PUT"];
const UPDATE: &[&str] = &["PATCH", "PUT", "POST"];

const fn read(path: &'static str, operation: Operation) -> Route {
    Route { methods: GET, path, operation, function: Function::List, access: Access::Read }
}

const fn write(
    methods: &'static [&'static str],
    path: &'static str,
    operation: Operation,
    function: Function,
) -> Route {
    Route { methods, path, operation, function, access: Access::Write }
}

const fn admin(
    methods: &'static [&'static str],
    path: &'static str,
    operation: Operation,
    function: Function,
) -> Route {
    Route { methods, path, operation, function, access: Access::Admin }
}

const fn platform(path: &'static str, operation: Operation) -> Route {
    Route { methods: GET, path, operation, function: Function::History, access: Access::Platform }
}

const fn anyone(path: &'static str, operation: Operation) -> Route {
    Route { methods: GET, path, operation, function: Function::About, access: Access::Anyone }
}

const fn webhooks(
    methods: &'static [&'static str],
    path: &'static str,
    operation: Operation,
    access: Access,
) -> Route {
    Route { methods, path, operation, function: Function::Webhooks, access }
}

const fn file(path: &'static str) -> Route {
    Route { function: Function::WebConsole, ..anyone(path, Operation::GetConsoleFile) }
}

/// The files of the web console. They are not part of the contract of the API.
pub const FILES: &[Route] = &[
    file("/"),
    file("/index.html"),
    file("/app.js"),
    file("/app.css"),
    file("/editor.js"),
    file("/icon.svg"),
    file("/licenses.txt"),
];

/// All routes of the API.
pub const ROUTES: &[Route] = &[
    anyone("/v1/health", Operation::GetHealth),
    anyone("/v1/openapi.json", Operation::GetContract),
    anyone("/v1/definition.schema.json", Operation::GetDefinitionSchema),
    anyone("/v1/errors/{code}", Operation::GetErrorPage),
    Route { function: Function::WebConsole, ..anyone("/v1/console.json", Operation::GetConsoleSettings) },
    Route { access: Access::Authenticated, ..read("/v1/account/teams", Operation::ListTeams) },
    read("/v1/account/teams/{id}", Operation::GetTeam),
    admin(PATCH, "/v1/account/teams/{id}", Operation::UpdateTeam, Function::Account),
    admin(GET, "/v1/account/api_keys", Operation::ListApiKeys, Function::Account),
    admin(POST, "/v1/account/api_keys", Operation::CreateApiKey, Function::Account),
    admin(GET, "/v1/account/api_keys/{id}", Operation::GetApiKey, Function::Account),
    admin(DELETE, "/v1/account/api_keys/{id}", Operation::RevokeApiKey, Function::Account),
    admin(POST, "/v1/account/api_keys/{id}/rotate", Operation::RotateApiKey, Function::Account),
    admin(GET, "/v1/account/members", Operation::ListMembers, Function::Account),
    admin(POST, "/v1/account/members", Operation::AddMember, Function::Account),
    admin(GET, "/v1/account/members/{id}", Operation::GetMember, Function::Account),
    admin(PATCH, "/v1/account/members/{id}", Operation::ChangeMember, Function::Account),
    admin(DELETE, "/v1/account/members/{id}", Operation::RemoveMember, Function::Account),
    admin(GET, "/v1/account/records", Operation::ListRecords, Function::Account),
    platform("/v1/platform/teams", Operation::ListAllTeams),
    Route {
        methods: POST,
        // It writes API keys, so it belongs to the function with that permission.
        function: Function::Account,
        ..platform("/v1/platform/teams", Operation::CreateTeam)
    },
    platform("/v1/platform/queues", Operation::ListQueues),
    platform("/v1/platform/status", Operation::GetStatus),
    Route {
        // A preview changes nothing, so READ_ONLY keys may request it.
        access: Access::Read,
        ..write(
            POST_OR_PATCH,
            "/v1/orcabase/consumer/submissions/validate",
            Operation::ValidateSubmission,
            Function::Submit,
        )
    },
    write(POST_OR_PATCH, "/v1/orcabase/consumer/submissions/submit", Operation::Submit, Function::Submit),
    read("/v1/orcabase/consumer/submissions", Operation::ListSubmissions),
    read("/v1/orcabase/consumer/submissions/{id}", Operation::GetSubmission),
    read("/v1/orcabase/consumer/submissions/{id}/difference", Operation::CompareSubmissions),
    read("/v1/orcabase/consumer/declaration", Operation::ExportDeclaration),
    write(POST, "/v1/orcabase/consumer/submissions/{id}/revert", Operation::Revert, Function::Submit),
    Route {
        access: Access::Read,
        ..write(
            POST,
            "/v1/orcabase/consumer/submissions/{id}/revert/validate",
            Operation::ValidateRevert,
            Function::Submit,
        )
    },
    read("/v1/orcabase/{pov}/service_items", Operation::ListServiceItems),
    read("/v1/orcabase/{pov}/service_items/dependant", Operation::ListDependentServiceItems),
    read("/v1/orcabase/{pov}/service_items/{id}", Operation::GetServiceItem),
    read("/v1/orcabase/{pov}/service_items/{id}/graph", Operation::GetServiceItemGraph),
    read("/v1/orcabase/{pov}/change_instances", Operation::ListChangeInstances),
    read("/v1/orcabase/{pov}/change_instances/dependant", Operation::ListDependentChangeInstances),
    read("/v1/orcabase/{pov}/change_instances/referenced", Operation::ListReferencedChangeInstances),
    read("/v1/orcabase/{pov}/change_instances/{id}", Operation::GetChangeInstance),
    write(
        UPDATE,
        "/v1/orcabase/{pov}/change_instances/{id}",
        Operation::UpdateChangeInstance,
        Function::UpdateState,
    ),
    write(
        POST,
        "/v1/orcabase/{pov}/change_instances/{id}/retry",
        Operation::RetryChangeInstance,
        Function::UpdateState,
    ),
    Route {
        function: Function::History,
        ..read("/v1/orcabase/{pov}/change_instances/{id}/history", Operation::ChangeInstanceHistory)
    },
    read("/v1/orcabase/{pov}/deployed_items", Operation::ListDeployedItems),
    write(POST, "/v1/orcabase/{pov}/deployed_items", Operation::CreateDeployedItem, Function::UpdateState),
    read("/v1/orcabase/{pov}/deployed_items/dependant", Operation::ListDependentDeployedItems),
    read("/v1/orcabase/{pov}/deployed_items/{id}", Operation::GetDeployedItem),
    write(
        PATCH,
        "/v1/orcabase/{pov}/deployed_items/{id}",
        Operation::PatchDeployedItem,
        Function::UpdateState,
    ),
    read("/v1/orcabase/{pov}/services", Operation::ListServices),
    admin(POST, "/v1/orcabase/{pov}/services", Operation::PublishService, Function::Catalog),
    Route {
        access: Access::Read,
        ..write(POST, "/v1/orcabase/{pov}/services/validate", Operation::ValidateService, Function::Catalog)
    },
    read("/v1/orcabase/{pov}/services/dependant", Operation::ListDependentServices),
    read("/v1/orcabase/{pov}/services/tags", Operation::ListServiceTags),
    read("/v1/orcabase/{pov}/services/{id}", Operation::GetService),
    admin(PATCH_OR_PUT, "/v1/orcabase/{pov}/services/{id}", Operation::UpdateService, Function::Catalog),
    read("/v1/orcabase/{pov}/services/{id}/docs", Operation::GetServiceDocs),
    admin(POST, "/v1/orcabase/{pov}/services/{id}/docs", Operation::UploadServiceDocs, Function::Catalog),
    read("/v1/orcabase/{pov}/service_configs", Operation::ListServiceConfigs),
    admin(POST, "/v1/orcabase/{pov}/service_configs", Operation::CreateServiceConfig, Function::Catalog),
    read("/v1/orcabase/{pov}/service_configs/{id}", Operation::GetServiceConfig),
    read("/v1/orcabase/{pov}/applications", Operation::ListApplications),
    read("/v1/orcabase/{pov}/applications/{id}", Operation::GetApplication),
    read("/v1/orcabase/{pov}/applications/{id}/graph", Operation::GetApplicationGraph),
    read("/v1/marketplace/{pov}/charges", Operation::ListCharges),
    read("/v1/marketplace/{pov}/charges/accumulated", Operation::ListAccumulatedCharges),
    read("/v1/marketplace/{pov}/charges/{id}", Operation::GetCharge),
    write(PATCH, "/v1/marketplace/{pov}/charges/{id}", Operation::UpdateCharge, Function::UpdateState),
    // The Python client 1.0.14 uses this path (docs/reference/http/README.md, routes).
    write(PATCH, "/v1/orcabase/{pov}/charges/{id}", Operation::MarkCharge, Function::UpdateState),
    webhooks(GET, "/v1/external/{pov}/webhooks", Operation::ListWebhooks, Access::Read),
    webhooks(POST, "/v1/external/{pov}/webhooks", Operation::CreateWebhook, Access::Admin),
    webhooks(GET, "/v1/external/{pov}/webhooks/{id}", Operation::GetWebhook, Access::Read),
    webhooks(PATCH_OR_PUT, "/v1/external/{pov}/webhooks/{id}", Operation::UpdateWebhook, Access::Admin),
    webhooks(DELETE, "/v1/external/{pov}/webhooks/{id}", Operation::RemoveWebhook, Access::Admin),
    webhooks(POST, "/v1/external/{pov}/webhooks/{id}/rotate", Operation::RotateWebhook, Access::Admin),
    webhooks(POST, "/v1/external/{pov}/webhooks/{id}/trigger", Operation::TriggerWebhook, Access::Write),
    webhooks(GET, "/v1/external/{pov}/webhooks/{id}/failures", Operation::ListWebhookFailures, Access::Read),
    read("/v1/orcaexternal/{pov}/messages", Operation::ListMessages),
    admin(POST, "/v1/orcaexternal/{pov}/messages", Operation::CreateMessage, Function::Catalog),
    read("/v1/orcaexternal/{pov}/messages/{id}", Operation::GetMessage),
    admin(PATCH_OR_PUT, "/v1/orcaexternal/{pov}/messages/{id}", Operation::UpdateMessage, Function::Catalog),
    admin(DELETE, "/v1/orcaexternal/{pov}/messages/{id}", Operation::RemoveMessage, Function::Catalog),
    webhooks(GET, "/v1/external/{pov}/healthchecks", Operation::ListHealthchecks, Access::Read),
    webhooks(POST, "/v1/external/{pov}/healthchecks", Operation::CreateHealthcheck, Access::Admin),
    webhooks(GET, "/v1/external/{pov}/healthchecks/{id}", Operation::GetHealthcheck, Access::Read),
    webhooks(DELETE, "/v1/external/{pov}/healthchecks/{id}", Operation::RemoveHealthcheck, Access::Admin),
    // These GET requests send a request to the target of the owner, so READ_ONLY keys may not use them.
    webhooks(
        GET,
        "/v1/external/{pov}/healthchecks/trigger/service_item/{id}",
        Operation::CheckServiceItem,
        Access::Write,
    ),
    webhooks(
        GET,
        "/v1/external/{pov}/healthchecks/trigger/service/{id}",
        Operation::CheckService,
        Access::Write,
    ),
];

/// The route of a request, with the parameters of its path.
#[derive(Clone, Debug)]
pub(crate) struct RouteMatch {
    pub(crate) route: &'static Route,
    pub(crate) parameters: PathParameters,
}

/// The parameters of a path.
#[derive(Clone, Debug)]
pub(crate) struct PathParameters {
    pub(crate) pov: Pov,
    pub(crate) id: Option<u64>,
    pub(crate) code: Option<String>,
}

impl Default for PathParameters {
    fn default() -> Self {
        Self { pov: Pov::ServiceOwner, id: None, code: None }
    }
}

/// Why no route fits a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unserved {
    Path,
    /// The path has only these methods.
    Method(Vec<&'static str>),
}

impl Unserved {
    /// Returns the reply to a request for `path`.
    pub(crate) fn refusal(self, path: &str) -> Failure {
        match self {
            Self::Path => {
                let meant = nearest(path).map(|path| format!(", did you mean `{path}`?")).unwrap_or_default();
                Reply::refused(Code::NoSuchRoute, &format!("{}{meant}", Code::NoSuchRoute.title())).into()
            }
            Self::Method(others) => {
                let with_head = |method| [Some(method), (method == "GET").then_some("HEAD")];
                let others: Vec<&str> = others.into_iter().flat_map(with_head).flatten().collect();
                let mut reply = Reply::error(Code::MethodNotAllowed);
                // RFC 9110 requires this header with a 405.
                reply.headers.push(("allow", others.join(", ")));
                reply.into()
            }
        }
    }
}

/// Returns the path of the route most similar to `path`, word by word.
fn nearest(path: &str) -> Option<&'static str> {
    let given: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let distances = ROUTES.iter().filter_map(|route| Some((distance(route.path, &given)?, route.path)));
    distances.min_by_key(|(distance, _)| *distance).map(|(_, path)| path)
}

/// Returns the distance between the paths of a route and a request; none if one of the words is too different.
fn distance(pattern: &str, given: &[&str]) -> Option<usize> {
    let expected: Vec<&str> = pattern.split('/').collect();
    if expected.len() != given.len() {
        return None;
    }
    expected.iter().zip(given).map(|(expected, given)| word_distance(expected, given)).sum()
}

fn word_distance(expected: &str, given: &str) -> Option<usize> {
    match expected {
        "{id}" => integer(given).map(|_| 0),
        "{code}" => Some(0),
        "{pov}" => Pov::ALL.iter().filter_map(|pov| suggest::distance(given, pov.name())).min(),
        word => suggest::distance(given, word),
    }
}

/// Finds the route of a request, with or without a trailing slash (docs/reference/http/README.md, convention 3).
///
/// A route for GET is also one for HEAD: the answer then has no body (RFC 9110, section 9.3.2).
pub(crate) fn find(method: &str, path: &str) -> Result<RouteMatch, Unserved> {
    let method = if method == "HEAD" { "GET" } else { method };
    // A file has no other spelling: below a path with a slash, its relative URLs would lead elsewhere.
    let files = FILES.iter().filter(|file| file.path == path || (path.is_empty() && file.path == "/"));
    let files = files.map(|file| (file, PathParameters::default()));
    let path = path.strip_suffix('/').unwrap_or(path);
    let routes = ROUTES.iter().filter_map(|route| Some((route, matches(route.path, path)?)));
    let mut others = Vec::new();
    for (route, parameters) in files.chain(routes) {
        if route.methods.contains(&method) {
            return Ok(RouteMatch { route, parameters });
        }
        others.extend(route.methods);
    }
    Err(if others.is_empty() { Unserved::Path } else { Unserved::Method(others) })
}

/// Returns the function for a request. `list` answers unknown paths, as in the gateway (ADR 13).
pub fn function_of(method: &str, path: &str) -> Function {
    find(method, path).map_or(Function::List, |route_match| route_match.route.function)
}

/// Returns the parameters of a path; none if the path does not match the pattern.
fn matches(pattern: &str, path: &str) -> Option<PathParameters> {
    // The paths of submissions have the fixed role of the consumer.
    let pov = if pattern.contains("/consumer/") { Pov::Consumer } else { Pov::ServiceOwner };
    let mut parameters = PathParameters { pov, ..PathParameters::default() };
    let (mut expected, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (expected.next(), given.next()) {
            (None, None) => return Some(parameters),
            (Some("{pov}"), Some(name)) => parameters.pov = Pov::parse(name)?,
            (Some("{id}"), Some(number)) => parameters.id = Some(integer(number)?),
            (Some("{code}"), Some(word)) => parameters.code = Some(word.to_owned()),
            (Some(word), Some(other)) if word == other => {}
            _ => return None,
        }
    }
}

/// Parses a plain integer: digits only, without sign and leading zero. So each id has one path.
fn integer(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if digits && !text.starts_with('0') { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_one_route_with_and_without_its_slash() {
        for path in
            ["/v1/orcabase/consumer/change_instances/54", "/v1/orcabase/consumer/change_instances/54/"]
        {
            let route_match = find("GET", path).unwrap();
            assert_eq!(route_match.route.operation, Operation::GetChangeInstance);
            assert_eq!((route_match.parameters.pov, route_match.parameters.id), (Pov::Consumer, Some(54)));
        }
        let submit = find("PATCH", "/v1/orcabase/consumer/submissions/submit/").unwrap();
        assert_eq!(submit.route.operation, Operation::Submit);
        assert_eq!(find("HEAD", "/v1/health").unwrap().route.operation, Operation::GetHealth);
        assert!(find("HEAD", "/v1/orcabase/consumer/submissions/submit/").is_err());
    }

    #[test]
    fn a_view_of_a_collection_is_not_an_id() {
        let route_match = find("GET", "/v1/orcabase/serviceowner/change_instances/dependant/").unwrap();
        assert_eq!(
            (route_match.route.operation, route_match.parameters.id),
            (Operation::ListDependentChangeInstances, None)
        );
        let patched = find("PATCH", "/v1/orcabase/serviceowner/change_instances/dependant/").unwrap_err();
        assert_eq!(patched, Unserved::Method(vec!["GET"]));
    }

    #[test]
    fn an_unknown_path_differs_from_an_unsupported_method() {
        for path in ["/v1", "/v1/orcabase/owner/services", "/v1/orcabase/consumer/services/x1", "/v1/teams"] {
            assert_eq!(find("GET", path).unwrap_err(), Unserved::Path, "{path}");
        }
        for id in ["+5", "-5", "05", "0", "5.0", "99999999999999999999999"] {
            let path = format!("/v1/orcabase/consumer/services/{id}");
            assert_eq!(find("GET", &path).unwrap_err(), Unserved::Path, "{path}");
        }
        let deleted = find("DELETE", "/v1/orcabase/consumer/service_items/7").unwrap_err();
        assert_eq!(deleted, Unserved::Method(vec!["GET"]));
        let deleted = find("DELETE", "/v1/orcabase/consumer/change_instances/7").unwrap_err();
        assert_eq!(deleted, Unserved::Method(vec!["GET", "PATCH", "PUT", "POST"]));
    }
}
