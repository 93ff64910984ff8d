import { expect, test } from "vitest"
import { FieldPath } from "../field-errors.ts"
import { atOnce } from "../steps.ts"
import { compilingSelectors } from "./devices.ts"

const attributes = "device.attributes.all"

// kube-apiserver 1.36's responses to a DeviceClass with that expression.
test.each([
  ["device.driver == 'x'", ""],
  ["device.allowMultipleAllocations", ""],
  ["cel.bind(a, device.attributes['d'], a.x && a.y)", ""],
  ["device.attributes['a'].b", ""],
  ["device.capacity['a'].b.compareTo(quantity('1')) > 0", ""],
  ["device.attributes['a'].b == 1 ? device.attributes['a'].c : false", ""],
  [
    "device.attributes['a'].b.all(x, true)",
    "e: Invalid value: \"device.attributes['a'].b.all(x, true)\": compilation failed: ERROR: <input>:1:23: expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)\n | device.attributes['a'].b.all(x, true)\n | ......................^",
  ],
  ["dyn(true)", 'e: Invalid value: "dyn(true)": must evaluate to bool or the unknown type, not dyn'],
  [
    "device.attributes['a'].?b",
    "e: Invalid value: \"device.attributes['a'].?b\": must evaluate to bool or the unknown type, not optional_type(google.protobuf.Any)",
  ],
  ["1", 'e: Invalid value: "1": must evaluate to bool or the unknown type, not int'],
  [
    "device.nope",
    "e: Invalid value: \"device.nope\": compilation failed: ERROR: <input>:1:7: undefined field 'nope'\n | device.nope\n | ......^",
  ],
  [
    "[1].all(x, x > device)",
    "e: Invalid value: \"[1].all(x, x > device)\": compilation failed: ERROR: <input>:1:14: found no matching overload for '_>_' applied to '(int, kubernetes.DRADevice)'\n | [1].all(x, x > device)\n | .............^",
  ],
  [
    `${attributes}(k, ${attributes}(z, ${attributes}(y, device.attributes[y].all(q, q == k))))`,
    "e: Forbidden: too complex, exceeds cost limit",
  ],
  ["x".repeat(10_300), "e: Too long: may not be more than 10240 bytes"],
])("%s", (expression, expected) => {
  const errors = atOnce(compilingSelectors(new Set([expression]))).get(expression)?.(FieldPath.root("e")) ?? []
  expect(errors.map((error) => `${error.field}: ${error.message().replace(/^e: /, "")}`).join()).toBe(expected)
})
