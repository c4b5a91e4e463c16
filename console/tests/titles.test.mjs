import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runnerImport } from "vite";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { changesOf, decide, declare, request, startWorld } from "./world.mjs";

const OWNER = "vm-owner-key";
const HOSTILE = '<img src="x" onerror="globalThis.stolen = true">';
const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";
const NODE = {
  title: "Node, core",
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" }, title: { type: "string" }, city: { type: "string", readOnly: true } },
};
const PORT = {
  title: "Port",
  type: "object",
  required: ["name", "node"],
  properties: {
    name: { type: "string" },
    text: { type: "string" },
    node: { type: "string", format: "reference", service_reference: "Node, core" },
    title: { type: "string", readOnly: true, "x-derived": "{text} in {node.city}" },
  },
};

const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const withDocuments = ({ requests }) => requests.filter((url) => url.includes("document=true"));
const ofServices = ({ requests }) => requests.filter((url) => /\/services\/\?.*name=/.test(url));

describe("titles in definitions", () => {
  let hasDerivedTitle;
  let titleOf;
  before(async () => {
    const load = async (file) => (await runnerImport(`./src/${file}`, { logLevel: "error" })).module;
    ({ hasDerivedTitle } = await load("lib/definition.ts"));
    ({ titleOf } = await load("api/titles.ts"));
  });

  it("are those with x-derived", () => {
    assert.equal(hasDerivedTitle(PORT), true);
    for (const definition of [NODE, { title: "VM" }, { properties: { title: true } }, { properties: [] }]) {
      assert.equal(hasDerivedTitle(definition), false, JSON.stringify(definition));
    }
  });

  it("are texts of the document", () => {
    assert.equal(titleOf({ title: "a" }), "a");
    for (const document of [null, undefined, {}, { title: "" }, { title: 7 }]) assert.equal(titleOf(document), undefined);
  });
});

describe("titles", () => {
  let world;
  let application;
  let plain;
  let ids;
  before(async () => {
    world = await startWorld();
    await request(world.system, OWNER, "POST", "orcabase/serviceowner/services/", NODE);
    await request(world.system, OWNER, "POST", "orcabase/serviceowner/services/", PORT);
    await declareNet("An ordinary property");
    await declare(world.system, "Plain", [{ name: "web", cpu: 1 }]);
    const { results } = await request(world.system, "awesome-key", "GET", "orcabase/consumer/service_items/?limit=100");
    ids = Object.fromEntries(results.map(({ name, id }) => [name, id]));
    const idOf = (name) => results.find((item) => item.name === name).application.id;
    [application, plain] = [idOf("n1"), idOf("web")];
    await completeNode("Berlin");
  });
  after(() => world.stop());

  /** Declares a node, and ports whose titles contain the city of the node. */
  function declareNet(title) {
    const ports = [["p1", "et-0"], ["p2", HOSTILE], [LONG, LONG]].map(([name, text]) => ({ name, text, node: "n1" }));
    const services = { [NODE.title]: [{ name: "n1", title }], Port: ports };
    const declaration = { AwesomeConsumer: { Net: { services } } };
    return request(world.system, "awesome-key", "PATCH", "orcabase/consumer/submissions/submit/", declaration);
  }

  /** Completes the pending change of the node with its city. */
  async function completeNode(city) {
    const { id } = (await changesOf(world.system, OWNER, "PENDING")).find((change) => change.service_item.name === "n1");
    await decide(world.system, OWNER, id, { state: "APPROVED" });
    await decide(world.system, OWNER, id, { state: "COMPLETED", deployed_item: { city } });
  }

  async function open(target, team = "AwesomeConsumer", options) {
    const opened = await openPage(world, options);
    await signIn(opened.page, team);
    await opened.page.waitForLoadState("networkidle");
    opened.seen.requests.length = 0;
    await opened.page.goto(`${world.site.url}/#/${target}`);
    return opened;
  }

  const node = (page, name) => page.locator(".node").filter({ has: page.getByText(name, { exact: true }) });

  it("stand in the list in front of the names, and the text filter finds them", async () => {
    const { page, seen, context } = await open(`applications/${application}?view=list`);
    await page.getByText("et-0 in Berlin", { exact: true }).waitFor();
    assert.equal(await flat(rowOf(page, "p1").getByRole("cell").first()), "et-0 in Berlin p1");
    assert.equal(await flat(rowOf(page, "p2").getByRole("cell").first()), `${HOSTILE} in Berlin p2`);
    assert.equal(await flat(rowOf(page, "n1").getByRole("cell").first()), "n1");
    assert.equal(await page.evaluate(() => globalThis.stolen), undefined);
    await page.waitForLoadState("networkidle");
    assert.equal(ofServices(seen).length, 1);
    assert.equal(withDocuments(seen).length, 1);
    await page.getByLabel("Name contains").fill("ET-0 in");
    await page.getByText("1 of 4 items shown.").waitFor();
    await context.close();
  });

  it("stand in the graph, in the panel, and with the open changes", async () => {
    const { page, context } = await open(`applications/${application}`);
    await page.getByText("et-0 in Berlin", { exact: true }).waitFor();
    assert.match(await flat(node(page, "p1")), /^et-0 in Berlin p1 /);
    assert.equal(await node(page, "p1").getAttribute("title"), "et-0 in Berlin (p1)");
    assert.match(await flat(node(page, "n1")), /^n1 /);
    await node(page, "n1").click();
    const panel = page.getByRole("complementary", { name: "Selected item" });
    await panel.getByRole("button", { name: "et-0 in Berlin p1" }).click();
    await panel.getByRole("heading", { name: "et-0 in Berlin p1" }).waitFor();
    await panel.getByRole("button", { name: "n1", exact: true }).waitFor();
    await page.getByRole("group", { name: "View" }).getByText("Open changes").click();
    await page.getByRole("table", { name: "Open changes" }).getByRole("link", { name: "et-0 in Berlin p1" }).waitFor();
    await context.close();
  });

  it("stand in the heading of an item, and a declared title does not", async () => {
    const { page, seen, context } = await open(`items/${ids.p1}`);
    await page.getByRole("heading", { level: 1, name: "et-0 in Berlin p1", exact: true }).waitFor();
    assert.equal(await page.title(), "p1 – Dovetail");
    await page.waitForLoadState("networkidle");
    assert.equal(ofServices(seen).length, 1);
    await page.goto(`${world.site.url}/#/items/${ids.n1}`);
    await page.getByRole("heading", { level: 1, name: "n1", exact: true }).waitFor();
    await page.waitForLoadState("networkidle");
    await page.getByRole("heading", { level: 1, name: "n1", exact: true }).waitFor();
    await context.close();
  });

  it("stand in the queue and in the dialog of a decision", async () => {
    const opened = await open("queue", "VMOwnerTeam");
    const { page, seen } = opened;
    await rowOf(page, "p1").getByRole("link", { name: "et-0 in Berlin p1" }).waitFor();
    assert.match(await flat(rowOf(page, "web")), /VM \/ web/);
    await page.waitForLoadState("networkidle");
    assert.deepEqual([ofServices(seen).length, withDocuments(seen).length], [1, 1]);
    await page.getByText("Approved", { exact: true }).click();
    await page.getByText("No change fits these filters.").waitFor();
    await page.getByText("All open", { exact: true }).click();
    await rowOf(page, "p1").getByText("et-0 in Berlin", { exact: true }).waitFor();
    assert.deepEqual([ofServices(seen).length, withDocuments(seen).length], [1, 1]);
    await rowOf(page, "p1").getByRole("checkbox", { name: "Select p1, Port, Net" }).check();
    await page.getByRole("button", { name: "Approve (1)" }).click();
    assert.equal(await flat(page.getByRole("dialog").getByRole("listitem")), "Net / Port / et-0 in Berlin p1");
    await assertClean(opened);
    await opened.context.close();
  });

  it("cost one request without a derived title", async () => {
    const { page, seen, context } = await open(`applications/${plain}?view=list`);
    await rowOf(page, "web").waitFor();
    await page.waitForLoadState("networkidle");
    assert.deepEqual([ofServices(seen).length, withDocuments(seen).length], [1, 0]);
    await context.close();
  });

  it("leave the names in place after an error", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    const answered = page.waitForResponse(/document=true/);
    await page.route(/document=true/, (route) => route.fulfill({ status: 500, json: {} }));
    await page.goto(`${world.site.url}/#/applications/${application}?view=list`);
    await answered;
    await page.waitForLoadState("networkidle");
    assert.equal(await flat(rowOf(page, "p1").getByRole("cell").first()), "p1");
    assert.equal(await page.getByRole("alert").count(), 0);
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`have no findings, ${colorScheme}, ${width} pixels`, async () => {
        const options = { colorScheme, viewport: { width, height: 844 } };
        const opened = await open(`applications/${application}?item=${ids[LONG]}`, "AwesomeConsumer", options);
        const { page } = opened;
        const title = `${LONG} in Berlin`;
        await page.getByRole("heading", { level: 2, name: title }).waitFor();
        const box = await node(page, LONG).boundingBox();
        const name = await node(page, LONG).locator(".hint").boundingBox();
        assert.ok(name.width > 0 && name.x + name.width <= box.x + box.width, JSON.stringify([box, name]));
        await assertClean(opened);
        await assertFits(page);
        await page.goto(`${world.site.url}/#/applications/${application}?view=list`);
        await page.getByRole("table").getByText(title, { exact: true }).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await page.goto(`${world.site.url}/#/items/${ids[LONG]}`);
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await opened.context.close();
      });
    }
  }

  it("follow a change of the referenced item, within 12 requests a minute of an idle page", async () => {
    const { page, seen, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/applications/${application}?view=list`);
    await page.getByText("et-0 in Berlin", { exact: true }).waitFor();
    await page.waitForLoadState("networkidle");
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls}`);
    assert.deepEqual([ofServices(seen).length, withDocuments(seen).length], [0, 0]);
    await declareNet("Another one");
    await completeNode("Hamburg");
    await page.clock.runFor(8_000);
    await page.getByText("et-0 in Hamburg", { exact: true }).waitFor();
    assert.deepEqual([ofServices(seen).length, withDocuments(seen).length], [0, 1]);
    await context.close();
  });

  it("are new after a page opens again", async () => {
    const { page, context } = await open(`items/${ids.p1}`);
    await page.getByRole("heading", { level: 1, name: "et-0 in Hamburg p1", exact: true }).waitFor();
    await context.close();
  });
});
