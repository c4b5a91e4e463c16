import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { startWorld } from "./world.mjs";

describe("sign-in", () => {
  let world;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  it("starts with at most six requests", async () => {
    const { page, seen, context } = await openPage(world);
    await page.getByRole("button", { name: "VMOwnerTeam" }).waitFor();
    assert.ok(seen.requests.length <= 6, `${seen.requests}`);
    await context.close();
  });

  it("accepts a key, and rejects a wrong one with the text of the API", async () => {
    const { page, context } = await openPage(world);
    await page.getByLabel("API key").fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("a valid API key or token is required").waitFor();
    await page.getByLabel("API key").fill("awesome-key");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Waits for service owners" }).waitFor();
    assert.equal(await page.title(), "Home – Dovetail");
    await context.close();
  });

  it("selects the role from the services of the team", async () => {
    for (const [team, role] of [["VMOwnerTeam", "Service owner"], ["AwesomeConsumer", "Consumer"]]) {
      const { page, context } = await openPage(world);
      await signIn(page, team);
      assert.ok(await page.getByRole("radio", { name: role }).isChecked());
      await context.close();
    }
  });

  it("keeps the key in memory unless the user asks for more", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "VMOwnerTeam");
    assert.equal(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]).includes("key\\\"")), false);
    await page.reload();
    await page.getByLabel("Keep me signed in").check();
    await signIn(page, "VMOwnerTeam");
    const requests = [];
    page.on("request", (sent) => requests.push(sent.url()));
    await page.reload();
    await page.getByText("No change waits for your team.").waitFor();
    assert.ok(requests.length <= 6, `${requests}`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("API key").waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    assert.deepEqual(await context.cookies(), []);
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    it(`has no findings in the ${colorScheme} theme, and fits 390 pixels`, async () => {
      const opened = await openPage(world, { colorScheme, viewport: { width: 390, height: 844 } });
      await opened.page.getByRole("button", { name: "VMOwnerTeam" }).waitFor();
      await assertClean(opened);
      await assertFits(opened.page);
      await opened.context.close();
    });
  }

  it("switches the theme, and keeps it", async () => {
    const { page, context } = await openPage(world, { colorScheme: "light" });
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByLabel("Theme").selectOption("dark");
    const dark = await background();
    assert.notEqual(light, dark);
    await page.reload();
    await page.getByLabel("API key").waitFor();
    assert.equal(await background(), dark);
    await context.close();
  });

  it("starts the tab order with the skip link", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "VMOwnerTeam");
    await page.getByRole("link", { name: "Skip to content" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.equal(await page.evaluate(() => location.hash), "");
    await context.close();
  });
});
