//! The routes as data: methods, path, operation, function and access.

use crate::code::Code;
use crate::operation::{Function, Operation};
use crate::reply::{Failure, Reply};
use domain::base::actor::Role;
use domain::base::suggest;
use domain::rules::visibility::Side;

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

/// The objects that a route reads or changes. They decide the response to a team without a share in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The same for everyone, without credentials.
    Public,
    /// Rows of the caller's team, or numbers of the whole deployment for an operator. Others' rows are absent.
    List,
    /// An object whose id names its team. A request of another team reads nothing.
    Own,
    /// An object of a consumer. Only its record shows which owners have a share in it.
    Shared,
    /// An item of a consumer, which may grant it to any other team. Its record and that of its application show that.
    Granted,
    /// A write of an owner to such an object.
    Decision,
    /// A service and its documents. Everyone with access to the service reads them, and its owner writes them.
    Catalogue,
    /// A new object of the caller's team.
    Creation,
    /// A declaration of the caller's team.
    Declaration,
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
    pub scope: Scope,
}

/// Returns the routes of a table: methods, path, operation, function, access and scope.
macro_rules! routes {
    ($([$($method:ident),+] $path:literal => $operation:ident, $function:ident, $access:ident, $scope:ident;)+) => {
        &[$(Route {
            methods: &[$(stringify!($method)),+],
            path: $path,
            operation: Operation::$operation,
            function: Function::$function,
            access: Access::$access,
            scope: Scope::$scope,
        }),+]
    };
}

/// The files of the web console, which are not part of the contract of the API.
pub const FILES: &[Route] = routes! {
    [GET] "/" => GetConsoleFile, WebConsole, Anyone, Public;
    [GET] "/index.html" => GetConsoleFile, WebConsole, Anyone, Public;
    [GET] "/app.js" => GetConsoleFile, WebConsole, Anyone, Public;
    [GET] "/app.css" => GetConsoleFile, WebConsole, Anyone, Public;
    [GET] "/editor.js" => GetConsoleFile, WebConsole, Anyone, Public;
    [GET] "/icon.svg" => GetConsoleFile, WebConsole, Anyone, Public;
    [GET] "/licenses.txt" => GetConsoleFile, WebConsole, Anyone, Public;
};

/// All routes of the API.
pub const ROUTES: &[Route] = routes! {
    [GET] "/v1/health" => GetHealth, About, Anyone, Public;
    [GET] "/v1/openapi.json" => GetContract, About, Anyone, Public;
    [GET] "/v1/definition.schema.json" => GetDefinitionSchema, About, Anyone, Public;
    [GET] "/v1/errors/{code}" => GetErrorPage, About, Anyone, Public;
    [GET] "/v1/console.json" => GetConsoleSettings, WebConsole, Anyone, Public;
    [GET] "/v1/account/teams" => ListTeams, List, Authenticated, List;
    [GET] "/v1/account/teams/{id}" => GetTeam, List, Read, Own;
    [PATCH] "/v1/account/teams/{id}" => UpdateTeam, Account, Admin, Own;
    [GET] "/v1/account/api_keys" => ListApiKeys, Account, Admin, List;
    [POST] "/v1/account/api_keys" => CreateApiKey, Account, Admin, Creation;
    [GET] "/v1/account/api_keys/{id}" => GetApiKey, Account, Admin, Own;
    [DELETE] "/v1/account/api_keys/{id}" => RevokeApiKey, Account, Admin, Own;
    [POST] "/v1/account/api_keys/{id}/rotate" => RotateApiKey, Account, Admin, Own;
    [GET] "/v1/account/members" => ListMembers, Account, Admin, List;
    [POST] "/v1/account/members" => AddMember, Account, Admin, Creation;
    [GET] "/v1/account/members/{id}" => GetMember, Account, Admin, Own;
    [PATCH] "/v1/account/members/{id}" => ChangeMember, Account, Admin, Own;
    [DELETE] "/v1/account/members/{id}" => RemoveMember, Account, Admin, Own;
    [GET] "/v1/account/records" => ListRecords, Account, Admin, List;
    [GET] "/v1/platform/teams" => ListAllTeams, History, Platform, List;
    // A new team gets an API key, so its function is the one that may write API keys.
    [POST] "/v1/platform/teams" => CreateTeam, Account, Platform, Creation;
    [GET] "/v1/platform/queues" => ListQueues, History, Platform, List;
    [GET] "/v1/platform/status" => GetStatus, History, Platform, List;
    // A preview changes nothing, so READ_ONLY keys may request it.
    [POST, PATCH] "/v1/orcabase/consumer/submissions/validate" => ValidateSubmission, Submit, Read, Declaration;
    [POST, PATCH] "/v1/orcabase/consumer/submissions/submit" => Submit, Submit, Write, Declaration;
    [GET] "/v1/orcabase/consumer/submissions" => ListSubmissions, List, Read, List;
    [GET] "/v1/orcabase/consumer/submissions/{id}" => GetSubmission, List, Read, Own;
    [GET] "/v1/orcabase/consumer/submissions/{id}/difference" => CompareSubmissions, List, Read, Own;
    [GET] "/v1/orcabase/consumer/declaration" => ExportDeclaration, List, Read, List;
    [POST] "/v1/orcabase/consumer/submissions/{id}/revert" => Revert, Submit, Write, Own;
    [POST] "/v1/orcabase/consumer/submissions/{id}/revert/validate" => ValidateRevert, Submit, Read, Own;
    [GET] "/v1/orcabase/{pov}/service_items" => ListServiceItems, List, Read, List;
    [GET] "/v1/orcabase/{pov}/service_items/dependant" => ListDependentServiceItems, List, Read, List;
    [GET] "/v1/orcabase/{pov}/service_items/{id}" => GetServiceItem, List, Read, Shared;
    [GET] "/v1/orcabase/consumer/granted_items/{id}" => GetGrantedItem, List, Read, Granted;
    [GET] "/v1/orcabase/{pov}/service_items/{id}/graph" => GetServiceItemGraph, List, Read, Shared;
    [GET] "/v1/orcabase/{pov}/change_instances" => ListChangeInstances, List, Read, List;
    [GET] "/v1/orcabase/{pov}/change_instances/dependant" => ListDependentChangeInstances, List, Read, List;
    [GET] "/v1/orcabase/{pov}/change_instances/referenced" => ListReferencedChangeInstances, List, Read, List;
    [POST] "/v1/orcabase/serviceowner/change_instances/claim" => ClaimChangeInstances, UpdateState, Write, List;
    [POST] "/v1/orcabase/serviceowner/change_instances/{id}/claim" => ClaimChangeInstance, UpdateState, Write, Decision;
    [GET] "/v1/orcabase/{pov}/change_instances/{id}" => GetChangeInstance, List, Read, Shared;
    [PATCH, PUT, POST] "/v1/orcabase/{pov}/change_instances/{id}" => UpdateChangeInstance, UpdateState, Write, Decision;
    [POST] "/v1/orcabase/{pov}/change_instances/{id}/retry" => RetryChangeInstance, UpdateState, Write, Decision;
    [GET] "/v1/orcabase/{pov}/change_instances/{id}/history" => ChangeInstanceHistory, History, Read, Shared;
    [GET] "/v1/orcabase/{pov}/deployed_items" => ListDeployedItems, List, Read, List;
    [POST] "/v1/orcabase/{pov}/deployed_items" => CreateDeployedItem, UpdateState, Write, Decision;
    [GET] "/v1/orcabase/{pov}/deployed_items/dependant" => ListDependentDeployedItems, List, Read, List;
    [GET] "/v1/orcabase/{pov}/deployed_items/{id}" => GetDeployedItem, List, Read, Shared;
    [PATCH] "/v1/orcabase/{pov}/deployed_items/{id}" => PatchDeployedItem, UpdateState, Write, Decision;
    [GET] "/v1/orcabase/{pov}/services" => ListServices, List, Read, List;
    [POST] "/v1/orcabase/{pov}/services" => PublishService, Catalog, Admin, Catalogue;
    [POST] "/v1/orcabase/{pov}/services/validate" => ValidateService, Catalog, Read, Catalogue;
    [GET] "/v1/orcabase/{pov}/services/dependant" => ListDependentServices, List, Read, List;
    [GET] "/v1/orcabase/{pov}/services/tags" => ListServiceTags, List, Read, List;
    [GET] "/v1/orcabase/{pov}/services/{id}" => GetService, List, Read, Catalogue;
    [PATCH, PUT] "/v1/orcabase/{pov}/services/{id}" => UpdateService, Catalog, Admin, Catalogue;
    [GET] "/v1/orcabase/{pov}/services/{id}/docs" => GetServiceDocs, List, Read, Catalogue;
    [POST] "/v1/orcabase/{pov}/services/{id}/docs" => UploadServiceDocs, Catalog, Admin, Catalogue;
    [GET] "/v1/orcabase/{pov}/service_configs" => ListServiceConfigs, List, Read, List;
    [POST] "/v1/orcabase/{pov}/service_configs" => CreateServiceConfig, Catalog, Admin, Creation;
    [GET] "/v1/orcabase/{pov}/service_configs/{id}" => GetServiceConfig, List, Read, Catalogue;
    [GET] "/v1/orcabase/{pov}/applications" => ListApplications, List, Read, List;
    [GET] "/v1/orcabase/{pov}/applications/{id}" => GetApplication, List, Read, Own;
    [GET] "/v1/orcabase/{pov}/applications/{id}/graph" => GetApplicationGraph, List, Read, Own;
    [GET] "/v1/marketplace/{pov}/charges" => ListCharges, List, Read, List;
    [GET] "/v1/marketplace/{pov}/charges/accumulated" => ListAccumulatedCharges, List, Read, List;
    [GET] "/v1/marketplace/{pov}/charges/{id}" => GetCharge, List, Read, Shared;
    [PATCH] "/v1/marketplace/{pov}/charges/{id}" => UpdateCharge, UpdateState, Write, Decision;
    // The Python client 1.0.14 uses this path (docs/reference/http/README.md, routes).
    [PATCH] "/v1/orcabase/{pov}/charges/{id}" => MarkCharge, UpdateState, Write, Decision;
    [GET] "/v1/external/{pov}/webhooks" => ListWebhooks, Webhooks, Read, List;
    [POST] "/v1/external/{pov}/webhooks" => CreateWebhook, Webhooks, Admin, Creation;
    [GET] "/v1/external/{pov}/webhooks/{id}" => GetWebhook, Webhooks, Read, Own;
    [PATCH, PUT] "/v1/external/{pov}/webhooks/{id}" => UpdateWebhook, Webhooks, Admin, Own;
    [DELETE] "/v1/external/{pov}/webhooks/{id}" => RemoveWebhook, Webhooks, Admin, Own;
    [POST] "/v1/external/{pov}/webhooks/{id}/rotate" => RotateWebhook, Webhooks, Admin, Own;
    [POST] "/v1/external/{pov}/webhooks/{id}/trigger" => TriggerWebhook, Webhooks, Write, Own;
    [GET] "/v1/external/{pov}/webhooks/{id}/failures" => ListWebhookFailures, Webhooks, Read, Own;
    [GET] "/v1/orcaexternal/{pov}/messages" => ListMessages, List, Read, List;
    [POST] "/v1/orcaexternal/{pov}/messages" => CreateMessage, Catalog, Admin, Creation;
    [GET] "/v1/orcaexternal/{pov}/messages/{id}" => GetMessage, List, Read, Own;
    [PATCH, PUT] "/v1/orcaexternal/{pov}/messages/{id}" => UpdateMessage, Catalog, Admin, Own;
    [DELETE] "/v1/orcaexternal/{pov}/messages/{id}" => RemoveMessage, Catalog, Admin, Own;
    [GET] "/v1/external/{pov}/healthchecks" => ListHealthchecks, Webhooks, Read, List;
    [POST] "/v1/external/{pov}/healthchecks" => CreateHealthcheck, Webhooks, Admin, Creation;
    [GET] "/v1/external/{pov}/healthchecks/{id}" => GetHealthcheck, Webhooks, Read, Own;
    [DELETE] "/v1/external/{pov}/healthchecks/{id}" => RemoveHealthcheck, Webhooks, Admin, Own;
    // These GET requests send a request to the target of the owner, so READ_ONLY keys may not use them.
    [GET] "/v1/external/{pov}/healthchecks/trigger/service_item/{id}" => CheckServiceItem, Webhooks, Write, Shared;
    [GET] "/v1/external/{pov}/healthchecks/trigger/service/{id}" => CheckService, Webhooks, Write, Own;
};

/// The route of a request, with the parameters of its path.
#[derive(Clone, Debug)]
pub(crate) struct RouteMatch {
    pub(crate) route: &'static Route,
    pub(crate) parameters: PathParameters,
}

/// The parameters of a path.
#[derive(Clone, Debug)]
pub(crate) struct PathParameters {
    pub(crate) side: Side,
    pub(crate) id: Option<u64>,
    pub(crate) code: Option<String>,
}

impl Default for PathParameters {
    fn default() -> Self {
        Self { side: Side::ServiceOwner, id: None, code: None }
    }
}

/// The reason why no route fits a request.
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
        "{pov}" => Side::ALL.iter().filter_map(|side| suggest::distance(given, side.name())).min(),
        word => suggest::distance(given, word),
    }
}

/// Finds the route of a request, with or without a trailing slash (docs/reference/http/README.md, convention 3).
///
/// A route for GET is also one for HEAD: the answer then has no body (RFC 9110, section 9.3.2).
pub(crate) fn find(method: &str, path: &str) -> Result<RouteMatch, Unserved> {
    let method = if method == "HEAD" { "GET" } else { method };
    // A file has no other spelling, because below a path with a slash its relative URLs would lead elsewhere.
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
    let side = if pattern.contains("/consumer/") { Side::Consumer } else { Side::ServiceOwner };
    let mut parameters = PathParameters { side, ..PathParameters::default() };
    let (mut expected, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (expected.next(), given.next()) {
            (None, None) => return Some(parameters),
            (Some("{pov}"), Some(name)) => parameters.side = Side::parse(name)?,
            (Some("{id}"), Some(number)) => parameters.id = Some(integer(number)?),
            (Some("{code}"), Some(word)) => parameters.code = Some(word.to_owned()),
            (Some(word), Some(other)) if word == other => {}
            _ => return None,
        }
    }
}

/// Parses a plain integer: digits only, without sign and leading zero, so that each id has one path.
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
            assert_eq!((route_match.parameters.side, route_match.parameters.id), (Side::Consumer, Some(54)));
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
