import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

describe("differences", () => {
  let differencesOf;
  let divideWhole;
  before(async () => {
    const { module } = await runnerImport("./src/lib/differences.ts", { logLevel: "error" });
    ({ differencesOf, divideWhole } = module);
  });

  const version = (declaration) => declaration && { version: 1, declaration };
  const compare = (change_type, before, after) =>
    differencesOf({ change_type, old_declaration: version(before), new_declaration: version(after) });

  it("names each changed field with a JSON pointer", () => {
    const before = { name: "a", disk: { size: 1, kind: "ssd" }, "x/y~z": 1 };
    const after = { name: "a", disk: { size: 2, tier: "hot" }, "x/y~z": 2 };
    assert.deepEqual(compare("MODIFY", before, after), [
      { pointer: "/disk/kind", old: "ssd" },
      { pointer: "/disk/size", old: 1, new: 2 },
      { pointer: "/disk/tier", new: "hot" },
      { pointer: "/x~1y~0z", old: 1, new: 2 },
    ]);
  });

  it("compares arrays as a whole, and ignores the order of members", () => {
    assert.deepEqual(compare("MODIFY", { a: [1, { b: 1, c: 2 }] }, { a: [1, { c: 2, b: 1 }] }), []);
    assert.deepEqual(compare("MODIFY", { a: [1, 2] }, { a: [2] }), [{ pointer: "/a", old: [1, 2], new: [2] }]);
  });

  it("distinguishes null from an absent field", () => {
    assert.deepEqual(compare("MODIFY", { a: null }, {}), [{ pointer: "/a", old: null }]);
    assert.deepEqual(compare("MODIFY", {}, { a: null }), [{ pointer: "/a", new: null }]);
  });

  it("divides the difference of a whole item into its fields", () => {
    const whole = [{ pointer: "", old: { name: "a", disk: { size: 1 } } }];
    assert.deepEqual(divideWhole(whole), [{ pointer: "/disk", old: { size: 1 } }, { pointer: "/name", old: "a" }]);
    const fields = [{ pointer: "/cpu", old: 1, new: 2 }];
    assert.deepEqual(divideWhole(fields), fields);
  });

  it("shows the whole declaration of a CREATE and of a DELETE", () => {
    assert.deepEqual(compare("CREATE", { cpu: 1 }, { cpu: 2 }), [{ pointer: "/cpu", new: 2 }]);
    assert.deepEqual(compare("DELETE", { cpu: 1 }, null), [{ pointer: "/cpu", old: 1 }]);
  });
});
