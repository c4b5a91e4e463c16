// Writes a picture of each page to `docs/images`, at 1280 and 390 pixels: `node tests/screenshots.mjs [NAME …]`.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { startIssuer } from "./issuer.mjs";
import { openPage, signIn } from "./pages.mjs";
import { startWorld } from "./world.mjs";
import { PICTURES, prepare } from "./pictures.mjs";

const DIRECTORY = path.join(import.meta.dirname, "../../docs/images");
const WIDTHS = { 1280: 800, 390: 844 };
const wanted = process.argv.slice(2);

const issuer = await startIssuer();
// Most systems have no issuer, so most pictures show none.
const plain = await startWorld();
const withIssuer = await startWorld({ issuer });
try {
  mkdirSync(DIRECTORY, { recursive: true });
  await takeAll(plain, ({ hasIssuer }) => !hasIssuer);
  await takeAll(withIssuer, ({ hasIssuer }) => hasIssuer);
} finally {
  await plain.stop();
  await withIssuer.stop();
  issuer.close();
}

async function takeAll(world, isOfWorld) {
  const ids = await prepare(world.system);
  for (const picture of PICTURES.filter(isOfWorld)) {
    if (wanted.length > 0 && !wanted.includes(picture.name)) continue;
    for (const [width, height] of Object.entries(WIDTHS)) await take(world, picture, ids, Number(width), height);
  }
}

async function take(world, { name, team, hasTour, open }, ids, width, height) {
  const { page, context } = await openPage(world, { hasTour, colorScheme: "light", viewport: { width, height } });
  if (team) await signIn(page, team);
  await open(page, ids, world);
  await page.screenshot({ path: path.join(DIRECTORY, `${name}-${width}.png`) });
  await context.close();
}
