import { boundInSuperAnnotation } from "../../apimachinery/tenancy.ts"
import { describe, expect, test } from "vitest"
import type {
  Endpoints,
  EndpointSlice,
  KubeObject,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from "../../apimachinery/object.ts"
import { FieldPath, invalidValue } from "../../apimachinery/field-errors.ts"
import { internalError, invalid, type StatusError } from "../../apimachinery/status.ts"
import { settingsOf } from "../options.ts"
import { contextWith, object } from "../testing/sync-context.ts"
import { configMap } from "./configmap.ts"
import { endpoints } from "./endpoints.ts"
import { endpointSlice } from "./endpointslice.ts"
import { persistentVolumeClaim } from "./persistentvolumeclaim.ts"
import { pod } from "./pod/pod.ts"
import type { ResourceSync, SyncContext } from "./resource-sync.ts"
import { secret } from "./secret.ts"
import { service, specChange } from "./service.ts"

describe("pods, downward", () => {
  const withImages = (...images: string[]): Pod =>
    object({ spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) } })
  const patched = (wanted: Pod, current: Pod): unknown => pod.changed(wanted, current, contextWith())[0]?.patch["spec"]

  test("copies changed images and keeps a webhook's container", () => {
    expect(patched(withImages("a"), withImages("a"))).toBeUndefined()
    expect(patched(withImages("a"), withImages("a", "sidecar"))).toBeUndefined()
    expect(patched(withImages("b"), withImages("a", "sidecar"))).toEqual({
      containers: [
        { name: "c0", image: "b" },
        { name: "c1", image: "sidecar" },
      ],
    })
  })

  test.each<[number | undefined, number | undefined, unknown]>([
    [undefined, undefined, undefined],
    [5, 5, undefined],
    [5, undefined, { activeDeadlineSeconds: 5 }],
    [4, 5, { activeDeadlineSeconds: 4 }],
    // Set by super's admission, and refused if it becomes more.
    [6, 5, undefined],
  ])("activeDeadlineSeconds %s over %s", (wanted, current, expected) => {
    const deadline = (activeDeadlineSeconds: number | undefined): Pod =>
      object({ spec: { containers: [], activeDeadlineSeconds } })
    expect(patched(deadline(wanted), deadline(current))).toEqual(expected)
  })

  test("adds tolerations and keeps those of super", () => {
    const tolerating = (...keys: string[]): Pod =>
      object({ spec: { containers: [], tolerations: keys.map((key) => ({ key })) } })
    expect(patched(tolerating("a", "b"), tolerating("x", "a"))).toEqual({
      tolerations: [{ key: "x" }, { key: "a" }, { key: "b" }],
    })
  })

  test("leaves the variables to a ConfigMap that gives them", () => {
    const settings: KubeObject = object({
      metadata: { namespace: "default", name: "c" },
      data: { KUBERNETES_SERVICE_HOST: "x" },
    })
    const wanted: Pod = object({
      spec: { containers: [{ name: "a", envFrom: [{ configMapRef: { name: "c" } }] }, { name: "b" }] },
    })
    const [a, b] = pod.toSuper(wanted, contextWith([settings])).spec?.containers ?? []
    expect(a).not.toHaveProperty("env")
    expect(b?.env).toEqual([{ name: "KUBERNETES_SERVICE_HOST", value: "kubernetes" }])
  })

  test("adds ephemeral containers through their subresource", () => {
    const wanted: Pod = object({ spec: { containers: [], ephemeralContainers: [{ name: "debug", image: "sh" }] } })
    const patches = pod.changed(wanted, object({ spec: { containers: [] } }), contextWith())
    expect(patches[0]?.subresource).toBe("ephemeralcontainers")
    expect(patches[0]?.patch).toMatchObject({ spec: { ephemeralContainers: [{ name: "debug", image: "sh" }] } })
  })
})

describe("pods, upward", () => {
  test("binds the pod first, then writes the status", () => {
    const superPod: Pod = object({ spec: { containers: [], nodeName: "n" }, status: { phase: "Running" } })
    expect(pod.toTenant?.(object({ spec: { containers: [] } }), superPod, contextWith())).toEqual([
      { bind: "n" },
      { patch: { status: { phase: "Running" } }, subresource: "status" },
    ])
  })

  test("refuses a pod that the tenant bound to a node that does not exist", () => {
    expect(pod.missing?.(object({ spec: { containers: [], nodeName: "nowhere" } }), contextWith())).toEqual({
      kind: "refuse",
      message: 'there is no node "nowhere"',
    })
  })
})

describe("services", () => {
  type Spec = NonNullable<Service["spec"]>
  const current = {
    type: "NodePort",
    clusterIP: "10.0.0.9",
    clusterIPs: ["10.0.0.9"],
    ipFamilies: ["IPv4"],
    sessionAffinity: "None",
    internalTrafficPolicy: "Cluster",
    selector: { app: "a" },
    ports: [
      { port: 80, protocol: "TCP", nodePort: 30080 },
      { port: 443, protocol: "TCP", nodePort: 30443 },
    ],
  } as Spec

  const balanced = { ...current, type: "LoadBalancer", loadBalancerClass: "example.com/of-super" } as Spec

  test.each<[what: string, wanted: object, expected: unknown, present?: Spec]>([
    [
      "no difference in the tenant's fields",
      { ...current, clusterIP: "10.9.9.9", clusterIPs: ["10.9.9.9"] },
      undefined,
    ],
    ["defaulted fields", { type: "NodePort", selector: { app: "a" }, ports: current.ports }, undefined],
    ["a load balancer's webhook has set its class", { ...balanced, loadBalancerClass: undefined }, undefined, balanced],
    ["another selector", { ...current, selector: { app: "b" } }, { selector: { app: "b" } }],
    ["no selector any more", { ...current, selector: undefined }, { selector: null }],
    [
      "ports in another order keep their node ports",
      {
        ...current,
        ports: [
          { port: 443, protocol: "TCP" },
          { port: 80, protocol: "TCP" },
        ],
      },
      { ports: [current.ports?.[1], current.ports?.[0]] },
    ],
  ])("%s", (_what, wanted, expected, present = current) => {
    expect(specChange(wanted as Spec, present)).toEqual(expected)
  })

  test("stops publishing addresses that are not ready", () => {
    const published = { ...current, publishNotReadyAddresses: true }
    expect(specChange(published, current)).toEqual({ publishNotReadyAddresses: true })
    expect(specChange(current, published)).toEqual({ publishNotReadyAddresses: null })
  })

  test("an address that is not super's is reported until it is", () => {
    const superService: Service = object({ spec: { clusterIP: "10.0.0.9" } })
    const key = "transparency.tenancy.x-k8s.io/clusterIP"
    const other: Service = object({ spec: { clusterIP: "10.1.1.1" } })
    expect(service.toTenant?.(other, superService, contextWith())).toEqual([
      { patch: { metadata: { annotations: { [key]: "10.0.0.9" } } } },
    ])
    expect(service.toTenant?.(object({ spec: { clusterIP: "10.0.0.9" } }), superService, contextWith())).toEqual([])
  })

  test("the load balancer's address is copied back", () => {
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } }
    const steps = service.toTenant?.(
      object({ spec: {}, status: { loadBalancer: {} } }),
      object({ spec: {}, status }),
      contextWith(),
    )
    expect(steps).toEqual([{ patch: { status }, subresource: "status" }])
  })

  describe("external addresses", () => {
    const outside = { externalIPs: ["192.0.2.7"], externalTrafficPolicy: "Cluster" }
    const spec = { ...current, type: "ClusterIP" } as Spec
    const wanted: Service = object({ spec: { ...spec, ...outside } })
    const allowing = { ...contextWith(), settings: settingsOf({ externalIPs: "allow" }) }
    const changes = (present: object, context: SyncContext): unknown =>
      service.changed(wanted, object({ spec: { ...spec, ...present } }), context)

    test("are omitted and reported by default", () => {
      expect(service.toSuper(wanted, contextWith()).spec).toEqual(spec)
      expect(changes({}, contextWith())).toEqual([])
      expect(service.unsupported?.(wanted, contextWith())).toMatch(/^spec\.externalIPs: /)
      expect(service.unsupported?.(object({ spec }), contextWith())).toBeUndefined()
    })

    test("are removed where they were allowed before", () => {
      expect(changes(outside, contextWith())).toEqual([{ patch: { spec: { externalIPs: null } } }])
    })

    test("do not change other external traffic", () => {
      const nodePort: Service = object({ spec: { ...current, ...outside, externalTrafficPolicy: "Local" } })
      expect(service.toSuper(nodePort, contextWith()).spec).toEqual({ ...current, externalTrafficPolicy: "Local" })
    })

    test("are copied if super's administrator allows them", () => {
      expect(service.toSuper(wanted, allowing).spec).toEqual(wanted.spec)
      expect(changes({}, allowing)).toEqual([{ patch: { spec: outside } }])
      expect(service.unsupported?.(wanted, allowing)).toBeUndefined()
    })
  })

  test("a copy for which super assigns numbers anew asks for the tenant's", () => {
    const elsewhere = { type: "ExternalName", externalName: "example.com", ports: current.ports } as Spec
    const addresses = {
      clusterIP: "10.0.0.9",
      clusterIPs: ["10.0.0.9"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    }
    const wanted = { ...balanced, ...addresses, externalTrafficPolicy: "Local", healthCheckNodePort: 30_009 } as Spec
    const change = specChange(wanted, elsewhere)
    expect(change).toMatchObject({ ...addresses, type: "LoadBalancer", healthCheckNodePort: 30_009 })
    const everywhere = {
      ...wanted,
      externalTrafficPolicy: "Cluster",
      healthCheckNodePort: undefined,
    } as unknown as Spec
    expect(specChange(wanted, everywhere)).toEqual({ externalTrafficPolicy: "Local", healthCheckNodePort: 30_009 })
    // Nothing is assigned.
    expect(specChange(wanted, { ...wanted, clusterIP: "10.0.0.8", healthCheckNodePort: 30_008 })).toBeUndefined()
  })

  const refused = (...fields: string[]): StatusError => {
    const spec = FieldPath.root("spec")
    return invalid(
      { group: "", kind: "Service" },
      "web",
      fields.map((field) => invalidValue(spec.child(field), 0, "taken")),
    )
  }
  const healthCheckRefused = internalError("failed to allocate requested HealthCheck NodePort 30009: already allocated")
  const numbers = {
    clusterIP: "10.0.0.9",
    clusterIPs: ["10.0.0.9"],
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  }
  const all = { ...numbers, healthCheckNodePort: 30_009, ports: [{ port: 80, nodePort: 30_080 }] }
  const { ports: _ports, ...withoutPorts } = all
  const { healthCheckNodePort: _healthCheckPort, ...withoutHealthCheck } = all
  const dns = (tcp?: number, udp?: number, other = 30_001): object[] => [
    { port: 53, ...(tcp && { nodePort: tcp }) },
    { port: 53, protocol: "UDP", ...(udp && { nodePort: udp }) },
    { port: 80, nodePort: other },
  ]
  test.each<[what: string, spec: object, error: StatusError, expected: object | undefined]>([
    ["an address", all, refused("clusterIPs"), { healthCheckNodePort: 30_009, ports: all.ports }],
    ["a family", all, refused("ipFamilies[0]"), { healthCheckNodePort: 30_009, ports: all.ports }],
    ["a node port", all, refused("ports[0].nodePort"), { ...withoutPorts, ports: [{ port: 80 }] }],
    ["a health check port", all, healthCheckRefused, withoutHealthCheck],
    ["one of several ports", { ports: dns(30_053, 30_054) }, refused("ports[1].nodePort"), { ports: dns(30_053) }],
    ["a shared port", { ports: dns(30_053, 30_053) }, refused("ports[0].nodePort"), { ports: dns() }],
    ["a port of another", { ports: dns(undefined, 30_053) }, refused("ports[0].nodePort"), { ports: dns() }],
    ["what it does not ask for", { ports: [{ port: 80 }] }, refused("ports[0].nodePort"), undefined],
    ["to be headless", { ...numbers, clusterIP: "None" }, refused("ipFamilyPolicy"), undefined],
    ["another field", all, refused("externalName"), undefined],
    ["a server that fails", all, internalError("etcdserver: no leader"), undefined],
  ])("a service that asks for too much, and is refused %s, asks for any", (_what, spec, error, expected) => {
    expect(service.fallback?.(object<Service>({ spec }), error, undefined)?.spec).toEqual(expected)
  })

  const there = object<Service>({ spec: { type: "NodePort", ports: [{ port: 80, nodePort: 31_000 }] } })
  const taken = [{ port: 80, nodePort: 30_080 }]
  test.each<[what: string, patch: object, expected: object | undefined]>([
    ["nothing else", { metadata: { uid: "1" }, spec: { ports: taken } }, undefined],
    ["another field", { metadata: {}, spec: { ports: taken, selector: {} } }, { metadata: {}, spec: { selector: {} } }],
    ["a label", { metadata: { labels: {} }, spec: { ports: taken } }, { metadata: { labels: {} }, spec: {} }],
    [
      "another port",
      { metadata: {}, spec: { ports: [...taken, { port: 81, nodePort: 30_081 }] } },
      {
        metadata: {},
        spec: {
          ports: [
            { port: 80, nodePort: 31_000 },
            { port: 81, nodePort: 30_081 },
          ],
        },
      },
    ],
  ])("a patch that asks for a node port and %s leaves the one that is there", (_what, patch, expected) => {
    expect(service.fallback?.(patch as Service, refused("ports[0].nodePort"), there)).toEqual(expected)
  })
})

describe("endpoints", () => {
  const own: Endpoints = object({
    subsets: [
      { addresses: [{ ip: "1.1.1.1", targetRef: { kind: "Pod", name: "p", namespace: "default", uid: "u" } }] },
    ],
  })
  test.each([
    ["without a service", [], true],
    ["of a service without selector", [object({ spec: {} })], true],
    ["of a service with one", [object({ spec: { selector: { a: "b" } } })], false],
  ])("%s are synced: %s", (_name, objects, expected) => {
    expect(endpoints.synced?.(own, contextWith(objects))).toBe(expected)
  })

  test("ignores differences in references", () => {
    const copy = { ...own, ...endpoints.toSuper(own, contextWith()) }
    expect(JSON.stringify(copy.subsets)).not.toContain("uid")
    expect(endpoints.changed(own, copy, contextWith())).toEqual([])
  })
})

describe("claims", () => {
  const claim = (spec: object, status: object): PersistentVolumeClaim => object({ spec, status })
  test("get their volume, then their status", () => {
    const steps = persistentVolumeClaim.toTenant?.(
      claim({ storageClassName: "fast" }, { phase: "Pending" }),
      claim({ storageClassName: "fast", volumeName: "pv-1" }, { phase: "Bound", capacity: { storage: "1Gi" } }),
      contextWith(),
    )
    expect(steps).toEqual([
      {
        patch: {
          metadata: { annotations: { "pv.kubernetes.io/bind-completed": "yes", [boundInSuperAnnotation]: "yes" } },
          spec: { volumeName: "pv-1" },
        },
      },
      { patch: { status: { phase: "Bound", capacity: { storage: "1Gi" } } }, subresource: "status" },
    ])
  })

  test("only a larger request is copied later", () => {
    const sized = (storage: string): PersistentVolumeClaim => claim({ resources: { requests: { storage } } }, {})
    expect(persistentVolumeClaim.changed(sized("2Gi"), sized("1Gi"), contextWith())).toEqual([
      { patch: { spec: { resources: { requests: { storage: "2Gi" } } } } },
    ])
    expect(persistentVolumeClaim.changed(sized("1Gi"), sized("1Gi"), contextWith())).toEqual([])
  })
})

test("a service account's token is an Opaque secret in super", () => {
  const made = secret.toSuper(
    object({ type: "kubernetes.io/service-account-token", data: { token: "eA==" } }),
    contextWith(),
  )
  expect(made).toMatchObject({ type: "Opaque", data: { token: "eA==" } })
})

describe("contents that somebody in super has made immutable", () => {
  const [wanted, other] = [{ data: { a: "1" } }, { data: { a: "2" } }]
  const immutable = { immutable: true }

  test.each([
    ["are changed where they are not", wanted, other, { isNew: false, patches: [{ patch: wanted }] }],
    ["are made anew if they are others", wanted, { ...other, ...immutable }, { isNew: true, patches: [] }],
    ["stay if they are the same", wanted, { ...wanted, ...immutable }, { isNew: false, patches: [] }],
    ["and are none stay", {}, { data: {}, ...immutable }, { isNew: false, patches: [] }],
    ["are the tenant's own", { ...wanted, ...immutable }, wanted, { isNew: false, patches: [{ patch: immutable }] }],
  ])("%s", (_what, mine, copy, expected) => {
    for (const sync of [configMap, secret] as ResourceSync[]) {
      const [one, there] = [object(mine), object(copy)]
      const isNew = sync.outdated?.(one, there, contextWith())
      expect({ isNew, patches: sync.changed(one, there, contextWith()) }).toEqual(expected)
    }
  })
})

test("a copy whose type cannot be changed is made anew", () => {
  const secretOf = (type: string) => object<Secret>({ type, data: {} })
  const isOutdated = (mine: string, copy: string) => secret.outdated?.(secretOf(mine), secretOf(copy), contextWith())
  expect(isOutdated("kubernetes.io/service-account-token", "Opaque")).toBe(false)
  expect(isOutdated("example.com/any", "Opaque")).toBe(true)
  const sliceOf = (addressType: string) => object<EndpointSlice>({ addressType, endpoints: [] })
  expect(endpointSlice.outdated?.(sliceOf("IPv4"), sliceOf("IPv6"), contextWith())).toBe(true)
})
