//! The routes, as data: method, path, what it does, which function serves it, who may call it.

use crate::call::Pov;
use crate::code::Code;
use crate::reply::{Failure, Reply};
use domain::actor::Role;
use domain::suggest;

/// The functions that answer HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Takes declarations.
    Submit,
    /// Answers lists and single objects.
    List,
    /// Takes owners' decisions.
    UpdateState,
    /// Answers histories.
    History,
    /// Takes service definitions.
    Catalog,
    /// Tells what anyone may ask.
    About,
    /// Makes and withdraws a team's API keys, adds and removes its members.
    Account,
    /// Makes, changes and tries webhooks and healthchecks.
    Webhooks,
}

impl Function {
    /// The name of its crate.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::List => "list",
            Self::UpdateState => "update-state",
            Self::History => "history",
            Self::Catalog => "catalog",
            Self::About => "about",
            Self::Account => "account",
            Self::Webhooks => "webhooks",
        }
    }
}

/// What a route does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The caller's teams.
    ListTeams,
    /// The caller's team, also as it was.
    GetTeam,
    /// Checks a declaration.
    ValidateSubmission,
    /// Takes a declaration.
    Submit,
    /// The caller's submissions.
    ListSubmissions,
    /// One submission.
    GetSubmission,
    /// What differs between what was declared after two submissions.
    CompareSubmissions,
    /// Previews a revert.
    ValidateRevert,
    /// Declares again what was declared after a submission.
    Revert,
    /// Service items.
    ListServiceItems,
    /// Service items in which a dependent team has a share.
    ListDependentServiceItems,
    /// One service item.
    GetServiceItem,
    /// Change instances.
    ListChangeInstances,
    /// Change instances of dependent teams.
    ListDependentChangeInstances,
    /// Change instances of items that refer to a modified one.
    ListReferencedChangeInstances,
    /// One change instance.
    GetChangeInstance,
    /// Moves a change instance, its log or its deployed item.
    UpdateChangeInstance,
    /// Tries a rejected or failed change instance again.
    RetryChangeInstance,
    /// The history of a change instance.
    ChangeInstanceHistory,
    /// Deployed items.
    ListDeployedItems,
    /// The newest deployed items of service items in which a dependent team has a share.
    ListDependentDeployedItems,
    /// One deployed item.
    GetDeployedItem,
    /// Records a deployed item.
    CreateDeployedItem,
    /// Records a deployed item that differs in part from the newest.
    PatchDeployedItem,
    /// Services.
    ListServices,
    /// Services with dependent teams.
    ListDependentServices,
    /// The tags of services.
    ListServiceTags,
    /// A service's documentation.
    GetServiceDocs,
    /// Stores a service's documentation.
    UploadServiceDocs,
    /// Versions of services' configs.
    ListServiceConfigs,
    /// One version of a service's config.
    GetServiceConfig,
    /// Makes a new version of a service's config.
    CreateServiceConfig,
    /// One service.
    GetService,
    /// Publishes a service, or a new schema version of it.
    PublishService,
    /// Checks a service definition.
    ValidateService,
    /// Changes a service's settings.
    UpdateService,
    /// Applications.
    ListApplications,
    /// One application.
    GetApplication,
    /// Whether requests can be answered.
    GetHealth,
    /// The contract, as an OpenAPI document.
    GetContract,
    /// What an error means.
    GetErrorPage,
    /// The team's API keys.
    ListApiKeys,
    /// One API key.
    GetApiKey,
    /// Makes an API key.
    CreateApiKey,
    /// Makes the successor of an API key.
    RotateApiKey,
    /// Withdraws an API key.
    RevokeApiKey,
    /// The team's members.
    ListMembers,
    /// One member.
    GetMember,
    /// Makes a person a member.
    AddMember,
    /// Gives a member another name or role.
    ChangeMember,
    /// Ends a membership.
    RemoveMember,
    /// What was done to the team's keys, members and services.
    ListRecords,
    /// Charges.
    ListCharges,
    /// What service items have cost so far.
    ListAccumulatedCharges,
    /// One charge.
    GetCharge,
    /// Marks a charge as processed.
    UpdateCharge,
    /// The same, on the path that the 1.x Python client has for it.
    MarkCharge,
    /// The team's webhooks.
    ListWebhooks,
    /// One webhook.
    GetWebhook,
    /// Makes a webhook.
    CreateWebhook,
    /// Changes a webhook's settings.
    UpdateWebhook,
    /// Removes a webhook.
    RemoveWebhook,
    /// Has a webhook sign with another secret.
    RotateWebhook,
    /// Tries a webhook.
    TriggerWebhook,
    /// The deliveries to a webhook that were given up.
    ListWebhookFailures,
    /// Messages of owners.
    ListMessages,
    /// One message.
    GetMessage,
    /// Writes a message.
    CreateMessage,
    /// Changes a message, or replaces it.
    UpdateMessage,
    /// Removes a message.
    RemoveMessage,
    /// The team's healthchecks.
    ListHealthchecks,
    /// One healthcheck.
    GetHealthcheck,
    /// Makes a service's healthcheck, or another one of it.
    CreateHealthcheck,
    /// Removes a healthcheck.
    RemoveHealthcheck,
    /// Asks how an item is.
    CheckServiceItem,
    /// Has all items of a service asked about.
    CheckService,
}

/// What a caller needs for a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing.
    Anyone,
    /// Any key, or a person for whichever of their teams.
    Known,
    /// Any key, or a person for one of their teams.
    Read,
    /// A key that may change things.
    Write,
    /// A key that may change settings, keys and members.
    Admin,
}

impl Access {
    /// Whether a caller in a role may.
    pub fn is_open_to(self, role: Role) -> bool {
        match self {
            Self::Anyone | Self::Known | Self::Read => true,
            Self::Write => role != Role::ReadOnly,
            Self::Admin => role == Role::Admin,
        }
    }
}

/// A route.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The methods that it takes.
    pub methods: &'static [&'static str],
    /// The path: `{pov}` is `serviceowner` or `consumer`, `{id}` an integer, `{code}` a word.
    pub path: &'static str,
    /// What it does.
    pub operation: Operation,
    /// Which function serves it.
    pub function: Function,
    /// What the caller needs.
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

/// Every route.
pub const ROUTES: &[Route] = &[
    anyone("/v1/health", Operation::GetHealth),
    anyone("/v1/openapi.json", Operation::GetContract),
    anyone("/v1/errors/{code}", Operation::GetErrorPage),
    Route { access: Access::Known, ..read("/v1/account/teams", Operation::ListTeams) },
    read("/v1/account/teams/{id}", Operation::GetTeam),
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
    Route {
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
    read("/v1/marketplace/{pov}/charges", Operation::ListCharges),
    read("/v1/marketplace/{pov}/charges/accumulated", Operation::ListAccumulatedCharges),
    read("/v1/marketplace/{pov}/charges/{id}", Operation::GetCharge),
    write(PATCH, "/v1/marketplace/{pov}/charges/{id}", Operation::UpdateCharge, Function::UpdateState),
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

/// A route that a request has found, with what its path says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) route: &'static Route,
    pub(crate) said: Said<'a>,
}

/// What a path says for its route's parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) pov: Pov,
    pub(crate) id: Option<u64>,
    pub(crate) code: Option<&'a str>,
}

/// Why a request has no route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unserved {
    /// No route has its path.
    Path,
    /// No route with its path has its method, but these.
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
                let mut reply = Reply::error(Code::MethodNotAllowed);
                reply.headers.push(("allow", others.join(", ")));
                reply.into()
            }
        }
    }
}

/// Returns the route's path that is nearest to `path`, word by word.
fn nearest(path: &str) -> Option<&'static str> {
    let given: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let distances = ROUTES.iter().filter_map(|route| Some((distance(route.path, &given)?, route.path)));
    distances.min_by_key(|(distance, _)| *distance).map(|(_, path)| path)
}

/// Returns how far a path is from a route's; none if one of its words is too far.
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

/// Finds the route of a request; with and without a trailing slash (docs/reference/http.md rule 3).
pub(crate) fn find<'a>(method: &str, path: &'a str) -> Result<Found<'a>, Unserved> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut others = Vec::new();
    for route in ROUTES {
        let Some(said) = matches(route.path, path) else { continue };
        if route.methods.contains(&method) {
            return Ok(Found { route, said });
        }
        others.extend(route.methods);
    }
    Err(if others.is_empty() { Unserved::Path } else { Unserved::Method(others) })
}

/// Which function a request goes to; what no route serves is answered by `list`.
pub fn function_of(method: &str, path: &str) -> Function {
    find(method, path).map_or(Function::List, |found| found.route.function)
}

/// What the path says for the pattern's parameters; none when it is another path.
fn matches<'a>(pattern: &str, path: &'a str) -> Option<Said<'a>> {
    let pov = if pattern.contains("/consumer/") { Pov::Consumer } else { Pov::ServiceOwner };
    let mut said = Said { pov, id: None, code: None };
    let (mut expected, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (expected.next(), given.next()) {
            (None, None) => return Some(said),
            (Some("{pov}"), Some(name)) => said.pov = Pov::parse(name)?,
            (Some("{id}"), Some(number)) => said.id = Some(integer(number)?),
            (Some("{code}"), Some(word)) => said.code = Some(word),
            (Some(word), Some(other)) if word == other => {}
            _ => return None,
        }
    }
}

/// A plain integer: digits only, no sign, no leading zero.
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
            let found = find("GET", path).unwrap();
            assert_eq!(found.route.operation, Operation::GetChangeInstance);
            assert_eq!((found.said.pov, found.said.id), (Pov::Consumer, Some(54)));
        }
        let submit = find("PATCH", "/v1/orcabase/consumer/submissions/submit/").unwrap();
        assert_eq!(submit.route.operation, Operation::Submit);
    }

    #[test]
    fn a_view_of_a_collection_is_no_id() {
        let found = find("GET", "/v1/orcabase/serviceowner/change_instances/dependant/").unwrap();
        assert_eq!((found.route.operation, found.said.id), (Operation::ListDependentChangeInstances, None));
        let patched = find("PATCH", "/v1/orcabase/serviceowner/change_instances/dependant/").unwrap_err();
        assert_eq!(patched, Unserved::Method(vec!["GET"]));
    }

    #[test]
    fn what_no_route_has_is_told_apart_from_what_a_route_does_not_take() {
        for path in ["/", "/v1/orcabase/owner/services", "/v1/orcabase/consumer/services/x1", "/v1/teams"] {
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
