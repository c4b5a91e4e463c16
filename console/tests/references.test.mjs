import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { changesOf, decide, declare, finishAll, request, startWorld } from "./world.mjs";

const VM = "vm-owner-key";
const LB = "lb-owner-key";
const NODE = { title: "Node", type: "object", required: ["name"], properties: { name: { type: "string" } } };
const END = { type: ["string", "object"], format: "reference", service_reference: "Node", "x-reach": "granted" };
const LINK = { title: "Link", type: "object", required: ["name"], properties: { name: { type: "string" }, near: END, far: END } };
const GRANTED = { dovetail_granted_teams: ["AwesomeConsumer2"] };
const UNDECLARED = "No longer declared: the next change of this item must name another one.";

const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();

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

  const uses = (page) => page.getByRole("region", { name: "In use" });

  it("links to the items of the own team, and names one that is no longer declared", async () => {
    const { page, context } = await open("lab");
    const near = rowOf(page, "/near");
    assert.equal(await flat(near), "/near Node / ams-1 Application Core In service No open change In place");
    assert.match(await near.getByRole("link", { name: "ams-1" }).getAttribute("href"), new RegExp(`#/items/${ids["ams-1"]}$`));
    const far = await flat(rowOf(page, "/far"));
    assert.equal(far, `/far Node / ams-2 Application Core ${UNDECLARED} In service Pending: the owner decides In place`);
    await context.close();
  });

  const NOT_READABLE = [
    ["office", "AwesomeConsumer2", "Application Core of AwesomeConsumer"],
    ["lab", "LBOwnerTeam", "Application Core"],
  ];
  for (const [name, team, elsewhere] of NOT_READABLE) {
    it(`shows ${team} the items that it may not open as text`, async () => {
      const { page, context } = await open(name, team);
      const row = rowOf(page, "/near");
      assert.equal(await flat(row), `/near Node / ams-1 ${elsewhere} In service No open change In place`);
      assert.equal(await row.getByRole("link").count(), 0);
      await context.close();
    });
  }

  it("names a gone item by its id, and a reference without a property", async () => {
    const { page, context } = await openPage(world);
    const gone = { pointer: "", service: null, name: null, application: null, team: null, runtime_state: null, change_state: null };
    const state = { declared: false, in_place: false };
    await page.route(`**/service_items/${ids.lab}/`, async (route) => {
      const response = await route.fetch();
      const item = await response.json();
      const named = item.references.filter((reference) => reference.service_item === ids["ams-1"]);
      const references = named.map((reference) => ({ ...reference, ...gone, ...state }));
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

describe("references within an application", () => {
  const CAUSE = "Follows the change of VM / web at /cpu";
  let world;
  let ids;
  let application;
  let change;
  before(async () => {
    world = await startWorld();
    await declareShop(2);
    const [web] = await changesOf(world.system, VM, "PENDING");
    await decide(world.system, VM, web.id, { state: "APPROVED" });
    await decide(world.system, VM, web.id, { state: "COMPLETED", deployed_item: { ip: "10.0.0.1" } });
    await finishAll(world.system, LB);
    await declare(world.system, "Draft", [{ name: "spare", cpu: 1 }], [{ name: "edge", related_vms: ["spare"] }]);
    await request(world.system, VM, "PATCH", `orcabase/serviceowner/services/${web.service.id}/`, { references_see: "ALL" });
    await declareShop(8);
    change = await referencedChange();
    const { results } = await request(world.system, "awesome-key", "GET", "orcabase/consumer/service_items/?limit=100");
    ids = Object.fromEntries(results.map(({ name, id }) => [name, id]));
    application = results.find(({ name }) => name === "web").application.id;
  });
  after(() => world.stop());

  function declareShop(cpu) {
    return declare(world.system, "Shop", [{ name: "web", cpu }], [{ name: "front", related_vms: ["web"] }]);
  }

  /** Waits for the change that Dovetail generates for the load balancer. */
  async function referencedChange() {
    for (;;) {
      const found = (await changesOf(world.system, LB, "PENDING")).find(({ kind }) => kind === "REFERENCED");
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async function open(team, options) {
    const opened = await openPage(world, options);
    await signIn(opened.page, team);
    return opened;
  }

  async function openTab(page, name, tab) {
    await page.goto(`${world.site.url}/#/items/${ids[name]}`);
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await page.getByRole("tab", { name: tab }).click();
  }

  async function openValues(page) {
    await page.getByText("Deployed version 1 of web", { exact: true }).click();
    await page.getByText("Document of web", { exact: true }).click();
  }

  /** Opens the queue, and the references of the change for the load balancer. */
  async function openInQueue(page) {
    await page.goto(`${world.site.url}/#/queue`);
    await rowOf(page, "front").getByRole("button", { name: "Show references of front" }).click();
    await causes(page).waitFor();
  }

  const refersTo = (page) => page.getByRole("region", { name: "Refers to" });
  const causes = (page) => page.getByRole("list", { name: "Causes" });
  const history = (page) => page.getByRole("button", { name: `Show differences of modify ${change.id}` });
  const isSingle = (url) => new RegExp(`/change_instances/${change.id}/(\\?.*)?$`).test(url);

  it("shows an owner the deployed version and the document below the row", async () => {
    const { page, context } = await open("LBOwnerTeam");
    await openTab(page, "front", "References");
    const row = rowOf(page, "/related_vms/0");
    assert.equal(await flat(row), "/related_vms/0 VM / web In service Pending: the owner decides In place");
    assert.equal(await row.getByRole("link").count(), 0);
    await openValues(page);
    const values = await flat(refersTo(page));
    assert.match(values, /Deployed version 1 of web .*ip 10\.0\.0\.1 Document of web .*cpu 8/);
    await context.close();
  });

  it("links to an item of the own team, also one that is not in place", async () => {
    const { page, context } = await open("AwesomeConsumer");
    await openTab(page, "edge", "References");
    const row = rowOf(page, "/related_vms/0");
    assert.equal(await flat(row), "/related_vms/0 VM / spare Requested Pending: the owner decides Not in place yet");
    await refersTo(page).getByText("spare has no deployed version.").waitFor();
    await row.getByRole("link", { name: "spare" }).click();
    await page.getByRole("heading", { level: 1, name: "spare" }).waitFor();
    await page.getByRole("tab", { name: "References" }).click();
    await refersTo(page).getByText("It refers to no item.").waitFor();
    await context.close();
  });

  it("names the causes of a change in the history, with a link and the differences", async () => {
    const { page, context } = await open("AwesomeConsumer");
    await openTab(page, "front", "History");
    await history(page).click();
    assert.match(await flat(causes(page)), new RegExp(`^${CAUSE} . changed /cpu 2 → to 8$`));
    await causes(page).getByRole("link", { name: "web" }).click();
    await page.getByRole("heading", { level: 1, name: "web" }).waitFor();
    await context.close();
  });

  it("counts further causes, and links to no item that the owner may not read", async () => {
    const { page, context } = await open("LBOwnerTeam");
    await page.route(({ href }) => isSingle(href), async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      const { differences: _, ...first } = json.causes[0];
      await route.fulfill({ response, json: { ...json, causes: [first], causes_count: 3 } });
    });
    await openTab(page, "front", "History");
    await history(page).click();
    assert.equal(await flat(causes(page)), `${CAUSE} and 2 more`);
    assert.equal(await causes(page).getByRole("link").count(), 0);
    await context.close();
  });

  it("names the causes of a change in the queue, and shows its references on demand", async () => {
    const { page, seen, context } = await open("LBOwnerTeam");
    await page.goto(`${world.site.url}/#/queue`);
    await rowOf(page, "front").getByText("Follows web: /cpu").waitFor();
    await rowOf(page, "front").getByText("After web", { exact: true }).waitFor();
    await page.waitForLoadState("networkidle");
    assert.ok(seen.requests.every((url) => !isSingle(url)), `${seen.requests}`);
    await openInQueue(page);
    assert.match(await flat(causes(page)), new RegExp(`^${CAUSE}`));
    const references = page.getByRole("list", { name: "References" });
    assert.match(await flat(references), /^\/related_vms\/0 VM \/ web In service Pending: the owner decides In place/);
    assert.equal(seen.requests.filter(isSingle).length, 1);
    await context.close();
  });

  it("names the causes in a plan", async () => {
    const { page, context } = await open("AwesomeConsumer");
    await page.goto(`${world.site.url}/#/edit?application=${application}&item=web`);
    await page.getByLabel("cpu").fill("16");
    const others = page.getByRole("list", { name: "Changes for dependent teams and references" });
    const planned = others.getByRole("listitem").filter({ hasText: "decided by LBOwnerTeam · a referenced item changes" });
    assert.match(await flat(planned), new RegExp(CAUSE));
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await open("LBOwnerTeam", { colorScheme, viewport: { width, height: 844 } });
        const { page } = opened;
        await openTab(page, "front", "References");
        await openValues(page);
        await assertClean(opened);
        await assertFits(page);
        await page.getByRole("tab", { name: "History" }).click();
        await history(page).click();
        await causes(page).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await openInQueue(page);
        await openValues(page);
        await assertClean(opened);
        await assertFits(page);
        await opened.context.close();
      });
    }
  }
});
