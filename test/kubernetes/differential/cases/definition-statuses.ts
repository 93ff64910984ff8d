// What is written to the status of a definition, and ways to delete one. What upstream's controllers write is compared in what is
// read later (see definition-lives.ts).

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, put, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "s@{id}.example.com"
const own = (plural = "things", of = group): string => `${definitions}/${plural}.${of}`
const things = `/apis/${group}/v1/namespaces/@{ns}/things`

export function definitionStatusCases(): Scenario[] {
  return [
    { name: "the status of a kind tells which generation it is about", steps: observed() },
    { name: "the status of a kind is emptied", steps: emptied() },
    { name: "the conditions of a protected kind are emptied", steps: protectedStatus() },
    { name: "a kind is deleted with any options", steps: deleted() },
    { name: "a kind ends that was said to end", steps: saidToEnd() },
    { name: "kinds are deleted together", steps: together() },
    { name: "a kind ends that is stored as a built-in one", steps: overlapping() },
  ]
}

const version = {
  name: "v1",
  served: true,
  storage: true,
  schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
}
const kind = (plural: string, name: string, metadata: object = {}, of = group): RequestStep =>
  post(
    definitions,
    {
      metadata: { name: `${plural}.${of}`, ...metadata },
      spec: { group: of, scope: "Namespaced", names: { plural, kind: name }, versions: [version] },
    } as Json,
    { label: `WRITE ${plural}` },
  )
const read = (untilText: string | string[], plural = "things", of = group): RequestStep =>
  get(own(plural, of), { untilText, label: `READ ${plural} until ${String(untilText)}` })
/** Conditions are not compared: those that upstream's controllers add at first are in any order. */
const until = (untilText: string, of: string): RequestStep =>
  get(own("things", of), { untilText, label: `WRITE nothing, until ${untilText}` })
const write = (label: string, change: Json, path = own()): RequestStep =>
  patch(path, mergePatch, change, { label: `WRITE ${label}` })
const status = (label: string, change: Json, of = group): RequestStep =>
  write(label, { status: change }, `${own("things", of)}/status`)

const established = "InitialNamesAccepted"
const at = "2020-01-01T00:00:00Z"

function observed(): RequestStep[] {
  const conditions = ["NamesAccepted", "Established", "NonStructuralSchema"].map((type, index) => ({
    type,
    status: "True",
    reason: "A",
    message: "m",
    lastTransitionTime: at,
    observedGeneration: index + 1,
  }))
  return [
    kind("things", "Thing"),
    read(established),
    status("observed", { observedGeneration: 5, conditions: conditions.slice(0, 2) }),
    read('"observedGeneration":5'),
    write("short names", { spec: { names: { shortNames: ["th"] } } }),
    read("NoConflicts"),
    kind("others", "Other"),
    read(established, "others"),
    write("a taken short name", { spec: { names: { shortNames: ["other"] } } }),
    read("ShortNamesConflict"),
    status("established no more", {
      conditions: [
        {
          type: "Established",
          status: "False",
          reason: "B",
          message: "",
          lastTransitionTime: at,
          observedGeneration: 7,
        },
      ],
    }),
    read("ShortNamesConflict"),
    write("another short name", { spec: { names: { shortNames: ["tx"] } } }),
    read(established),
    status("no structure", { conditions }),
    // By then that condition is gone again.
    kind("laters", "Later"),
    read(established, "laters"),
    read('"storedVersions"'),
  ]
}

function emptied(): RequestStep[] {
  return [
    kind("things", "Thing"),
    { ...read(established), save: "now" },
    put(
      `${own()}/status?dryRun=All`,
      { metadata: { name: `things.${group}`, resourceVersion: "@{now.metadata.resourceVersion}" }, spec: {} } as Json,
      { label: "READ PUT no spec" },
    ),
    put(
      `${own()}/status?dryRun=All`,
      {
        metadata: { name: `things.${group}`, resourceVersion: "@{now.metadata.resourceVersion}" },
        spec: {
          group,
          scope: "Namespaced",
          names: { plural: "things", kind: "Thing" },
          versions: [{ ...version, name: "v9" }],
        },
      } as Json,
      { label: "READ PUT another version" },
    ),
    patch(`${own()}/status?dryRun=All`, mergePatch, { status: null }, { label: "READ PATCH null" }),
    patch(`${own()}/status?dryRun=All`, mergePatch, { status: { storedVersions: [] } }, { label: "READ PATCH stored" }),
    patch(
      `${own()}/status?dryRun=All`,
      mergePatch,
      { status: { storedVersions: ["bogus", ""] } },
      { label: "READ PATCH bogus" },
    ),
    patch(
      `${own()}/status?dryRun=All`,
      mergePatch,
      {
        status: {
          acceptedNames: {
            plural: "A",
            kind: "b_",
            singular: "1",
            listKind: "b_",
            shortNames: ["C", ""],
            categories: [""],
          },
        },
      },
      { label: "PATCH names" },
    ),
    patch(
      `${own()}/status?dryRun=All`,
      mergePatch,
      { status: { conditions: [{}] } },
      { label: "READ PATCH condition" },
    ),
    patch(
      `${own()}/status?dryRun=All`,
      mergePatch,
      { status: { conditions: [{ type: "X", status: "Bogus", lastTransitionTime: "x" }] } },
      { label: "PATCH time" },
    ),
    status("another version", { storedVersions: ["v0", "v1"] }),
    read('"v0"'),
    write("of the main resource", { metadata: { labels: { a: "b" } } }),
    status("null", null as unknown as Json),
    read(established),
  ]
}

function protectedStatus(): RequestStep[] {
  const of = "p@{id}.example.com.kubernetes.io"
  const approve = (said: string): Json => ({ metadata: { annotations: { "api-approved.kubernetes.io": said } } })
  return [
    kind("things", "Thing", (approve("unapproved \u00ad") as { metadata: object }).metadata, of),
    until(established, of),
    until('not approved: \\"unapproved \\\\u00ad\\"', of),
    status("conditions", { conditions: null }, of),
    write("a label", { metadata: { labels: { a: "b" } } }, own("things", of)),
    read('"a":"b"', "things", of),
    write("another approval", approve("https://example.com/a"), own("things", of)),
    read("ApprovedAnnotation", "things", of),
  ]
}

const holder = { finalizers: ["example.com/hold"] }

function deleted(): RequestStep[] {
  const dry = `${own()}?dryRun=All`
  return [
    kind("things", "Thing", holder),
    { ...read(established), save: "now" },
    remove(own(), { preconditions: { uid: "bogus" } }, { label: "DELETE another uid" }),
    remove(own(), { preconditions: { resourceVersion: "1" } }, { label: "DELETE another revision" }),
    remove(dry, { propagationPolicy: "Foreground" }, { label: "WRITE end, foreground" }),
    remove(dry, { propagationPolicy: "Orphan" }, { label: "WRITE end, orphans" }),
    remove(dry, { gracePeriodSeconds: 30 }, { label: "WRITE end, later" }),
    remove(
      own(),
      { propagationPolicy: "Foreground", preconditions: { uid: "@{now.metadata.uid}" } },
      { label: "WRITE end" },
    ),
    read("InstanceDeletionCompleted"),
    remove(dry, { preconditions: { uid: "bogus" } }, { label: "DELETE another uid again" }),
    remove(dry, { preconditions: { resourceVersion: "1" } }, { label: "DELETE another revision again" }),
    remove(dry, { gracePeriodSeconds: 0 }, { label: "READ DELETE at once, again" }),
    remove(own(), { propagationPolicy: "Orphan" }, { label: "WRITE end with orphans" }),
    read('"orphan"'),
    remove(own(), { propagationPolicy: "Foreground" }, { label: "WRITE end in the foreground" }),
    read("foregroundDeletion"),
    remove(own(), { propagationPolicy: "Background" }, { label: "WRITE end in the background" }),
    read("example.com/hold"),
    write("no finalizers", { metadata: { finalizers: null } }),
    get(own(), { untilCode: 404 }),
  ]
}

function saidToEnd(): RequestStep[] {
  const said = (type: string): Json => ({ type, status: "Unknown", reason: "R", message: "", lastTransitionTime: null })
  return [
    kind("things", "Thing"),
    read(established),
    status("ending", { conditions: [said("Terminating"), said("Established")] }),
    write("short names", { spec: { names: { shortNames: ["th"] } } }),
    read(established),
    remove(own(), undefined, { label: "WRITE end" }),
    get(own(), { untilCode: 404 }),
  ]
}

/** Upstream removes them without their objects, which are there when the kind is defined again. */
function together(): RequestStep[] {
  const mine = `${definitions}?labelSelector=of%3D@{id}`
  const labels = { labels: { of: "@{id}" } }
  return [
    kind("things", "Thing", labels),
    kind("others", "Other", { ...labels, ...holder }),
    read(established),
    read(established, "others"),
    get(things, { untilCode: 200 }),
    post(things, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }),
    remove(`${mine}&dryRun=All`, undefined, { label: "WRITE end of all, dry" }),
    remove(mine, undefined, { label: "WRITE end of all" }),
    get(own(), { untilCode: 404 }),
    read("deletionTimestamp", "others"),
    get(things, { untilCode: 404 }),
    kind("things", "Thing", labels),
    read(established),
    get(things, { untilCode: 200, label: "LIST again" }),
    write("no finalizers", { metadata: { finalizers: null } }, own("others")),
    remove(own(), undefined, { label: "WRITE end" }),
    get(own(), { untilCode: 404 }),
    get(own("others"), { untilCode: 404 }),
  ]
}

/** Its objects would be those of the built-in kind, so there are none to delete. */
function overlapping(): RequestStep[] {
  const of = "apiregistration.k8s.io"
  const approved = { annotations: { "api-approved.kubernetes.io": "unapproved" }, ...holder }
  return [
    post(
      definitions,
      {
        metadata: { name: `apiservices.${of}`, ...approved },
        spec: {
          group: of,
          scope: "Cluster",
          names: { plural: "apiservices", kind: "Thing@{number}" },
          versions: [{ ...version, name: "v9", served: false }],
        },
      } as Json,
      { label: "WRITE apiservices" },
    ),
    get(own("apiservices", of), { untilText: established, label: "WRITE nothing, until established" }),
    remove(own("apiservices", of), undefined, { label: "WRITE end" }),
    get(own("apiservices", of), { untilText: "OverlappingBuiltInResource", label: "WRITE nothing, until the end" }),
    write("no finalizers", { metadata: { finalizers: null } }, own("apiservices", of)),
    get(own("apiservices", of), { untilCode: 404 }),
  ]
}
