// What somebody in super changes of copies by hand, in any field that a real API server lets them change: the syncer undoes it.

import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Json, KubeObject, Service } from "../apimachinery/object.ts"
import { applyMergePatch } from "../apimachinery/patch/merge-patch.ts"
import { isObject, setOwn, type JsonObject } from "../apimachinery/schema/json-object.ts"
import { StatusError } from "../apimachinery/status.ts"
import { clusterAnnotation, namespaceAnnotation, superNamespace, uidAnnotation } from "../apimachinery/tenancy.ts"
import { chance, createRandom, pick, seeds, type Random } from "../apimachinery/testing/random.ts"
import {
  configMaps,
  endpoints,
  endpointSlices,
  persistentVolumeClaims,
  secrets,
  serviceAccounts,
  services,
} from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import { RangeServiceAddresses } from "../gateway/registry/core/services/addresses.ts"
import { startTestGateway, type TestGateway } from "../gateway/testing/start-gateway.ts"
import { eventually } from "../test/harness/eventually.ts"
import { createServiceAddresses, startSyncer, SuperNamespaces, type Syncer } from "./main.ts"

const base64 = (text: string): string => Buffer.from(text).toString("base64")
const claim = { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } }

const contents: readonly [resource: Resource, kind: string, name: string, content: object][] = [
  [configMaps, "ConfigMap", "settings", { data: { a: "1", b: "2" }, binaryData: { c: base64("\u0000\u0001") } }],
  [configMaps, "ConfigMap", "fixed", { data: { a: "1" }, immutable: true }],
  [configMaps, "ConfigMap", "large", { binaryData: { all: base64("x".repeat(1024 * 1024)) } }],
  [secrets, "Secret", "password", { type: "Opaque", data: { a: base64("1"), b: base64("2") } }],
  [secrets, "Secret", "fixed", { type: "example.com/any", data: { a: base64("1") }, immutable: true }],
  [services, "Service", "web", { spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80 }] } }],
  [services, "Service", "outer", { spec: { type: "NodePort", ports: [{ port: 80 }], sessionAffinity: "ClientIP" } }],
  [services, "Service", "headless", { spec: { clusterIP: "None", selector: { app: "web" }, ports: [{ port: 80 }] } }],
  [services, "Service", "elsewhere", { spec: { type: "ExternalName", externalName: "example.com" } }],
  [serviceAccounts, "ServiceAccount", "robot", { imagePullSecrets: [{ name: "password" }] }],
  [persistentVolumeClaims, "PersistentVolumeClaim", "data", { spec: claim }],
  [endpoints, "Endpoints", "outer", { subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }] }],
  [
    endpointSlices,
    "EndpointSlice",
    "outer-1",
    {
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.1"] }],
      ports: [{ name: "", port: 80, protocol: "TCP" }],
    },
  ],
]

const apiVersionOf = ({ group, version }: Resource): string => (group === "" ? version : `${group}/${version}`)

describe("copies in a real API server", () => {
  const stack = new AsyncDisposableStack()
  let superClient: KubeClient
  let client: KubeClient
  let syncer: Syncer
  let before: Map<string, JsonObject>
  const home = superNamespace("default-acme", "default")

  beforeAll(async () => {
    const gateway: TestGateway = stack.use(
      await startTestGateway({
        serviceAddresses: (tenant) =>
          tenant === undefined
            ? new RangeServiceAddresses({
                cidr: "10.96.0.0/16",
                load: async () => (await superClient.list<Service>(services)).items,
              })
            : createServiceAddresses(superClient, tenant, {
                superNamespaces: new SuperNamespaces(() => superClient),
                tenantClient: () => gateway.gateway.tenants.client(tenant.name),
              }),
      }),
    )
    const { tenants, superCluster } = gateway.gateway
    superClient = superCluster!.client
    await gateway.createTenant("acme")
    syncer = stack.use(await startSyncer({ superClient, tenants, networkPolicies: "allow" }))
    client = tenants.client("acme")
    tenants.wake("acme")
    const labels = { app: "web", "example.com/tier": "front" }
    for (const [resource, kind, name, content] of contents) {
      const metadata = { name, namespace: "default", labels, annotations: { "example.com/note": "of the tenant" } }
      await client.create(resource, { apiVersion: apiVersionOf(resource), kind, metadata, ...content } as KubeObject)
    }
    for (const [resource, , name] of contents) {
      await eventually(() => superClient.get(resource, home, name).catch(() => undefined), { what: `copy ${name}` })
    }
    before = await copies()
  })

  afterAll(() => stack.disposeAsync())

  const read = async (resource: Resource, name: string): Promise<JsonObject> =>
    owned((await superClient.get(resource, home, name)) as unknown as JsonObject)

  const copies = async (): Promise<Map<string, JsonObject>> => {
    const found = new Map<string, JsonObject>()
    for (const [resource, , name] of contents)
      found.set(`${resource.resource}/${name}`, await read(resource, name).catch(() => ({})))
    return found
  }

  /** As by `kubectl edit`, or `kubectl replace --force`. Returns what was done; undefined if super refuses, or the syncer is faster. */
  const meddle = async (random: Random): Promise<string | undefined> => {
    const [resource, kind, name] = pick(random, contents)
    // A claim waits for controllers that are not here.
    const isReplaced = resource !== persistentVolumeClaims && chance(random, 0.2)
    try {
      const current = await read(resource, name)
      const change = edit(random, current)
      if (isReplaced) {
        const { metadata, ...content } = applyMergePatch(current, change) as JsonObject
        const made = { apiVersion: apiVersionOf(resource), kind, ...content }
        await superClient.delete(resource, home, name)
        const marks = metadata as object
        await superClient.create(resource, { ...made, metadata: { ...marks, name, namespace: home } } as KubeObject)
      } else await superClient.patch(resource, home, name, change, { type: "merge" })
      return `${isReplaced ? "replaced" : "changed"} ${resource.resource}/${name} ${JSON.stringify(change).slice(0, 300)}`
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return undefined
    }
  }

  const left = async (): Promise<string[]> => {
    await syncer.patrol()
    return [...(await copies())].flatMap(([id, copy]) => differences(before.get(id), copy, id))
  }

  test.each(seeds(4))("are as before after any changes by hand (seed %i)", async (seed) => {
    const random = createRandom(seed)
    const made: string[] = []
    for (let step = 0; step < 60; step++) {
      const what = await meddle(random)
      if (what !== undefined) made.push(what)
    }
    await eventually(async () => (await left()).length === 0, { what: "as before" }).catch(async (cause: unknown) => {
      throw new Error(`${(await left()).join("\n")}\nafter\n${made.join("\n")}`, { cause })
    })
    expect(made).not.toEqual([])
  })
})

/** Without what only the server writes. */
function owned({ status: _status, metadata, ...object }: JsonObject): JsonObject {
  const { labels = {}, annotations = {} } = metadata as JsonObject
  return { ...object, metadata: { labels, annotations } }
}

/** Labels and annotations that others have added stay. */
function differences(before: Json | undefined, after: Json | undefined, path: string): string[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return (
      [...keys]
        .filter((key) => !(key === "meddled" && path.includes(".metadata.")))
        // The contents are right, and nobody can take it back.
        .filter((key) => !(key === "immutable" && before[key] === undefined))
        .flatMap((key) => differences(before[key], after[key], `${path}.${key}`))
    )
  }
  const [one, other] = [JSON.stringify(before), JSON.stringify(after)]
  return one === other ? [] : [`${path} ${one?.slice(0, 100)} is now ${other?.slice(0, 100)}`]
}

/** Whose copy it is: with others it is not this one. */
const owners = new Set<string>([clusterAnnotation, namespaceAnnotation, uidAnnotation])

/** A merge patch that removes, changes or adds one thing. */
function edit(random: Random, object: JsonObject): JsonObject {
  if (chance(random, 0.1)) return { immutable: true }
  const patch: JsonObject = {}
  let [at, current] = [patch, object]
  for (;;) {
    const key = pick(random, [...Object.keys(current), "meddled"])
    const value = current[key]
    if (owners.has(key)) continue
    if (isObject(value) && Object.keys(value).length > 0 && chance(random, 0.9)) {
      const next: JsonObject = {}
      setOwn(at, key, next)
      ;[at, current] = [next, value]
      continue
    }
    // All of the metadata's keys at once have the owner's, too.
    if (key === "metadata" || key === "annotations" || key === "kind") continue
    setOwn(at, key, chance(random, 0.3) ? null : otherValue(random, value))
    return patch
  }
}

function otherValue(random: Random, value: Json | undefined): Json {
  if (value === undefined) return base64("meddled")
  if (typeof value === "boolean") return !value
  if (typeof value === "number") return value + 1
  if (Array.isArray(value)) return chance(random, 0.5) ? [] : value.slice(1)
  if (typeof value !== "string") return null
  return pick(random, [
    base64("meddled"),
    "Cluster",
    "Local",
    "NodePort",
    "ClusterIP",
    "ExternalName",
    "LoadBalancer",
    "2Gi",
  ])
}
