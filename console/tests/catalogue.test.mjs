import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { publishDefinitions } from "./definitions.mjs";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { startWorld } from "./world.mjs";

describe("catalogue and service", () => {
  let world;
  let ids;
  before(async () => {
    world = await startWorld();
    ids = await publishDefinitions(world.system);
  });
  after(() => world.stop());

  const open = async (team, options) => {
    const opened = await openPage(world, options);
    await signIn(opened.page, team);
    return opened;
  };
  const openService = async (team, id, tab, options) => {
    const opened = await open(team, options);
    await opened.page.evaluate((hash) => (location.hash = hash), `#/catalogue/${id}`);
    await opened.page.getByRole("tab", { name: tab }).click();
    return opened;
  };

  it("lists the services that a consumer may use, and searches in all texts", async () => {
    const { page, context } = await open("AwesomeConsumer");
    await page.getByRole("link", { name: "Catalogue" }).click();
    await page.getByRole("link", { name: "VM", exact: true }).waitFor();
    await page.getByRole("link", { name: "LoadBalancer", exact: true }).waitFor();
    await page.getByLabel("Search").fill("linux owner");
    await page.getByText("Services: 1 of ").waitFor();
    const cells = await page.getByRole("row").nth(1).getByRole("cell").allInnerTexts();
    assert.match(cells[0], /^Host\n+A machine with an address/);
    assert.match(cells.slice(1).join("|"), /VMOwnerTeam\|.*compute, linux\|.*By the owner\|.*In service/);
    await page.getByLabel("Search").fill("nothing like this");
    await page.getByText("No service matches the search.").waitFor();
    await context.close();
  });

  it("lists only the own services of an owner, with their health", async () => {
    const { page, context } = await open("VMOwnerTeam");
    await page.getByRole("link", { name: "Catalogue" }).click();
    await page.getByRole("link", { name: "Host", exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "LoadBalancer", exact: true }).count(), 0);
    assert.ok((await page.getByText("No healthcheck").count()) > 0);
    await context.close();
  });

  it("shows Markdown without scripts, styles and images of other origins", async () => {
    const { page, context, seen } = await openService("AwesomeConsumer", ids.host, "README");
    await page.getByRole("heading", { level: 3, name: "Host" }).waitFor();
    const link = page.getByRole("link", { name: "link", exact: true });
    assert.match(await link.getAttribute("rel"), /noopener/);
    assert.equal(await page.locator(".markdown").locator("script, img, [style], [href^=javascript]").count(), 0);
    await page.getByText("diagram").waitFor();
    await page.getByText("bold", { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => globalThis.stolen), undefined);
    assert.deepEqual(await page.evaluate(() => globalThis.violations), []);
    assert.deepEqual(seen.requests.filter((url) => url.includes("example.com")), []);
    await context.close();
  });

  it("explains the words of a definition at their fields", async () => {
    const { page, context } = await openService("AwesomeConsumer", ids.host, "Form");
    const about = async (name) => {
      const field = page.getByLabel(name);
      const id = await field.getAttribute("aria-describedby");
      return page.evaluate((ids) => ids.split(" ").map((one) => document.getElementById(one).innerText).join(" "), id);
    };
    await page.getByLabel("name (required)").waitFor();
    assert.match(await about("cpu (required)"), /From 1 to 64\./);
    assert.match(await about("image"), /Required from the approval on\./);
    assert.match(await about("region"), /Cannot change after creation\./);
    await page.getByText("The order of the elements has no meaning.").waitFor();
    assert.match(await about("tier"), /unless the declaration has one/);
    assert.match(await about("secret"), /Only the consumer sends/);
    assert.match(await about("ip"), /The service owner fills/);
    assert.match(await about("host_id"), /adopts an existing object/);
    assert.match(await about("machine"), /Name of an item of the service VM\./);
    assert.ok(await page.getByLabel("ip").evaluate((input) => input.readOnly));
    await page.getByText("Verified service").waitFor();
    await context.close();
  });

  it("explains replacements and confirmations", async () => {
    const { page, context } = await openService("AwesomeConsumer", 4, "Form");
    await page.getByText("Another value replaces the item: its owner removes it and creates it again.").waitFor();
    await page.getByText("Removals and replacements of items need a confirmation.").waitFor();
    await context.close();
  });

  it("edits values of every kind, and shows problems at their fields", async () => {
    const { page, context } = await openService("AwesomeConsumer", ids.host, "Form");
    const declaration = () => page.getByRole("region", { name: "Declaration" }).locator("code").innerText().then(JSON.parse);
    await page.getByLabel("name (required)").fill("h1");
    await page.getByLabel("cpu (required)").fill("65");
    await page.getByText("must be at most 64").waitFor();
    assert.equal(await page.getByLabel("cpu (required)").getAttribute("aria-invalid"), "true");
    await page.getByLabel("cpu (required)").fill("8");
    await page.getByText("must be at most 64").waitFor({ state: "detached" });
    await page.getByLabel("image").selectOption("debian");
    await page.getByLabel("backup").check();
    await page.getByLabel("size").fill("20");
    await page.getByRole("button", { name: "Add an entry to mounts" }).click();
    await page.getByLabel("path").fill("/a");
    await page.getByRole("button", { name: "Add an entry to mounts" }).click();
    await page.getByLabel("path").nth(1).fill("/b");
    await page.getByRole("button", { name: "Down entry 1" }).click();
    const expected = { name: "h1", cpu: 8, image: "debian", backup: true, disk: { size: 20 }, mounts: [{ path: "/b" }, { path: "/a" }] };
    assert.deepEqual(await declaration(), expected);
    await page.getByRole("button", { name: "Remove entry 1" }).click();
    await page.getByRole("button", { name: "Remove the value of backup" }).click();
    const { backup: _, ...rest } = expected;
    assert.deepEqual(await declaration(), { ...rest, mounts: [{ path: "/a" }] });
    await context.close();
  });

  it("offers JSON text for constructs without fields", async () => {
    const opened = await openService("VMOwnerTeam", ids.odd, "Form");
    const { page, context } = opened;
    const declaration = () => page.getByRole("region", { name: "Declaration" }).locator("code").innerText().then(JSON.parse);
    for (const name of ["left", "right", "pair", "free"]) await page.getByLabel(`${name} (JSON)`).waitFor();
    await page.getByLabel("pair (JSON)").fill("[1");
    await page.getByText("The text must be JSON.").waitFor();
    await page.getByLabel("pair (JSON)").fill('["a", 1]');
    await page.getByLabel("fixed").selectOption("7");
    await page.getByRole("button", { name: "Add a property" }).first().click();
    await page.getByLabel("label").first().fill("root");
    const value = await declaration();
    assert.deepEqual([value.pair, value.fixed, value.tree.label], [["a", 1], 7, "root"]);
    await assertClean(opened);
    await context.close();
  });

  it("compares two versions, and shows prices and configs", async () => {
    const { page, context } = await openService("VMOwnerTeam", ids.host, "Versions");
    await page.getByText("/properties/backup").waitFor();
    await page.getByLabel("From version").selectOption("2");
    await page.getByText("The versions are equal.").waitFor();
    await page.getByRole("tab", { name: "Prices" }).click();
    await page.getByText("For each change").waitFor();
    await page.getByRole("tab", { name: "Configs" }).click();
    await page.getByText('"pool": "a"').waitFor();
    await context.close();
  });

  it("changes the settings of an own service only", async () => {
    const { page, context } = await openService("VMOwnerTeam", ids.host, "Settings");
    await page.getByRole("button", { name: "Change settings" }).click();
    await page.getByLabel("Tags, separated by commas").fill("compute, new");
    await page.getByLabel("Changes need an approval").uncheck();
    await page.getByLabel("Claim required").check();
    await page.getByLabel("References to the items show").selectOption("Also the deployed version");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("compute, new", { exact: true }).waitFor();
    await page.getByText("Changes start as approved").waitFor();
    await page.getByText("Also the deployed version", { exact: true }).waitFor();
    await page.getByText("API keys complete and fail only with a claim", { exact: true }).waitFor();
    await context.close();
    const consumer = await openService("AwesomeConsumer", ids.host, "Settings");
    await consumer.page.getByText("compute, new", { exact: true }).waitFor();
    assert.equal(await consumer.page.getByRole("button", { name: "Change settings" }).count(), 0);
    await consumer.context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const options = { colorScheme, viewport: { width, height: 844 } };
        const opened = await open("VMOwnerTeam", options);
        const { page, context } = opened;
        await page.evaluate(() => (location.hash = "#/catalogue"));
        await page.getByRole("link", { name: "Host", exact: true }).click();
        for (const tab of ["Form", "Definition", "Versions", "Settings", "Prices", "Configs", "README"]) {
          await page.getByRole("tab", { name: tab }).click();
          await page.getByText("Loading…").waitFor({ state: "detached" });
          await assertClean(opened);
          await assertFits(page);
        }
        await page.getByRole("link", { name: "Catalogue" }).click();
        await page.getByRole("link", { name: "Host", exact: true }).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await context.close();
      });
    }
  }
});
