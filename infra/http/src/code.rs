//! The error table: each expected failure with its status, code and title.
//!
//! The order is the precedence: the first applicable code is the answer. Codes are part of the contract and never
//! change.

mod help;

use strum::{EnumString, IntoStaticStr, VariantArray};

/// A kind of error, in order of precedence. [`Code::row`] has its title, and `help` its explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Code {
    NoSuchRoute,
    MethodNotAllowed,
    Unauthenticated,
    ChooseTeam,
    NotAMember,
    ReadOnlyKey,
    NeedsAdmin,
    NotFound,
    UnknownFilter,
    InvalidFilter,
    InvalidCursor,
    InvalidBody,
    UnknownFields,
    InvalidField,
    InvalidIdempotencyKey,
    InvalidDeclaration,
    IdempotencyKeyReused,
    RevertTooLarge,
    Blocked,
    PlanChanged,
    InvalidSchema,
    ForeignService,
    NotOwner,
    IllegalTransition,
    ManualApproval,
    ManualCompletion,
    NotRetryable,
    Overtaken,
    DeployedItemNotMain,
    DeployedItemTooEarly,
    DeployedItemTooLarge,
    DeployedItemNotLatest,
    LogTooLong,
    LogFull,
    TooManyAttempts,
    ChargeProcessed,
    DividedJustNow,
    NameTaken,
    TooManyKeys,
    AlreadyMember,
    TooManyMembers,
    AlreadyRotated,
    TooManyWebhooks,
    TooManyMessages,
    NotInService,
    AskedJustNow,
    OutOfNumbers,
    SubmissionInFlight,
    Contended,
    StorageFull,
    Unavailable,
    Broken,
}

domain::named!(Code);

impl Code {
    /// Returns status and title.
    pub const fn row(self) -> (u16, &'static str) {
        match self {
            Self::NoSuchRoute => (404, "no route has this path"),
            Self::MethodNotAllowed => (405, "the route does not support this method"),
            Self::Unauthenticated => (401, "a valid API key or token is required"),
            Self::ChooseTeam => (403, "you are a member of several teams: set Dovetail-Team"),
            Self::NotAMember => (403, "you are not a member of this team"),
            Self::ReadOnlyKey => (403, "the role READ_ONLY may only read"),
            Self::NeedsAdmin => (403, "the role ADMIN is required"),
            Self::NotFound => (404, "the object does not exist for this team"),
            Self::UnknownFilter => (400, "a query parameter is unknown"),
            Self::InvalidFilter => (400, "a query parameter has an invalid value"),
            Self::InvalidCursor => (400, "the cursor is invalid or expired: read the list from its start"),
            Self::InvalidBody => (400, "the body must be a JSON object"),
            Self::UnknownFields => (400, "the body has no known field"),
            Self::InvalidField => (400, "a field has an invalid value"),
            Self::InvalidIdempotencyKey => (400, "the idempotency key is not valid"),
            Self::InvalidDeclaration => (400, "the declaration is not valid"),
            Self::IdempotencyKeyReused => (422, "another request used this idempotency key"),
            Self::RevertTooLarge => (400, "the revert is too large for one request"),
            Self::Blocked => (400, "rejected or failed change instances block the submission"),
            Self::PlanChanged => (412, "the effects differ from the preview"),
            Self::InvalidSchema => (400, "the schema is not valid"),
            Self::ForeignService => (403, "the service belongs to another team"),
            Self::NotOwner => (403, "another team owns the object"),
            Self::IllegalTransition => (400, "the state machine does not allow this transition"),
            Self::ManualApproval => (403, "only an API key may approve"),
            Self::ManualCompletion => (403, "only an API key may complete"),
            Self::NotRetryable => (400, "only a REJECTED or ERRORED change instance can be retried"),
            Self::Overtaken => (400, "a newer change instance replaces this one"),
            Self::DeployedItemNotMain => (400, "only the service owner may set deployed items"),
            Self::DeployedItemTooEarly => {
                (400, "a deployed item requires the state APPROVED, COMPLETED or ERRORED")
            }
            Self::DeployedItemTooLarge => (400, "the deployed item is too large"),
            Self::DeployedItemNotLatest => (400, "only the newest version can be changed"),
            Self::LogTooLong => (400, "the log text is too long"),
            Self::LogFull => (400, "the history has the maximum number of log texts"),
            Self::TooManyAttempts => (400, "the change has the maximum number of attempts"),
            Self::ChargeProcessed => (400, "the charge is processed, and this is final"),
            Self::DividedJustNow => (400, "a running charge can be divided at most once an hour"),
            Self::NameTaken => (400, "the team has, or had, an API key with this name"),
            Self::TooManyKeys => (400, "the team has the maximum number of API keys"),
            Self::AlreadyMember => (400, "the person is already a member"),
            Self::TooManyMembers => {
                (400, "the maximum number of members of a team, or teams of a person, is reached")
            }
            Self::AlreadyRotated => (400, "the API key was already rotated"),
            Self::TooManyWebhooks => (400, "the team has the maximum number of webhooks"),
            Self::TooManyMessages => (400, "the team has the maximum number of messages"),
            Self::NotInService => (400, "the service item is not in service"),
            Self::AskedJustNow => (400, "the healthcheck of this item ran a moment ago"),
            Self::OutOfNumbers => (400, "the team has used all its ids"),
            Self::SubmissionInFlight => (503, "an earlier submission of the team is still being applied"),
            Self::Contended => (503, "other requests change the same records"),
            Self::StorageFull => (503, "the storage accepts no writes"),
            Self::Unavailable => (503, "the storage cannot be reached"),
            Self::Broken => (500, "an internal error occurred"),
        }
    }

    /// Returns the HTTP status.
    pub const fn status(self) -> u16 {
        self.row().0
    }

    /// Returns the sentence for people.
    pub const fn title(self) -> &'static str {
        self.row().1
    }
}
