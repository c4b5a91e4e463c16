import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { declareLarge, measure } from "./large.mjs";
import { openPage, signIn } from "./pages.mjs";
import { startWorld } from "./world.mjs";

// The goals are 1,000 ms, 200 ms and 60 frames per second. A debug build beside other tests is slower.
const FIRST_VIEW_MS = 15_000;
const TASK_MS = 1000;
const MEDIAN_FRAME_MS = 50;

describe("large application", () => {
  let world;
  let id;
  before(async () => {
    world = await startWorld();
    id = await declareLarge(world.system);
  });
  after(() => world.stop());

  it("shows the list early, and scrolls it smoothly", async () => {
    const figures = await measure(world, id, "list");
    assert.ok(figures.firstViewMs <= FIRST_VIEW_MS, JSON.stringify(figures));
    assert.ok(figures.longestTaskMs <= TASK_MS, JSON.stringify(figures));
    assert.ok(figures.medianFrameMs <= MEDIAN_FRAME_MS, JSON.stringify(figures));
  });

  it("shows the graph early", async () => {
    const figures = await measure(world, id, "graph");
    assert.ok(figures.firstViewMs <= FIRST_VIEW_MS, JSON.stringify(figures));
    assert.ok(figures.longestTaskMs <= TASK_MS, JSON.stringify(figures));
  });

  it("draws services first, and items on request", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/applications/${id}`);
    await page.getByText("0 of 2000 items drawn.").waitFor();
    await page.getByText("1600 pending").first().waitFor();
    const lines = page.locator(".lines .reference text");
    await lines.waitFor();
    assert.equal(await lines.textContent(), "1600");
    await page.getByRole("button", { name: "Show 60 of 400 items" }).click();
    await page.getByText("60 of 2000 items drawn.").waitFor();
    await page.getByRole("link", { name: /^lb0/ }).click();
    // The four machines that it refers to appear.
    await page.getByText("64 of 2000 items drawn.").waitFor();
    await page.getByRole("link", { name: /^vm3 Referenced/ }).waitFor();
    await context.close();
  });

  it("keeps the list short in the document, with the numbers of all rows", async () => {
    const { page, context } = await openPage(world);
    await signIn(page, "AwesomeConsumer");
    await page.goto(`${world.site.url}/#/applications/${id}?view=list`);
    await page.getByText("2000 of 2000 items shown.").waitFor();
    const table = page.getByRole("table", { name: "Items" });
    assert.equal(await table.getAttribute("aria-rowcount"), "2003");
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await table.getByRole("link", { name: "vm1599", exact: true }).waitFor();
    const last = table.getByRole("row").last();
    assert.equal(await last.getAttribute("aria-rowindex"), "2003");
    assert.ok((await table.getByRole("row").count()) < 100);
    await context.close();
  });
});
