import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { finishAll, request, startWorld } from "./world.mjs";

const VM = "vm-owner-key";
const LB = "lb-owner-key";
const NODE = { title: "Node", type: "object", required: ["name"], properties: { name: { type: "string" } } };
const END = { type: ["string", "object"], format: "reference", service_reference: "Node", "x-reach": "granted" };
const LINK = { title: "Link", type: "object", required: ["name"], properties: { name: { type: "string" }, near: END, far: END } };
const GRANTED = { dovetail_granted_teams: ["AwesomeConsumer2"] };
const UNDECLARED = "No longer declared: the next change of this item must name another one.";

describe("references to other applications", () => {
  let world;
  let ids;
  let core;
  before(async () => {
    world = await startWorld();
    await request(world.system, VM, "POST", "orcabase/serviceowner/services/", NODE);
    await request(world.system, LB, "POST", "orcabase/serviceowner/services/", LINK);
    const [near, far] = ["ams-1", "ams-2"].map((name) => ({ application: "Core", name }));
    await submit("awesome-key", {
      AwesomeConsumer: { Core: coreWith(["ams-1", "ams-2"]), Campus: { services: { Link: [{ name: "lab", near, far }] } } },
    });
    await finishAll(world.system, VM);
    const { results } = await request(world.system, "awesome-key", "GET", "orcabase/consumer/service_items/?limit=100");
    ids = Object.fromEntries(results.map(({ name, id }) => [name, id]));
    core = results.find(({ name }) => name === "ams-1").application.id;
    const office = { name: "office", near: { service_item: ids["ams-1"] } };
    const submitted = await submit("awesome2-key", { AwesomeConsumer2: { Branch: { services: { Link: [office] } } } });
    ids.office = submitted.change_instances[0].service_item.id;
    await submit("awesome-key", { AwesomeConsumer: { Core: coreWith(["ams-1"]) } });
  });
  after(() => world.stop());

  function submit(key, declaration) {
    return request(world.system, key, "PATCH", "orcabase/consumer/submissions/submit/?allow_removal=true", declaration);
  }

  function coreWith(nodes) {
    return { metadata: GRANTED, services: { Node: nodes.map((name) => ({ name })) } };
  }

  async function open(name, team = "AwesomeConsumer", options) {
    const opened = await openPage(world, options);
    await signIn(opened.page, team);
    await openReferences(opened.page, name);
    return opened;
  }

  async function openReferences(page, name) {
    await page.goto(`${world.site.url}/#/items/${ids[name]}`);
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("tab", { name: "References" }).click();
    await page.getByRole("heading", { name: "Referenced by" }).waitFor();
  }

  /** Opens the dialog of the editor before the removal of the node. */
  async function requestRemoval(page) {
    await page.goto(`${world.site.url}/#/edit?application=${core}&item=ams-1`);
    await page.getByRole("button", { name: "Remove Node / ams-1" }).click();
    await page.locator(".totals").getByText("0 to create, 0 to modify, 1 to delete.").waitFor();
    await page.getByRole("button", { name: "Apply", exact: true }).click();
    await page.getByRole("dialog").getByText("in use by").waitFor();
  }

  const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
  const uses = (page) => page.getByRole("region", { name: "In use" });

  it("links to the items of the own team, and names one that is no longer declared", async () => {
    const { page, context } = await open("lab");
    const near = rowOf(page, "/near");
    assert.equal(await flat(near), "/near Node / ams-1 Core AwesomeConsumer In service No open change");
    assert.match(await near.getByRole("link", { name: "ams-1" }).getAttribute("href"), new RegExp(`#/items/${ids["ams-1"]}$`));
    const far = await flat(rowOf(page, "/far"));
    assert.equal(far, `/far Node / ams-2 ${UNDECLARED} Core AwesomeConsumer In service Pending: the owner decides`);
    await context.close();
  });

  for (const [name, team] of [["office", "AwesomeConsumer2"], ["lab", "LBOwnerTeam"]]) {
    it(`shows ${team} the items that it may not open as text`, async () => {
      const { page, context } = await open(name, team);
      const row = rowOf(page, "/near");
      assert.equal(await flat(row), "/near Node / ams-1 Core AwesomeConsumer In service No open change");
      assert.equal(await row.getByRole("link").count(), 0);
      await context.close();
    });
  }

  it("names a gone item by its id, and a reference without a property", async () => {
    const { page, context } = await openPage(world);
    const gone = { pointer: "", service: null, name: null, application: null, team: null, runtime_state: null, change_state: null };
    await page.route(`**/service_items/${ids.lab}/`, async (route) => {
      const response = await route.fetch();
      const item = await response.json();
      const named = item.references.filter((reference) => reference.service_item === ids["ams-1"]);
      const references = named.map((reference) => ({ ...reference, ...gone, declared: false }));
      await route.fulfill({ response, json: { ...item, references } });
    });
    await signIn(page, "AwesomeConsumer");
    await openReferences(page, "lab");
    const row = page.getByRole("row").filter({ hasText: "Gone" });
    assert.equal(await flat(row), `Unknown Item ${ids["ams-1"]} ${UNDECLARED} Gone`);
    await context.close();
  });

  it("counts the uses of an item, and lists those of the own team", async () => {
    const { page, context } = await open("ams-1");
    const own = uses(page).getByRole("list", { name: "Items of your team that refer to it" });
    assert.equal(await flat(own), "lab Campus / Link");
    const text = await flat(uses(page));
    assert.match(text, /In use by 2 items of other applications or teams\. A removal of this item needs a confirmation\./);
    assert.match(text, /1 item of other teams\.$/);
    await own.getByRole("link", { name: "lab" }).click();
    await page.getByRole("heading", { level: 1, name: "lab" }).waitFor();
    assert.equal(await uses(page).count(), 0);
    await context.close();
  });

  it("shows an owner only the number of uses", async () => {
    const { page, seen, context } = await open("ams-1", "VMOwnerTeam");
    assert.match(await flat(uses(page)), /In use by 2 items of other applications or teams\./);
    await page.waitForLoadState("networkidle");
    assert.ok(seen.requests.every((url) => !url.includes("references=")), `${seen.requests}`);
    await context.close();
  });

  it("names the uses of an item before its removal", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    await requestRemoval(page);
    const removals = page.getByRole("dialog").getByRole("list", { name: "Removals" });
    assert.equal(await flat(removals), "Node / ams-1, in use by 2 items of other applications or teams");
    await page.getByRole("dialog").getByText("must name another item").waitFor();
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await open("lab", "AwesomeConsumer", { colorScheme, viewport: { width, height: 844 } });
        const { page } = opened;
        await assertClean(opened);
        await assertFits(page);
        await openReferences(page, "ams-1");
        await uses(page).getByText("1 item of other teams.").waitFor();
        await assertClean(opened);
        await assertFits(page);
        await requestRemoval(page);
        await assertClean(opened);
        await assertFits(page);
        await opened.context.close();
      });
    }
  }
});
