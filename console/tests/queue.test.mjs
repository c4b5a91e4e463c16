import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { changesOf, claim, decide, declare, finishAll, request, startWorld } from "./world.mjs";

const VM = "vm-owner-key";
/** A worker with the longest name. */
const LONG = "Produktionsumgebung-Hauptrechenzentrum-Frankfurt-Arbeitsknoten-7";

describe("queue", () => {
  let world;
  let number = 0;
  let names;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  // Each test has its own application with three machines, so that tests do not depend on one another.
  beforeEach(async () => {
    await finishAll(world.system, VM);
    number++;
    names = [1, 2, 3].map((index) => `vm${number}-${index}`);
    await declare(world.system, `App${number}`, names.map((name) => ({ name, cpu: 2 })));
  });

  async function openQueue(options) {
    const opened = await openPage(world, options);
    await signIn(opened.page, "VMOwnerTeam");
    await opened.page.getByRole("link", { name: "Queue", exact: true }).click();
    await rowOf(opened.page, names[2]).waitFor();
    return opened;
  }

  async function statesOf(states) {
    const changes = await changesOf(world.system, VM, states);
    return Object.fromEntries(changes.map((change) => [change.service_item.name, change.state]));
  }

  const dialog = (page) => page.getByRole("dialog");
  const results = (page) => page.getByRole("region", { name: "Results" });

  it("approves and completes by mouse, with a deployed item", async () => {
    const opened = await openQueue();
    const { page } = opened;
    await page.getByRole("checkbox", { name: "Select all changes" }).check();
    await page.getByRole("button", { name: "Approve (3)" }).click();
    await dialog(page).getByRole("button", { name: "Approve" }).click();
    await results(page).getByText("3 changes approved, 0 errors").waitFor();
    assert.deepEqual(Object.values(await statesOf("APPROVED")), ["APPROVED", "APPROVED", "APPROVED"]);

    await rowOf(page, names[0]).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Complete (1)" }).click();
    await dialog(page).getByLabel("Deployed item").fill("[1]");
    await dialog(page).getByRole("button", { name: "Complete" }).click();
    await dialog(page).getByText("The deployed item must be a JSON object.").waitFor();
    await dialog(page).getByLabel("Deployed item").fill('{\n  "ip": oops}');
    await dialog(page).getByRole("button", { name: "Complete" }).click();
    await dialog(page).getByText("The deployed item must be valid JSON: line 2, column 9.").waitFor();
    assert.deepEqual(await page.evaluate(() => [document.activeElement.id, document.activeElement.selectionStart]), ["deployed", 10]);
    await dialog(page).getByLabel("Deployed item").fill('{"ip": "10.0.0.7"}');
    await dialog(page).getByRole("button", { name: "Complete" }).click();
    await results(page).getByText("1 change completed, 0 errors").waitFor();
    await page.getByRole("table").getByText(names[0], { exact: true }).waitFor({ state: "detached" });
    const completed = await changesOf(world.system, VM, "COMPLETED");
    const change = completed.find(({ service_item }) => service_item.name === names[0]);
    assert.deepEqual(change.service_item.deployed_item, { ip: "10.0.0.7" });
    await assertClean(opened);
    await opened.context.close();
  });

  it("approves, rejects and completes by keyboard", async () => {
    const { page, context } = await openQueue();
    const focused = () => page.evaluate(() => document.activeElement.closest("tr")?.innerText ?? "");
    await page.keyboard.press("j");
    assert.ok((await focused()).includes(names[0]));
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("k");
    await page.keyboard.press("x");
    await page.keyboard.press("a");
    await dialog(page).waitFor();
    await page.keyboard.press("Enter");
    await results(page).getByText("2 changes approved, 0 errors").waitFor();
    assert.ok((await focused()).includes(names[0]), "the focus returns to the row");

    await page.keyboard.press("c");
    await dialog(page).waitFor();
    await page.keyboard.press("Enter");
    await results(page).getByText("1 change completed, 0 errors").waitFor();
    await page.getByRole("table").getByText(names[0], { exact: true }).waitFor({ state: "detached" });

    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await page.keyboard.type("at most 16 CPUs");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await results(page).getByText("1 change rejected, 0 errors").waitFor();
    const [rejected] = await changesOf(world.system, VM, "REJECTED");
    assert.equal(rejected.log, "at most 16 CPUs");
    assert.deepEqual(await statesOf("APPROVED"), { [names[1]]: "APPROVED" });
    await decide(world.system, VM, rejected.id, { state: "CLOSED" });
    await context.close();
  });

  it("shows the result of each change, with the error of the API", async () => {
    const { page, context } = await openQueue();
    await page.getByRole("checkbox", { name: "Select all changes" }).check();
    await page.getByRole("button", { name: "Approve (3)" }).click();
    await dialog(page).waitFor();
    const [first] = await changesOf(world.system, VM, "PENDING");
    await decide(world.system, VM, first.id, { state: "REJECTED", log: "another owner was faster" });
    await dialog(page).getByRole("button", { name: "Approve" }).click();
    await results(page).getByText("2 changes approved, 1 error").waitFor();
    const failed = results(page).getByRole("listitem").first();
    assert.match(await failed.innerText(), /cannot switch from state REJECTED to APPROVED/);
    await page.getByRole("table").getByText(first.service_item.name, { exact: true }).waitFor({ state: "detached" });
    await decide(world.system, VM, first.id, { state: "CLOSED" });
    await context.close();
  });

  it("decides the fitting part of a selection, and keeps the rest selected", async () => {
    const [first] = await changesOf(world.system, VM, "PENDING");
    await decide(world.system, VM, first.id, { state: "APPROVED" });
    const { page, context } = await openQueue();
    await page.getByRole("checkbox", { name: "Select all changes" }).check();
    await page.getByRole("button", { name: "Reject (2)" }).click();
    await dialog(page).getByLabel("Reason for the consumer").fill("no capacity");
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await results(page).getByText("2 changes rejected, 0 errors").waitFor();
    await page.getByRole("button", { name: "Complete (1)" }).waitFor();
    for (const { id } of await changesOf(world.system, VM, "REJECTED")) {
      await decide(world.system, VM, id, { state: "CLOSED" });
    }
    await context.close();
  });

  it("sends at most four decisions at a time", async () => {
    const many = Array.from({ length: 12 }, (_, index) => ({ name: `many${index}`, cpu: 1 }));
    await declare(world.system, "Many", many);
    const { page, context } = await openQueue();
    let open = 0;
    let most = 0;
    await page.route("**/change_instances/*/", async (route) => {
      most = Math.max(most, ++open);
      const response = await route.fetch();
      open--;
      await route.fulfill({ response });
    });
    await page.getByRole("checkbox", { name: "Select all changes" }).check();
    await page.getByRole("button", { name: "Approve (15)" }).click();
    await dialog(page).getByRole("button", { name: "Approve" }).click();
    await results(page).getByText("15 changes approved, 0 errors").waitFor();
    assert.ok(most > 1 && most <= 4, `${most} at a time`);
    await context.close();
  });

  it("shows differences, and filters by state and service", async () => {
    await finishAll(world.system, VM);
    const machines = [{ name: names[0], cpu: 4, memory: 8 }, { name: names[1] }, { name: names[2], cpu: 3 }];
    await declare(world.system, `App${number}`, machines);
    const { page, context } = await openQueue();
    const text = async (name) => (await rowOf(page, name).getByRole("list", { name: "Differences" }).innerText()).replace(/\s+/g, " ");
    assert.equal(await text(names[0]), "~ changed /cpu 2 → to 4 + added /memory 8");
    assert.equal(await text(names[1]), "− removed /cpu 2");
    await page.getByText("Approved", { exact: true }).click();
    await page.getByText("No change fits these filters.").waitFor();
    await page.getByText("Pending", { exact: true }).first().click();
    await page.getByRole("combobox", { name: "Service" }).selectOption("VM");
    await rowOf(page, names[0]).waitFor();
    assert.match(page.url(), /#\/queue\?state=PENDING&service=1$/);
    await context.close();
  });

  it("keeps both of two filters that follow at once", async () => {
    const { page, context } = await openQueue();
    await page.getByText("Approved", { exact: true }).click();
    await page.getByText("No change fits these filters.").waitFor();
    // No event of the browser comes between the two, as after two quick keys.
    await page.evaluate(async () => {
      const labelled = (text) => [...document.querySelectorAll(".filters label")].find((label) => label.innerText.startsWith(text)).control;
      labelled("Pending").click();
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      const service = labelled("Service");
      service.value = "1";
      service.dispatchEvent(new Event("change", { bubbles: true }));
    });
    await rowOf(page, names[0]).waitFor();
    assert.match(page.url(), /#\/queue\?state=PENDING&service=1$/);
    await context.close();
  });

  it("fails, retries and closes changes", async () => {
    for (const { id } of await changesOf(world.system, VM, "PENDING")) await decide(world.system, VM, id, { state: "APPROVED" });
    const { page, context } = await openQueue();
    await rowOf(page, names[0]).getByRole("checkbox").check();
    await rowOf(page, names[1]).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Fail (2)" }).click();
    await dialog(page).getByLabel("Reason for the consumer").fill("the rack has no power");
    await dialog(page).getByRole("button", { name: "Fail" }).click();
    await results(page).getByText("2 changes failed, 0 errors").waitFor();

    await page.getByText("Failed", { exact: true }).first().click();
    await rowOf(page, names[0]).getByText("the rack has no power").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("t");
    await dialog(page).getByText("The system opens a new attempt").waitFor();
    await page.keyboard.press("Enter");
    await results(page).getByText("1 change opened again, 0 errors").waitFor();
    await page.getByRole("table").getByText(names[0], { exact: true }).waitFor({ state: "detached" });
    await page.keyboard.press("j");
    await page.keyboard.press("l");
    await dialog(page).waitFor();
    await page.keyboard.press("Enter");
    await results(page).getByText("1 change closed, 0 errors").waitFor();
    await page.getByText("No change fits these filters.").waitFor();

    assert.deepEqual(await statesOf("ERRORED"), {});
    const retried = (await changesOf(world.system, VM, "APPROVED")).find((change) => change.kind === "RETRY");
    assert.deepEqual([retried.service_item.name, retried.attempt], [names[0], 2]);
    await context.close();
  });

  it("keeps the input of a decision that the API rejected", async () => {
    for (const { id } of await changesOf(world.system, VM, "PENDING")) await decide(world.system, VM, id, { state: "APPROVED" });
    const { page, context } = await openQueue();
    await rowOf(page, names[0]).getByRole("checkbox").check();
    await page.route("**/change_instances/*/", (route) =>
      route.fulfill({
        status: 400,
        json: { code: "invalid_for_state", detail: "1 problem, see problems", problems: [{ pointer: "/ip", rule: "schema", detail: "must be a string" }] },
      }), { times: 1 });
    await page.keyboard.press("c");
    await dialog(page).getByLabel("Deployed item").fill('{"ip": 7}');
    await dialog(page).getByRole("button", { name: "Complete" }).click();
    const failed = results(page).getByRole("listitem").first();
    await failed.getByText("/ip").waitFor();
    assert.match(await failed.innerText(), /must be a string/);
    await page.getByRole("button", { name: "Complete (1)" }).click();
    assert.deepEqual(JSON.parse(await dialog(page).getByLabel("Deployed item").inputValue()), { ip: 7 });
    await dialog(page).getByLabel("Deployed item").fill('{"ip": "10.0.0.8"}');
    await dialog(page).getByRole("button", { name: "Complete" }).click();
    await results(page).getByText("1 change completed, 0 errors").waitFor();
    await context.close();
  });

  it("filters by application, from a link too", async () => {
    await declare(world.system, "Filtered", [{ name: "elsewhere", cpu: 1 }]);
    const { page, context } = await openQueue();
    await page.getByRole("combobox", { name: "Application" }).selectOption("Filtered");
    await page.getByRole("table").getByText(names[0], { exact: true }).waitFor({ state: "detached" });
    await rowOf(page, "elsewhere").waitFor();
    assert.match(page.url(), /application=\d+$/);
    await page.getByText("Rejected", { exact: true }).first().click();
    await page.getByText("No change fits these filters.").waitFor();
    const link = page.url();
    await page.goto("about:blank");
    await page.goto(world.site.url);
    await signIn(page, "VMOwnerTeam");
    await page.goto(link);
    await page.getByText("No change fits these filters.").waitFor();
    const chosen = page.getByRole("combobox", { name: "Application" });
    await chosen.locator("option:checked", { hasText: "Filtered" }).waitFor({ state: "attached" });
    await context.close();
  });

  it("shows what a change waits for, and filters by readiness", async () => {
    await publishMount();
    const machines = [...names, `vm${number}-4`];
    const opened = await openQueue();
    const { page } = opened;
    await submitMount(`App${number}`, machines);
    const mount = page.getByRole("row").filter({ has: page.getByRole("checkbox", { name: "Select data, Mount" }) });
    const machine = (name) => page.getByRole("checkbox", { name: `Select ${name}, VM` });
    const choose = (option) => page.getByRole("combobox", { name: "Readiness" }).selectOption(option);
    await mount.getByText(`After ${machines.slice(0, 3).join(", ")} and 1 more`).waitFor();
    assert.match(await mount.getByRole("link", { name: machines[1] }).getAttribute("href"), /#\/items\/\d+$/);
    await assertClean(opened);
    await choose("Ready");
    await mount.waitFor({ state: "detached" });
    await machine(names[0]).waitFor();
    await choose("Waiting for others");
    await machine(names[0]).waitFor({ state: "detached" });
    await mount.getByText("After vm").waitFor();
    assert.match(page.url(), /#\/queue\?ready=waiting$/);
    await finishAll(world.system, VM);
    await opened.context.close();
  });

  function publishMount() {
    const machine = { type: "string", format: "reference", service_reference: "VM" };
    const properties = { name: { type: "string" }, machines: { type: "array", items: machine } };
    const definition = { title: "Mount", type: "object", required: ["name"], properties };
    return request(world.system, VM, "POST", "orcabase/serviceowner/services/", definition);
  }

  function submitMount(application, machines) {
    const services = { VM: machines.map((name) => ({ name, cpu: 2 })), Mount: [{ name: "data", machines }] };
    const declaration = { AwesomeConsumer: { [application]: { services } } };
    return request(world.system, "awesome-key", "PATCH", "orcabase/consumer/submissions/submit/", declaration);
  }

  it("shows who works on a change, and filters by claims", async () => {
    const [claimed] = await claim(world.system, VM, { worker: "w-7", limit: 1, state: "PENDING" });
    const { name } = claimed.service_item;
    const free = names.find((other) => other !== name);
    const { page, context } = await openQueue();
    const choose = (option) => page.getByRole("combobox", { name: "Claimed" }).selectOption(option);
    const leaves = (other) => page.getByRole("table").getByText(other, { exact: true }).waitFor({ state: "detached" });
    await rowOf(page, name).getByText(/^w-7 until \d/).waitFor();
    assert.equal(await rowOf(page, free).getByText("until").count(), 0);
    await choose("Free");
    await leaves(name);
    await rowOf(page, free).waitFor();
    await choose("Claimed");
    await leaves(free);
    await rowOf(page, name).waitFor();
    await choose("By w-7");
    await rowOf(page, name).waitFor();
    assert.match(page.url(), /#\/queue\?claimed=by\+w-7$/);
    await page.getByText("Approved", { exact: true }).click();
    await page.getByText("No change fits these filters.").waitFor();
    await page.getByRole("combobox", { name: "Claimed" }).locator("option:checked", { hasText: "By w-7" }).waitFor({ state: "attached" });
    await context.close();
  });

  it("names the worker of a claimed change in the dialog, and decides without a claim", async () => {
    for (const { id } of await changesOf(world.system, VM, "PENDING")) await decide(world.system, VM, id, { state: "APPROVED" });
    const claimed = await claim(world.system, VM, { worker: "w-7", limit: 2 });
    const opened = await openQueue();
    const { page } = opened;
    await page.getByRole("checkbox", { name: "Select all changes" }).check();
    await page.getByRole("button", { name: "Complete (3)" }).click();
    await dialog(page).getByText(/^w-7 works on 2 of these changes, until \d.* at the latest\.$/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("checkbox", { name: "Select all changes" }).uncheck();
    await rowOf(page, claimed[0].service_item.name).getByRole("checkbox").check();
    await page.getByRole("button", { name: "Complete (1)" }).click();
    await dialog(page).getByText(/^w-7 works on this change until \d.*\.$/).waitFor();
    await assertClean(opened);
    await dialog(page).getByRole("button", { name: "Complete" }).click();
    await results(page).getByText("1 change completed, 0 errors").waitFor();
    await opened.context.close();
  });

  it("shows no note in the dialog of an approval", async () => {
    await claim(world.system, VM, { worker: "w-7", state: "PENDING" });
    const { page, context } = await openQueue();
    await page.getByRole("checkbox", { name: "Select all changes" }).check();
    await page.getByRole("button", { name: "Reject (3)" }).click();
    await dialog(page).getByText("w-7 works on 3 of these changes").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Approve (3)" }).click();
    await dialog(page).getByText("Text for the consumer").waitFor();
    assert.equal(await dialog(page).getByText("w-7").count(), 0);
    await context.close();
  });

  it("names the worker in the error of a missing claim", async () => {
    const { page, context } = await openQueue();
    await rowOf(page, names[0]).getByRole("checkbox").check();
    const until = new Date(Date.now() + 300_000).toISOString();
    await page.route("**/change_instances/*/", (route) =>
      route.fulfill({
        status: 400,
        json: { code: "not_claimed", detail: "claim must be 5, the newest number", claim: { number: 5, worker: "w-8", until } },
      }), { times: 1 });
    await page.getByRole("button", { name: "Approve (1)" }).click();
    await dialog(page).getByRole("button", { name: "Approve" }).click();
    await results(page).getByText(/claim must be 5, the newest number\. w-8 works on this change until \d/).waitFor();
    await context.close();
  });

  it("shows changes of dependent teams, and filters them", async () => {
    const front = { name: `front${number}`, algorithm: "RoundRobin" };
    await declare(world.system, "Balanced", [], [front]);
    const { page, context } = await openPage(world);
    await signIn(page, "NPOwnerTeam");
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await rowOf(page, front.name).getByText("Your team depends on this service.").waitFor();
    await page.getByRole("combobox", { name: "Owner" }).selectOption("Your team");
    await page.getByText("No change fits these filters.").waitFor();
    await page.getByRole("combobox", { name: "Owner" }).selectOption("Other teams");
    await rowOf(page, front.name).waitFor();
    await context.close();
  });

  it("explains to a reader why no decision is possible", async () => {
    const key = await request(world.system, VM, "POST", "account/api_keys/", { name: `reader${number}`, role: "READ_ONLY" });
    const opened = await openPage(world);
    const { page } = opened;
    await page.getByLabel("API key").fill(key.key);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Open the queue" }).click();
    await rowOf(page, names[0]).waitFor();
    await page.getByText("You can only read: your role in this team is READ_ONLY.").waitFor();
    assert.equal(await page.getByRole("checkbox").count(), 0);
    assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
    await page.keyboard.press("a");
    assert.equal(await dialog(page).count(), 0);
    await assertClean(opened);
    await opened.context.close();
  });

  it("explains its keys, and switches them off", async () => {
    const { page, context } = await openQueue();
    await page.keyboard.press("?");
    await dialog(page).getByText("Next change").waitFor();
    await dialog(page).getByLabel("Use these keys").uncheck();
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.keyboard.press("?");
    assert.equal(await dialog(page).count(), 0);
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 640, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        await claim(world.system, VM, { worker: LONG, limit: 2, state: "PENDING" });
        const opened = await openQueue({ colorScheme, viewport: { width, height: 844 } });
        await opened.page.keyboard.press("j");
        await opened.page.keyboard.press("x");
        await assertClean(opened);
        await assertFits(opened.page);
        await opened.page.keyboard.press("r");
        await dialog(opened.page).waitFor();
        await assertClean(opened);
        await opened.context.close();
      });
    }
  }
});
