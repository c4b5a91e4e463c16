import { request } from "./world.mjs";

const OWNER = "vm-owner-key";

/** A definition with every word of the lifecycle. */
export const HOST = {
  title: "Host",
  description: "A machine with an address of the owner.",
  type: "object",
  "x-verified": true,
  additionalProperties: false,
  required: ["name", "cpu", "ip"],
  "x-from": { APPROVED: { required: ["image"] } },
  metadata: { cost_per_change: 5, monthly_cost: 30 },
  properties: {
    name: { type: "string", description: "Unique name." },
    cpu: { type: "integer", minimum: 1, maximum: 64 },
    image: { type: "string", enum: ["debian", "alpine"] },
    region: { type: "string", "x-on-change": "refuse" },
    tier: { type: "string", "x-computed": true },
    secret: { type: "string", writeOnly: true },
    ip: { type: "string", readOnly: true },
    host_id: { type: "string", "x-computed": true, "x-import": true },
    backup: { type: "boolean" },
    disk: { $ref: "#/$defs/disk" },
    mounts: { type: "array", "x-unordered": true, items: { type: "object", required: ["path"], properties: { path: { type: "string" } } } },
    machine: { type: "string", format: "reference", service_reference: "VM" },
  },
  $defs: { disk: { type: "object", properties: { size: { type: "integer" } } } },
};

/** A definition with constructs that have no fields. */
export const ODD = {
  title: "Odd",
  type: "object",
  required: ["name"],
  anyOf: [{ required: ["left"] }, { required: ["right"] }],
  properties: {
    name: { type: "string" },
    left: true,
    right: { type: ["string", "integer"] },
    pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] },
    free: { type: "object" },
    labels: { type: "object", additionalProperties: { type: "string" } },
    kind: { oneOf: [{ type: "object", title: "Box", properties: { box: { type: "string" } } }, { type: "string" }] },
    tree: { $ref: "#/$defs/node" },
    fixed: { const: 7 },
  },
  $defs: { node: { type: "object", properties: { label: { type: "string" } } } },
};

/** Markdown with content that a page must not show as it is. */
const README = `# Host

Text with **emphasis** and a [link](https://example.com/docs).

<script>globalThis.stolen = true</script><img src="https://example.com/x.png" onerror="globalThis.stolen = true">
[bad](javascript:alert(1)) <b style="color: red">bold</b> ![diagram](https://example.com/y.png)

| column | value |
|---|---|
| a | b |
`;

/** Publishes the definitions of the tests, with two versions and documentation. */
export async function publishDefinitions(system) {
  const publish = (definition) => request(system, OWNER, "POST", "orcabase/serviceowner/services/", definition);
  const { properties, ...rest } = HOST;
  const { backup: _, ...first } = properties;
  await publish({ ...rest, properties: first });
  const { id } = await publish(HOST);
  const odd = await publish(ODD);
  const body = new FormData();
  body.append("md_file", new Blob([README]), "README.md");
  const response = await fetch(`${system}/v1/orcabase/serviceowner/services/${id}/docs/`, {
    method: "POST",
    headers: { Authorization: `Api-Key ${OWNER}` },
    body,
  });
  if (!response.ok) throw new Error(`docs: ${response.status} ${await response.text()}`);
  await request(system, OWNER, "PATCH", `orcabase/serviceowner/services/${id}/`, { tags: ["compute", "linux"] });
  await request(system, OWNER, "POST", "orcabase/serviceowner/service_configs/", { service: id, config: { pool: "a" } });
  return { host: id, odd: odd.id };
}
