"""Which public methods of the clients the checks do not call, and why. Everything else has to be called, and to work.

A pattern that no uncalled method fits fails the run, and so does one whose route the contract has got meanwhile: this list
only shrinks.
"""

# Routes that are not served, and why. The contract has none of them.
NOT_SERVED = {
    "/v1/api-token-auth/": "nobody has a password here: a key says who calls, or a token of the platform's issuer",
    "/v1/account/teams/all_teams/": "a team is told of others only as far as it has to do with them",
    "/v1/account/teams/{id}/team_mappings/": "who is in which team says `/v1/account/members/`",
    "/v1/account/team/memberships/": "it is `/v1/account/members/`",
    "/v1/account/user/memberships/": "it is `/v1/account/teams/`, and a request says for which of them it acts (`Dovetail-Team`)",
    "/v1/statistics/consumer/basics/": "what it answers is written nowhere; `count` of the lists and the states of applications tell as much",
}

# Why what calls no route that is served, or none at all, is left out.
ARGUED = [
    (NOT_SERVED["/v1/api-token-auth/"], ["NetorcaAuth.*_auth_token"]),
    ("AI is outside this project's scope", ["AI*", "LLMModel*", "Pack*"]),
    ("a submission is made by `submit`: there is nothing to POST to a list of them", ["SubmissionsResource.create"]),
    ("0.3.2 loses the id on its way and sends nothing", ["Netorca.webhook_trigger"]),
    ("it leads below `/orcabase` alone, where nothing is ever deleted", ["NetOrcaClient.delete"]),
    ("OPTIONS is no method of this API, and nothing of the client calls it", ["NetorcaAuth.options"]),
]
