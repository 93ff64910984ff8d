import { expect, test } from "vitest"
import { ipAddresses } from "./strategy.ts"

test.each<[string, string[]]>([
  ["10.9.8.7", []],
  ["2001:db8::ffff", []],
  ["fe80::42:1dff:fe84:f9e2", []],
  ["010.1.1.1", ["must not have leading 0s"]],
  ["2001:DB8::1", ['must be in canonical form ("2001:db8::1")']],
  ["::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]],
  ["abc", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]],
])("the name %s: %j", (name, faults) => {
  expect(ipAddresses.strategy?.nameRule?.(name, false)).toEqual(faults)
})

test("generateName is used as the name, without a random suffix", () => {
  expect(ipAddresses.strategy?.generateName?.("gen-")).toBe("gen-")
})
