"""Which public methods of the clients the checks do not call, and why. Everything else has to be called, and to work.

A pattern that no uncalled method fits fails the run, and so does one whose route the contract has got meanwhile: this list
only shrinks.
"""

# What is not built yet: the route, and the methods that call it.
NOT_BUILT = [
    ("/v1/api-token-auth/", ["NetorcaAuth.*_auth_token"]),
]

# Routes that no method of the two clients calls, but others do.
NOT_BUILT_FOR_OTHERS = [
    "/v1/account/teams/all_teams/",
    "/v1/account/teams/{id}/team_mappings/",
    "/v1/account/team/memberships/",
    "/v1/account/user/memberships/",
    "/v1/statistics/consumer/basics/",
]

# What is none of this project's business, or no call of the API.
ARGUED = [
    ("AI is outside this project's scope", ["AI*", "LLMModel*", "Pack*"]),
    ("a submission is made by `submit`: there is nothing to POST to a list of them", ["SubmissionsResource.create"]),
    ("0.3.2 loses the id on its way and sends nothing", ["Netorca.webhook_trigger"]),
    ("it leads below `/orcabase` alone, where nothing is ever deleted", ["NetOrcaClient.delete"]),
    ("OPTIONS is no method of this API, and nothing of the client calls it", ["NetorcaAuth.options"]),
]
