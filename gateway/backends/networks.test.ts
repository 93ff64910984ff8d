import { describe, expect, test } from "vitest"
import { isNetwork, localNetworks, NetworkRules } from "./networks.ts"

describe("NetworkRules", () => {
  test.each([
    ["1.1.1.1", true],
    ["2606:4700::1111", true],
    ["0.0.0.0", false],
    ["10.1.2.3", false],
    ["100.64.0.1", false],
    ["127.0.0.1", false],
    ["127.255.255.254", false],
    ["169.254.169.254", false],
    ["172.31.255.255", false],
    ["172.32.0.1", true],
    ["192.168.0.1", false],
    ["224.0.0.1", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:10.0.0.1", false],
    ["::ffff:7f00:1", false],
    ["::127.0.0.1", false],
    ["::ffff:0:127.0.0.1", false],
    ["64:ff9b::a9fe:a9fe", false],
    ["2002:7f00:1::", false],
    ["fd00::1", false],
    ["fe80::1", false],
    ["fec0::1", false],
    ["ff02::1", false],
    ["100::1", false],
    ["1fff::1", false],
    ["2001:200::1", true],
    ["3fff:fff::1", false],
    ["3fff:1000::1", true],
    ["4000::1", false],
    ["5f00::1", false],
    ["::ffff:1.1.1.1", true],
  ])("by default %s is allowed: %s", (address, allowed) => {
    expect(new NetworkRules().isAllowed(address)).toBe(allowed)
  })

  test("allows only the operator's networks", () => {
    const rules = new NetworkRules(["10.1.0.0/16", "fd00:1::/32", "192.168.3.4"])
    const asked = ["10.1.255.1", "10.2.0.1", "fd00:1::5", "fd00:2::5", "192.168.3.4", "192.168.3.5"]
    expect(asked.map((address) => rules.isAllowed(address))).toEqual([true, false, true, false, true, false])
  })

  test("local networks can be allowed without their metadata service", () => {
    const rules = new NetworkRules(localNetworks)
    expect(["127.0.0.1", "10.0.0.1", "169.254.169.254"].map((address) => rules.isAllowed(address))).toEqual([
      true,
      true,
      false,
    ])
  })

  test.each(["127.0.0.1", "localhost", "LOCALHOST", "a.localhost", "localhost."])(
    "does not resolve %s",
    async (host) => {
      await expect(new NetworkRules().resolve(host)).rejects.toThrow("address not allowed")
    },
  )
})

test.each([
  ["10.0.0.0/8", true],
  ["fd00::/8", true],
  ["1.2.3.4", true],
  ["10.0.0.0/33", false],
  ["10.0.0.0/", false],
  ["10.0.0.0/8/8", false],
  ["10.0.0", false],
  ["example.com", false],
  ["", false],
])("isNetwork(%s) is %s", (text, expected) => {
  expect(isNetwork(text)).toBe(expected)
})
