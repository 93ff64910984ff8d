// What a tenant does with three Services at random, and somebody in super with their copies.

import { expect } from "vitest"
import type { Service } from "../../apimachinery/object.ts"
import { isNotFound, StatusError } from "../../apimachinery/status.ts"
import { chance, pick, type Random } from "../../apimachinery/testing/random.ts"
import { services } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { eventually } from "../../test/harness/eventually.ts"
import { recordedOwner } from "../conversion/ownership.ts"
import type { Syncer } from "../main.ts"
import type { ServiceWorld } from "./service-world.ts"

type Spec = NonNullable<Service["spec"]>

const names = ["a", "b", "c"]

/** `isDual`: there are addresses of both families. */
function randomSpec(random: Random, isDual: boolean): Spec {
  const type = pick(random, ["ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"] as const)
  const spec: Record<string, unknown> = { type }
  const may = (probability: number, field: string, value: unknown): void => {
    if (chance(random, probability)) spec[field] = value
  }
  may(0.8, "selector", { app: pick(random, ["x", "y"]) })
  const ports = [
    { name: "a", port: 80, protocol: "TCP", targetPort: random(2) === 0 ? 8080 : "web" },
    { name: "b", port: 80, protocol: "UDP", targetPort: 80 },
    { name: "c", port: 443 + random(2), protocol: "TCP", targetPort: 443, appProtocol: "https" },
  ].filter(() => chance(random, 0.6))
  if (ports.length > 0 || type !== "ExternalName")
    spec["ports"] = ports.length > 0 ? ports : [{ name: "a", port: 80, protocol: "TCP", targetPort: 80 }]
  if (type === "ExternalName") {
    spec["externalName"] = pick(random, ["a.example.com", "b.example.com"])
    return spec as Spec
  }
  if (type === "ClusterIP") may(0.3, "clusterIP", "None")
  if (isDual) {
    may(0.5, "ipFamilyPolicy", pick(random, ["SingleStack", "PreferDualStack", "RequireDualStack"]))
    may(0.4, "ipFamilies", pick(random, [["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]]))
  }
  may(0.3, "sessionAffinity", "ClientIP")
  may(0.3, "internalTrafficPolicy", "Local")
  may(0.3, "trafficDistribution", "PreferClose")
  may(0.3, "publishNotReadyAddresses", true)
  if (type === "ClusterIP") return spec as Spec
  may(0.5, "externalTrafficPolicy", "Local")
  if (type === "NodePort") return spec as Spec
  may(0.5, "allocateLoadBalancerNodePorts", false)
  may(0.3, "loadBalancerClass", "example.com/lb")
  may(0.3, "loadBalancerSourceRanges", ["10.0.0.0/8"])
  may(0.3, "loadBalancerIP", "192.0.2.1")
  return spec as Spec
}

/** As kubectl does: what is not named stays, and a change of the type is one field. */
function randomPatch(random: Random, isDual: boolean): Record<string, unknown> {
  const { clusterIP: _address, ...spec } = randomSpec(random, isDual) as Record<string, unknown>
  const fields = Object.keys(spec).filter(() => chance(random, 0.5))
  const removed = ["sessionAffinity", "trafficDistribution", "loadBalancerSourceRanges", "selector", "externalName"]
  if (isDual) removed.push("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
  return Object.fromEntries([
    ...removed.filter(() => chance(random, 0.2)).map((field) => [field, null]),
    ...fields.map((field) => [field, spec[field]]),
  ])
}

/** What a tenant does with one of them. Returns what that is. */
async function useService(random: Random, client: KubeClient, isDual: boolean): Promise<string> {
  const name = pick(random, names)
  const metadata = { namespace: "default", name }
  try {
    if (chance(random, 0.1)) {
      await client.delete(services, "default", name)
      return `delete ${name}`
    }
    const spec = randomSpec(random, isDual)
    const present = await client.get<Service>(services, "default", name).catch((error: unknown) => {
      if (!isNotFound(error)) throw error
      return undefined
    })
    if (present === undefined) {
      await client.create(services, { apiVersion: "v1", kind: "Service", metadata, spec })
      return `create ${name} ${JSON.stringify(spec)}`
    }
    if (chance(random, 0.5)) {
      const patch = randomPatch(random, isDual)
      await client.patch(
        services,
        "default",
        name,
        { spec: patch },
        { type: chance(random, 0.5) ? "merge" : "strategic" },
      )
      return `patch ${name} ${JSON.stringify(patch)}`
    }
    await client.update(services, { ...present, spec })
    return `update ${name} ${JSON.stringify(spec)}`
  } catch (error) {
    if (!(error instanceof StatusError) || error.code >= 500) throw error
    return `refused ${name}: ${error.message}`
  }
}

/** Somebody changes a copy. Returns how. */
async function meddle(random: Random, superClient: KubeClient, home: string): Promise<string> {
  const name = pick(random, names)
  const patch = randomPatch(random, false)
  try {
    await superClient.patch(services, home, name, { spec: patch }, { type: "merge" })
    return `meddle ${name} ${JSON.stringify(patch)}`
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return `refused meddling ${name}: ${error.message}`
  }
}

const listed = async (client: KubeClient, namespace: string): Promise<Map<string, Service>> => {
  const { items } = await client.list<Service>(services, { namespace })
  const mine = items.filter(({ metadata }) => names.includes(metadata.name ?? ""))
  return new Map(mine.map((one) => [one.metadata.name ?? "", one]))
}

/** A copy that is made while its Service is being deleted may stay for a minute, also if there is another of that name by now. */
function leaveOutStale(here: Map<string, Service>, there: Map<string, Service>): void {
  for (const [name, copy] of there) {
    const { metadata } = here.get(name) ?? {}
    const { uid } = recordedOwner(copy) ?? {}
    if (metadata !== undefined && (uid === undefined || uid === metadata.uid)) continue
    here.delete(name)
    there.delete(name)
  }
}

const specsOf = (objects: ReadonlyMap<string, Service>): Record<string, unknown> =>
  Object.fromEntries([...objects].map(([name, { spec }]) => [name, spec]))

/** While a syncer runs. In super they are what the tenant has, each time when it has nothing left to do. `isDual` as above. */
export async function changeServices(
  { client, superClient, home }: ServiceWorld,
  syncer: Syncer,
  random: Random,
  isDual: boolean,
): Promise<void> {
  const done: string[] = []
  const same = async (): Promise<true> => {
    const [here, there] = await Promise.all([listed(client, "default"), listed(superClient, home)])
    leaveOutStale(here, there)
    expect(specsOf(there), done.slice(-6).join("\n")).toEqual(specsOf(here))
    return true
  }
  for (let step = 0; step < 150; step++) {
    const isMeddling = chance(random, 0.15)
    done.push(isMeddling ? await meddle(random, superClient, home) : await useService(random, client, isDual))
    // A second change of a copy before the first is undone may take its address for good: a server never changes one.
    if (!isMeddling && !chance(random, 0.4)) continue
    await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
    await eventually(same, { what: "the specs are the same", timeoutMs: 20_000 })
  }
  expect(done.filter((line) => line.startsWith("refused")).length).toBeLessThan(done.length / 2)
}
