import { changesOf, decide, declare, finishAll, request } from "./world.mjs";

const VM = "vm-owner-key";
const LB = "lb-owner-key";

/** Fills the demo world with work in every state, and returns the ids that pictures need. */
export async function prepare(system) {
  const machines = [{ name: "web1", cpu: 2 }, { name: "web2", cpu: 4 }];
  const front = { name: "front", related_vms: ["web1", "web2"], algorithm: "RoundRobin" };
  await declare(system, "Shop", machines, [front], "First machines of the shop");
  for (const key of [VM, LB, "np-owner-key"]) await finishAll(system, key);
  const larger = [{ name: "web1", cpu: 8 }, { name: "web2", cpu: 4 }, { name: "batch1", cpu: 64 }];
  await declare(system, "Shop", larger, [{ ...front, algorithm: "LeastConnections" }], "More power before the sale");
  const changes = await changesOf(system, VM, "PENDING");
  const large = changes.find((change) => change.service_item.name === "batch1");
  await decide(system, VM, large.id, { state: "REJECTED", log: "A machine has at most 16 CPUs." });
  const machine = changes.find((change) => change.service_item.name === "web1").service_item.id;
  const deployed = { service_item: machine, data: { ip: "10.0.0.7", rack: "B12" } };
  await request(system, VM, "POST", "orcabase/serviceowner/deployed_items/", deployed);
  return {
    application: large.application.id,
    service: large.service.id,
    item: large.service_item.id,
    machine,
    submission: large.submission.id,
  };
}

/** Pictures of pages. `open` goes to the page, and waits for its content. */
export const PICTURES = [
  { name: "sign-in", team: null, open: (page) => page.getByRole("button", { name: "VMOwnerTeam" }).waitFor() },
  {
    name: "home-consumer",
    team: "AwesomeConsumer",
    open: (page) => page.getByText("A machine has at most 16 CPUs.").waitFor(),
  },
  { name: "home-owner", team: "VMOwnerTeam", open: (page) => page.getByRole("link", { name: "Open the queue" }).waitFor() },
  {
    name: "queue",
    team: "VMOwnerTeam",
    open: async (page) => {
      await page.getByRole("link", { name: "Open the queue" }).click();
      await page.getByRole("row").nth(1).waitFor();
    },
  },
  {
    name: "submissions",
    team: "AwesomeConsumer",
    open: async (page) => {
      await page.getByRole("link", { name: "Submissions" }).click();
      await page.getByRole("row").nth(1).waitFor();
    },
  },
  {
    name: "submission",
    team: "AwesomeConsumer",
    open: async (page, { submission }, { site }) => {
      await page.goto(`${site.url}/#/submissions/${submission}`);
      await page.getByText("A machine has at most 16 CPUs.").waitFor();
      await page.getByRole("button", { name: "Show differences of web1" }).click();
      await page.getByRole("list", { name: "Differences" }).waitFor();
    },
  },
  {
    name: "item",
    team: "AwesomeConsumer",
    open: async (page, { machine }, { site }) => {
      await page.goto(`${site.url}/#/items/${machine}`);
      await page.getByRole("heading", { level: 1, name: "web1" }).waitFor();
    },
  },
  {
    name: "item-history",
    team: "AwesomeConsumer",
    open: async (page, { machine }, { site }) => {
      await page.goto(`${site.url}/#/items/${machine}`);
      await page.getByRole("tab", { name: "History" }).click();
      await page.getByRole("slider").focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("ArrowRight");
      await page.getByRole("region", { name: "Item as of a time" }).getByText("In service").waitFor();
      await page.getByRole("tablist").evaluate((tabs) => tabs.scrollIntoView());
    },
  },
];
