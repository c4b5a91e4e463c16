//! The functions behind the HTTP API, and its operations with the fields of their bodies.

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
    /// What the web console needs before a sign-in.
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

/// Whose objects an operation reads or changes, and so what a team without a share in them gets.
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
    /// A write of an owner to such an object.
    Decision,
    /// A service and its documents. Everyone with access to the service reads them, and its owner writes them.
    Catalogue,
    /// A new object of the caller's team.
    Creation,
    /// A declaration of the caller's team.
    Declaration,
}

impl Operation {
    /// Returns whose objects this operation reads or changes.
    pub const fn scope(self) -> Scope {
        match self {
            Self::GetHealth
            | Self::GetContract
            | Self::GetDefinitionSchema
            | Self::GetErrorPage
            | Self::GetConsoleFile
            | Self::GetConsoleSettings => Scope::Public,
            Self::ListTeams
            | Self::ExportDeclaration
            | Self::ListSubmissions
            | Self::ListServiceItems
            | Self::ListDependentServiceItems
            | Self::ListChangeInstances
            | Self::ListDependentChangeInstances
            | Self::ListReferencedChangeInstances
            | Self::ListDeployedItems
            | Self::ListDependentDeployedItems
            | Self::ListServices
            | Self::ListDependentServices
            | Self::ListServiceTags
            | Self::ListServiceConfigs
            | Self::ListApplications
            | Self::ListApiKeys
            | Self::ListMembers
            | Self::ListRecords
            | Self::ListAllTeams
            | Self::ListQueues
            | Self::GetStatus
            | Self::ListCharges
            | Self::ListAccumulatedCharges
            | Self::ListWebhooks
            | Self::ListMessages
            | Self::ListHealthchecks => Scope::List,
            Self::GetTeam
            | Self::UpdateTeam
            | Self::GetSubmission
            | Self::CompareSubmissions
            | Self::Revert
            | Self::ValidateRevert
            | Self::GetApplication
            | Self::GetApplicationGraph
            | Self::GetApiKey
            | Self::RotateApiKey
            | Self::RevokeApiKey
            | Self::GetMember
            | Self::ChangeMember
            | Self::RemoveMember
            | Self::GetWebhook
            | Self::UpdateWebhook
            | Self::RemoveWebhook
            | Self::RotateWebhook
            | Self::TriggerWebhook
            | Self::ListWebhookFailures
            | Self::GetMessage
            | Self::UpdateMessage
            | Self::RemoveMessage
            | Self::GetHealthcheck
            | Self::RemoveHealthcheck
            | Self::CheckService => Scope::Own,
            Self::GetServiceItem
            | Self::GetServiceItemGraph
            | Self::CheckServiceItem
            | Self::GetChangeInstance
            | Self::ChangeInstanceHistory
            | Self::GetCharge
            | Self::GetDeployedItem => Scope::Shared,
            Self::UpdateChangeInstance
            | Self::RetryChangeInstance
            | Self::CreateDeployedItem
            | Self::PatchDeployedItem
            | Self::UpdateCharge
            | Self::MarkCharge => Scope::Decision,
            Self::GetService
            | Self::GetServiceDocs
            | Self::GetServiceConfig
            | Self::UpdateService
            | Self::UploadServiceDocs
            | Self::PublishService
            | Self::ValidateService => Scope::Catalogue,
            Self::CreateServiceConfig
            | Self::CreateApiKey
            | Self::AddMember
            | Self::CreateTeam
            | Self::CreateWebhook
            | Self::CreateMessage
            | Self::CreateHealthcheck => Scope::Creation,
            Self::ValidateSubmission | Self::Submit => Scope::Declaration,
        }
    }

    /// Returns the fields of the body of this operation; none if the body is not a set of fields.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other operations have no such body")]
    pub const fn fields(self) -> Option<&'static [&'static str]> {
        Some(match self {
            Self::UpdateChangeInstance => &["state", "log", "deployed_item", "planned_item"],
            Self::CreateDeployedItem => &["data", "change_instance", "service_item"],
            Self::PatchDeployedItem => &["data"],
            Self::UpdateCharge | Self::MarkCharge => &["processed"],
            Self::UpdateService => &[
                "state",
                "approval_required",
                "allow_manual_approval",
                "allow_manual_completion",
                "minimum_version",
                "tags",
                "allowed_teams",
                // Existing clients write `dependant`. Both spellings set the same field.
                "dependant_teams",
                "dependent_teams",
            ],
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
