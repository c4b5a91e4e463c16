// Prints the first contentful paint of the sign-in page, with the processor slowed down four times.
import { openPage } from "./pages.mjs";
import { startWorld } from "./world.mjs";

const RUNS = 5;
const world = await startWorld();
try {
  for (let run = 0; run < RUNS; run++) console.log(await measure());
} finally {
  await world.stop();
}

async function measure() {
  const { page, context } = await openPage(world);
  const session = await context.newCDPSession(page);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  await page.reload();
  await page.getByRole("button", { name: "VMOwnerTeam" }).waitFor();
  const figures = await page.evaluate(() => ({
    firstContentfulPaintMs: Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime),
    interactiveMs: Math.round(performance.now()),
  }));
  await context.close();
  return figures;
}
