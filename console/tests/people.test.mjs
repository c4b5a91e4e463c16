import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startIssuer } from "./issuer.mjs";
import { assertClean, assertFits, openPage, rowOf } from "./pages.mjs";
import { declare, request, startWorld } from "./world.mjs";

const MEMBERS = "account/members/";

describe("people", () => {
  let issuer;
  let world;
  before(async () => {
    issuer = await startIssuer();
    world = await startWorld({ issuer, scope: "openid offline_access" });
    const add = (key, subject, role) => request(world.system, key, "POST", MEMBERS, { subject, name: `${subject} ${role}`, role });
    await add("vm-owner-key", "jane", "GENERAL");
    await add("vm-owner-key", "paul", "ADMIN");
    await add("awesome-key", "paul", "READ_ONLY");
    await declare(world.system, "Shop", [{ name: "vm1", cpu: 2 }]);
  });
  after(async () => {
    await world?.stop();
    issuer?.close();
  });

  const button = (page) => page.getByRole("button", { name: "Sign in with your organisation" });
  const stored = (page) => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));

  async function signInAs(person, route = "", { isStored = false, ...options } = {}) {
    Object.assign(issuer, { person, error: "", lifetime: 300 });
    const opened = await openPage(world, options);
    if (route) await opened.page.goto(`${world.site.url}/${route}`);
    if (isStored) await opened.page.getByLabel("Keep me signed in").check();
    await button(opened.page).click();
    return opened;
  }

  it("signs a member in, opens the page from before, and leaves no trace", async () => {
    const opened = await signInAs("jane", "#/queue?state=PENDING");
    const { page, context } = opened;
    await rowOf(page, "vm1").waitFor();
    assert.equal(page.url(), `${world.site.url}/#/queue?state=PENDING`);
    await page.getByText("VMOwnerTeam", { exact: true }).waitFor();
    assert.doesNotMatch(await stored(page), /eyJ|verifier|nonce/);
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await assertClean(opened);
    await page.reload();
    await button(page).waitFor();
    await context.close();
  });

  it("decides in the name of the person", async () => {
    const { page, context } = await signInAs("jane", "#/queue");
    await rowOf(page, "vm1").getByRole("checkbox").check();
    await page.getByRole("button", { name: "Approve (1)" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    await page.getByText("1 change approved, 0 errors").waitFor();
    const [change] = (await request(world.system, "vm-owner-key", "GET", "orcabase/serviceowner/change_instances/")).results;
    const history = await request(world.system, "vm-owner-key", "GET", `orcabase/serviceowner/change_instances/${change.id}/history/`);
    assert.equal(history.results[0].changed_by, "jane GENERAL");
    await context.close();
  });

  it("lets a member of several teams choose one, and change it", async () => {
    const { page, context } = await signInAs("paul");
    await page.getByRole("heading", { level: 1, name: "Choose a team" }).waitFor();
    await page.getByRole("button", { name: /^VMOwnerTeam/ }).click();
    await page.getByRole("link", { name: "Open the queue" }).waitFor();
    await page.getByRole("combobox", { name: "Team" }).selectOption("AwesomeConsumer");
    await page.getByRole("heading", { name: "Waits for service owners" }).waitFor();
    await page.getByText("vm1", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await button(page).click();
    // The browser remembers the last team.
    await page.getByRole("heading", { name: "Waits for service owners" }).waitFor();
    await context.close();
  });

  it("explains the next step to a person without a team", async () => {
    const opened = await signInAs("stranger");
    const note = opened.page.getByRole("alert");
    await note.getByText("You are not a member of a team yet").waitFor();
    assert.match(await note.innerText(), /with your subject: stranger/);
    await button(opened.page).waitFor();
    assert.equal(await stored(opened.page).then((text) => text.includes("eyJ")), false);
    await opened.context.close();
  });

  it("shows why the issuer did not sign a person in", async () => {
    const { page, context } = await openPage(world);
    issuer.error = "access_denied";
    await button(page).click();
    await page.getByRole("alert").getByText("The issuer did not sign you in (access_denied).").waitFor();
    assert.equal(page.url(), `${world.site.url}/`);
    await context.close();
  });

  it("rejects an answer that this tab did not ask for", async () => {
    const { page, context, seen } = await openPage(world);
    await page.goto(`${world.site.url}/?code=stolen&state=other`);
    await page.getByRole("alert").getByText("This tab did not start the sign-in.").waitFor();
    assert.equal(page.url(), `${world.site.url}/`);
    assert.ok(!seen.requests.some((url) => url.startsWith(issuer.url)), `${seen.requests}`);
    await context.close();
  });

  it("rejects an answer with another state", async () => {
    issuer.person = "jane";
    issuer.error = "";
    const { page, context } = await openPage(world);
    await page.addInitScript(() => {
      const started = JSON.parse(sessionStorage.getItem("dovetail.redirect") ?? "null");
      if (started) sessionStorage.setItem("dovetail.redirect", JSON.stringify({ ...started, state: "mine" }));
    });
    await button(page).click();
    await page.getByRole("alert").getByText("The answer of the issuer is invalid").waitFor();
    await context.close();
  });

  it("keeps the sign-in after a reload only if the user asks for it", async () => {
    const { page, context } = await signInAs("jane", "#/queue", { isStored: true });
    await rowOf(page, "vm1").waitFor();
    await page.reload();
    await rowOf(page, "vm1").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await context.close();
  });

  it("renews a token before it ends, and a long one not at all", async () => {
    const before = issuer.refreshes;
    Object.assign(issuer, { person: "jane", error: "", lifetime: 20 });
    const { page, context } = await openPage(world);
    await button(page).click();
    await page.getByRole("link", { name: "Open the queue" }).waitFor();
    assert.ok(issuer.refreshes > before, "no refresh");
    issuer.lifetime = 300;
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await rowOf(page, "vm1").waitFor();
    const renewed = issuer.refreshes;
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("link", { name: "Open the queue" }).waitFor();
    assert.equal(issuer.refreshes, renewed, "a long token needs no refresh");
    await context.close();
  });

  it("asks for a new sign-in after the end of the token, and returns to the page", async () => {
    const { page, context } = await signInAs("jane", "#/queue?state=APPROVED");
    await rowOf(page, "vm1").waitFor();
    await page.route("**/change_instances/**", (route) => route.fulfill({ status: 401, json: {} }));
    await page.getByRole("combobox", { name: "Service" }).selectOption("VM");
    await page.getByText("Your sign-in has ended.").waitFor();
    await page.unroute("**/change_instances/**");
    await button(page).click();
    await rowOf(page, "vm1").waitFor();
    assert.match(page.url(), /#\/queue\?state=APPROVED&service=1$/);
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await openPage(world, { colorScheme, viewport: { width, height: 844 } });
        Object.assign(issuer, { person: "paul", error: "", lifetime: 300 });
        await button(opened.page).waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await button(opened.page).click();
        await opened.page.getByRole("heading", { level: 1, name: "Choose a team" }).waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await opened.page.getByRole("button", { name: /^VMOwnerTeam/ }).click();
        await opened.page.getByRole("combobox", { name: "Team" }).waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await opened.context.close();
      });
    }
  }
});
