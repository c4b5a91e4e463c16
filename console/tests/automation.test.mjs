import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { startReceiver } from "./receiver.mjs";
import { declare, finishAll, request, startWorld } from "./world.mjs";

const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";
const VM = "vm-owner-key";

describe("automation", () => {
  let world;
  let receiver;
  before(async () => {
    world = await startWorld();
    receiver = await startReceiver();
    await declare(world.system, "Shop", [{ name: "web1", cpu: 2 }, { name: "web2", cpu: 2 }]);
    await finishAll(world.system, VM);
  });
  after(async () => {
    receiver.close();
    await world.stop();
  });

  async function openAutomation(team, { hasClock, ...options } = {}) {
    const opened = await openPage(world, options);
    if (hasClock) await opened.page.clock.install();
    await signIn(opened.page, team);
    await opened.page.getByRole("link", { name: "Automation" }).click();
    await opened.page.getByRole("heading", { level: 1, name: "Automation" }).waitFor();
    return opened;
  }

  const dialog = (page) => page.getByRole("dialog");
  const card = (page, name) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });
  const press = (page, name) => page.getByRole("button", { name }).click();
  const submit = (page, name) => dialog(page).getByRole("button", { name, exact: true }).click();

  it("creates a webhook, shows its secret once, and tests it", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await press(page, "Create webhook");
    await dialog(page).getByLabel("Service").selectOption("VM");
    await dialog(page).getByLabel("URL of the receiver").fill(`${receiver.url}/hook`);
    await dialog(page).getByLabel("Deliver when").selectOption("A change becomes approved");
    await dialog(page).getByLabel("Name").fill("pipeline");
    await dialog(page).getByLabel("Authorization header").fill("Bearer of.my.own");
    await submit(page, "Create");
    await page.getByRole("dialog", { name: "Secret of pipeline", exact: true }).waitFor();
    const secret = await dialog(page).locator("code").first().innerText();
    await submit(page, "Copy secret");
    await dialog(page).getByText("Copied.").waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), secret);
    await submit(page, "Close");
    await dialog(page).waitFor({ state: "detached" });
    assert.equal((await page.content()).includes(secret), false);

    await press(page, "Send a test: pipeline");
    await card(page, "pipeline").getByText("The test was delivered. The receiver answered with status 204.").waitFor();
    await card(page, "pipeline").getByText("Delivered", { exact: true }).waitFor();
    const { path, headers, body } = receiver.received.at(-1);
    const seen = [path, headers.authorization, headers["dovetail-event-type"]];
    assert.deepEqual(seen, ["/hook", "Bearer of.my.own", "Webhook.Triggered.v1"]);
    const [time, signature] = headers["dovetail-signature"].split(",");
    const signed = `${time.slice(2)}.${body}`;
    assert.equal(signature, `v1=${createHmac("sha256", secret).update(signed).digest("hex")}`);
    await context.close();
  });

  it("shows a failed test, and keeps the credentials at a change", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    receiver.answer = () => ({ status: 500 });
    await press(page, "Send a test: pipeline");
    await card(page, "pipeline").getByText("The test failed. The receiver answered with status 500.").waitFor();
    await card(page, "pipeline").getByText("Not delivered").waitFor();
    receiver.answer = () => ({ status: 204 });
    await press(page, "Change: pipeline");
    await dialog(page).getByText("A value is stored.").waitFor();
    await dialog(page).getByLabel("Timeout").fill("31");
    await submit(page, "Save");
    assert.ok(await dialog(page).getByLabel("Timeout").evaluate((input) => !input.validity.valid));
    await dialog(page).getByLabel("Timeout").fill("5");
    await dialog(page).getByLabel("Active").uncheck();
    await submit(page, "Save");
    await card(page, "pipeline").getByText("Paused").waitFor();
    await press(page, "Send a test: pipeline");
    await card(page, "pipeline").getByText("The test was delivered.").waitFor();
    assert.equal(receiver.received.at(-1).headers.authorization, "Bearer of.my.own");
    await press(page, "Change: pipeline");
    await dialog(page).getByLabel("Remove the stored value").check();
    await submit(page, "Save");
    await card(page, "pipeline").getByText("None", { exact: true }).waitFor();
    await context.close();
  });

  it("reminds an owner of waiting work, and no consumer", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    await press(page, "Change: pipeline");
    const field = dialog(page).getByLabel("Remind after");
    for (const seconds of ["299", "86401"]) {
      await field.fill(seconds);
      await submit(page, "Save");
      assert.ok(await field.evaluate((input) => !input.validity.valid), seconds);
    }
    await field.fill("300");
    await submit(page, "Save");
    await card(page, "pipeline").getByText("300 s", { exact: true }).waitFor();
    await press(page, "Change: pipeline");
    assert.equal(await field.inputValue(), "300");
    await dialog(page).getByLabel("Deliver when").selectOption("A change fails");
    assert.ok(await field.isDisabled());
    await submit(page, "Save");
    await card(page, "pipeline").getByText("300 s", { exact: true }).waitFor({ state: "detached" });
    await context.close();
    const consumer = await openAutomation("AwesomeConsumer");
    await press(consumer.page, "Create webhook");
    await dialog(consumer.page).getByLabel("Timeout").waitFor();
    assert.equal(await dialog(consumer.page).getByLabel("Remind after").count(), 0);
    await consumer.context.close();
  });

  it("shows the error of a rejected form, and keeps the input", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    await press(page, "Change: pipeline");
    await dialog(page).getByLabel("URL of the receiver").fill("https://user:secret@example.com/");
    await submit(page, "Save");
    await dialog(page).getByRole("alert").getByText("/target_url").waitFor();
    assert.equal(await dialog(page).getByLabel("URL of the receiver").inputValue(), "https://user:secret@example.com/");
    await context.close();
  });

  it("rotates the secret, and asks before it discards the new one", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    await press(page, "Rotate secret: pipeline");
    await submit(page, "Rotate");
    await page.getByRole("dialog", { name: "Secret of pipeline", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await dialog(page).getByText("You have not copied it.").waitFor();
    await submit(page, "Close");
    await dialog(page).waitFor({ state: "detached" });
    await context.close();
  });

  it("lists failed deliveries, and deletes a webhook after a confirmation", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    await press(page, "Failed deliveries of pipeline");
    await page.getByText("No delivery failed for good in the last two weeks.").waitFor();
    const failure = { event: "e1", change_instance: 42, state: "APPROVED", attempts: 8, at: "2026-01-01T00:00:00.000000Z" };
    const results = [{ ...failure, status: null, error: "timeout" }];
    await page.route("**/failures/**", (route) => route.fulfill({ json: { count: null, next: null, previous: null, results } }));
    await press(page, "Failed deliveries of pipeline");
    await press(page, "Failed deliveries of pipeline");
    const row = page.getByRole("table", { name: "Failed deliveries of pipeline" }).getByRole("row").nth(1);
    for (const text of ["42", "Approved", "8", "The receiver did not answer in time."]) assert.ok((await row.innerText()).includes(text), text);
    await press(page, "Delete: pipeline");
    await submit(page, "Cancel");
    await card(page, "pipeline").waitFor();
    await press(page, "Delete: pipeline");
    await submit(page, "Delete");
    await page.getByText("Your team has no webhook in this role.").waitFor();
    await context.close();
  });

  it("creates a consumer's webhook for all services, which delivers a decision", async () => {
    const { page, context } = await openAutomation("AwesomeConsumer", { hasClock: true });
    assert.equal(await page.getByRole("tab", { name: "Healthchecks" }).count(), 0);
    await press(page, "Create webhook");
    await dialog(page).getByLabel("URL of the receiver").fill(`${receiver.url}/results`);
    await submit(page, "Create");
    await dialog(page).getByText("whsec_").waitFor();
    await submit(page, "Copy secret for libraries");
    await submit(page, "Close");
    await card(page, "All services").getByText("every new change").waitFor();
    await declare(world.system, "Shop", [{ name: "web1", cpu: 4 }, { name: "web2", cpu: 2 }]);
    await receiver.waitFor("/results");
    await page.clock.runFor(15_000);
    await card(page, "All services").getByText("Delivered", { exact: true }).waitFor();
    await finishAll(world.system, VM);
    await context.close();
  });

  it("creates a healthcheck, runs it, and shows the result", async () => {
    receiver.answer = (body) => {
      const items = (JSON.parse(body).service_items ?? []).map(({ id }, index) => ({ id, status: index === 0 ? "HEALTHY" : "UNHEALTHY" }));
      return { status: 200, json: { service_items: items } };
    };
    const { page, context } = await openAutomation("VMOwnerTeam");
    await page.getByRole("tab", { name: "Healthchecks" }).click();
    await page.getByText("No service of your team has a healthcheck.").waitFor();
    await press(page, "Create healthcheck");
    await dialog(page).getByLabel("Service").selectOption("VM");
    await dialog(page).getByLabel("URL").fill(`${receiver.url}/health`);
    await dialog(page).getByLabel("Authorization header").fill("Bearer health");
    await dialog(page).getByLabel("Run on a schedule").check();
    await dialog(page).getByLabel("Crontab in UTC").fill("0 3 * *");
    await submit(page, "Create");
    await dialog(page).getByText("must have five fields").waitFor();
    await dialog(page).getByLabel("Crontab in UTC").fill("0 3 * * *");
    await submit(page, "Create");
    await card(page, "VM").getByText("No run yet").waitFor();
    await press(page, "Run now: VM");
    await card(page, "VM").getByText("Requested; starts within a minute").waitFor();
    await context.close();
  });

  it("shows runs of a healthcheck, changes and deletes it", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    const run = { began: "2026-01-01T00:00:00.000000Z", ended: "2026-01-01T00:00:01.000000Z", checked: 2, healthy: 1, faults: 0 };
    const runs = [{ ...run, status: null, error: null }, { ...run, status: 502, error: "status" }];
    await page.route("**/healthchecks/?*", async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      await route.fulfill({ json: { ...json, results: json.results.map((row) => ({ ...row, last_run: runs[0] })) } });
    });
    await page.getByRole("tab", { name: "Healthchecks" }).click();
    await card(page, "VM").getByText("1 of 2 items healthy, 0 faults").waitFor();
    await card(page, "VM").getByText("Not all healthy").waitFor();
    runs.shift();
    await press(page, "Change: VM");
    await dialog(page).getByLabel("Run on a schedule").uncheck();
    await submit(page, "Save");
    await card(page, "VM").getByText("Run failed").waitFor();
    await card(page, "VM").getByText("The receiver answered with status 502.").waitFor();
    await card(page, "VM").getByText("UTC, switched off").waitFor();
    const [stored] = (await request(world.system, VM, "GET", "external/serviceowner/healthchecks/")).results;
    assert.deepEqual([stored.authorization, stored.schedule_enabled, stored.schedule_crontab], ["********", false, "0 3 * * *"]);
    await press(page, "Delete: VM");
    await submit(page, "Delete");
    await page.getByText("No service of your team has a healthcheck.").waitFor();
    await context.close();
  });

  it("publishes a message, which the consumer reads", async () => {
    const { page, context } = await openAutomation("VMOwnerTeam");
    await page.getByRole("tab", { name: "Messages" }).click();
    await press(page, "Create message");
    await dialog(page).getByLabel("Text for the consumers").fill("VMs rest on Sunday");
    await dialog(page).getByLabel("VM", { exact: true }).check();
    await dialog(page).getByLabel("End").fill("2099-01-31T12:00");
    await submit(page, "Create");
    await page.getByText("VMs rest on Sunday").waitFor();
    await press(page, "Change: VMs rest on Sunday");
    assert.equal(await dialog(page).getByLabel("End").inputValue(), "2099-01-31T12:00");
    await dialog(page).getByLabel("Text for the consumers").fill("VMs rest on Monday");
    await submit(page, "Save");
    await page.getByText("VMs rest on Monday").waitFor();
    const consumer = await openAutomation("AwesomeConsumer");
    await consumer.page.getByRole("tab", { name: "Messages" }).click();
    const message = consumer.page.getByRole("listitem").filter({ hasText: "VMs rest on Monday" });
    await message.getByText("VMOwnerTeam").waitFor();
    await message.getByRole("link", { name: "VM", exact: true }).waitFor();
    assert.equal(await consumer.page.getByRole("button", { name: "Create message" }).count(), 0);
    await consumer.context.close();
    await press(page, "Delete: VMs rest on Monday");
    await submit(page, "Delete");
    await page.getByText("There is no message.").waitFor();
    await context.close();
  });

  it("offers a reader no changes, and explains why", async () => {
    const body = { name: "reader", role: "READ_ONLY" };
    const { key } = await request(world.system, "awesome-key", "POST", "account/api_keys/", body);
    const { page, context } = await openPage(world);
    await page.getByLabel("API key").fill(key);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("link", { name: "Automation" }).click();
    await page.getByText("Creating and changing webhooks needs the role ADMIN. You have the role READ_ONLY.").waitFor();
    await card(page, "All services").waitFor();
    for (const name of [/^Create/, /^Send a test/, /^Change/, /^Rotate/, /^Delete/]) {
      assert.equal(await page.getByRole("button", { name }).count(), 0, `${name}`);
    }
    await context.close();
  });

  it("polls at most 12 times a minute", async () => {
    const { page, seen, context } = await openAutomation("AwesomeConsumer", { hasClock: true });
    await card(page, "All services").waitFor();
    await page.waitForLoadState("networkidle");
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls.length} requests`);
    await context.close();
  });

  describe("appearance", () => {
    before(async () => {
      const hook = { service: 1, name: LONG, description: "Starts the pipeline", target_url: `${receiver.url}/${"path/".repeat(30)}` };
      await request(world.system, VM, "POST", "external/serviceowner/webhooks/", hook);
      await request(world.system, VM, "POST", "external/serviceowner/healthchecks/", { service: 1, target_url: receiver.url });
      await request(world.system, VM, "POST", "orcaexternal/serviceowner/messages/", { description: `${LONG} rests`, scopes: [1] });
    });

    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 390]) {
        it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
          const opened = await openAutomation("VMOwnerTeam", { colorScheme, viewport: { width, height: 844 } });
          const { page } = opened;
          await card(page, LONG).waitFor();
          await check(opened);
          await press(page, "Create webhook");
          await check(opened);
          await page.keyboard.press("Escape");
          await press(page, `Rotate secret: ${LONG}`);
          await submit(page, "Rotate");
          await dialog(page).getByText("whsec_").waitFor();
          await check(opened);
          await submit(page, "Copy secret");
          await submit(page, "Close");
          await page.getByRole("tab", { name: "Healthchecks" }).click();
          await card(page, "VM").waitFor();
          await check(opened);
          await press(page, "Change: VM");
          await check(opened);
          await page.keyboard.press("Escape");
          await page.getByRole("tab", { name: "Messages" }).click();
          await page.getByText(`${LONG} rests`).waitFor();
          await check(opened);
          await press(page, "Create message");
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
