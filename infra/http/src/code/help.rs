//! Explanations of the error codes. A test generates `docs/reference/errors.md` from them.

use super::Code;

impl Code {
    /// Returns the meaning of the code and the remedy, in Markdown.
    pub const fn help(self) -> (&'static str, &'static str) {
        match self {
            Self::NoSuchRoute => (
                "There is nothing under this path, for any caller. `detail` names the route with the most similar path, if one is \
                 similar.",
                "Compare it with the contract (`GET /v1/openapi.json`): an id is a number, a point of view is `consumer` or \
                 `serviceowner`, and the stage of an API Gateway comes before `/v1`.",
            ),
            Self::MethodNotAllowed => (
                "There is something under this path, but not for this method.",
                "See which methods the contract (`GET /v1/openapi.json`) has there.",
            ),
            Self::Unauthenticated => (
                "No key and no token came with the request, or none that is any good here: it is unknown, it has ended, it is \
                 another issuer's or meant for somebody else. Which of these is not told.",
                "Send `Authorization: Api-Key <key>` with a key of this very deployment, or, where it takes tokens of people, \
                 `Authorization: Bearer <token>` with one that is valid now.",
            ),
            Self::ChooseTeam => (
                "The token is a person's who is a member of several teams, and a request is always for one of them.",
                "Say which: `Dovetail-Team: <id>`. `GET /v1/account/teams/` tells the ids of yours.",
            ),
            Self::NotAMember => (
                "The caller is known, but is not of the team that `Dovetail-Team` names; or the token is a person's who is a \
                 member of no team at all. `detail` tells a person the subject that they are known by.",
                "Have an `ADMIN` of the team make you a member: `POST /v1/account/members/` with your subject. It takes as \
                 long as a verdict is remembered until that is seen, a minute where nobody has said otherwise.",
            ),
            Self::ReadOnlyKey => (
                "The caller has the role `READ_ONLY`, and the request would change something.",
                "Use a key with another role. Every `GET` on what the team declares and owns works with this one.",
            ),
            Self::NeedsAdmin => (
                "The request would change settings of a service, webhooks, messages, API keys or members, or look at keys or members, and \
                 the caller's role is not `ADMIN`.",
                "Use a key with the role `ADMIN`, or have an `ADMIN` of the team do it.",
            ),
            Self::NotFound => (
                "There is no such object, or it is not the caller's: which of the two is not told. An object that a \
                 team sees as consumer may be hidden from it as service owner, and the other way round.",
                "Check the id, the key's team and the point of view in the path.",
            ),
            Self::UnknownFilter => (
                "A list does not know one of the query's parameters. The reply is a list with one sentence, which clients that \
                 exist expect, and no problem object. The header `Dovetail-Did-You-Mean` has the parameter with the most similar \
                 name, if one is similar.",
                "Correct the parameter's name; the contract (`GET /v1/openapi.json`) has them all.",
            ),
            Self::InvalidFilter => (
                "A query parameter is known and its value is not one that it takes. `detail` and `pointer` name it.",
                "Send a value of the kind that `detail` asks for.",
            ),
            Self::InvalidCursor => (
                "The position is not one that this deployment gave out for this list: it is more than a day old, of \
                 another list, of other filters or of another team, or it was changed on the way.",
                "Read the list from its start, and follow `next` as it is told, without changing it.",
            ),
            Self::InvalidBody => (
                "The body is no JSON object, is larger than 5 MiB, or is not packed as its `Content-Encoding` says.",
                "Send one JSON object. `detail` says what it is instead, where that is known.",
            ),
            Self::UnknownFields => (
                "The body sets fields, and none of its keys is one of them. Nothing was changed. A body with a known key \
                 is accepted: the reply then names its unknown keys in `warnings`.",
                "Use the names in `detail`. An empty body `{}` changes nothing and is accepted where no field is required.",
            ),
            Self::InvalidField => (
                "A field of the body has a value that it does not take. `pointer` names it, and so does a member of \
                 the field's own name.",
                "Mend the field. Nothing was changed.",
            ),
            Self::InvalidIdempotencyKey => (
                "The header `Idempotency-Key` is empty, longer than 255 bytes or no text.",
                "Send one of 1 to 255 bytes, a UUID for instance, or leave the header out.",
            ),
            Self::InvalidDeclaration => (
                "The declaration breaks rules: all that are found are told at once, nested like the declaration in \
                 `errors`, and as a list of JSON pointers and rules in `problems`. Nothing was changed.",
                "Correct every place that is named. `submissions/validate` checks a declaration without submitting it. The \
                 rule `too_complex` stops the check: send less in one request, or a smaller item.",
            ),
            Self::IdempotencyKeyReused => (
                "A submission with this idempotency key was taken before, and it was another one.",
                "Send the same request to get the same answer again; for another one, make another key.",
            ),
            Self::RevertTooLarge => (
                "More than 2,000 items were changed since that submission, or one of them more than 1,000 times; or what would \
                 be declared again is more than a request may have in its body. Nothing was changed.",
                "Revert to a submission that is not as far back, or submit what it declared, application by application.",
            ),
            Self::Blocked => (
                "A change instance was rejected or has failed, and its item is declared once more just as it was. Each is \
                 named in `problems`, the first 20 with owner, state, since when, log text and URL. Nothing was changed.",
                "Declare something else for the item or remove it, or have its owner try again (`retry`).",
            ),
            Self::PlanChanged => (
                "The token in `If-Match` is not that of what the submission would do now: somebody has submitted, decided, or                  changed a service since it was previewed. Nothing was changed.",
                "Preview again (`submissions/validate`), look at what has changed, and submit with the new `plan`.",
            ),
            Self::InvalidSchema => (
                "The service's definition is no JSON Schema of draft-07 or 2020-12, or goes beyond a limit. All \
                 that is wrong is told at once, by JSON pointer. Nothing was published.",
                "Correct every place that is named. `services/validate` checks a definition without publishing it. The \
                 rule `too_complex` names the subschema that takes too many steps: make its pattern or its list of choices \
                 smaller, or apply it to fewer values.",
            ),
            Self::ForeignService => (
                "Another team has published a service of this title; titles are unique in a deployment.",
                "Publish under another title.",
            ),
            Self::NotOwner => (
                "The team may see the change instance or the charge, as its consumer for instance, but another team decides on it.",
                "Ask the team in `owner`, or in `service_owner_team`.",
            ),
            Self::IllegalTransition => (
                "The state machine has no move from the change instance's state, which is in `state`, to the one that is asked \
                 for. `allowed` has the states that its owner may move it to; `retry` has the URL of a new attempt, if there can \
                 be one.",
                "Send one of `allowed`, or POST to `retry`. Read the change instance again: somebody else may have moved it. What is COMPLETED or CLOSED stays so.",
            ),
            Self::ManualApproval => (
                "The owner of the service has set `allow_manual_approval` to false: an API key may approve its change \
                 instances, and a person may not.",
                "Let the pipeline that has the key approve it, or have the service's owner change the setting.",
            ),
            Self::ManualCompletion => (
                "The owner of the service has set `allow_manual_completion` to false: an API key may complete its change \
                 instances, and a person may not.",
                "Let the pipeline that has the key complete it, or have the service's owner change the setting.",
            ),
            Self::NotRetryable => (
                "Only a change instance that is REJECTED or ERRORED can be tried again.",
                "Read it again; while it is open there is nothing to retry.",
            ),
            Self::Overtaken => (
                "The item has been declared anew since, and a newer change instance has taken this one's place.",
                "Go on with the newest change instance of the item.",
            ),
            Self::DeployedItemNotMain => (
                "A deployed item came for a change instance of a dependent team; only the service's owner brings them.",
                "Leave `deployed_item` out.",
            ),
            Self::DeployedItemTooEarly => (
                "A deployed item came with a change instance that the service owner has not approved.",
                "Approve first, or send it with the state APPROVED, COMPLETED or ERRORED. With REJECTED, repeat the newest one or leave it out.",
            ),
            Self::DeployedItemTooLarge => (
                "A deployed item is larger than 128 KiB, by itself or once the change is merged into it.",
                "Keep what is large elsewhere, and its address here.",
            ),
            Self::DeployedItemNotLatest => (
                "The deployed item has a newer version.",
                "Change the newest one: `GET …/deployed_items/?service_item_id=…&ordering=-created` has it first.",
            ),
            Self::LogTooLong => {
                ("A log text is longer than 1 KiB.", "Shorten it, and keep the rest where it belongs.")
            }
            Self::LogFull => (
                "The change instance's history has 20 log texts, which is all it takes.",
                "Send the state without `log`.",
            ),
            Self::TooManyAttempts => {
                ("There were 31 attempts at this change already.", "Have the consumer declare the item anew.")
            }
            Self::ChargeProcessed => (
                "A charge was to be marked as not processed, and it is: it may have been billed already.",
                "Leave it as it is, and set it right where it was billed.",
            ),
            Self::DividedJustNow => (
                "The charge runs, and the one before it was processed less than an hour ago. A running charge divides at most once an \
                 hour.",
                "Process it after `Retry-After`, or with the next bill. No time is lost.",
            ),
            Self::NameTaken => (
                "An API key of this name exists, or has existed: histories show names, so each stands for one key and its \
                 successors.",
                "Choose another name, or rotate the key that there is.",
            ),
            Self::TooManyKeys => (
                "A team has at most 100 API keys, those that have expired among them.",
                "Revoke those that nobody uses.",
            ),
            Self::AlreadyMember => (
                "The person with this subject is a member of the team. A person is told by the subject, whatever their name.",
                "Change the member that there is.",
            ),
            Self::TooManyMembers => (
                "A team has at most 500 members, and a person is a member of at most 20 teams.",
                "Remove those who have left.",
            ),
            Self::AlreadyRotated => (
                "The key was rotated before: its successor is named in `successor`.",
                "Rotate the successor.",
            ),
            Self::TooManyWebhooks => (
                "A team has at most 100 webhooks, of all its services together, those that rest among them.",
                "Remove those that nobody needs; one tells of every change instance of its service.",
            ),
            Self::TooManyMessages => (
                "A team has at most 20 messages for the consumers of its services, those that have expired among them.",
                "Remove one that is no longer needed, or change it into the new one.",
            ),
            Self::NotInService => (
                "A healthcheck asks about what is there: the item was not approved yet, or is decommissioned.",
                "Wait until its `runtime_state` is `IN_SERVICE`.",
            ),
            Self::AskedJustNow => (
                "Whoever may see a service item may have its healthcheck asked about it, but not again within ten seconds, \
                 whoever it was.",
                "Read the item: `healthcheck_status` is what was answered. Or ask again after `Retry-After`.",
            ),
            Self::OutOfNumbers => (
                "The team has used up the numbers of its objects, which nobody does within a lifetime.",
                "Tell whoever runs the deployment.",
            ),
            Self::SubmissionInFlight => (
                "A large submission of the team was accepted and is still being carried out; there is one at a time. \
                 This one was not taken.",
                "Send it again after `Retry-After`; `GET …/submissions/` tells how far the other one is.",
            ),
            Self::Contended => (
                "Others change the same records so fast that this request did not get its turn. Nothing was changed.",
                "Send it again after `Retry-After`.",
            ),
            Self::StorageFull => (
                "The disk of the engine is full, or fails. Nothing was changed, and reads still work. A table of AWS is never \
                 full.",
                "Make room on the disk, then send it again.",
            ),
            Self::Unavailable => (
                "The storage could not be reached, or refused to answer for now. A request that changes something may \
                 have been carried out nevertheless.",
                "Send it again after `Retry-After`: every request can be repeated, a submission best with the \
                 `Idempotency-Key` that it had.",
            ),
            Self::Broken => (
                "Something is wrong that the caller can't mend. The reply tells nothing else; the log of the deployment \
                 has the reason, under the id in the header `apigw-requestid`.",
                "Give that id to whoever runs the deployment.",
            ),
        }
    }
}
