//! Explanations of the error codes. A test generates `docs/reference/errors.md` from them.

use super::Code;

impl Code {
    /// Returns the meaning of the code and the remedy, in Markdown.
    pub const fn help(self) -> (&'static str, &'static str) {
        match self {
            Self::NoSuchRoute => (
                "No route has this path, for any caller. `detail` suggests the route with the most similar path, \
                 if there is one.",
                "Compare the path with the contract (`GET /v1/openapi.json`). An id is a number. A point of view \
                 is `consumer` or `serviceowner`. The stage of an API Gateway comes before `/v1`.",
            ),
            Self::MethodNotAllowed => (
                "The path exists, but it does not support this method.",
                "Use a method from the header `Allow`. The contract (`GET /v1/openapi.json`) describes each of \
                 them.",
            ),
            Self::Unauthenticated => (
                "The request has no valid API key and no valid token. The credential may be missing, unknown or \
                 expired, or belong to another deployment or issuer. The response does not say which.",
                "Send `Authorization: Api-Key <key>` with a key of this deployment. If the deployment accepts \
                 user tokens, you can also send `Authorization: Bearer <token>` with a valid token.",
            ),
            Self::ChooseTeam => (
                "The token belongs to a person with several teams, but each request acts for exactly one team.",
                "Send the header `Dovetail-Team: <id>`. `GET /v1/account/teams/` returns the ids of your teams.",
            ),
            Self::NotAMember => (
                "The caller is not a member of the team in `Dovetail-Team`, or the person is not a member of any \
                 team. For a person, `detail` contains the subject of the token.",
                "Ask an `ADMIN` of the team to add you: `POST /v1/account/members/` with your subject. The \
                 change takes effect when the authorizer cache expires, by default after one minute.",
            ),
            Self::ReadOnlyKey => (
                "The caller has the role `READ_ONLY`, but the request changes data.",
                "Use a key with another role. A `READ_ONLY` key can send every `GET` for the declarations and \
                 the services of the team.",
            ),
            Self::NeedsAdmin => (
                "The request requires the role `ADMIN`, and the caller has another role. Only an `ADMIN` may \
                 change services, webhooks, healthchecks, messages, API keys and members. Only an `ADMIN` may \
                 read API keys, members and the audit log.",
                "Use a key with the role `ADMIN`, or ask an `ADMIN` of the team to send the request.",
            ),
            Self::NotFound => (
                "The object does not exist, or the caller's team may not see it. The response does not say \
                 which. A team may see an object as consumer but not as service owner, or the reverse.",
                "Check the id, the team of the key, and the point of view in the path.",
            ),
            Self::UnknownFilter => (
                "The list does not support one of the query parameters. The response body is an array with one \
                 sentence and not a problem object, because existing clients expect this. The header \
                 `Dovetail-Did-You-Mean` contains the parameter with the most similar name, if there is one.",
                "Correct the name of the parameter. The contract (`GET /v1/openapi.json`) lists all parameters.",
            ),
            Self::InvalidFilter => (
                "A query parameter has an invalid value. `detail` and `pointer` name the parameter.",
                "Send a value of the form in `detail`.",
            ),
            Self::InvalidCursor => (
                "The cursor is not valid for this list. A cursor is valid for one day, and only for the same \
                 list, filters and team. This error also occurs if the cursor was modified.",
                "Read the list from its start. Then follow `next` without changing it.",
            ),
            Self::InvalidBody => (
                "The body is not a JSON object, is larger than 5 MiB, or does not match its `Content-Encoding`.",
                "Send one JSON object. If the position of the error is known, `detail` contains it.",
            ),
            Self::UnknownFields => (
                "The body contains no known field. Nothing was changed. If at least one field is known, the \
                 request is accepted, and the response lists the unknown fields in `warnings`.",
                "Use the field names in `detail`. An empty body `{}` changes nothing, and is accepted if no \
                 field is required.",
            ),
            Self::InvalidField => (
                "A field of the body has an invalid value. `pointer` names the field. The response also has a \
                 member with the name of the field.",
                "Correct the field. Nothing was changed.",
            ),
            Self::InvalidIdempotencyKey => (
                "The header `Idempotency-Key` is empty, longer than 255 bytes, or not text.",
                "Send a key of 1 to 255 bytes, for example a UUID, or omit the header.",
            ),
            Self::InvalidDeclaration => (
                "The declaration breaks one or more rules. `errors` lists the errors, nested like the \
                 declaration. `problems` lists them with JSON pointers and rules. Nothing was changed.",
                "Correct every listed error. `submissions/validate` checks a declaration without submitting it. \
                 The rule `too_complex` stops the check: send less in one request, or a smaller item.",
            ),
            Self::IdempotencyKeyReused => (
                "An earlier submission used this idempotency key with another request.",
                "To get the earlier response again, send the same request again. For another request, create a \
                 new key.",
            ),
            Self::RevertTooLarge => (
                "The revert is too large for one request. More than 2,000 items changed since that submission, \
                 or one item changed more than 1,000 times, or the resulting declaration exceeds the maximum body \
                 size. Nothing was changed.",
                "Revert to a more recent submission, or submit the old declaration one application at a time.",
            ),
            Self::Blocked => (
                "An owner rejected a change instance, or it failed, and the declaration repeats the item \
                 unchanged. `problems` lists these change instances. The first 20 have owner, state, start time, \
                 log text and URL. Nothing was changed.",
                "Change the declaration of the item, or remove the item. Or ask the owner to retry the change \
                 instance (`retry`).",
            ),
            Self::PlanChanged => (
                "The plan token in `If-Match` does not match the effects that the submission would have now. \
                 After the preview, another submission, a decision or a change of a service changed them. Nothing \
                 was changed.",
                "Preview the declaration again (`submissions/validate`). Check the new effects, then submit with \
                 the new `plan`.",
            ),
            Self::InvalidSchema => (
                "The service definition is not a JSON Schema of draft-07 or 2020-12, or it exceeds a limit. The \
                 response lists the errors with JSON pointers. Nothing was published.",
                "Correct every listed error. `services/validate` checks a definition without publishing it. The \
                 rule `too_complex` names a subschema that needs too many steps. Simplify its pattern, shorten \
                 its list of choices, or apply it to fewer values.",
            ),
            Self::ForeignService => (
                "Another team has published a service with this title. Titles are unique in a deployment.",
                "Publish the service under another title.",
            ),
            Self::NotOwner => (
                "The team may see the change instance or the charge, for example as its consumer. But only its \
                 owner may change it.",
                "Ask the team in `owner` or `service_owner_team`.",
            ),
            Self::IllegalTransition => (
                "The state machine has no transition from the current state to the requested one. `state` \
                 contains the current state. `allowed` lists the states that its owner may set. If a new attempt \
                 is possible, `retry` contains its URL.",
                "Read the change instance again, because another request may have changed it. Then send one of \
                 the states in `allowed`, or POST to `retry`. COMPLETED and CLOSED are final.",
            ),
            Self::ManualApproval => (
                "The service has `allow_manual_approval` set to false. API keys may approve its change \
                 instances, and people may not.",
                "Let a pipeline with an API key approve the change instance, or ask the service owner to change \
                 the setting.",
            ),
            Self::ManualCompletion => (
                "The service has `allow_manual_completion` set to false. API keys may complete its change \
                 instances, and people may not.",
                "Let a pipeline with an API key complete the change instance, or ask the service owner to change \
                 the setting.",
            ),
            Self::NotRetryable => (
                "A retry requires a change instance in state REJECTED or ERRORED.",
                "Read the change instance again. An open change instance needs no retry.",
            ),
            Self::Overtaken => (
                "The consumer declared the item again, and a newer change instance replaces this one.",
                "Continue with the newest change instance of the item.",
            ),
            Self::DeployedItemNotMain => (
                "The request sets a deployed item on a change instance of a dependent team. Only the service \
                 owner may set deployed items.",
                "Omit `deployed_item`.",
            ),
            Self::DeployedItemTooEarly => (
                "The request sets a deployed item on a change instance that the service owner has not approved.",
                "Approve the change instance first, or send the deployed item with the state APPROVED, COMPLETED \
                 or ERRORED. With REJECTED, repeat the newest deployed item or omit it.",
            ),
            Self::DeployedItemTooLarge => (
                "The deployed item is larger than 128 KiB, as sent or after the merge.",
                "Store large data elsewhere, and put its address into the deployed item.",
            ),
            Self::DeployedItemNotLatest => (
                "The deployed item has a newer version. Only the newest version can be changed.",
                "Change the newest version. `GET …/deployed_items/?service_item_id=…&ordering=-created` lists it \
                 first.",
            ),
            Self::LogTooLong => (
                "The log text is longer than 1 KiB.",
                "Shorten the log text, and store the full text elsewhere.",
            ),
            Self::LogFull => (
                "The history of the change instance has 20 log texts, the maximum.",
                "Send the state without `log`.",
            ),
            Self::TooManyAttempts => {
                ("The change has 31 attempts, the maximum.", "Ask the consumer to declare the item again.")
            }
            Self::ChargeProcessed => (
                "The request marks a processed charge as not processed. This is not possible, because the charge \
                 may be on a bill already.",
                "Leave the charge unchanged, and correct the bill instead.",
            ),
            Self::DividedJustNow => (
                "The charge is running, and the previous charge of the item was processed less than an hour ago. \
                 A running charge can be divided at most once an hour.",
                "Process the charge after `Retry-After`, or with the next bill. The charged time stays complete.",
            ),
            Self::NameTaken => (
                "The team has, or had, an API key with this name. Histories show key names, so a name stands for \
                 one key and its successors only.",
                "Choose another name, or rotate the existing key.",
            ),
            Self::TooManyKeys => {
                ("A team has at most 100 API keys, including expired ones.", "Revoke unused keys.")
            }
            Self::AlreadyMember => (
                "The person with this subject is already a member of the team. The subject identifies a person, \
                 not the name.",
                "Change the existing member.",
            ),
            Self::TooManyMembers => (
                "A team has at most 500 members, and a person is a member of at most 20 teams.",
                "Remove members who have left.",
            ),
            Self::AlreadyRotated => {
                ("The key was rotated before. `successor` names its successor.", "Rotate the successor.")
            }
            Self::TooManyWebhooks => (
                "A team has at most 100 webhooks for all its services together, including inactive ones.",
                "Remove unused webhooks. One webhook can deliver every change instance of its service.",
            ),
            Self::TooManyMessages => (
                "A team has at most 20 messages for the consumers of its services, including expired ones.",
                "Remove an unused message, or replace its content with the new one.",
            ),
            Self::NotInService => (
                "A healthcheck covers items that are in service. The owner has not approved this item yet, or \
                 the item is decommissioned.",
                "Wait until its `runtime_state` is `IN_SERVICE`.",
            ),
            Self::AskedJustNow => (
                "The healthcheck of this item ran less than ten seconds ago. Each caller that may see an item \
                 may run its healthcheck, but all callers share this limit.",
                "Read the item: `healthcheck_status` contains the latest result. Or retry after `Retry-After`.",
            ),
            Self::OutOfNumbers => (
                "The team has used all ids for its objects. No real workload reaches this limit.",
                "Contact the operator of the deployment.",
            ),
            Self::SubmissionInFlight => (
                "Dovetail is still applying an earlier large submission of the team, and applies one at a time. \
                 This request was not accepted.",
                "Retry after `Retry-After`. `GET …/submissions/` shows the progress of the earlier submission.",
            ),
            Self::Contended => (
                "Other requests changed the same records at every attempt of this request. Nothing was changed.",
                "Retry after `Retry-After`.",
            ),
            Self::StorageFull => (
                "The disk of the storage engine is full or failing. Nothing was changed, and reads still work. A \
                 table in AWS is never full.",
                "Free disk space, then retry.",
            ),
            Self::Unavailable => (
                "The storage is unreachable, or temporarily refuses requests. A request that changes data may \
                 still have taken effect.",
                "Retry after `Retry-After`. Every request can be repeated. Repeat a submission with the same \
                 `Idempotency-Key`.",
            ),
            Self::Broken => (
                "An internal error occurred that the caller cannot correct. The response contains no details. \
                 The log of the deployment has the reason, under the id in the header `apigw-requestid`.",
                "Send this id to the operator of the deployment.",
            ),
        }
    }
}
