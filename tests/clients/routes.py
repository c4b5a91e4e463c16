"""Routes and fields of the public Go client and of the Terraform provider: facts about the clients, not about Dovetail.

Each entry has the methods, the path as in the OpenAPI document, the schema of the response, and the fields that the
clients read.
"""

CHANGE_INSTANCE = ["id", "url", "state", "change_type", "log", "created", "modified", "owner", "service_item",
                   "submission", "new_declaration", "old_declaration", "service_owner_team", "consumer_team", "service",
                   "application", "is_dependant"]
SERVICE_ITEM = ["id", "url", "name", "created", "modified", "runtime_state", "change_state", "service", "application",
                "service_owner_team", "consumer_team", "deployed_item", "declaration", "related", "healthcheck_status",
                "is_validated_minimum_schema", "is_deprecated_service_schema", "is_service_private"]
DEPLOYED_ITEM = ["id", "url", "version", "data", "service_item", "change_instance", "consumer_team",
                 "service_owner_team", "created", "modified"]
HISTORY = ["id", "state", "log", "modified", "reason", "changed_by", "changed_by_team"]
SERVICE = ["id", "url", "name", "state", "owner", "schema", "tags", "has_md", "minimum_version",
           "enabled_notifications", "allowed_teams", "approval_required", "allow_manual_approval",
           "allow_manual_completion"]
APPLICATION = ["id", "url", "name", "metadata", "owner", "created", "modified"]
TEAM = ["id", "name", "metadata"]
SUBMISSION = ["id", "created", "commit_id"]
CHARGE = ["id", "scope", "total_charge", "charge_type", "start", "end", "processed"]
VALID = ["is_valid", "errors", "warnings", "messages"]

CORE = "/v1/orcabase/{pov}/"
CONSUMER = "/v1/orcabase/consumer/submissions/"
EXTERNAL = "/v1/external/{pov}/"
MARKETPLACE = "/v1/marketplace/{pov}/charges/"
MESSAGES = "/v1/orcaexternal/{pov}/messages/"

ROUTES_OF_OTHERS = [
    ("GET", "/v1/account/teams/", "Team", TEAM),
    ("GET", CORE + "service_items/", "ServiceItem", SERVICE_ITEM),
    ("GET", CORE + "service_items/{id}/", "ServiceItem", SERVICE_ITEM),
    ("GET", CORE + "service_items/dependant/", "ServiceItem", SERVICE_ITEM),
    ("GET", CORE + "change_instances/", "ChangeInstance", CHANGE_INSTANCE),
    ("GET PATCH PUT POST", CORE + "change_instances/{id}/", "ChangeInstance", CHANGE_INSTANCE),
    ("GET", CORE + "change_instances/{id}/history/", "HistoryEntry", HISTORY),
    ("GET", CORE + "change_instances/dependant/", "ChangeInstance", CHANGE_INSTANCE),
    ("GET", CORE + "change_instances/referenced/", "ChangeInstance", CHANGE_INSTANCE),
    ("GET POST", CORE + "deployed_items/", "DeployedItem", DEPLOYED_ITEM),
    ("GET PATCH", CORE + "deployed_items/{id}/", "DeployedItem", DEPLOYED_ITEM),
    ("GET", CORE + "deployed_items/dependant/", "DeployedItem", DEPLOYED_ITEM),
    ("POST PATCH", CONSUMER + "validate/", "Valid", VALID),
    ("POST PATCH", CONSUMER + "submit/", "Submission", SUBMISSION),
    ("GET", CONSUMER, "Submission", SUBMISSION),
    ("GET", CONSUMER + "{id}/", "Submission", SUBMISSION),
    ("GET POST", CORE + "services/", "Service", SERVICE),
    ("GET PATCH PUT", CORE + "services/{id}/", "Service", SERVICE),
    ("POST", CORE + "services/validate/", "ValidDefinition", VALID),
    ("GET POST", CORE + "services/{id}/docs/", None, []),
    ("GET", CORE + "services/tags/", None, []),
    ("GET", CORE + "services/dependant/", "Service", SERVICE),
    ("GET POST", CORE + "service_configs/", None, []),
    ("GET", CORE + "service_configs/{id}/", None, []),
    ("GET", CORE + "applications/", "Application", APPLICATION),
    ("GET", CORE + "applications/{id}/", "Application", APPLICATION),
    ("GET", MARKETPLACE, "Charge", CHARGE),
    ("GET PATCH", MARKETPLACE + "{id}/", "Charge", CHARGE),
    ("GET", MARKETPLACE + "accumulated/", None, []),
    ("GET POST", EXTERNAL + "webhooks/", None, []),
    ("GET PATCH PUT DELETE", EXTERNAL + "webhooks/{id}/", None, []),
    ("POST", EXTERNAL + "webhooks/{id}/trigger/", None, []),
    ("GET POST", EXTERNAL + "healthchecks/", None, []),
    ("GET", EXTERNAL + "healthchecks/{id}/", None, []),
    ("GET", EXTERNAL + "healthchecks/trigger/service_item/{id}/", None, []),
    ("GET", EXTERNAL + "healthchecks/trigger/service/{id}/", None, []),
    ("GET POST", MESSAGES, None, []),
    ("GET PATCH PUT DELETE", MESSAGES + "{id}/", None, []),
    ("GET", "/v1/account/teams/all_teams/", None, []),
    ("GET", "/v1/account/teams/{id}/team_mappings/", None, []),
    ("GET", "/v1/account/team/memberships/", None, []),
    ("GET", "/v1/account/user/memberships/", None, []),
    ("GET", "/v1/statistics/consumer/basics/", None, []),
]
