//! The error table: each expected failure with its status, code, title and explanation.
//!
//! The order is the precedence: the first applicable code is the answer. Codes are part of the contract and never
//! change. A test generates `docs/reference/errors.md` from the explanations, which are Markdown.

use strum::{EnumString, IntoStaticStr, VariantArray};

/// Declares the codes, each with its status, its title, its meaning and the remedy.
macro_rules! codes {
    ($($code:ident($status:literal, $title:literal) means $meaning:literal, remedy $remedy:literal;)+) => {
        /// A kind of error, in order of precedence.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
        #[strum(serialize_all = "snake_case", const_into_str)]
        pub enum Code {
            $($code),+
        }

        impl Code {
            /// Returns the HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Self::$code => $status),+ }
            }

            /// Returns the sentence for people.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$code => $title),+ }
            }

            /// Returns the meaning of the code and the remedy, in Markdown.
            pub const fn help(self) -> (&'static str, &'static str) {
                match self { $(Self::$code => ($meaning, $remedy)),+ }
            }
        }
    };
}

domain::named!(Code);

codes! {
    NoSuchRoute(404, "no route has this path")
        means "No route has this path, for any caller. `detail` suggests the route with the most similar \
               path, if there is one.",
        remedy "Compare the path with the contract (`GET /v1/openapi.json`). An id is a number. A point of \
                view is `consumer` or `serviceowner`. The stage of an API Gateway comes before `/v1`.";
    MethodNotAllowed(405, "the route does not support this method")
        means "The path exists, but it does not support this method.",
        remedy "Use a method from the header `Allow`. The contract (`GET /v1/openapi.json`) describes each \
                of them.";
    Unauthenticated(401, "a valid API key or token is required")
        means "The request has no valid API key and no valid token. The credential may be missing, unknown \
               or expired, or belong to another deployment or issuer. The response does not say which.",
        remedy "Send `Authorization: Api-Key <key>` with a key of this deployment. If the deployment accepts \
                user tokens, you can also send `Authorization: Bearer <token>` with a valid token.";
    ChooseTeam(403, "you are a member of several teams: set Dovetail-Team")
        means "The token belongs to a person with several teams, but each request acts for exactly one team.",
        remedy "Send the header `Dovetail-Team: <id>`. `GET /v1/account/teams/` returns the ids of your \
                teams.";
    NotAMember(403, "you are not a member of this team")
        means "The caller is not a member of the team in `Dovetail-Team`, or the person is not a member of \
               any team. For a person, `detail` contains the subject of the token.",
        remedy "Ask an `ADMIN` of the team to add you: `POST /v1/account/members/` with your subject. The \
                change takes effect when the authorizer cache expires, by default after one minute.";
    ReadOnlyKey(403, "the roles READ_ONLY and PLATFORM may only read")
        means "The caller has the role `READ_ONLY` or `PLATFORM`, but the request changes data or belongs to an \
               `ADMIN`.",
        remedy "Use a key with another role. A `READ_ONLY` key can send every `GET` for the declarations and \
                the services of the team.";
    NeedsAdmin(403, "the role ADMIN is required")
        means "The request requires the role `ADMIN`, and the caller has another role. Only an `ADMIN` may \
               change services, webhooks, healthchecks, messages, API keys and members. Only an `ADMIN` may \
               read API keys, members and the audit log.",
        remedy "Use a key with the role `ADMIN`, or ask an `ADMIN` of the team to send the request.";
    NeedsPlatform(403, "the role PLATFORM is required")
        means "Only operators of the deployment may read the queues of all teams and the state of the system, or \
               create teams. The role `ADMIN` of a team is not enough.",
        remedy "Use a key with the role `PLATFORM`. The operator makes it with `dovetaild load`.";
    TooManyRequests(429, "the team sends too many requests")
        means "The team exceeds its rate of requests. A burst is possible, and after it a constant rate. All \
               keys and members of the team share this limit. Nothing was changed.",
        remedy "Retry after `Retry-After`. Send fewer requests: one submission can declare many \
                applications, and one page of a list has up to 100 rows. The operator of the deployment can \
                raise the limit.";
    NotFound(404, "the object does not exist for this team")
        means "The object does not exist, or the caller's team may not see it. The response does not say \
               which. A team may see an object as consumer but not as service owner, or the reverse.",
        remedy "Check the id, the team of the key, and the point of view in the path.";
    UnknownFilter(400, "a query parameter is unknown")
        means "The list does not support one of the query parameters. The response body is an array with one \
               sentence and not a problem object, because existing clients expect this. The header \
               `Dovetail-Did-You-Mean` contains the parameter with the most similar name, if there is one.",
        remedy "Correct the name of the parameter. The contract (`GET /v1/openapi.json`) lists all \
                parameters.";
    InvalidFilter(400, "a query parameter has an invalid value")
        means "A query parameter has an invalid value. `detail` and `pointer` name the parameter.",
        remedy "Send a value of the form in `detail`.";
    InvalidCursor(400, "the cursor is invalid or expired: read the list from its start")
        means "The cursor is not valid for this list. A cursor is valid for one day, and only for the same \
               list, filters and team. This error also occurs if the cursor was modified.",
        remedy "Read the list from its start. Then follow `next` without changing it.";
    InvalidBody(400, "the body must be a JSON object")
        means "The body is not a JSON object, is larger than 5 MiB, or does not match its \
               `Content-Encoding`.",
        remedy "Send one JSON object. If the position of the error is known, `detail` contains it.";
    UnknownFields(400, "the body has no known field")
        means "The body contains no known field. Nothing was changed. If at least one field is known, the \
               request is accepted, and the response lists the unknown fields in `warnings`.",
        remedy "Use the field names in `detail`. An empty body `{}` changes nothing, and is accepted if no \
                field is required.";
    InvalidField(400, "a field has an invalid value")
        means "A field of the body has an invalid value. `pointer` names the field. The response also has a \
               member with the name of the field.",
        remedy "Correct the field. Nothing was changed.";
    InvalidIdempotencyKey(400, "the idempotency key is not valid")
        means "The header `Idempotency-Key` is empty, longer than 255 bytes, or not text.",
        remedy "Send a key of 1 to 255 bytes, for example a UUID, or omit the header.";
    InvalidDeclaration(400, "the declaration is not valid")
        means "The declaration breaks one or more rules. `errors` lists the errors, nested like the \
               declaration. `problems` lists them with JSON pointers and rules. Nothing was changed.",
        remedy "Correct every listed error. `submissions/validate` checks a declaration without submitting \
                it. The rule `too_complex` stops the check: send less in one request, or a smaller item.";
    IdempotencyKeyReused(422, "another request used this idempotency key")
        means "An earlier submission used this idempotency key with another request.",
        remedy "To get the earlier response again, send the same request again. For another request, create \
                a new key.";
    RevertTooLarge(400, "the revert is too large for one request")
        means "The revert is too large for one request. More than 2,000 items changed since that submission, \
               or one item changed more than 1,000 times, or the resulting declaration exceeds the maximum \
               body size. Nothing was changed.",
        remedy "Revert to a more recent submission, or submit the old declaration one application at a time.";
    Blocked(400, "rejected or failed change instances block the submission")
        means "An owner rejected a change instance, or it failed, and the declaration repeats the item \
               unchanged. `problems` lists these change instances. The first 20 have owner, state, start \
               time, log text and URL. Nothing was changed.",
        remedy "Change the declaration of the item, or remove the item. Or ask the owner to retry the change \
                instance (`retry`).";
    RemovalNotConfirmed(400, "the removal of whole applications is not confirmed")
        means "The team has `confirm_removals` set to true. The submission would remove all items of an application: its \
               declaration names the application without items, or a whole declaration does not name it. `applications` \
               lists these applications with the numbers of their items. Nothing was changed.",
        remedy "Add the applications with their items to the declaration, or submit it in parts with PATCH. To remove \
                them, repeat the request with `allow_removal=true`, or with the `plan` of a preview in `If-Match`.";
    PlanChanged(412, "the effects differ from the preview")
        means "The plan token in `If-Match` does not match the effects that the submission would have now. \
               After the preview, another submission, a decision or a change of a service changed them. \
               Nothing was changed.",
        remedy "Preview the declaration again (`submissions/validate`). Check the new effects, then submit \
                with the new `plan`.";
    ChangedMeanwhile(412, "the change instance has changed")
        means "The tag in `If-Match` is not the one of the change instance: since it was read, its history has another \
               entry, or its item has another deployed item. Nothing was changed.",
        remedy "Read the change instance again, and decide on its present state.";
    InvalidSchema(400, "the schema is not valid")
        means "The service definition is not a JSON Schema of draft-07 or 2020-12, or it exceeds a limit. \
               The response lists the errors with JSON pointers. Nothing was published.",
        remedy "Correct every listed error. `services/validate` checks a definition without publishing it. \
                The rule `too_complex` names a subschema that needs too many steps. Simplify its pattern, \
                shorten its list of choices, or apply it to fewer values.";
    ForeignService(403, "the service belongs to another team")
        means "Another team has published a service with this title. Titles are unique in a deployment.",
        remedy "Publish the service under another title.";
    NotOwner(403, "another team owns the object")
        means "The team may see the change instance or the charge, for example as its consumer. But only its \
               owner may change it.",
        remedy "Ask the team in `owner` or `service_owner_team`.";
    IllegalTransition(400, "the state machine does not allow this transition")
        means "The state machine has no transition from the current state to the requested one. `state` \
               contains the current state. `allowed` lists the states that its owner may set. If a new \
               attempt is possible, `retry` contains its URL.",
        remedy "Read the change instance again, because another request may have changed it. Then send one \
                of the states in `allowed`, or POST to `retry`. COMPLETED and CLOSED are final.";
    NotClaimed(400, "the change instance requires the current claim")
        means "The request names a claim that is not the newest one, or another worker has the work, or the change \
               instance has `claim_required` and the request of an API key names no claim. `claim` contains the newest \
               claim. Nothing was changed.",
        remedy "Stop the work on this change instance, because another worker has taken it. Without a claim, claim the \
                change instance first. A worker that still has the work sends the newest number.";
    NotReady(400, "the change instance waits for others")
        means "The service has `require_ready`, and something has to happen before this CREATE or MODIFY may be \
               COMPLETED. `waits_for` contains the items that must be in place, and the change instances that must be \
               COMPLETED or CLOSED. Nothing was changed.",
        remedy "Complete the change instance when its `is_ready` is true. `is_ready=true` lists those that are ready.";
    ManualApproval(403, "only an API key may approve")
        means "The service has `allow_manual_approval` set to false. API keys may approve its change \
               instances, and people may not.",
        remedy "Let a pipeline with an API key approve the change instance, or ask the service owner to \
                change the setting.";
    ManualCompletion(403, "only an API key may complete")
        means "The service has `allow_manual_completion` set to false. API keys may complete its change \
               instances, and people may not.",
        remedy "Let a pipeline with an API key complete the change instance, or ask the service owner to \
                change the setting.";
    NoSecretsNow(400, "only a PENDING or APPROVED change instance shows its secrets")
        means "The request has `secrets=true`, but the change instance is in another state, or it removes its item. \
               The service owner needs no secret then.",
        remedy "Repeat the request without `secrets`, or read the newest change instance of the item.";
    NotRetryable(400, "only a REJECTED or ERRORED change instance can be retried")
        means "A retry requires a change instance in state REJECTED or ERRORED.",
        remedy "Read the change instance again. An open change instance needs no retry.";
    Overtaken(400, "a newer change instance replaces this one")
        means "The consumer declared the item again, and a newer change instance replaces this one.",
        remedy "Continue with the newest change instance of the item.";
    DeployedItemNotMain(400, "only the service owner may set deployed items")
        means "The request sets a deployed item on a change instance of a dependent team. Only the service \
               owner may set deployed items.",
        remedy "Omit `deployed_item`.";
    DeployedItemTooEarly(400, "a deployed item requires the state APPROVED, COMPLETED or ERRORED")
        means "The request sets a deployed item on a change instance that the service owner has not \
               approved. In a service with `x-verified`: the change instance is not completed or failed, or the item \
               is being changed.",
        remedy "Approve the change instance first, or send the deployed item with the state APPROVED, \
                COMPLETED or ERRORED. With REJECTED, repeat the newest deployed item or omit it. In a service with \
                `x-verified`, send it with COMPLETED or ERRORED.";
    PlannedItemNotAccepted(400, "the change instance accepts no plan")
        means "The request plans an item, but the change instance is a DELETE, adopts an existing object, or is that \
               of a dependent team. Or the definition is not verified.",
        remedy "Omit `planned_item`.";
    PlannedItemTooLate(400, "a plan requires the state PENDING or APPROVED")
        means "The request plans an item, but the work on the change instance has ended.",
        remedy "Omit `planned_item`. Send the item as it is with the state COMPLETED or ERRORED.";
    InvalidForState(400, "the item does not fit the state")
        means "The declaration and the deployed item together do not fit the definition in the requested state. \
               The definition states what is required from which state on, and what the service owner fills. \
               Nothing was written.",
        remedy "Correct the values that `problems` lists, each with its pointer into the item. If the \
                declaration lacks a value, reject the change instance with a log text.";
    DeployedItemTooLarge(400, "the deployed item is too large")
        means "The deployed item is larger than 128 KiB, as sent or after the merge.",
        remedy "Store large data elsewhere, and put its address into the deployed item.";
    DeployedItemNotLatest(400, "only the newest version can be changed")
        means "The deployed item has a newer version. Only the newest version can be changed. In a service with \
               `x-verified`: a newer change instance of the item is completed.",
        remedy "Change the newest version. `GET …/deployed_items/?service_item_id=…&ordering=-created` lists \
                it first.";
    LogTooLong(400, "the log text is too long")
        means "The log text is longer than 1 KiB.",
        remedy "Shorten the log text, and store the full text elsewhere.";
    LogFull(400, "the history has the maximum number of log texts")
        means "The history of the change instance has 20 log texts, the maximum.",
        remedy "Send the state without `log`.";
    TooManyAttempts(400, "the change has the maximum number of attempts")
        means "The change has 31 attempts, the maximum.",
        remedy "Ask the consumer to declare the item again.";
    ChargeProcessed(400, "the charge is processed, and this is final")
        means "The request marks a processed charge as not processed. This is not possible, because the \
               charge may be on a bill already.",
        remedy "Leave the charge unchanged, and correct the bill instead.";
    DividedJustNow(400, "a running charge can be divided at most once an hour")
        means "The charge is running, and the previous charge of the item was processed less than an hour \
               ago. A running charge can be divided at most once an hour.",
        remedy "Process the charge after `Retry-After`, or with the next bill. The charged time stays \
                complete.";
    NameTaken(400, "the team has, or had, an API key with this name")
        means "The team has, or had, an API key with this name. Histories show key names, so a name stands \
               for one key and its successors only.",
        remedy "Choose another name, or rotate the existing key.";
    TooManyKeys(400, "the team has the maximum number of API keys")
        means "A team has at most 100 API keys, including expired ones.",
        remedy "Revoke unused keys.";
    TeamNameTaken(400, "another team has this name")
        means "A team has this name, or one that looks the same: in another letter case, or with letters of another \
               script. Declarations name their team, so names are unique in the deployment. A repeated request gets \
               this error too, if the first one created the team.",
        remedy "Choose another name. If the response to an earlier request was lost, the team exists. The \
                operator makes another key for it with `dovetaild load`.";
    PlatformKey(400, "a PLATFORM key cannot be rotated")
        means "The role `PLATFORM` reaches all teams, so no `ADMIN` of a team may get such a key by a rotation.",
        remedy "Ask the operator of the deployment for a new key (`dovetaild load`), then revoke the old one.";
    AlreadyMember(400, "the person is already a member")
        means "The person with this subject is already a member of the team. The subject identifies a \
               person, not the name.",
        remedy "Change the existing member.";
    TooManyMembers(400, "the maximum number of members of a team, or teams of a person, is reached")
        means "A team has at most 500 members, and a person is a member of at most 20 teams.",
        remedy "Remove members who have left.";
    AlreadyRotated(400, "the API key was already rotated")
        means "The key was rotated before. `successor` names its successor.",
        remedy "Rotate the successor.";
    TooManyWebhooks(400, "the team has the maximum number of webhooks")
        means "A team has at most 100 webhooks for all its services together, including inactive ones.",
        remedy "Remove unused webhooks. One webhook can deliver every change instance of its service.";
    TooManyMessages(400, "the team has the maximum number of messages")
        means "A team has at most 20 messages for the consumers of its services, including expired ones.",
        remedy "Remove an unused message, or replace its content with the new one.";
    NotInService(400, "the service item is not in service")
        means "A healthcheck covers items that are in service. The owner has not approved this item yet, or \
               the item is decommissioned.",
        remedy "Wait until its `runtime_state` is `IN_SERVICE`.";
    AskedJustNow(400, "the healthcheck of this item ran a moment ago")
        means "The healthcheck of this item ran less than ten seconds ago. Each caller that may see an item \
               may run its healthcheck, but all callers share this limit.",
        remedy "Read the item: `healthcheck_status` contains the latest result. Or retry after \
                `Retry-After`.";
    OutOfNumbers(400, "the team has used all its ids")
        means "The team has used all ids for its objects. No real workload reaches this limit.",
        remedy "Contact the operator of the deployment.";
    SubmissionInFlight(503, "an earlier submission of the team is still being applied")
        means "Dovetail is still applying an earlier large submission of the team, and applies one at a \
               time. This request was not accepted.",
        remedy "Retry after `Retry-After`. `GET …/submissions/` shows the progress of the earlier \
                submission.";
    Contended(503, "other requests change the same records")
        means "Other requests changed the same records at every attempt of this request. Nothing was \
               changed.",
        remedy "Retry after `Retry-After`.";
    StorageFull(503, "the storage accepts no writes")
        means "The disk of the storage engine is full or failing. Nothing was changed, and reads still work. \
               A table in AWS is never full.",
        remedy "Free disk space, then retry.";
    Unavailable(503, "the storage cannot be reached")
        means "The storage is unreachable, or temporarily refuses requests. A request that changes data may \
               still have taken effect.",
        remedy "Retry after `Retry-After`. Every request can be repeated. Repeat a submission with the same \
                `Idempotency-Key`.";
    Broken(500, "an internal error occurred")
        means "An internal error occurred that the caller cannot correct. The response contains no details. \
               The log of the deployment has the reason, under the id in the header `apigw-requestid`.",
        remedy "Send this id to the operator of the deployment.";
}
