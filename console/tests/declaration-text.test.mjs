import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

const TEXT = `# Team shop
Shop:
  services:
    VM:
    -   name: web1 # the first
        cpu: 2
        tags: [a, b]
    # a comment of web2
    -   name: web2
`;

describe("declaration text", () => {
  let parseText;
  let editText;
  let findRange;
  before(async () => {
    ({ parseText } = (await runnerImport("./src/editor/declaration-text.ts", { logLevel: "error" })).module);
    ({ editText } = (await runnerImport("./src/editor/edit-text.ts", { logLevel: "error" })).module);
    ({ findRange } = (await runnerImport("./src/editor/text-positions.ts", { logLevel: "error" })).module);
  });

  const item = ["Shop", "services", "VM", 0];
  const edit = (path, value, text = TEXT, format = "yaml") => editText(parseText(text, format), path, value);

  it("changes only the characters of a scalar", () => {
    const value = { name: "web1", cpu: 4, tags: ["a", "b"] };
    assert.equal(edit(item, value), TEXT.replace("cpu: 2", "cpu: 4"));
    assert.equal(edit([...item, "tags", 1], "c, d"), TEXT.replace("[a, b]", '[a, "c, d"]'));
    assert.equal(edit([...item, "name"], "1"), TEXT.replace("name: web1", 'name: "1"'));
  });

  it("keeps comments when members and elements come and go", () => {
    const added = edit(item, { memory: 8, tags: ["a", "b", "c"], cpu: 2, name: "web1" });
    for (const part of ["# Team shop", "web1 # the first", "# a comment of web2", "memory: 8", "[a, b, c]"]) {
      assert.ok(added.includes(part), `${part} in\n${added}`);
    }
    const removed = edit(["Shop", "services", "VM"], [{ name: "web2" }]);
    assert.ok(removed.includes("# a comment of web2") && !removed.includes("web1"), removed);
    const emptied = edit(item, { name: "web1" });
    assert.ok(emptied.includes("# the first") && !emptied.includes("cpu"), emptied);
    assert.ok(edit(["Shop", "services", "LB"], [{ name: "lb" }]).includes("    LB:\n"));
  });

  it("renames an application in place", () => {
    const renamed = edit([], { Store: parseText(TEXT, "yaml").value.Shop });
    assert.equal(parseText(renamed, "yaml").value.Store.services.VM.length, 2);
    assert.ok(renamed.includes("# a comment of web2"));
  });

  it("edits a value behind an alias", () => {
    const text = "Shop: {services: {VM: [&a {name: x, cpu: 1}, *a]}}\n";
    const edited = parseText(edit(["Shop", "services", "VM", 1, "cpu"], 2, text), "yaml");
    assert.deepEqual(edited.value.Shop.services.VM, [{ name: "x", cpu: 1 }, { name: "x", cpu: 2 }]);
  });

  it("writes JSON without a change of the order", () => {
    assert.equal(edit(["b"], 3, '{"b": 1, "a": 2}', "json"), '{\n  "b": 3,\n  "a": 2\n}\n');
  });

  it("rejects what JSON cannot express, with the line", () => {
    const cases = [
      ["a: 1\nb: 2\na: 3\n", "yaml", 3, /unique/],
      ["a:\n  - .nan\n", "yaml", 2, /finite/],
      ["a: 1\nb: *x\n", "yaml", 1, /alias/],
      ["? [a]\n: 1\n", "yaml", 1, /key/],
      ["a: !!binary aGk=\n", "yaml", 1, /JSON/],
      ["a: 1", "json", 1, /JSON/],
      ['{"a": 1,\n "a": 2}', "json", 2, /unique/],
    ];
    for (const [text, format, line, detail] of cases) {
      const parsed = parseText(text, format);
      assert.equal(parsed.isValid, false, text);
      assert.equal(parsed.error.line, line, text);
      assert.match(parsed.error.detail, detail);
    }
  });

  it("finds the line of a pointer, or of its nearest parent", () => {
    const line = (...steps) => findRange(parseText(TEXT, "yaml"), ["Shop", "services", "VM", ...steps]).line;
    assert.equal(line("0", "cpu"), 6);
    assert.equal(line("0", "tags", "1"), 7);
    assert.equal(line("1", "cpu"), 9);
    assert.equal(line("1"), 9);
    assert.equal(line(), 4);
  });
});
