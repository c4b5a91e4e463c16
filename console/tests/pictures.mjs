import { publishDefinitions } from "./definitions.mjs";
import { answerPlatform, troubledSystem } from "./platform.mjs";
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
  const { host } = await publishDefinitions(system);
  const changes = await changesOf(system, VM, "PENDING");
  const large = changes.find((change) => change.service_item.name === "batch1");
  await decide(system, VM, large.id, { state: "REJECTED", log: "A machine has at most 16 CPUs." });
  const machine = changes.find((change) => change.service_item.name === "web1").service_item.id;
  const deployed = { service_item: machine, data: { ip: "10.0.0.7", rack: "B12" } };
  await request(system, VM, "POST", "orcabase/serviceowner/deployed_items/", deployed);
  for (const key of [VM, LB]) {
    await request(system, key, "POST", "account/members/", { subject: "jane", name: "Jane Doe", role: "GENERAL" });
  }
  const [application, service, item] = [large.application.id, large.service.id, large.service_item.id];
  return { application, service, item, machine, submission: large.submission.id, host };
}

/** Pictures of pages. `open` goes to the page, and waits for its content. */
export const PICTURES = [
  { name: "sign-in", team: null, open: (page) => page.getByRole("button", { name: "VMOwnerTeam" }).waitFor() },
  {
    name: "sign-in-organisation",
    team: null,
    hasIssuer: true,
    open: (page) => page.getByRole("button", { name: "Sign in with your organisation" }).waitFor(),
  },
  {
    name: "choose-team",
    team: null,
    hasIssuer: true,
    open: async (page) => {
      await page.getByRole("button", { name: "Sign in with your organisation" }).click();
      await page.getByRole("heading", { name: "Choose a team" }).waitFor();
    },
  },
  {
    name: "tour-note",
    team: "AwesomeConsumer",
    hasTour: true,
    open: (page) => page.getByRole("button", { name: "Start the tour" }).waitFor(),
  },
  {
    name: "tour",
    team: "AwesomeConsumer",
    hasTour: true,
    open: async (page) => {
      await page.getByRole("button", { name: "Start the tour" }).click();
      await page.getByRole("dialog").getByRole("heading", { name: "See the tree" }).waitFor();
    },
  },
  {
    name: "home-consumer",
    team: "AwesomeConsumer",
    open: (page) => page.getByText("A machine has at most 16 CPUs.").waitFor(),
  },
  { name: "home-owner", team: "VMOwnerTeam", open: (page) => page.getByRole("link", { name: "Open the queue" }).waitFor() },
  {
    name: "catalogue",
    team: "AwesomeConsumer",
    open: async (page) => {
      await page.getByRole("link", { name: "Catalogue" }).click();
      await page.getByRole("link", { name: "Host", exact: true }).waitFor();
    },
  },
  {
    name: "service",
    team: "AwesomeConsumer",
    open: async (page, { host }) => {
      await page.evaluate((hash) => (location.hash = hash), `#/catalogue/${host}`);
      await page.getByRole("tab", { name: "Form" }).click();
      await page.getByLabel("name (required)").fill("h1");
      await page.getByLabel("cpu (required)").fill("65");
      await page.getByText("must be at most 64").waitFor();
      await page.evaluate(() => scrollTo(0, 0));
    },
  },
  {
    name: "publish",
    team: "VMOwnerTeam",
    open: async (page, { service }) => {
      await page.evaluate((hash) => (location.hash = hash), `#/publish?service=${service}`);
      await page.getByText("The check is up to date.").waitFor();
      const text = "title: VM\ntype: object\nrequired: [name]\nproperties:\n  name: {type: string}\n  cpu: {type: integer, minimum: 8}\n";
      await page.getByRole("textbox", { name: "Definition" }).fill(text);
      await page.getByText("would reject").waitFor();
    },
  },
  {
    name: "applications",
    team: "AwesomeConsumer",
    open: async (page) => {
      await page.getByRole("link", { name: "Applications", exact: true }).click();
      await page.getByRole("link", { name: "Shop", exact: true }).waitFor();
    },
  },
  {
    name: "application-graph",
    team: "AwesomeConsumer",
    open: async (page, { application, item }, world) => {
      await page.goto(`${world.site.url}/#/applications/${application}?item=${item}`);
      await page.getByRole("complementary").getByText("A machine has at most 16 CPUs.").waitFor();
    },
  },
  {
    name: "application-list",
    team: "AwesomeConsumer",
    open: async (page, { application }, world) => {
      await page.goto(`${world.site.url}/#/applications/${application}?view=list`);
      await page.getByRole("row").filter({ hasText: "batch1" }).waitFor();
    },
  },
  {
    name: "edit",
    team: "AwesomeConsumer",
    open: async (page, ids, world) => {
      await page.goto(`${world.site.url}/#/edit?application=${ids.application}&item=batch1`);
      await page.getByRole("region", { name: "Form" }).getByLabel("cpu").fill("16");
      await page.getByRole("button", { name: "Apply", exact: true }).and(page.locator(":enabled")).waitFor();
    },
  },
  {
    name: "edit-problems",
    team: "AwesomeConsumer",
    open: async (page, ids, world) => {
      await page.goto(`${world.site.url}/#/edit?application=${ids.application}&item=batch1`);
      await page.getByRole("region", { name: "Form" }).getByLabel("cpu").fill("16");
      await page.getByRole("button", { name: "Apply", exact: true }).and(page.locator(":enabled")).waitFor();
      await page.locator(".cm-line").filter({ hasText: "cpu: 16" }).click();
      await page.keyboard.press("End");
      await page.keyboard.type("GB");
      await page.getByRole("list", { name: "Problems" }).waitFor();
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
  {
    name: "queue",
    team: "VMOwnerTeam",
    open: async (page) => {
      await page.getByRole("link", { name: "Open the queue" }).click();
      await page.getByRole("row").nth(1).waitFor();
    },
  },
  {
    name: "queue-reject",
    team: "VMOwnerTeam",
    open: async (page) => {
      await page.getByRole("link", { name: "Open the queue" }).click();
      await page.getByRole("row").nth(1).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("r");
      await page.getByRole("dialog").getByLabel("Reason for the consumer").fill("A machine has at most 16 CPUs.");
    },
  },
  {
    name: "queue-rejected",
    team: "VMOwnerTeam",
    open: async (page) => {
      await page.getByRole("link", { name: "Queue", exact: true }).click();
      await page.getByText("Rejected", { exact: true }).click();
      await page.getByText("A machine has at most 16 CPUs.").waitFor();
      await page.getByRole("checkbox", { name: "Select all changes" }).check();
    },
  },
  {
    name: "automation",
    team: "VMOwnerTeam",
    open: async (page, ids, world) => {
      await automate(world.system);
      await page.getByRole("link", { name: "Automation" }).click();
      await page.getByRole("button", { name: "Send a test: Start the pipeline" }).click();
      await page.getByText("The test failed.").waitFor();
    },
  },
  {
    name: "team",
    team: "VMOwnerTeam",
    open: async (page, ids, world) => {
      await employ(world.system);
      await openTeam(page, "API keys");
      await page.getByRole("row").nth(1).waitFor();
    },
  },
  {
    name: "team-audit",
    team: "VMOwnerTeam",
    open: async (page) => {
      await openTeam(page, "Audit log");
      await page.getByRole("row").nth(1).waitFor();
    },
  },
  {
    name: "operations",
    team: null,
    open: async (page) => {
      await answerPlatform(page, troubledSystem());
      await page.getByLabel("API key").fill("platform-key");
      await page.keyboard.press("Enter");
      await page.getByRole("row").nth(1).waitFor();
    },
  },
];

async function openTeam(page, tab) {
  await page.getByRole("link", { name: "Team", exact: true }).click();
  await page.getByRole("tab", { name: tab }).click();
}

/** Creates a webhook, once for all widths. Port 9 has no receiver. */
async function automate(system) {
  const { count } = await request(system, VM, "GET", "external/serviceowner/webhooks/");
  if (count > 0) return;
  await request(system, VM, "POST", "external/serviceowner/webhooks/", {
    service: 1,
    name: "Start the pipeline",
    target_url: "http://127.0.0.1:9/hooks/vm",
    authorization: "Bearer of.your.own",
    change_instance_state: "APPROVED",
    trigger_cooling_time: 60,
  });
}

/** Creates keys and a member, once for all widths. */
async function employ(system) {
  const { count } = await request(system, VM, "GET", "account/api_keys/");
  if (count > 1) return;
  await request(system, VM, "POST", "account/api_keys/", { name: "pipeline", role: "GENERAL", expires: "2030-12-31" });
  await request(system, VM, "POST", "account/api_keys/", { name: "dashboard", role: "READ_ONLY" });
  await request(system, VM, "POST", "account/members/", { subject: "auth0|5f7c8ec7", name: "Jane Doe", role: "ADMIN" });
}
