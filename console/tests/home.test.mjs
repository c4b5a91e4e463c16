import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { changesOf, decide, declare, startWorld } from "./world.mjs";

const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";
const VM = "vm-owner-key";

describe("home", () => {
  let world;
  before(async () => {
    world = await startWorld();
    const machines = [{ name: "web1", cpu: 2 }, { name: "web2", cpu: 64 }, { name: "web3" }, { name: LONG }];
    await declare(world.system, "Shop", machines, [{ name: "front", algorithm: "RoundRobin" }]);
    const changes = await changesOf(world.system, VM, "PENDING");
    const idOf = (name) => changes.find((change) => change.service_item.name === name).id;
    await decide(world.system, VM, idOf("web2"), { state: "REJECTED", log: "at most 16 CPUs" });
    await decide(world.system, VM, idOf("web3"), { state: "APPROVED" });
  });
  after(() => world.stop());

  it("shows a consumer the reasons first, then the changes of each owner", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    const blocked = page.getByRole("region", { name: "Waits for you" }).getByRole("listitem").first();
    await blocked.getByText("at most 16 CPUs").waitFor();
    const text = await blocked.innerText();
    assert.match(text, /^at most 16 CPUs/);
    for (const word of ["Rejected", "Create", "web2", "VMOwnerTeam", "/cpu", "64"]) assert.ok(text.includes(word), word);
    const owners = page.getByRole("region", { name: "Waits for service owners" });
    await owners.getByRole("heading", { name: "VMOwnerTeam" }).waitFor();
    await owners.getByText("2 to decide, 1 to carry out").waitFor();
    await owners.getByRole("heading", { name: "LBOwnerTeam" }).waitFor();
    assert.match(await rowOf(page, "web3").innerText(), /Approved/);
    const [change] = await changesOf(world.system, VM, "APPROVED");
    const link = rowOf(page, "web3").getByRole("link", { name: "web3" });
    assert.equal(await link.getAttribute("href"), `#/items/${change.service_item.id}`);
    const service = rowOf(page, "web3").getByRole("link", { name: "VM" });
    assert.equal(await service.getAttribute("href"), `#/catalogue/${change.service.id}`);
    await context.close();
  });

  it("shows an owner the queue by service, with links into it", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "VMOwnerTeam");
    const row = page.getByRole("row").filter({ hasText: "VM" });
    await row.waitFor();
    assert.deepEqual((await row.getByRole("cell").allInnerTexts()).slice(0, 6), ["VM", "2", "1", "3", "0", "0"]);
    assert.equal(await row.getByRole("link", { name: "VM", exact: true }).getAttribute("href"), "#/catalogue/1");
    await row.getByRole("link", { name: "2 to decide, VM" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
    await rowOf(page, "web1").waitFor();
    assert.equal(await page.getByText("web3", { exact: true }).count(), 0);
    assert.ok(await page.getByRole("radio", { name: "Pending" }).isChecked());
    await context.close();
  });

  it("switches the role, and explains a page of the other role", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    await page.getByText("Service owner", { exact: true }).click();
    await page.getByText("No change waits for your team.").waitFor();
    await page.getByRole("link", { name: "Queue" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
    await page.getByText("Consumer", { exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await page.goto(`${world.site.url}/#/queue`);
    await page.getByText("This page belongs to the role of service owner.").waitFor();
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const [team, item] of [["AwesomeConsumer", LONG], ["VMOwnerTeam", "Open the queue"]]) {
      for (const width of [1280, 390]) {
        it(`has no findings for ${team}, ${colorScheme}, ${width} pixels`, async () => {
          const opened = await openPage(world, { colorScheme, viewport: { width, height: 844 } });
          await signIn(opened.page, team);
          await opened.page.getByText(item, { exact: true }).waitFor();
          await assertClean(opened);
          await assertFits(opened.page);
          await opened.context.close();
        });
      }
    }
  }
});
