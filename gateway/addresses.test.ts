import { describe, expect, test, vi } from "vitest"
import { advertisedBy } from "./addresses.ts"

const interfaces = vi.hoisted(() => vi.fn())
vi.mock("node:os", async (original) => ({ ...(await original<object>()), networkInterfaces: interfaces }))

describe("the address that tenants get", () => {
  test.each([
    ["the one that is set", { advertiseAddress: "192.0.2.1", host: "0.0.0.0" }, "192.0.2.1"],
    ["the one it listens on", { host: "192.0.2.2" }, "192.0.2.2"],
    ["the machine's, where it listens on all", { host: "0.0.0.0" }, "192.0.2.3"],
    ["the machine's, where it listens on loopback", {}, "192.0.2.3"],
  ])("is %s", (_what, options, address) => {
    interfaces.mockReturnValue({
      lo: [{ family: "IPv4", address: "127.0.0.1", internal: true }],
      eth0: [
        { family: "IPv6", address: "fe80::1", internal: false },
        { family: "IPv4", address: "192.0.2.3", internal: false },
      ],
    })
    expect(advertisedBy({ dataDir: "", ...options })(6443)).toEqual({ address, port: 6443 })
  })

  test("is read from the system for many tenants at once, and again after an interval", () => {
    vi.useFakeTimers({ toFake: ["performance"] })
    try {
      const at = (address: string) => ({ eth0: [{ family: "IPv4", address, internal: false }] })
      interfaces.mockReset().mockReturnValue(at("192.0.2.4"))
      const advertised = advertisedBy({ dataDir: "" })
      for (let tenant = 0; tenant < 10; tenant++) expect(advertised(1).address).toBe("192.0.2.4")
      expect(interfaces).toHaveBeenCalledTimes(1)
      interfaces.mockReturnValue(at("192.0.2.5"))
      vi.advanceTimersByTime(60_000)
      expect(advertised(1).address).toBe("192.0.2.5")
    } finally {
      vi.useRealTimers()
    }
  })
})
