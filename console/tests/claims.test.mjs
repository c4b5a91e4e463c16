import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

const NOW = Date.parse("2030-01-01T00:00:00Z");
const LIVE = { number: 4, worker: "w-7", until: "2030-01-01T00:05:00.000000Z" };
const LATER = { number: 2, worker: "w-8", until: "2030-01-01T01:00:00.000000Z" };
const ENDED = { number: 3, worker: "w-9", until: "2030-01-01T00:00:00.000000Z" };
const RELEASED = { number: 5, worker: null, until: null };

describe("claims", () => {
  let leaseOf;
  let leasesText;
  let formatClock;
  let fromBody;
  before(async () => {
    const load = async (file) => (await runnerImport(`./src/${file}`, { logLevel: "error" })).module;
    ({ leaseOf, leasesText } = await load("lib/claims.ts"));
    ({ formatClock } = await load("lib/age.ts"));
    ({ fromBody } = await load("api/errors.ts"));
  });

  const textOf = (...claims) => leasesText(claims.map((claim) => ({ claim })), NOW);

  it("finds a lease only before its end", () => {
    assert.deepEqual(leaseOf(LIVE, NOW), { worker: "w-7", until: LIVE.until });
    for (const claim of [ENDED, RELEASED, null, undefined]) assert.equal(leaseOf(claim, NOW), null);
  });

  it("names the worker of one change with the end of its lease", () => {
    assert.equal(textOf(LIVE), `w-7 works on this change until ${formatClock(LIVE.until)}.`);
    assert.equal(textOf(ENDED), "");
    assert.equal(textOf(undefined), "");
  });

  it("names each worker of several changes with the last end", () => {
    const last = formatClock(LATER.until);
    assert.equal(textOf(LATER, LATER, null), `w-8 works on 2 of these changes, until ${last} at the latest.`);
    assert.equal(textOf(LATER, LIVE, ENDED), `w-8, w-7 work on 2 of these changes, until ${last} at the latest.`);
    assert.equal(textOf(ENDED, RELEASED), "");
  });

  it("reads the claim only from an error about claims", () => {
    const body = { code: "not_claimed", detail: "claim must be 4, the newest number", claim: LIVE };
    assert.deepEqual(fromBody(400, body).claim, LIVE);
    // An invalid field of this name has its error texts in the same member.
    assert.equal(fromBody(400, { code: "invalid_field", claim: ["must be an integer"] }).claim, undefined);
  });
});
