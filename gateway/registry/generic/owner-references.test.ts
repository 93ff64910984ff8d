import { expect, test } from "vitest"
import type { KubeObject } from "../../../apimachinery/object.ts"
import { dropRepeatedOwners } from "./owner-references.ts"

const owner = (uid: string, more: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", name: "o", uid, ...more })

test.each([
  ["the same twice", [owner("a"), owner("a")], [owner("a")], "a"],
  ["the same thrice, and another", [owner("a"), owner("b"), owner("a"), owner("a")], [owner("a"), owner("b")], "a, a"],
  ["one uid, other names", [owner("a"), owner("a", { name: "p" })], [owner("a"), owner("a", { name: "p" })], undefined],
  ["one", [owner("a")], [owner("a")], undefined],
])("owner references: %s", (_name, owners, kept, repeated) => {
  const warnings: string[] = []
  const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata: { ownerReferences: owners } }
  dropRepeatedOwners({ warn: (text) => void warnings.push(text) }, object, "sent")
  expect(object.metadata.ownerReferences).toEqual(kept)
  expect(warnings.map((text) => text.split("observed: ")[1])).toEqual(repeated === undefined ? [] : [repeated])
})
