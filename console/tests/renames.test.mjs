import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { runnerImport } from "vite";

describe("renames", () => {
  let renameIn;
  let withRename;
  let oldName;
  before(async () => {
    const load = async (file) => (await runnerImport(`./src/${file}`, { logLevel: "error" })).module;
    ({ renameIn, withRename } = await load("pages/edit/renames.ts"));
    ({ oldName } = await load("lib/differences.ts"));
  });

  const warning = (old, name) => {
    const entry = JSON.stringify({ dovetail_renamed: { VM: { [old]: name } } });
    const end = "to the metadata of the application to keep the item";
    return `VM '${name}' of application 'Shop' looks like a rename of '${old}': add ${entry} ${end}`;
  };

  it("reads the rename of a warning, whatever the names contain", () => {
    for (const [old, name] of [["web3", "web4"], ['a": add {"dovetail_renamed":', "it's"]]) {
      assert.deepEqual(renameIn(warning(old, name)), { service: "VM", old, name });
    }
    assert.equal(renameIn("VM 'web4' of application 'Shop' cannot be approved yet"), undefined);
  });

  it("adds an entry to the metadata, and keeps the others", () => {
    const entry = { service: "VM", old: "web3", name: "web4" };
    const renamed = { dovetail_renamed: { VM: { web3: "web4" } } };
    assert.deepEqual(withRename({ Shop: { services: {} } }, entry), renamed);
    const metadata = { budget: "4711", dovetail_renamed: { VM: { web1: "web2" } } };
    assert.deepEqual(withRename({ Shop: { metadata } }, entry), {
      budget: "4711",
      dovetail_renamed: { VM: { web1: "web2", web3: "web4" } },
    });
  });

  it("finds the earlier name only in a change of the name", () => {
    assert.equal(oldName([{ pointer: "/cpu", old: 1, new: 2 }, { pointer: "/name", old: "web3", new: "web4" }]), "web3");
    assert.equal(oldName([{ pointer: "/name", new: "web4" }]), undefined);
    assert.equal(oldName([{ pointer: "", old: { name: "web3" } }]), undefined);
  });
});
