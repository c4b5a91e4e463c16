import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { HOST, publishDefinitions } from "./definitions.mjs";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { declare, request, startWorld } from "./world.mjs";

const VM = "vm-owner-key";

describe("publish", () => {
  let world;
  let ids;
  before(async () => {
    world = await startWorld();
    ids = await publishDefinitions(world.system);
    await declare(world.system, "Shop", [{ name: "small", cpu: 1 }, { name: "large", cpu: 8 }]);
  });
  after(() => world.stop());

  const open = async (address, options) => {
    const opened = await openPage(world, options);
    await signIn(opened.page, "VMOwnerTeam");
    await opened.page.evaluate((hash) => (location.hash = hash), address);
    await opened.page.getByRole("textbox", { name: "Definition" }).waitFor();
    return opened;
  };
  const write = async (page, definition) => {
    const text = typeof definition === "string" ? definition : JSON.stringify(definition);
    await page.getByRole("textbox", { name: "Definition" }).fill(text);
  };
  const button = (page) => page.getByRole("button", { name: /^Publish/ });

  it("lists the items that would break, and publishes exactly the checked definition", async () => {
    const services = await request(world.system, VM, "GET", "orcabase/serviceowner/services/?name=VM");
    const { id, schema } = services.results[0];
    const { page, context } = await open(`#/publish?service=${id}`);
    const strict = structuredClone(schema.schema);
    strict.properties.cpu.minimum = 4;
    await write(page, strict);
    const items = page.getByRole("region", { name: "AwesomeConsumer" });
    await items.getByRole("link", { name: "small" }).waitFor();
    assert.match(await items.innerText(), /Shop \/ small\n+\/cpu .*minimum/);
    assert.equal(await items.getByRole("link", { name: "large" }).count(), 0);
    await page.getByText("would reject 1 of").waitFor();
    await page.getByRole("button", { name: "Publish anyway" }).click();
    await page.getByText(`VM has version ${schema.version + 1} of its definition.`).waitFor();
    const published = await request(world.system, VM, "GET", `orcabase/serviceowner/services/${id}/`);
    assert.deepEqual(published.schema, { version: schema.version + 1, schema: strict });
    await context.close();
  });

  it("shows errors with their pointers, and publishes nothing unchecked", async () => {
    const { page, context } = await open(`#/publish?service=${ids.host}`);
    await page.getByText("The check is up to date.").waitFor();
    assert.ok(await button(page).isEnabled());
    await write(page, { ...HOST, properties: { ...HOST.properties, cpu: { type: "number", minimum: "1" } } });
    assert.ok(await button(page).isDisabled());
    await page.getByRole("alert").getByText("/properties/cpu/minimum").waitFor();
    assert.ok(await button(page).isDisabled());
    await write(page, "title: [");
    await page.getByText(/^Line 1: /).waitFor();
    assert.ok(await button(page).isDisabled());
    await context.close();
  });

  it("publishes a new service from YAML", async () => {
    const { page, context } = await open("#/publish");
    await write(page, "title: Disk\ntype: object\nrequired: [name]\nproperties:\n  name: {type: string}\n");
    await page.getByText("The definition is valid. No item is declared.").waitFor();
    await button(page).click();
    await page.getByText("Disk has version 1 of its definition.").waitFor();
    await page.getByRole("link", { name: "Open the service" }).click();
    await page.getByRole("heading", { level: 1, name: "Disk" }).waitFor();
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await open(`#/publish?service=${ids.host}`, { colorScheme, viewport: { width, height: 844 } });
        await opened.page.getByText("The check is up to date.").waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await opened.context.close();
      });
    }
  }
});
