import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

const VM = { id: 1, name: "VM" };
const LB = { id: 2, name: "LoadBalancer" };

describe("graph of an application", () => {
  let joinPages;
  let awaitedText;
  let wavesOf;
  let edgesOf;
  let kindOf;
  let layoutOf;
  before(async () => {
    const load = async (file) => (await runnerImport(`./src/pages/application/${file}`, { logLevel: "error" })).module;
    ({ joinPages, awaitedText } = await load("graph-model.ts"));
    ({ wavesOf } = await load("graph-waves.ts"));
    ({ edgesOf, kindOf } = await load("graph-edges.ts"));
    ({ layoutOf } = await load("graph-layout.ts"));
  });

  const item = (id, service = VM, runtime_state = "IN_SERVICE") => ({ id, name: `item${id}`, service, runtime_state });
  const graphOf = (service_items, pairs) => {
    const references = pairs.map(([from, to]) => ({ from, to, pointer: "" }));
    return joinPages([{ application: { name: "Shop" }, service_items, references, dependants: [], next: null }]);
  };
  const groupOf = (graph, service, shown = true) => {
    const all = graph.items.filter((one) => one.service === service);
    return { service, all, shown: shown ? all : [], dependents: [{ id: 9, name: "Audit" }] };
  };
  const wavesAsList = (graph) => graph.items.map(({ id }) => wavesOf(graph).get(id));

  it("puts an item into the wave after those to which it refers", () => {
    const items = [1, 2, 3, 4].map((id) => item(id));
    assert.deepEqual(wavesAsList(graphOf(items, [[1, 2], [2, 3], [1, 3], [4, 4], [4, 99]])), [2, 1, 0, 0]);
    assert.deepEqual(wavesAsList(graphOf(items, [[1, 2], [2, 1], [3, 1], [4, 4]])), [1, 1, 1, 0]);
    assert.deepEqual(wavesAsList(graphOf(items, [[1, 2], [1, 2]])), [1, 0, 0, 0]);
  });

  it("marks the edges to items that are not in place yet", () => {
    const graph = graphOf([item(1, LB), item(2), item(3, VM, "REQUESTED")], [[1, 2], [1, 3]]);
    const kinds = (groups) => edgesOf(graph, groups).map((edge) => [edge.to, edge.count, kindOf(edge)]);
    assert.deepEqual(kinds([groupOf(graph, LB), groupOf(graph, VM)]), [
      ["item 2", 1, "reference"],
      ["item 3", 1, "blocking"],
      ["team 9", 1, "dependent"],
      ["team 9", 1, "dependent"],
    ]);
    // One awaited item is enough for the edge of a closed service.
    assert.deepEqual(kinds([groupOf(graph, LB), groupOf(graph, VM, false)])[0], ["service 1", 2, "blocking"]);
    assert.equal(awaitedText(graph, 1), "item3");
    assert.equal(awaitedText(graph, 3), "");
  });

  it("names at most three awaited items", () => {
    const targets = [2, 3, 4, 5, 6].map((id) => item(id, VM, "REQUESTED"));
    const graph = graphOf([item(1, LB), ...targets], targets.map(({ id }) => [1, id]));
    assert.equal(awaitedText(graph, 1), "item2, item3, item4 and 2 more");
  });

  it("places an item after those to which it refers, and a dependent team after its service", () => {
    const graph = graphOf([item(1, LB), item(2), item(3), item(4)], [[1, 2], [2, 3], [3, 4]]);
    const groups = [groupOf(graph, LB), groupOf(graph, VM)];
    const { boxes, groups: placed } = layoutOf(graph, groups, edgesOf(graph, groups));
    assert.ok(boxes.get("item 1").x > boxes.get("item 2").x);
    assert.ok(boxes.get("team 9").x > boxes.get("item 1").x);
    assert.deepEqual(placed[0].items.map(({ item: { id } }) => id), [4, 3, 2]);
  });
});
