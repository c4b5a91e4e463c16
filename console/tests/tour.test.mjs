import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { assertClean, assertFits, openPage, signIn } from "./pages.mjs";
import { startWorld } from "./world.mjs";

describe("tour", () => {
  let world;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const note = (page) => page.getByRole("complementary", { name: "Tour" });
  const dialog = (page) => page.getByRole("dialog");

  async function openTour(options) {
    const opened = await openPage(world, { hasTour: true, ...options });
    await signIn(opened.page, "AwesomeConsumer");
    return opened;
  }

  it("is offered once, and does not cover the page", async () => {
    const { page, context } = await openTour();
    await note(page).getByText("A short tour has four steps.").waitFor();
    await page.getByText("Service owner", { exact: true }).click();
    await page.getByRole("link", { name: "Queue", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
    assert.equal(await note(page).count(), 0);
    await page.getByRole("link", { name: "Home", exact: true }).click();
    await note(page).getByRole("button", { name: "No, thanks" }).click();
    await note(page).waitFor({ state: "detached" });
    await page.reload();
    await signIn(page, "AwesomeConsumer");
    assert.equal(await note(page).count(), 0);
    await context.close();
  });

  it("has four steps by keyboard, with links to their pages", async () => {
    const { page, context } = await openTour();
    await note(page).getByRole("button", { name: "Start the tour" }).focus();
    await page.keyboard.press("Enter");
    const titles = ["See the tree", "Edit and plan", "Decide in the queue", "Look back"];
    const links = ["#/applications", "#/edit", "#/queue", "#/submissions"];
    for (const [index, title] of titles.entries()) {
      await dialog(page).getByRole("heading", { name: title }).waitFor();
      assert.equal(await dialog(page).getByRole("link").getAttribute("href"), links[index]);
      await page.keyboard.press("Enter");
    }
    await dialog(page).waitFor({ state: "detached" });
    assert.equal(await note(page).count(), 0);
    await context.close();
  });

  it("opens the page of a step in its role, and continues there", async () => {
    const { page, context } = await openTour();
    await note(page).getByRole("button", { name: "Start the tour" }).click();
    for (const name of ["Next", "Next"]) await dialog(page).getByRole("button", { name }).click();
    await dialog(page).getByRole("link", { name: "Open the queue" }).click();
    await page.getByRole("heading", { level: 1, name: "Queue" }).waitFor();
    assert.ok(await page.getByRole("radio", { name: "Service owner" }).isChecked());
    await note(page).getByText("Tour: step 4 of 4 is next.").waitFor();
    await note(page).getByRole("button", { name: "Continue the tour" }).click();
    await dialog(page).getByRole("heading", { name: "Look back" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await note(page).getByRole("button", { name: "End the tour" }).click();
    await note(page).waitFor({ state: "detached" });
    await context.close();
  });

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      it(`has no findings, ${colorScheme}, ${width} pixels`, async () => {
        const opened = await openTour({ colorScheme, viewport: { width, height: 844 } });
        await note(opened.page).waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await note(opened.page).getByRole("button", { name: "Start the tour" }).click();
        await dialog(opened.page).waitFor();
        await assertClean(opened);
        await assertFits(opened.page);
        await opened.context.close();
      });
    }
  }
});
