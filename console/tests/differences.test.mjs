import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

describe("differences", () => {
  let differencesOf;
  let divideWhole;
  let pairsOf;
  before(async () => {
    const { module } = await runnerImport("./src/lib/differences.ts", { logLevel: "error" });
    ({ differencesOf, divideWhole } = module);
    ({ pairsOf } = (await runnerImport("./src/lib/pairs.ts", { logLevel: "error" })).module);
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

  it("ignores the order of members", () => {
    assert.deepEqual(compare("MODIFY", { a: [1, { b: 1, c: 2 }] }, { a: [1, { c: 2, b: 1 }] }), []);
  });

  it("shows an inserted or removed element as one difference", () => {
    assert.deepEqual(compare("MODIFY", { a: [8, 12] }, { a: [3, 8, 12] }), [{ pointer: "/a/0", new: 3 }]);
    assert.deepEqual(compare("MODIFY", { a: [1, 2, 3] }, { a: [2] }), [
      { pointer: "/a/0", old: 1 },
      { pointer: "/a/2", old: 3 },
    ]);
    const [before, after] = [[{ name: "x", b: 1 }], [{ name: "y" }, { name: "x", b: 3 }]];
    assert.deepEqual(compare("MODIFY", { a: before }, { a: after }), [
      { pointer: "/a/0", new: { name: "y" } },
      { pointer: "/a/1/b", old: 1, new: 3 },
    ]);
  });

  it("pairs elements as the API does", () => {
    const named = (names) => names.map((name) => ({ name, size: names.length }));
    for (const [before, after, expected] of [
      [[1, 2, 3], [1, 5, 3], [[0, 0], [1, 1], [2, 2]]],
      [[1, 2, 3], [4, 5], [[0, 0], [1, 1]]],
      [[1, 1, 1], [1, 1], [[0, 0], [1, 1]]],
      [[1, 1, 2, 1], [1, 2, 1, 1], [[0, 0], [2, 1], [3, 2]]],
      [[1, 2, 3, 4], [4, 1, 2, 3], [[0, 1], [1, 2], [2, 3]]],
      [named(["a", "b"]), named(["b"]), [[1, 0]]],
      [named(["a"]), named(["b"]), []],
    ]) {
      assert.deepEqual(pairsOf(before, after), expected);
    }
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
