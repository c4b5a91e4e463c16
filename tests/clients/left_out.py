"""Which public methods of the clients the checks do not call, and why. Everything else has to be called, and to work.

A pattern that fits no uncalled method fails the run. So does a pattern whose route the contract has got meanwhile: this
list only shrinks.
"""

# Routes that are not served, and why. The contract has none of them.
NOT_SERVED = {
    "/v1/api-token-auth/": "Dovetail has no passwords: callers send an API key or a token of the platform's issuer",
    "/v1/account/teams/all_teams/": "a team sees other teams only where they share an item or a service",
    "/v1/account/teams/{id}/team_mappings/": "replaced by `/v1/account/members/`",
    "/v1/account/team/memberships/": "replaced by `/v1/account/members/`",
    "/v1/account/user/memberships/": "replaced by `/v1/account/teams/`; the header `Dovetail-Team` selects the team",
    "/v1/statistics/consumer/basics/":
        "its response is not documented; use `count` of the lists and the states of applications",
}

# Why what calls no route that is served, or none at all, is left out.
ARGUED = [
    (NOT_SERVED["/v1/api-token-auth/"], ["NetorcaAuth.*_auth_token"]),
    ("Dovetail has no AI features", ["AI*", "LLMModel*", "Pack*"]),
    ("`submit` creates a submission; the list accepts no POST", ["SubmissionsResource.create"]),
    ("0.3.2 loses the id and sends no request", ["Netorca.webhook_trigger"]),
    ("it only reaches paths below `/orcabase`, where nothing can be deleted", ["NetOrcaClient.delete"]),
    ("the API has no OPTIONS, and no other method of the client calls it", ["NetorcaAuth.options"]),
]
