// Prints how fast the console shows an application with 2,000 items: `node tests/large.mjs`.
import { pathToFileURL } from "node:url";
import { openPage, signIn } from "./pages.mjs";
import { request, startWorld } from "./world.mjs";

const MACHINES = 1600;
const LOAD_BALANCERS = 400;
export const ITEMS = MACHINES + LOAD_BALANCERS;
const SCROLL_FRAMES = 120;
const SCROLL_PIXELS = 150;

/** Declares an application with 2,000 items in one request, and waits until all of them exist. */
export async function declareLarge(system) {
  const machines = Array.from({ length: MACHINES }, (_, index) => ({ name: `vm${index}`, cpu: 1 + (index % 16) }));
  const loadBalancers = Array.from({ length: LOAD_BALANCERS }, (_, index) => ({
    name: `lb${index}`,
    algorithm: "RoundRobin",
    related_vms: [0, 1, 2, 3].map((offset) => `vm${index * 4 + offset}`),
  }));
  const declaration = { AwesomeConsumer: { Large: { services: { VM: machines, LoadBalancer: loadBalancers } } } };
  await request(system, "awesome-key", "PATCH", "orcabase/consumer/submissions/submit/", declaration);
  // The list is cheaper than the submission itself, which has its first 100 changes.
  const remaining = async () => (await request(system, "awesome-key", "GET", "orcabase/consumer/submissions/?limit=1")).results[0].remaining;
  while ((await remaining()) > 0);
  const { results } = await request(system, "awesome-key", "GET", "orcabase/consumer/applications/?name=Large");
  return results[0].id;
}

/** Opens the application, and returns the time to its first view, the longest task, and the frames of scrolling. */
export async function measure(world, id, view) {
  const { page, context } = await openPage(world);
  await signIn(page, "AwesomeConsumer");
  await page.waitForLoadState("networkidle");
  await page.evaluate(watchTasks);
  await page.evaluate(navigateAndWatch, { link: `#/applications/${id}?view=${view}`, selector: SELECTORS[view] });
  await page.getByText(view === "list" ? `${ITEMS} of ${ITEMS} items shown.` : `of ${ITEMS} items drawn.`).first().waitFor();
  await page.waitForLoadState("networkidle");
  const figures = { view, ...(await page.evaluate(() => globalThis.figures)) };
  if (view === "list") Object.assign(figures, await page.evaluate(scroll, [SCROLL_FRAMES, SCROLL_PIXELS]));
  if (view === "graph") {
    await page.getByRole("button", { name: "Show 60 of 1600 items" }).click();
    await page.locator(".node").first().click();
    await page.getByRole("complementary").waitFor();
  }
  figures.longestTaskMs = await page.evaluate(() => Math.round(Math.max(0, ...globalThis.tasks)));
  await context.close();
  return figures;
}

const SELECTORS = { list: ".item-row.item", graph: ".group-box" };

/** Runs in the page: records tasks that block it for over 50 milliseconds. */
function watchTasks() {
  globalThis.tasks = [];
  const observer = new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ type: "longtask" });
}

/** Runs in the page: measures the time from a navigation to the frame after the first element. */
function navigateAndWatch({ link, selector }) {
  globalThis.figures = {};
  const start = performance.now();
  location.hash = link;
  return new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(look);
      globalThis.figures.firstViewMs = Math.round(performance.now() - start);
      resolve();
    };
    requestAnimationFrame(look);
  });
}

/** Runs in the page: scrolls the window a fixed distance in each frame, and returns the times between frames. */
function scroll([frames, pixels]) {
  return new Promise((resolve) => {
    const times = [];
    const step = (time) => {
      times.push(time);
      if (times.length <= frames) {
        scrollBy(0, pixels);
        return requestAnimationFrame(step);
      }
      const deltas = times.slice(1).map((end, index) => end - times[index]).sort((a, b) => a - b);
      const mean = deltas.reduce((sum, delta) => sum + delta, 0) / deltas.length;
      const round = (value) => Math.round(value * 10) / 10;
      resolve({
        framesPerSecond: round(1000 / mean),
        medianFrameMs: round(deltas[Math.floor(deltas.length / 2)]),
        frame95Ms: round(deltas[Math.floor(deltas.length * 0.95)]),
      });
    };
    requestAnimationFrame(step);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const world = await startWorld();
  try {
    const id = await declareLarge(world.system);
    for (const view of ["list", "graph"]) console.log(await measure(world, id, view));
  } finally {
    await world.stop();
  }
}
