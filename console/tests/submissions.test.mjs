import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, rowOf, signIn } from "./pages.mjs";
import { changesOf, decide, finishAll, request, startWorld } from "./world.mjs";

const VM = "vm-owner-key";
const LONG = "Produktionsumgebungsdatenbankverbindungspool-Hauptrechenzentrum-Frankfurt";

describe("submissions", () => {
  let world;
  let first;
  let second;
  before(async () => {
    world = await startWorld();
    first = await submit("message=Two+machines&commit_id=51e53e4", [{ name: "web1", cpu: 2 }, { name: "web2", cpu: 2 }]);
    await finishAll(world.system, VM);
    second = await submit("message=More+power", [{ name: "web1", cpu: 8 }, { name: LONG, cpu: 64 }]);
    const large = (await changesOf(world.system, VM, "PENDING")).find((change) => change.service_item.name === LONG);
    await decide(world.system, VM, large.id, { state: "REJECTED", log: "at most 16 CPUs" });
  });
  after(() => world.stop());

  function submit(query, VM, application = "Shop") {
    const declaration = { AwesomeConsumer: { [application]: { services: { VM } } } };
    return request(world.system, "awesome-key", "PATCH", `orcabase/consumer/submissions/submit/?${query}`, declaration);
  }

  async function open(path, options) {
    const opened = await openPage(world, options);
    await signIn(opened.page, "AwesomeConsumer");
    await opened.page.goto(`${world.site.url}/#/${path}`);
    return opened;
  }

  const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
  const progress = (page) => page.getByRole("region", { name: "Progress" });

  it("lists submissions, the newest first, with their changes by state", async () => {
    const { page, context } = await open("");
    await page.getByRole("link", { name: "Submissions" }).click();
    await page.getByText("Two machines").waitFor();
    const rows = await page.getByRole("row").allInnerTexts();
    const [newest, oldest] = rows.slice(1).map((row) => row.replace(/\s+/g, " "));
    for (const text of ["More power", "AwesomeConsumer-1", "Settled", "All 3 changes exist", "2 Pending", "1 Rejected"]) {
      assert.ok(newest.includes(text), `${text} in ${newest}`);
    }
    for (const text of ["Two machines", "51e53e4", "2 Completed"]) assert.ok(oldest.includes(text), `${text} in ${oldest}`);
    await page.getByRole("row").filter({ hasText: "More power" }).getByRole("link").click();
    await page.getByRole("heading", { level: 1, name: `Submission ${second.id}` }).waitFor();
    await context.close();
  });

  it("pages through older submissions", async () => {
    for (let cpu = 1; cpu <= 20; cpu++) await submit(`message=Step+${cpu}`, [{ name: "step", cpu }], "Steps");
    const { page, context } = await open("submissions");
    await page.getByText("Step 20", { exact: true }).waitFor();
    assert.equal(await page.getByText("Two machines").count(), 0);
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByText("Two machines").waitFor();
    assert.ok(await page.getByRole("button", { name: "Older" }).isDisabled());
    await page.getByRole("button", { name: "Newer" }).click();
    await page.getByText("Step 20", { exact: true }).waitFor();
    await context.close();
  });

  it("shows the changes with reasons, links and differences on demand", async () => {
    const { page, context } = await open(`submissions/${second.id}`);
    await rowOf(page, LONG).getByText("at most 16 CPUs").waitFor();
    assert.match(await flat(progress(page)), /2 Pending.* 1 Rejected.* 2 changes wait for service owners, 1 change waits for your team\./);
    await page.getByRole("button", { name: "Show differences of web1" }).click();
    const differences = rowOf(page, "web1").getByRole("list", { name: "Differences" });
    assert.equal(await flat(differences), "~ changed /cpu 2 → to 8");
    const link = rowOf(page, "web1").getByRole("link", { name: "web1", exact: true });
    assert.match(await link.getAttribute("href"), /#\/items\/\d+$/);
    await page.getByRole("combobox", { name: "State" }).selectOption({ label: "Rejected (1)" });
    await rowOf(page, "web1").waitFor({ state: "detached" });
    assert.equal(await rowOf(page, LONG).count(), 1);
    await context.close();
  });

  it("compares the declaration with an earlier one", async () => {
    const { page, context } = await open(`submissions/${second.id}`);
    await page.getByRole("tab", { name: "Compare" }).click();
    const list = page.getByRole("list", { name: "Differences between the declarations" });
    await list.waitFor();
    assert.match(await page.getByRole("combobox", { name: "Earlier submission" }).innerText(), /Two machines/);
    const texts = (await list.locator("> li").allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
    assert.ok(texts.some((text) => /^Modify Shop \/ VM \/ web1 ~ changed \/cpu 2 → to 8/.test(text)), `${texts}`);
    assert.ok(texts.some((text) => /^Delete Shop \/ VM \/ web2 − removed \/cpu 2/.test(text)), `${texts}`);
    assert.ok(texts.some((text) => text.startsWith(`Create Shop / VM / ${LONG} + added /cpu 64`)), `${texts}`);
    await context.close();
  });

  it("previews a revert, sends exactly its plan, and opens the new submission", async () => {
    const target = await submit("", [{ name: "a", cpu: 1 }, { name: "b", cpu: 1 }], "Lab");
    await finishAll(world.system, VM);
    await submit("", [{ name: "a", cpu: 2 }, { name: "c", cpu: 1 }], "Lab");
    const { page, context } = await open(`submissions/${target.id}`);
    await page.getByRole("tab", { name: "Revert" }).click();
    const planned = page.getByRole("list", { name: "Planned changes" });
    await planned.waitFor();
    assert.match(await flat(planned.getByRole("listitem").filter({ hasText: "/ a" }).first()), /\/cpu 2 → to 1/);

    // A decision between preview and confirmation makes the plan invalid.
    const changes = await changesOf(world.system, VM, "PENDING");
    const modify = changes.find(({ service_item: { name } }) => name === "a");
    await page.getByRole("button", { name: "Revert…" }).click();
    const dialog = page.getByRole("dialog");
    await decide(world.system, VM, modify.id, { state: "APPROVED" });
    await dialog.getByRole("button", { name: "Revert", exact: true }).click();
    await dialog.getByRole("alert").waitFor();
    const held = new Promise((resolve) => page.route("**/revert/validate/**", resolve, { times: 1 }));
    await dialog.getByRole("button", { name: "Preview again" }).click();
    await dialog.waitFor({ state: "detached" });
    // Until the new preview is there, the outdated one cannot be confirmed.
    const preview = await held;
    assert.ok(await page.getByRole("button", { name: "Revert…" }).isDisabled());
    await preview.continue();

    await page.getByRole("button", { name: "Revert…" }).click();
    assert.match(await flat(dialog), /0 to create, 2 to modify, 1 to delete\. It closes 2 open changes\./);
    await dialog.getByLabel("Message").fill("Back to two machines");
    const sent = page.waitForRequest((sent) => sent.url().includes("/revert/?message="));
    await dialog.getByRole("button", { name: "Revert", exact: true }).click();
    assert.match((await sent).headers()["if-match"], /^".+"$/);
    await page.getByText("Back to two machines").waitFor();
    assert.notEqual(await page.getByRole("heading", { level: 1 }).innerText(), `Submission ${target.id}`);
    await rowOf(page, "c").getByText("Delete").waitFor();
    await page.getByRole("tab", { name: "Revert" }).click();
    await page.getByText("A revert changes nothing.").waitFor();
    await context.close();
  });

  it("follows the progress within 12 requests a minute, until every change is final", async () => {
    await finishAll(world.system, VM);
    const { id } = await submit("", [{ name: "live", cpu: 1 }], "Live");
    const { page, seen, context } = await openPage(world);
    await page.clock.install();
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/submissions/${id}`);
    await progress(page).getByText("1 change waits for service owners.").waitFor();
    await page.waitForLoadState("networkidle");
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    const polls = seen.requests.filter((url) => url.includes("/v1/"));
    assert.ok(polls.length > 0 && polls.length <= 12, `${polls.length} requests`);
    assert.ok(polls.every((url) => url.includes("light=true")), `${polls}`);
    await finishAll(world.system, VM);
    await page.clock.runFor(12_000);
    await progress(page).getByText("Every change is complete.").waitFor();
    await page.waitForLoadState("networkidle");
    seen.requests.length = 0;
    await page.clock.runFor(60_000);
    assert.deepEqual(seen.requests, []);
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await open("submissions", { colorScheme, viewport: { width, height: 844 } });
        const { page } = opened;
        await page.getByRole("row").nth(1).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await page.goto(`${world.site.url}/#/submissions/${second.id}`);
        await rowOf(page, LONG).getByRole("button").click();
        await rowOf(page, LONG).getByRole("list", { name: "Differences" }).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await page.getByRole("tab", { name: "Compare" }).click();
        await page.getByRole("list", { name: "Differences between the declarations" }).waitFor();
        await assertClean(opened);
        await assertFits(page);
        await page.goto(`${world.site.url}/#/submissions/${first.id}`);
        await page.getByRole("tab", { name: "Revert" }).click();
        await page.getByRole("button", { name: "Revert…" }).click();
        await page.getByRole("dialog").waitFor();
        await assertClean(opened);
        await assertFits(page);
        await opened.context.close();
      });
    }
  }
});
