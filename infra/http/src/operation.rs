//! The functions behind the HTTP API, and its operations with the fields of their bodies.

use domain::catalog::service::SETTINGS;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// A function behind the HTTP API; its name is that of its crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Function {
    Submit,
    List,
    UpdateState,
    /// Histories of change instances, and the reads of operators.
    History,
    /// Services with their settings, documentation and configs; messages.
    Catalog,
    /// Routes without a key.
    About,
    /// The files and the settings of the web console.
    WebConsole,
    /// API keys, members, the audit log, and new teams.
    Account,
    /// Webhooks and healthchecks.
    Webhooks,
}

domain::named!(Function);

/// An operation of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    ListTeams,
    /// The caller's team, now or at an earlier time.
    GetTeam,
    /// Changes the settings of the caller's team.
    UpdateTeam,
    ValidateSubmission,
    Submit,
    ListSubmissions,
    GetSubmission,
    /// The difference between the declarations after two submissions.
    CompareSubmissions,
    /// The declarations of the team as a document.
    ExportDeclaration,
    ValidateRevert,
    /// Submits the declarations of an earlier submission.
    Revert,
    ListServiceItems,
    /// Service items with a share of a dependent team.
    ListDependentServiceItems,
    GetServiceItem,
    /// An item that another team grants.
    GetGrantedItem,
    /// An item with the items that it references or that reference it.
    GetServiceItemGraph,
    ListChangeInstances,
    ListDependentChangeInstances,
    /// Change instances of kind REFERENCED.
    ListReferencedChangeInstances,
    GetChangeInstance,
    /// Updates state, log or deployed item of a change instance.
    UpdateChangeInstance,
    /// Creates a new attempt after REJECTED or ERRORED.
    RetryChangeInstance,
    /// Claims the oldest free change instances of an owner for a worker.
    ClaimChangeInstances,
    /// Takes, extends or releases the claim on the work of a change instance.
    ClaimChangeInstance,
    ChangeInstanceHistory,
    ListDeployedItems,
    /// The newest version of each item with a share of a dependent team.
    ListDependentDeployedItems,
    GetDeployedItem,
    CreateDeployedItem,
    /// Merges data into the newest version.
    PatchDeployedItem,
    ListServices,
    ListDependentServices,
    ListServiceTags,
    GetServiceDocs,
    UploadServiceDocs,
    ListServiceConfigs,
    GetServiceConfig,
    CreateServiceConfig,
    GetService,
    /// Publishes a service, or a new schema version of it.
    PublishService,
    ValidateService,
    UpdateService,
    ListApplications,
    GetApplication,
    /// The items of an application and the references between them.
    GetApplicationGraph,
    /// Whether the deployment can answer requests.
    GetHealth,
    /// The contract as an OpenAPI document.
    GetContract,
    /// The dialect of service definitions.
    GetDefinitionSchema,
    /// The explanation of an error.
    GetErrorPage,
    /// A file of the web console.
    GetConsoleFile,
    /// The settings that the web console needs before a sign-in.
    GetConsoleSettings,
    ListApiKeys,
    GetApiKey,
    CreateApiKey,
    /// Creates the successor of an API key.
    RotateApiKey,
    RevokeApiKey,
    ListMembers,
    GetMember,
    AddMember,
    /// Changes the name or the role of a member.
    ChangeMember,
    RemoveMember,
    /// The team's audit log.
    ListRecords,
    /// All teams of the deployment.
    ListAllTeams,
    /// Creates a team with its first API key.
    CreateTeam,
    /// The open change instances of every owner by state.
    ListQueues,
    /// The pending work of Dovetail itself, and the last audit.
    GetStatus,
    ListCharges,
    /// The costs of each service item so far.
    ListAccumulatedCharges,
    GetCharge,
    UpdateCharge,
    /// The same as `UpdateCharge`, on the path of the Python client 1.x.
    MarkCharge,
    ListWebhooks,
    GetWebhook,
    CreateWebhook,
    UpdateWebhook,
    RemoveWebhook,
    /// Creates a new secret for a webhook.
    RotateWebhook,
    /// Sends a test delivery.
    TriggerWebhook,
    /// The abandoned deliveries of a webhook.
    ListWebhookFailures,
    ListMessages,
    GetMessage,
    CreateMessage,
    /// Updates a message with PATCH, or replaces it with PUT.
    UpdateMessage,
    RemoveMessage,
    ListHealthchecks,
    GetHealthcheck,
    /// Creates or replaces the healthcheck of a service.
    CreateHealthcheck,
    RemoveHealthcheck,
    /// Checks the health of one item.
    CheckServiceItem,
    /// Requests a check of all items of a service.
    CheckService,
}

impl Operation {
    /// Returns the fields of the body of this operation; none if the body is not a set of fields.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations have no such body")]
    pub const fn fields(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Self::UpdateChangeInstance => &["state", "log", "deployed_item", "planned_item", "claim"],
            Self::ClaimChangeInstances => &["worker", "limit", "lease_seconds", "state", "service"],
            Self::ClaimChangeInstance => &["worker", "lease_seconds", "number"],
            Self::CreateDeployedItem => &["data", "change_instance", "service_item"],
            Self::PatchDeployedItem => &["data"],
            Self::UpdateCharge | Self::MarkCharge => &["processed"],
            Self::UpdateService => &SETTINGS,
            Self::CreateServiceConfig => &["service", "config"],
            Self::CreateMessage | Self::UpdateMessage => &["description", "expiry_date", "scopes"],
            Self::CreateWebhook | Self::UpdateWebhook => &[
                "service",
                "name",
                "description",
                "target_url",
                "authorization",
                "change_instance_state",
                "active",
                "verify",
                "timeout",
                "trust_env",
                "trigger_wait_time",
                "trigger_cooling_time",
                "remind_after",
            ],
            Self::CreateHealthcheck => {
                &["service", "target_url", "authorization", "schedule_enabled", "schedule_crontab"]
            }
            Self::CreateApiKey => &["name", "role", "expires"],
            Self::RotateApiKey => &["overlap_seconds", "expires"],
            Self::AddMember => &["subject", "name", "role"],
            Self::ChangeMember => &["name", "role"],
            Self::UpdateTeam => &["confirm_removals"],
            Self::CreateTeam => &["name", "confirm_removals", "key_name"],
            _ => return None,
        })
    }
}
