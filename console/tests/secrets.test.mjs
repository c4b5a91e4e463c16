import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { forgetRefused, openPage, signIn } from "./pages.mjs";
import { changesOf, decide, request, startWorld } from "./world.mjs";

const CANARY = "canary-of-the-console";
/** Pages of one team at most, so that a page that leads to ever new ones fails the test. */
const PAGES_MAX = 80;
const VAULT = {
  title: "Vault",
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" }, password: { type: "string", writeOnly: true } },
};

describe("secrets", () => {
  let world;
  before(async () => {
    world = await startWorld();
    await request(world.system, "vm-owner-key", "POST", "orcabase/serviceowner/services/", VAULT);
    await declare(CANARY);
    for (const state of ["PENDING", "APPROVED"]) {
      const next = { PENDING: { state: "APPROVED" }, APPROVED: { state: "COMPLETED" } }[state];
      for (const { id } of await changesOf(world.system, "vm-owner-key", state)) {
        await decide(world.system, "vm-owner-key", id, next);
      }
    }
    await declare(`${CANARY}-2`);
  });
  after(() => world.stop());

  function declare(password) {
    const body = { AwesomeConsumer: { Safe: { services: { Vault: [{ name: "main", password }] } } } };
    return request(world.system, "awesome-key", "PATCH", "orcabase/consumer/submissions/submit/", body);
  }

  /** Waits until the page has no request in flight, and has rendered the last response. */
  async function settle(page, open) {
    const render = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    for (let quiet = 0; quiet < 3; quiet++) {
      while (open.size > 0) {
        await Promise.race([page.waitForEvent("requestfinished"), page.waitForEvent("requestfailed")]);
        quiet = 0;
      }
      await render();
    }
  }

  /** Returns the HTML of a page with the values of its fields, once it has loaded. */
  async function content(page, open) {
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    await settle(page, open);
    // A check starts after a pause.
    await page.getByRole("status").filter({ hasText: /…$/ }).first().waitFor({ state: "hidden" });
    await settle(page, open);
    return page.evaluate(() => {
      const values = [...document.querySelectorAll("input, textarea")].map((field) => field.value);
      return [document.documentElement.outerHTML, ...values].join("\n");
    });
  }

  /** Opens every page that links lead to, and returns the pages with a mask. */
  async function walk(team) {
    const { page, seen, context } = await openPage(world);
    const open = new Set();
    page.on("request", (request) => open.add(request));
    for (const end of ["requestfinished", "requestfailed"]) page.on(end, (request) => open.delete(request));
    await signIn(page, team);
    const [known, masked] = [new Set([new URL(page.url()).hash]), []];
    for (const hash of known) {
      assert.ok(known.size <= PAGES_MAX, [...known].join(" "));
      await page.evaluate((hash) => (location.hash = hash), hash);
      const html = await content(page, open);
      assert.ok(!html.includes("canary"), `${team} ${hash}: ${html}`);
      if (/\(secret\)|another secret|secret:/.test(html)) masked.push(hash);
      const links = await page.evaluate(() => [...document.querySelectorAll("a[href^='#/']")].map((link) => link.hash));
      for (const link of links) known.add(link);
    }
    // The page of a new service checks its definition, which has no title yet.
    forgetRefused(seen);
    assert.deepEqual(seen.errors, []);
    await context.close();
    return { known, masked };
  }

  for (const team of ["AwesomeConsumer", "VMOwnerTeam"]) {
    it(`appear on no page of ${team}`, async () => {
      const { known, masked } = await walk(team);
      assert.ok(known.size >= 10 && masked.length >= 1, `${[...known].join(" ")}; masks: ${masked.join(" ")}`);
    });
  }
});
