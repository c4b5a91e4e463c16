import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

describe("JSON texts", () => {
  let parseObject;
  before(async () => {
    const { module } = await runnerImport("./src/lib/parse-json.ts", { logLevel: "error" });
    ({ parseObject } = module);
  });

  it("returns an object, and rejects other values", () => {
    assert.deepEqual(parseObject('{"a": [1, {"b": null}]}'), { object: { a: [1, { b: null }] } });
    for (const text of ["[1]", "null", "1", '"a"']) assert.deepEqual(parseObject(text), { problem: "must be a JSON object" });
  });

  it("finds the place of the first error", () => {
    const cases = [
      ["", 0],
      ["{", 1],
      ['{"a": oops}', 6],
      ['{"a" 1}', 5],
      ['{"a": 1,}', 8],
      ['{"a": 1 "b": 2}', 8],
      ["{a: 1}", 1],
      ['{"a": "open}', 6],
      ['{"a": 01}', 7],
      ["{} x", 3],
      ['{"a": [1, 2}', 11],
      ['{"a": "\\x"}', 6],
    ];
    for (const [text, position] of cases) assert.equal(parseObject(text).position, position, text);
    assert.equal(parseObject('{\n  "a": oops}').problem, "must be valid JSON: line 2, column 8");
  });
});
