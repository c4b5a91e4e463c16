import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { request, startWorld } from "./world.mjs";

const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";
const VM = "vm-owner-key";
const KEY = /dvt_[0-9a-f]{64}_[0-9a-f]{8}/;

describe("team", () => {
  let world;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  async function openTeam(tab, { team = "VMOwnerTeam", key, ...options } = {}) {
    const opened = await openPage(world, options);
    await (key ? signInWith(opened.page, key) : signIn(opened.page, team));
    await openTab(opened.page, tab);
    return opened;
  }

  async function signInWith(page, key) {
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  }

  async function openTab(page, tab) {
    await page.getByRole("link", { name: "Team", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Team" }).waitFor();
    await page.getByRole("tab", { name: tab }).click();
  }

  const dialog = (page) => page.getByRole("dialog");
  const press = (page, name) => page.getByRole("button", { name }).click();
  const submit = (page, name) => dialog(page).getByRole("button", { name, exact: true }).click();
  const row = (page, table, name) =>
    page.getByRole("table", { name: table }).getByRole("row").filter({ has: page.getByText(name, { exact: true }) });

  /** Creates a key in the console, and returns its secret. */
  async function createKey(page, name, role) {
    await press(page, "Create API key");
    await dialog(page).getByLabel("Name").fill(name);
    await dialog(page).getByLabel("Role").selectOption(role);
    await submit(page, "Create");
    const shown = page.getByRole("dialog", { name: `API key ${name}`, exact: true });
    const key = (await shown.locator("code").innerText()).trim();
    await submit(page, "Close");
    await shown.getByText("You have not copied it.").waitFor();
    await submit(page, "Close");
    await shown.waitFor({ state: "detached" });
    return key;
  }

  it("creates a key, shows it once, and the key signs in until its revocation", async () => {
    const { page, context } = await openTeam("API keys");
    await row(page, "API keys", "VMOwnerTeam-1").getByText("In use here").waitFor();
    const key = await createKey(page, "pipeline", "GENERAL");
    assert.match(key, KEY);
    assert.equal((await page.content()).includes(key), false);
    const storage = await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
    assert.equal(storage.includes(key), false);
    assert.match(await row(page, "API keys", "pipeline").innerText(), /GENERAL[\s\S]*VMOwnerTeam-1 \(Api Key\)[\s\S]*No end/);
    assert.equal(await row(page, "API keys", "pipeline").getByText("In use here").count(), 0);

    const other = await openPage(world);
    await signInWith(other.page, key);
    await other.context.close();

    await press(page, "Revoke: pipeline");
    assert.equal(await dialog(page).getByText("You are signed in with this key.").count(), 0);
    await submit(page, "Revoke");
    await row(page, "API keys", "pipeline").waitFor({ state: "detached" });
    const { results } = await request(world.system, VM, "GET", "account/api_keys/");
    assert.deepEqual(results.map(({ name }) => name), ["VMOwnerTeam-1"]);
    await context.close();
  });

  it("explains a name in use, and rotates a key with an overlap", async () => {
    const { page, context } = await openTeam("API keys");
    await press(page, "Create API key");
    await dialog(page).getByLabel("Name").fill("pipeline");
    await submit(page, "Create");
    await dialog(page).getByRole("alert").waitFor();
    await submit(page, "Cancel");
    await createKey(page, "worker", "GENERAL");
    await press(page, "Rotate: worker");
    await dialog(page).getByLabel("The old key stays valid for").selectOption("1 hour");
    await submit(page, "Rotate");
    assert.match(await page.getByRole("dialog", { name: "API key worker", exact: true }).locator("code").innerText(), KEY);
    await submit(page, "Close");
    await submit(page, "Close");
    await row(page, "API keys", "worker").getByText("Rotated").waitFor();
    assert.equal(await row(page, "API keys", "worker").count(), 2);
    assert.equal(await page.getByRole("button", { name: "Rotate: worker" }).count(), 1);
    await context.close();
  });

  it("warns before the revocation of its own key and of the last administrator", async () => {
    const { page, context } = await openTeam("API keys", { team: "LBOwnerTeam" });
    await press(page, "Revoke: LBOwnerTeam-1");
    await dialog(page).getByText("You are signed in with this key.").waitFor();
    await dialog(page).getByText("No other valid key of the team has the role ADMIN.").waitFor();
    await submit(page, "Cancel");
    await createKey(page, "second", "ADMIN");
    await row(page, "API keys", "LBOwnerTeam-1").getByText("In use here").waitFor();
    await press(page, "Revoke: second");
    assert.equal(await dialog(page).locator(".note").count(), 0);
    await submit(page, "Cancel");
    await page.goto(world.site.url);
    await signIn(page, "LBOwnerTeam");
    await openTab(page, "API keys");
    await press(page, "Revoke: second");
    await dialog(page).getByText("Perhaps you are signed in with this key.").waitFor();
    await context.close();
  });

  it("adds, changes and removes a member", async () => {
    const { page, context } = await openTeam("Members");
    await page.getByText("The team has no members.").waitFor();
    await press(page, "Add member");
    await dialog(page).getByLabel("Subject").fill("auth0|jane");
    await dialog(page).getByLabel("Name").fill("Jane Doe");
    await dialog(page).getByLabel("Role").selectOption("READ_ONLY");
    await submit(page, "Add");
    assert.match(await row(page, "Members", "Jane Doe").innerText(), /auth0\|jane[\s\S]*READ_ONLY/);
    await press(page, "Change: Jane Doe");
    await dialog(page).getByLabel("Role").selectOption("ADMIN");
    await submit(page, "Save");
    await row(page, "Members", "Jane Doe").filter({ hasText: "ADMIN" }).waitFor();
    await press(page, "Remove: Jane Doe");
    await submit(page, "Remove");
    await page.getByText("The team has no members.").waitFor();
    await context.close();
  });

  it("changes a setting", async () => {
    const { page, context } = await openTeam("Settings");
    const box = page.getByLabel("Ask for a confirmation before a whole application is removed");
    assert.ok(await box.isChecked());
    assert.ok(await page.getByRole("button", { name: "Save" }).isDisabled());
    await box.uncheck();
    await press(page, "Save");
    await page.getByText("Saved.", { exact: true }).waitFor();
    assert.equal((await request(world.system, VM, "GET", "account/teams/1/")).confirm_removals, false);
    await context.close();
  });

  it("lists and filters the audit log, and reads older entries", async () => {
    const { page, context } = await openTeam("Audit log");
    const table = page.getByRole("table", { name: "Audit log" });
    const newest = table.getByRole("row").nth(1);
    await newest.getByText("Team changed").waitFor();
    assert.match(await newest.innerText(), /removals need no confirmation[\s\S]*VMOwnerTeam-1 \(Api Key\)/);
    await page.getByLabel("Show").selectOption("Members");
    assert.deepEqual(await table.getByRole("row").locator(".col-event strong").allInnerTexts(), [
      "Member removed",
      "Member changed",
      "Member added",
    ]);
    await page.getByLabel("Show").selectOption("Services");
    await table.getByRole("link", { name: "VM", exact: true }).waitFor();
    for (let number = 0; number < 60; number++) {
      await request(world.system, VM, "PATCH", "account/teams/1/", { confirm_removals: number % 2 === 0 });
    }
    await openHomeAndBack(page);
    await page.getByText("50 entries, older ones exist").waitFor();
    await press(page, "Show older entries");
    await table.getByText("Team created").waitFor();
    assert.equal(await page.getByRole("button", { name: "Show older entries" }).count(), 0);
    await context.close();
  });

  async function openHomeAndBack(page) {
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
    await openTab(page, "Audit log");
  }

  it("explains the missing role to a caller without it", async () => {
    const { key } = await request(world.system, VM, "POST", "account/api_keys/", { name: "reader", role: "READ_ONLY" });
    const { page, context } = await openTeam("API keys", { key });
    await page.getByText("API keys need the role ADMIN").waitFor();
    await page.getByRole("tab", { name: "Members" }).click();
    await page.getByText("Members need the role ADMIN").waitFor();
    await page.getByRole("tab", { name: "Audit log" }).click();
    await page.getByText("The audit log needs the role ADMIN").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    await context.close();
  });

  describe("appearance", () => {
    before(async () => {
      await request(world.system, VM, "POST", "account/members/", { subject: `auth0|${LONG}`, name: LONG, role: "GENERAL" });
      await request(world.system, VM, "POST", "account/api_keys/", { name: LONG, role: "GENERAL", expires: "2099-01-01" });
    });

    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 390]) {
        it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
          const opened = await openTeam("Settings", { colorScheme, viewport: { width, height: 844 } });
          const { page } = opened;
          await page.getByRole("button", { name: "Save" }).waitFor();
          await check(opened);
          await page.getByRole("tab", { name: "API keys" }).click();
          await row(page, "API keys", LONG).waitFor();
          await check(opened);
          await press(page, "Rotate: VMOwnerTeam-1");
          await check(opened);
          await page.keyboard.press("Escape");
          await page.getByRole("tab", { name: "Members" }).click();
          await row(page, "Members", LONG).waitFor();
          await check(opened);
          await page.getByRole("tab", { name: "Audit log" }).click();
          await page.getByRole("table", { name: "Audit log" }).waitFor();
          await check(opened);
          await opened.context.close();
        });
      }
    }

    async function check(opened) {
      await assertClean(opened);
      await assertFits(opened.page);
    }
  });
});
