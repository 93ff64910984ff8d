import { describe, expect, test } from "vitest"
import type { Service } from "../../../../apimachinery/object.ts"
import { services } from "../../../../client/resources.ts"
import { createKindsStub, faults, type KindsStub, type Loose, verdict } from "../../../testing/kinds.ts"
import { RangeServiceAddresses } from "./addresses.ts"
import type { AdmissionPlugin } from "../../../admission/chain.ts"
import { forbidden } from "../../../../apimachinery/status.ts"

interface World extends KindsStub {
  addresses: RangeServiceAddresses
}

function world(cidr = "10.0.0.0/28", nodePorts = { from: 30_000, to: 30_004 }, present: Service[] = []): World {
  const addresses = new RangeServiceAddresses({ cidr, nodePorts, load: async () => present })
  return Object.assign(createKindsStub({ serviceAddresses: addresses }), { addresses })
}

const service = (name: string, spec: Loose = {}): Loose => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
})
const ip = (object: Loose): string => object["spec"].clusterIP

describe("create", () => {
  test("allocates an address for every service until the range is full", async () => {
    await using kinds = world("10.0.0.0/29")
    const made = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => kinds.create("services", service(`s${n}`))))
    const given = made.map(ip)
    expect(new Set(given).size).toBe(6)
    expect(given.every((address) => /^10\.0\.0\.[1-6]$/.test(address))).toBe(true)
    expect(await verdict(kinds.create("services", service("one-more")))).toBe(
      'Internal error occurred: failed to allocate a serviceIP for Service "one-more": range is full',
    )
  })

  test("sets default families, policies and target ports", async () => {
    await using kinds = world()
    const made = await kinds.create("services", service("s", { clusterIP: "10.0.0.9" }))
    expect(made["spec"]).toEqual({
      clusterIP: "10.0.0.9",
      clusterIPs: ["10.0.0.9"],
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
      type: "ClusterIP",
    })
    expect(made["status"]).toEqual({ loadBalancer: {} })
  })

  test("allocates no address for headless and external services", async () => {
    await using kinds = world()
    expect(ip(await kinds.create("services", service("h", { clusterIP: "None" })))).toBe("None")
    const external = await kinds.create("services", {
      metadata: { name: "e" },
      spec: { type: "ExternalName", externalName: "x.y" },
    })
    expect(external["spec"]).not.toHaveProperty("clusterIP")
  })

  test.each<[string, Loose, string[]]>([
    [
      "an address that is taken",
      { clusterIP: "10.0.0.9" },
      [
        'spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to allocate IP 10.0.0.9: provided IP is already allocated',
      ],
    ],
    [
      "an address of another network",
      { clusterIP: "1.2.3.4" },
      [
        'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
      ],
    ],
    [
      "a node port that is taken",
      { type: "NodePort", ports: [{ port: 80, nodePort: 30_001 }] },
      ["spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated"],
    ],
    [
      "a node port out of range",
      { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] },
      [
        "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30004",
      ],
    ],
  ])("rejects %s, and allocates nothing", async (_what, spec, expected) => {
    await using kinds = world()
    await kinds.create(
      "services",
      service("first", { clusterIP: "10.0.0.9", type: "NodePort", ports: [{ port: 80, nodePort: 30_001 }] }),
    )
    expect(await faults(kinds.create("services", service("second", spec)))).toEqual(expected)
    // All but those of the first can still be had.
    for (let n = 0; n < 4; n++) await kinds.create("services", service(`n${n}`, { type: "NodePort" }))
  })

  test("gives out ports that are not requested from the upper part, as long as there are some", async () => {
    await using kinds = world("10.0.0.0/24", { from: 30_000, to: 30_019 })
    const portOf = async (name: string): Promise<number> => {
      const { spec } = await kinds.create("services", service(name, { type: "NodePort" }))
      return spec.ports[0].nodePort as number
    }
    const given = await Promise.all([1, 2, 3, 4].map((n) => portOf(`s${n}`)))
    expect(given.toSorted((a, b) => a - b)).toEqual([30_016, 30_017, 30_018, 30_019])
    expect(await portOf("another")).toBeLessThan(30_016)
  })

  test("concurrent requests never get the same address", async () => {
    await using kinds = world()
    const asked = [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
      verdict(kinds.create("services", service(`s${n}`, { clusterIP: "10.0.0.9" }))),
    )
    expect((await Promise.all(asked)).filter((answer) => answer === "accepted")).toHaveLength(1)
  })

  test("does not allocate addresses of existing services", async () => {
    const before = {
      metadata: { name: "old" },
      spec: {
        type: "NodePort",
        clusterIP: "10.0.0.9",
        clusterIPs: ["10.0.0.9"],
        ports: [{ port: 1, nodePort: 30_001 }],
      },
    }
    await using kinds = world("10.0.0.0/28", { from: 30_000, to: 30_004 }, [before as unknown as Service])
    expect(await verdict(kinds.create("services", service("s", { clusterIP: "10.0.0.9" })))).toContain(
      "already allocated",
    )
    const spec = { type: "NodePort", ports: [{ port: 80, nodePort: 30_001 }] }
    expect(await verdict(kinds.create("services", service("s", spec)))).toContain("already allocated")
  })
})

describe("update and delete", () => {
  test("an address cannot be changed, and is released with the service", async () => {
    await using kinds = world()
    await kinds.create("services", service("s", { clusterIP: "10.0.0.9" }))
    expect(await faults(kinds.patch("services", "s", { spec: { clusterIP: "10.0.0.8" } }))).toContain(
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set',
    )
    await kinds.delete("services", "s")
    expect(ip(await kinds.create("services", service("t", { clusterIP: "10.0.0.9" })))).toBe("10.0.0.9")
  })

  test("allocated values are kept if an update does not contain them", async () => {
    await using kinds = world()
    const { spec: given } = await kinds.create("services", service("s", { ipFamilyPolicy: "PreferDualStack" }))
    const nothing = { clusterIP: null, clusterIPs: null, ipFamilies: null, ipFamilyPolicy: null }
    expect((await kinds.patch("services", "s", { spec: nothing }))["spec"]).toEqual(given)
  })

  test("a change of type allocates and releases node ports and addresses", async () => {
    await using kinds = world()
    await kinds.create("services", service("s", { clusterIP: "10.0.0.9" }))
    const ports = [{ port: 80, nodePort: 30_001 }]
    await kinds.patch("services", "s", { spec: { type: "NodePort", ports } })
    expect(await verdict(kinds.create("services", service("t", { type: "NodePort", ports })))).toContain(
      "already allocated",
    )
    const back = await kinds.patch("services", "s", { spec: { type: "ClusterIP" } })
    expect(back["spec"].ports).toEqual([{ port: 80, protocol: "TCP", targetPort: 80 }])
    await kinds.create("services", service("t", { type: "NodePort", ports }))
    await kinds.patch("services", "s", { spec: { type: "ExternalName", externalName: "x.y" } })
    expect(ip(await kinds.create("services", service("u", { clusterIP: "10.0.0.9" })))).toBe("10.0.0.9")
  })

  test("the internal traffic policy is kept but hidden while the service has no cluster address", async () => {
    await using kinds = world()
    const external = { type: "ExternalName", externalName: "x.y", ports: null }
    const held = { finalizers: ["example.com/hold"] }
    const policyOf = ({ spec }: Loose): unknown => (spec as Loose)["internalTrafficPolicy"]
    const policy = async (name: string): Promise<unknown> => policyOf(await kinds.get("services", name))
    await kinds.create("services", service("s", { internalTrafficPolicy: "Local" }))
    await kinds.create("services", service("other"))
    expect(policyOf(await kinds.patch("services", "s", { metadata: held, spec: external }))).toBeUndefined()
    expect(await policy("s")).toBeUndefined()
    const namespace = { namespace: "default" }
    const { items } = await kinds.client.list(services, namespace)
    expect(items.map(policyOf)).toEqual(["Cluster", undefined])
    expect(policyOf(await kinds.patch("services", "s", { metadata: { labels: { a: "b" } } }))).toBeUndefined()
    await kinds.delete("services", "s")
    expect(await policy("s")).toBeUndefined()
    const back = { type: "ClusterIP", externalName: null, ports: [{ port: 80 }] }
    expect(policyOf(await kinds.patch("services", "s", { spec: back }))).toBe("Local")
  })

  test("a write that fails after the allocation releases it", async () => {
    await using kinds = world()
    await kinds.create("services", service("s"))
    expect(await verdict(kinds.create("services", service("s", { clusterIP: "10.0.0.9" })))).toContain("already exists")
    expect(ip(await kinds.create("services", service("t", { clusterIP: "10.0.0.9" })))).toBe("10.0.0.9")
  })

  test("validating admission sees what was allocated, and has it released by a refusal", async () => {
    const seen: Loose[] = []
    const validate: AdmissionPlugin["validate"] = (_ctx, { object, resource }) => {
      if (resource.resource !== "services") return
      seen.push(structuredClone(object?.["spec"] as Loose))
      if (seen.length === 1) throw forbidden(services, "s", "not yet")
    }
    const addresses = new RangeServiceAddresses({ cidr: "10.0.0.0/28", load: async () => [] })
    await using kinds = createKindsStub({ serviceAddresses: addresses, plugins: [{ validate }] })
    const wanted = service("s", { type: "NodePort", clusterIP: "10.0.0.9", ports: [{ port: 80, nodePort: 30_001 }] })
    expect(await verdict(kinds.create("services", wanted))).toContain("not yet")
    expect(ip(await kinds.create("services", wanted))).toBe("10.0.0.9")
    await kinds.create("services", service("b", { type: "LoadBalancer" }))
    expect(seen.map(({ clusterIP, ipFamilies }) => [clusterIP, ipFamilies])).toEqual([
      ["10.0.0.9", ["IPv4"]],
      ["10.0.0.9", ["IPv4"]],
      [undefined, undefined], // allocated once it is admitted
    ])
  })

  test("a dry run shows what would be allocated, and takes nothing", async () => {
    await using kinds = world()
    const spec = { type: "NodePort", clusterIP: "10.0.0.9", ports: [{ port: 80, nodePort: 30_001 }] }
    const wanted = { apiVersion: "v1", kind: "Service", metadata: { name: "s", namespace: "default" }, spec }
    const attempt = (): Promise<Service> => kinds.client.create(services, structuredClone(wanted), { dryRun: true })
    expect((await attempt()).spec).toMatchObject({ clusterIPs: ["10.0.0.9"], ipFamilies: ["IPv4"] })
    await kinds.create("services", wanted)
    expect(await verdict(attempt())).toContain("provided port is already allocated")
    const change = { spec: { ports: [{ port: 80 }, { port: 81, name: "b" }].map((port) => ({ name: "a", ...port })) } }
    const changed = await kinds.patch("services", "s", change, { dryRun: true })
    expect(changed["spec"].ports[1].nodePort).toBe(32_770) // made up
    expect((await kinds.get("services", "s"))["spec"].ports).toHaveLength(1)
  })

  test("only load balancers can have ingress in their status", async () => {
    await using kinds = world()
    await kinds.create("services", service("s"))
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } }
    expect(await faults(kinds.patch("services", "s", { status }, { subresource: "status" }))).toEqual([
      "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'",
    ])
  })
})

describe("validation", () => {
  test.each<[string, Loose, string[]]>([
    ["no ports", { ports: [] }, ["spec.ports: Required value"]],
    [
      "ports without names",
      { ports: [{ port: 80 }, { port: 81 }] },
      ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
    ],
    ["an external name without one", { type: "ExternalName" }, ["spec.externalName: Required value"]],
    [
      "a node port without address",
      { type: "NodePort", clusterIP: "None" },
      ["spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for NodePort services"],
    ],
    [
      "an IP family that is not configured",
      { ipFamilies: ["IPv6"] },
      ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
    ],
  ])("rejects %s", async (_what, spec, expected) => {
    await using kinds = world()
    expect(await faults(kinds.create("services", service("s", spec)))).toEqual(expected)
  })
})
