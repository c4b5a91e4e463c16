const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString().replace("Z", "000Z");
const none = { open: 0, is_capped: false, oldest: null };
const open = (count, minutes) => ({
  open: count,
  is_capped: count === 100,
  oldest: { change_instance: 137438953504, created: minutesAgo(minutes) },
});
const backlog = (records, minutes) => ({ records, is_capped: records === 1000, oldest: minutes === null ? null : minutesAgo(minutes) });

/** Returns the work of a large system with defects, which a small local system cannot have. */
export function troubledSystem() {
  const owner = (id, name, states) => ({ team: { id, name }, states: { PENDING: none, APPROVED: none, REJECTED: none, ERRORED: none, ...states } });
  return {
    teams: [
      { id: 1, name: "VMOwnerTeam", confirm_removals: false },
      { id: 2, name: "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt", confirm_removals: true },
      { id: 4, name: "AwesomeConsumer", confirm_removals: true },
    ],
    pages: [
      [
        owner(1, "VMOwnerTeam", { PENDING: open(3, 12), REJECTED: open(1, 30) }),
        owner(2, "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt", { APPROVED: open(100, 3000) }),
      ],
      [],
      [owner(3, "NPOwnerTeam", { ERRORED: open(2, 9000) })],
    ],
    status: {
      pending_work: backlog(1000, 5),
      stagings: backlog(0, null),
      quarantined_work: {
        ...backlog(1, null),
        first: [{ team: { id: 4, name: "AwesomeConsumer" }, submission: 1048577, created: minutesAgo(125) }],
      },
      last_audit: {
        started: minutesAgo(61),
        finished: minutesAgo(60),
        result: "VIOLATED",
        rows: 81234,
        violations: 2,
        unsettled: 0,
      },
    },
  };
}

/** Answers the routes of operators with the content of `system`. */
export async function answerPlatform(page, system) {
  const list = (results, next, count) => ({ count, next, previous: null, results });
  const cursorOf = (url) => Number(url.searchParams.get("cursor") ?? 0);
  await page.route("**/v1/platform/**", (route) => {
    const request = route.request();
    const url = new URL(request.url());
    const name = /platform\/([a-z]+)/.exec(url.pathname)[1];
    if (request.method() === "POST") return route.fulfill(created(system, request.postDataJSON()));
    if (name === "status") return route.fulfill({ json: system.status });
    if (name === "teams") return route.fulfill({ json: list(system.teams, null, system.teams.length) });
    const cursor = cursorOf(url);
    const next = cursor + 1 < system.pages.length ? `${url.origin}${url.pathname}?cursor=${cursor + 1}` : null;
    return route.fulfill({ json: list(system.pages[cursor], next, null) });
  });
}

function created(system, body) {
  if (system.teams.some((team) => team.name === body.name)) {
    return { status: 400, json: { code: "team_name_taken", detail: "a team has this name" } };
  }
  const team = { id: 100 + system.teams.length, name: body.name, confirm_removals: body.confirm_removals };
  system.teams.push(team);
  const key = { id: 1, name: body.key_name ?? `${body.name}-1`, role: "ADMIN", key: `dvt_${"0".repeat(64)}_00000000` };
  return { status: 201, json: { ...team, api_key: key } };
}
