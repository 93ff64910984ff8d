// What is in a namespace, without what must differ between two clusters: uids, times, revisions, random names, hashes.

import type { IPAddress, KubeObject, ReplicaSet } from "../../../apimachinery/object.ts"
import { isNotFound, type StatusError } from "../../../apimachinery/status.ts"
import { events, leases } from "../../../client/resources.ts"
import type { Resource } from "../../../client/rest.ts"
import { beginningOf, cutBeginnings, type EventFields } from "./cut-events.ts"
import { ownKind } from "./kinds.ts"
import { inOrder } from "./orders.ts"
import type { OwnRange } from "./own-ranges.ts"
import type { Snapshot } from "./scenario.ts"
import type { Side } from "./side.ts"

type Named = [text: string, by: string]

export async function takeSnapshot(
  side: Side,
  namespace: string,
  refused: readonly StatusError[] = [],
  ignoredConditions: readonly string[] = [],
): Promise<Snapshot> {
  const { client, kinds } = side
  const lists = await listAll(side, namespace)
  // Events of cluster-scoped objects are in the default namespace.
  const elsewhere = await client.list(events, { namespace: "default" })
  const all = lists.flatMap(({ items }) => items)
  const spaces = all.filter(({ kind }) => kind === "Namespace").map(({ metadata: { name = "" } }) => name)
  const namespaced = await Promise.all(
    [...new Set([namespace, ...spaces])].map((each) => client.list(events, { namespace: each })),
  )
  const names = replacements(all, namespace, side.ranges.of(namespace))
  const objects: Snapshot["objects"] = {}
  for (const [index, { items }] of lists.entries()) {
    const plain = items.map((object) => normalize(object, names, ignoredConditions)).sort(byText)
    if (plain.length > 0)
      objects[[...kinds.namespaced, ...kinds.cluster, ownKind(namespace)][index]?.resource ?? ""] = plain
  }
  const ofCluster = elsewhere.items.filter((event) => {
    const { name = "" } = (event as unknown as { involvedObject: { name?: string } }).involvedObject
    return name.startsWith(namespace)
  })
  const written = [...namespaced.flatMap(({ items }) => items), ...ofCluster]
  const said = eventLines(written.filter(isComparable), names)
  const cut = cutBeginnings(written).map((beginning) => replaceAll(beginning, names))
  // In lines of its own follows how the object differs, which each side writes in its own way.
  const refusals = refused.map(({ status: { reason, message = "" } }) =>
    replaceAll(
      `${reason}: ${message.split("\n")[0]?.replace(printed, "VALUE").replace(noPath, "no such path")}`,
      names,
    ),
  )
  return { objects, events: said, cut, refusals }
}

/** Upstream prints a value in Go's format. */
const printed = /(?<=Invalid value: )\{.*\}(?=: field is immutable)/

/** What the client of each side says of a kind that is not there. */
const noPath =
  /^(?:[A-Z]+ .*: the server answered 404: 404 page not found|the server could not find the requested resource)$/

const combined = /^\(combined from similar events\): /
/** From the tenth of an object's messages of one reason on, one event has the last of them. */
const whole = 9

/** Each once. How many tries it took until they were combined is left to chance, and so is which of many pods was the last. */
function eventLines(all: readonly KubeObject[], names: readonly Named[]): string[] {
  const read = all.map((event) => {
    const fields = event as unknown as EventFields
    const { reason, message } = fields
    const what = `${beginningOf(fields)}${reason}`
    const [kind = "", text = ""] = [what, message.replace(combined, "")].map((part) => replaceAll(part, names))
    return { kind, text, isCombined: combined.test(message) }
  })
  const lines = [...Map.groupBy(read, ({ kind }) => kind)].flatMap(([kind, events]) => {
    const texts = new Set(events.map(({ text }) => text))
    const isCut = texts.size >= whole && events.some(({ isCombined }) => isCombined)
    return isCut ? [`${kind}: of many`] : [...texts].map((text) => `${kind}: ${text}`)
  })
  return lines.sort()
}

/** Not compared: kube-apiserver's repair loops report an address as lost if they run just while a service is created. */
const notCompared: ReadonlySet<string | undefined> = new Set(["ipallocator-repair-controller"])

/** Nor that something was written or made again meanwhile: it is a matter of moments, and tried again. */
const hasConflict =
  /the object has been modified; please apply your changes to the latest version|Precondition failed: UID in precondition/

function isComparable(event: KubeObject): boolean {
  const {
    message = "",
    source,
    reportingController,
    reportingComponent,
  } = event as {
    message?: string
    source?: { component?: string }
    reportingController?: string
    reportingComponent?: string
  }
  if (hasConflict.test(message)) return false
  return ![source?.component, reportingController, reportingComponent].some((name) => notCompared.has(name))
}

/** Where else there is something of a scenario: leases of API servers. */
const elsewhereOf: ReadonlyMap<Resource, string> = new Map([[leases, "kube-system"]])

async function listAll({ client, kinds, ranges }: Side, namespace: string): Promise<{ items: KubeObject[] }[]> {
  const shared = await Promise.all(kinds.cluster.map((kind) => client.list(kind)))
  const { four, six } = ranges.of(namespace)
  // Names are separated from it by a hyphen, which no other namespace goes on with (play.ts).
  const isOurs = ({ metadata: { name = "" }, ...rest }: KubeObject): boolean => {
    const { parentRef } = (rest["spec"] ?? {}) as Partial<NonNullable<IPAddress["spec"]>>
    if (name === namespace || name.startsWith(`${namespace}-`)) return true
    return parentRef?.namespace === namespace || name.startsWith(`${four}.`) || name.startsWith(`${six}:`)
  }
  const of = shared.map(({ items }) => ({ items: items.filter(isOurs) }))
  const others = of.flatMap(({ items }) => items).filter(({ kind }) => kind === "Namespace")
  const spaces = [namespace, ...others.map(({ metadata: { name = "" } }) => name).filter((name) => name !== namespace)]
  const listIn = async (kind: Resource): Promise<{ items: KubeObject[] }> => {
    const each = await Promise.all(spaces.map((space) => client.list(kind, { namespace: space })))
    return { items: each.flatMap(({ items }) => items) }
  }
  const own = await Promise.all(
    kinds.namespaced.map(async (kind) => {
      const { items } = await listIn(kind)
      const elsewhere = elsewhereOf.get(kind)
      if (elsewhere === undefined) return { items }
      const others = await client.list(kind, { namespace: elsewhere })
      return { items: [...items, ...others.items.filter(isOurs)] }
    }),
  )
  const defined = await listIn(ownKind(namespace)).catch((error: unknown) => {
    if (isNotFound(error)) return { items: [] }
    throw error
  })
  return [...own, ...of, defined]
}

/** Longest first, so that a name that begins with another is not cut. */
function replacements(objects: readonly KubeObject[], namespace: string, { four, six }: OwnRange): Named[] {
  const names: Named[] = [
    [namespace, "NAMESPACE"],
    [`${four}.`, "RANGE4."],
    [`${six}:`, "RANGE6:"],
  ]
  for (const { metadata, kind, ...rest } of objects) {
    const { name = "", generateName, labels = {}, annotations = {} } = metadata
    // Of its selector: a user may change the label, but not what it was named after.
    const { selector } = (rest["spec"] ?? {}) as NonNullable<ReplicaSet["spec"]>
    const hash = kind === "ReplicaSet" ? selector.matchLabels?.["pod-template-hash"] : undefined
    if (hash !== undefined) names.push([hash, `HASH${annotations["deployment.kubernetes.io/revision"] ?? ""}`])
    const hashOf = labels["controller.kubernetes.io/hash"] ?? labels["controller-revision-hash"]
    const revision = kind === "ControllerRevision" ? hashOf : undefined
    if (revision !== undefined) names.push([revision, `REVISION${String(rest["revision"])}`])
    if (generateName !== undefined && isRandom(name.slice(generateName.length))) {
      names.push([name, `${generateName}RANDOM`])
    }
  }
  return names.sort(([a], [b]) => b.length - a.length)
}

const isRandom = (suffix: string): boolean => /^[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(suffix)

function replaceAll(text: string, names: readonly Named[]): string {
  let result = inOrder(text)
  for (const [from, by] of names) result = result.replaceAll(from, by)
  // A second pass, because a random name's stand-in has a hash in it; then what is left of pods that are gone.
  for (const [from, by] of names) result = result.replaceAll(from, by)
  return (
    result
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID")
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
      .replaceAll(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access-RANDOM")
      // Jobs of CronJobs are named by their minute.
      .replaceAll(/-\d{8}\b/g, "-MINUTE")
      .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{7,10}(?=$|[-"\\\s,)])/g, "-GONE")
      .replaceAll(/-[bcdfghjklmnpqrstvwxz2456789]{5}(?=$|["\\\s,)])/g, "-RANDOM")
      .replaceAll(
        /(?<="(pod-template-hash|controller-revision-hash)":")[bcdfghjklmnpqrstvwxz2456789]{7,10}(?=")/g,
        "GONE",
      )
      .replaceAll(/-----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----(\\n)*/g, "CERTIFICATE")
      // Which node is first is left to chance.
      .replaceAll(/"n[12]"/g, '"NODE"')
      .replaceAll(/"z[12]"/g, '"ZONE"')
      .replaceAll(/on node n[12]\b/g, "on node NODE")
      // Nor which pod an autoscaler looks at first.
      .replaceAll(/(?<=\b(of|in) Pod )[\w-]+/g, "POD")
      .replaceAll(/10\.\d+\.\d+\.\d+/g, "ADDRESS")
      .replaceAll(/fd00::[0-9a-f:]+/g, "LONG-ADDRESS")
  )
}

function normalize(object: KubeObject, names: readonly Named[], ignored: readonly string[]): KubeObject {
  const { managedFields: _, resourceVersion: __, selfLink: ___, annotations = {}, ...others } = object.metadata
  // The trigger time is for metrics and kept in memory: it differs with the changes that were observed together.
  const { "endpoints.kubernetes.io/last-change-trigger-time": ____, ...compared } = annotations
  const metadata = { ...others, ...(Object.keys(compared).length === 0 ? {} : { annotations: compared }) }
  const text = replaceAll(JSON.stringify({ ...object, metadata }), names)
  return JSON.parse(text, (key, value: unknown) => {
    // Upstream has them as its maps and hashes have them.
    if (unordered.has(key) && Array.isArray(value)) return value.toSorted(byText)
    // Of a claim, as its volume's reference has it.
    if (key === "resourceVersion") return undefined
    if (signed.has(key) && typeof value === "string") return "SIGNED"
    if (drawn.has(key) && typeof value === "number") return "DRAWN"
    // Who asks for a certificate is another user on each side.
    if (key === "spec" && isPlain(value) && "signerName" in value) return { ...value, username: "USER", uid: "UID" }
    if (isPlain(value)) return sorted(value)
    if (key !== "conditions" || !Array.isArray(value)) return value
    return value.filter(({ type }: { type: string }) => !ignored.includes(type))
  }) as KubeObject
}

/** Addresses are in order of the text that ADDRESS stands for. */
const unordered: ReadonlySet<string> = new Set([
  "subsets",
  "ports",
  "endpoints",
  "addresses",
  "notReadyAddresses",
  "taints",
  // Several pods for which a claim is reserved without a scheduler are in no order.
  "reservedFor",
])

/** What is signed with keys of one cluster. */
const signed: ReadonlySet<string> = new Set(["token", "ca.crt", "certificate"])

/** What is given out by chance. */
const drawn: ReadonlySet<string> = new Set(["nodePort", "healthCheckNodePort"])

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}
