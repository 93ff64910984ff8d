// What somebody in super does to the Secrets with pods' tokens: they are as before, with new tokens, and if it is done again and again, less and
// less often.

import { expect, test } from "vitest"
import type { Secret } from "../apimachinery/object.ts"
import { serviceUnavailable } from "../apimachinery/status.ts"
import { events, pods, secrets } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import { syncerLimits } from "./options.ts"
import { fakeTenant } from "./testing/fake-tenants.ts"
import { podOf, startHarness } from "./testing/harness.ts"

const volumes = [{ name: "t", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }]
const key = "token-0-0"

async function begin() {
  const harness = await startHarness()
  const { cluster, superCluster, syncer } = harness
  await cluster.create(pods, podOf("web", { volumes }))
  const { spec } = await harness.inSuper<{ spec?: { volumes?: object[] } } & Secret>(pods, "web")
  const name = /pod-token-[\w-]+/.exec(JSON.stringify(spec))![0]
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  const secret = (): Secret | undefined => superCluster.find(secrets, harness.home, name)
  const edit = (change: object) => superCluster.edit(secrets, harness.home, name, change as Record<string, unknown>)
  const issued = (): number => cluster.calls.get("create token of serviceaccounts") ?? 0
  return { harness, secret, edit, issued, made: secret()! }
}

/** Those that do not depend on its tokens. */
const marksOf = ({ metadata: { annotations = {} } }: Secret): object =>
  Object.fromEntries(
    ["token.pod-uid", "token.pod-name", "cluster", "namespace"].map((name) => {
      const key = `tenancy.x-k8s.io/${name}`
      return [key, annotations[key]]
    }),
  )

const annotations = (one: object): object => ({ metadata: { annotations: one } })
const nameless = annotations({ "tenancy.x-k8s.io/token.pod-name": null, "tenancy.x-k8s.io/token.pod-uid": null })

test.each<[what: string, change: object]>([
  ["another token", { data: { [key]: "d3Jvbmc=" } }],
  ["no token", { data: { [key]: null } }],
  ["no data", { data: null }],
  ["another time of renewal", annotations({ "tenancy.x-k8s.io/token.refresh-at": "2099-01-01T00:00:00Z" })],
  ["no time of renewal", annotations({ "tenancy.x-k8s.io/token.refresh-at": null })],
  ["another pod's uid", annotations({ "tenancy.x-k8s.io/token.pod-uid": "other" })],
  ["no pod's uid", annotations({ "tenancy.x-k8s.io/token.pod-uid": null })],
  ["no pod's name", annotations({ "tenancy.x-k8s.io/token.pod-name": null })],
  ["no owner", annotations({ "tenancy.x-k8s.io/cluster": null })],
  ["no pod", nameless],
  ["another owner", annotations({ "tenancy.x-k8s.io/cluster": "other" })],
  ["another namespace", annotations({ "tenancy.x-k8s.io/namespace": "other" })],
  ["no marks", { metadata: { annotations: null, labels: null } }],
])("a Secret that gets %s has tokens again, and its marks", async (_what, change) => {
  const { harness, secret, edit, made } = await begin()
  await using _ = harness
  edit(change)
  await eventually(
    async () => {
      await harness.settled()
      return secret()?.data?.[key] !== undefined && harness.syncer.pending === 0
    },
    { what: "a token" },
  )
  await harness.settled()
  const { data, metadata } = secret()!
  const { annotations: were = {} } = made.metadata
  expect(data?.[key]).not.toBe("d3Jvbmc=")
  expect(Object.keys(metadata.annotations ?? {}).toSorted()).toEqual(Object.keys(were).toSorted())
  for (const name of ["token.pod-uid", "token.pod-name", "cluster", "namespace"])
    expect(metadata.annotations?.[`tenancy.x-k8s.io/${name}`]).toBe(were[`tenancy.x-k8s.io/${name}`])
  expect(Date.parse(metadata.annotations?.["tenancy.x-k8s.io/token.refresh-at"] ?? "")).toBeLessThan(
    Date.parse("2098-01-01T00:00:00Z"),
  )
  expect(metadata.labels).toEqual(made.metadata.labels)
  expect((await harness.syncer.patrol()).enqueued).toEqual(new Map())
})

test.each<[what: string, change: object]>([
  ["does not say of which pod it is any more", nameless],
  ["does not say its pod's uid any more", annotations({ "tenancy.x-k8s.io/token.pod-uid": null })],
  ["says another pod's uid", annotations({ "tenancy.x-k8s.io/token.pod-uid": "other" })],
  ["says another namespace", annotations({ "tenancy.x-k8s.io/namespace": "other" })],
  ["says another tenant", annotations({ "tenancy.x-k8s.io/cluster": "other" })],
])("a Secret that %s is not deleted, and says it again at once", async (_what, change) => {
  const { harness, secret, edit, made } = await begin()
  await using _ = harness
  edit(change)
  const marks = (): unknown => secret()?.metadata.annotations
  await eventually(() => expect(marks()).toMatchObject(marksOf(made)), { what: "its marks" })
  expect(secret()?.metadata.uid).toBe(made.metadata.uid)
})

test("a Secret that is made immutable and stripped of its marks is replaced, and the tenant told", async () => {
  const { harness, secret, edit, made } = await begin()
  await using _ = harness
  edit({ data: { [key]: "d3Jvbmc=" }, immutable: true, metadata: { annotations: null, labels: null } })
  const hasTokens = async (): Promise<boolean> => {
    await harness.settled()
    return secret() !== undefined && secret()?.immutable === undefined
  }
  await eventually(hasTokens, { what: "another Secret" })
  expect(secret()?.metadata.uid).not.toBe(made.metadata.uid)
  expect(secret()?.data?.[key]).not.toBe("d3Jvbmc=")
  expect(secret()?.metadata.annotations).toMatchObject(marksOf(made))
  const told = (): string => JSON.stringify(harness.cluster.all(events))
  await eventually(() => told().includes("fixed the service account tokens of this pod"), { what: "an event" })
})

test("a Secret that says that it is another tenant's is not deleted by that, and says whose it is again at once", async () => {
  const { harness, secret, edit, made } = await begin()
  await using _ = harness
  const other = fakeTenant("other")
  harness.tenants.add(other)
  await harness.settled()
  edit(annotations({ "tenancy.x-k8s.io/cluster": other.clusterKey }))
  await eventually(() => expect(secret()?.metadata.annotations).toMatchObject(marksOf(made)), { what: "its marks" })
  expect(secret()?.metadata.uid).toBe(made.metadata.uid)
})

test("a Secret that does not say of which pod it is any more is deleted once the pod is gone", async () => {
  const { harness, secret, edit } = await begin()
  await using _ = harness
  const { cluster } = harness
  cluster.fail = (verb, resource) =>
    verb === "create" && resource === "serviceaccounts" ? serviceUnavailable("no tokens") : undefined
  edit(nameless)
  await cluster.delete(pods, "default", "web", { gracePeriodSeconds: 0 })
  const isGone = async (): Promise<boolean> => {
    await harness.settled()
    return secret() === undefined
  }
  await eventually(isGone, { what: "the Secret is gone" })
  expect((await harness.syncer.patrol()).enqueued).toEqual(new Map())
})

test("a Secret with more than its tokens stays as it is", async () => {
  const { harness, secret, edit, issued } = await begin()
  await using _ = harness
  const before = issued()
  edit({ data: { more: "eA==" }, metadata: { labels: { more: "x" } } })
  await harness.settled()
  expect(issued()).toBe(before)
  expect(secret()?.data?.["more"]).toBe("eA==")
})

test.each<[what: string, change: object | undefined]>([
  ["changes", { data: { [key]: "d3Jvbmc=" } }],
  ["changes, and makes immutable,", { data: { [key]: "d3Jvbmc=" }, immutable: true }],
  ["strips of its label", { metadata: { labels: null } }],
  ["deletes", undefined],
])("a Secret that somebody %s again and again gets new tokens a few times at once", async (_what, change) => {
  const { harness, edit, issued, made } = await begin()
  await using _ = harness
  const { superCluster, syncer, home } = harness
  let edits = 0
  const theirs = (): void => {
    if (change === undefined) superCluster.remove(secrets, home, made.metadata.name ?? "")
    else edit(change)
  }
  superCluster.onChange(({ type, resource, object }) => {
    const isMarked = object.metadata.labels !== undefined
    const isTheirs = type === "DELETED" || (object as Secret).data?.[key] === "d3Jvbmc=" || !isMarked
    if (resource !== "secrets" || isTheirs || edits === 100) return
    edits++
    queueMicrotask(theirs)
  })
  theirs()
  await eventually(() => edits > 3 && syncer.pending === 0 && syncer.delayed > 0, { what: "it waits" })
  await harness.settled()
  expect(issued()).toBeLessThan(10)
})

test("a pod that is not in super yet gets its tokens before it is, however often they have been replaced", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, syncer, home } = harness
  superCluster.fail = (verb, resource) =>
    verb === "create" && resource === "pods" ? serviceUnavailable("not yet") : undefined
  await cluster.create(pods, podOf("web", { volumes }))
  const present = (): Secret | undefined =>
    superCluster.all<Secret>(secrets).find(({ metadata }) => metadata.name?.startsWith("pod-token-"))
  const { name = "" } = (await eventually(present, { what: "a Secret" })).metadata
  const issued = (): number => cluster.calls.get("create token of serviceaccounts") ?? 0
  for (let time = 0; time < syncerLimits.repeatedChanges.atOnce; time++) {
    const before = issued()
    superCluster.edit(secrets, home, name, { data: { [key]: "d3Jvbmc=" } })
    await eventually(() => issued() > before && syncer.pending === 0, { what: "other tokens" })
  }
  superCluster.remove(secrets, home, name)
  await eventually(() => syncer.pending === 0, { what: "the queue is empty" })
  const had: boolean[] = []
  superCluster.onChange(({ type, resource }) => {
    if (type === "ADDED" && resource === "pods") had.push(present() !== undefined)
  })
  superCluster.fail = undefined
  cluster.edit(pods, "default", "web", { metadata: { labels: { at: "once" } } })
  await harness.inSuper(pods, "web")
  expect(had).toEqual([true])
})

test("what is done to the Secrets of many pods keeps no other pod waiting for its tokens", async () => {
  await using harness = await startHarness()
  const { cluster, superCluster, home } = harness
  const all = (): Secret[] =>
    superCluster.all<Secret>(secrets).filter(({ metadata }) => metadata.name?.startsWith("pod-token-"))
  const count = syncerLimits.repeatedChanges.atOnce + 3
  for (let index = 0; index < count; index++) {
    await cluster.create(pods, podOf(`web-${index}`, { volumes }))
    await harness.inSuper(pods, `web-${index}`)
  }
  await harness.settled()
  for (const { metadata } of all())
    superCluster.edit(secrets, home, metadata.name ?? "", { metadata: { labels: null, annotations: null } })
  const areMarked = async (): Promise<boolean> => {
    await harness.settled()
    return all().every(({ metadata }) => metadata.labels !== undefined)
  }
  await eventually(areMarked, { what: "their marks" })
  const had: number[] = []
  superCluster.onChange(({ type, resource }) => {
    if (type === "ADDED" && resource === "pods") had.push(all().length)
  })
  await cluster.create(pods, podOf("new", { volumes }))
  await harness.inSuper(pods, "new")
  expect(had).toEqual([count + 1])
})
