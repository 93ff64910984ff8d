import { expect, test } from "vitest"
import { nodeAddress } from "./node-address.ts"

const [internal, external, name] = [
  { type: "InternalIP", address: "fd00::1" },
  { type: "ExternalIP", address: "192.0.2.1" },
  { type: "Hostname", address: "node-1" },
]

test.each([
  [[name, external, internal], internal],
  [[name, external], external],
  [[{ type: "InternalDNS", address: "node-1.local" }, name], name],
  [[internal, { type: "InternalIP", address: "10.0.0.1" }], internal],
  [[], undefined],
])("of %j", (addresses, expected) => {
  expect(nodeAddress({ status: { addresses } })).toEqual(expected)
})

test("of a node that has not reported anything", () => {
  expect(nodeAddress({})).toBeUndefined()
})
