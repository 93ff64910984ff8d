// Kinds that definitions make: which names they are granted, what their conditions say, and how they end. Upstream's controllers
// decide this a moment after a write, so only what is read later is compared; its writes are in known-differences.yaml.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

export const group = "n@{id}.example.com"
export type Names = Record<string, Json>

export function definitionLifeCases(): Scenario[] {
  return [
    { name: "names of kinds are granted to the first", steps: granted() },
    { name: "names of kinds change", steps: changed(), anyOrder: true },
    { name: "kinds of a protected group are approved", steps: approved() },
    { name: "a kind ends after its objects", steps: ended() },
    { name: "a kind ends that never was", steps: neverEstablished() },
    { name: "a kind ends although its objects may not be deleted", steps: guarded() },
    { name: "a kind ends whose stored version is not served", steps: unserved() },
  ]
}

export const kind = (plural: string, names: Names, more: object = {}, of = group, meta: object = {}): RequestStep =>
  post(
    definitions,
    {
      metadata: { name: `${plural}.${of}`, ...meta },
      spec: {
        group: of,
        scope: "Namespaced",
        names: { plural, ...names },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
        ...more,
      },
    } as unknown as Json,
    { label: `WRITE ${plural}` },
  )
export const rename = (plural: string, names: Names): RequestStep =>
  patch(
    `${definitions}/${plural}.${group}`,
    mergePatch,
    { spec: { names } },
    {
      label: `WRITE ${plural}: ${JSON.stringify(names)}`,
    },
  )
const status = (plural: string, changes: object): RequestStep =>
  patch(`${definitions}/${plural}.${group}/status`, mergePatch, { status: changes } as Json, {
    label: `WRITE status of ${plural}: ${JSON.stringify(changes)}`,
  })
export const read = (plural: string, round: number): RequestStep =>
  get(`${definitions}/${plural}.${group}`, { label: `READ ${plural} ${round}` })
const settled = (plural: string, untilText: string | string[], of = group): RequestStep =>
  get(`${definitions}/${plural}.${of}`, { untilText, label: `READ ${plural} until ${String(untilText)}` })

const established = "InitialNamesAccepted"

function granted(): RequestStep[] {
  const first = { kind: "Thing", singular: "thing", shortNames: ["th", "ng"], listKind: "ThingList", categories: ["c"] }
  const others: [string, Names, string][] = [
    ["kinds", { kind: "Thing" }, "KindConflict"],
    ["lists", { kind: "List", listKind: "ThingList" }, "ListKindConflict"],
    ["kindlists", { kind: "ThingList" }, "KindConflict"],
    ["thing", { kind: "A" }, "PluralConflict"],
    ["th", { kind: "B", singular: "b" }, "PluralConflict"],
    ["singulars", { kind: "C", singular: "things" }, "SingularConflict"],
    ["shorts", { kind: "D", shortNames: ["th"] }, "ShortNamesConflict"],
    // The second time its own singular name is in use as well.
    ["moreshorts", { kind: "E", shortNames: ["e", "th", "thing", "ng"] }, '[\\"e\\" is already in use'],
    ["twice", { kind: "F", shortNames: ["th", "th"] }, "ShortNamesConflict"],
    ["both", { kind: "Thing", singular: "thing", shortNames: ["th"] }, "KindConflict"],
    ["all", { kind: "Thing", singular: "thing", listKind: "ThingList" }, "ListKindConflict"],
    ["own", { kind: "Own", singular: "own", shortNames: ["own", "owns"] }, established],
    ["cats", { kind: "Cat", categories: ["c", "thing"] }, established],
  ]
  return [
    kind("things", first),
    settled("things", established),
    ...others.flatMap(([plural, names, until]) => [kind(plural, names), settled(plural, until)]),
    get(`/apis/${group}/v1/namespaces/@{ns}/kinds`),
    get(`/apis/${group}/v1/namespaces/@{ns}/things`, { untilCode: 200 }),
    post(`/apis/${group}/v1/namespaces/@{ns}/kinds`, {
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "a" },
    }),
    // Another group has its own names.
    kind("things", first, {}, `other.${group}`),
    settled("things", established, `other.${group}`),
  ]
}

function changed(): RequestStep[] {
  return [
    kind("things", { kind: "Thing", shortNames: ["th", "ng"] }),
    settled("things", established),
    kind("others", { kind: "Other", shortNames: ["ot", "th"] }),
    settled("others", "ShortNamesConflict"),
    rename("things", { shortNames: ["ng"] }),
    settled("others", established),
    rename("things", { kind: "Other" }),
    rename("things", { listKind: "OtherList" }),
    settled("things", "ListKindConflict"),
    get(`/apis/${group}/v1/namespaces/@{ns}/things`, { untilCode: 200 }),
    // The condition is not reconsidered if the names are those that were granted.
    rename("things", { listKind: "ThingList" }),
    rename("things", { shortNames: ["ng", "x"] }),
    settled("things", "NoConflicts"),
    rename("things", { shortNames: ["thing"] }),
    settled("things", "ShortNamesConflict"),
    rename("things", { singular: "other" }),
    settled("things", "ShortNamesConflict"),
    rename("things", { singular: "single", shortNames: null }),
    settled("things", "NoConflicts"),
    rename("others", { listKind: "ElseList", singular: "else" }),
    // Discovery has names once they are granted.
    get(`/apis/${group}/v1`, { untilText: '"else"' }),
    settled("others", "else"),
    status("things", { acceptedNames: null, conditions: null }),
    settled("things", established),
    get(`/apis/${group}/v1/namespaces/@{ns}/things`, { untilCode: 200, label: "LIST after an empty status" }),
    status("things", { conditions: null }),
    settled("things", '"storedVersions":["v1"]'),
    get(`/apis/${group}/v1/namespaces/@{ns}/things`, { untilCode: 404, label: "LIST without conditions" }),
    status("things", { acceptedNames: { singular: "odd" } }),
    settled("things", established),
    kind("thirds", { kind: "Third", listKind: "ThingList" }),
    settled("thirds", "ListKindConflict"),
    remove(`${definitions}/things.${group}`, undefined, { label: "WRITE end of things" }),
    settled("thirds", established),
  ]
}

function approved(): RequestStep[] {
  const of = "a@{id}.example.com.k8s.io"
  const path = `${definitions}/things.${of}`
  const meta = (said: string): object => ({ annotations: { "api-approved.kubernetes.io": said } })
  const approve = (said: string | null): RequestStep =>
    patch(
      path,
      mergePatch,
      { metadata: { annotations: { "api-approved.kubernetes.io": said } } },
      {
        label: `WRITE approval ${said}`,
      },
    )
  return [
    kind("things", { kind: "Thing" }, {}, of),
    kind("things", { kind: "Thing" }, {}, of, meta("no")),
    kind("things", { kind: "Thing" }, {}, of, meta("https://example.com/1")),
    settled("things", "ApprovedAnnotation", of),
    approve("https://example.com/2"),
    settled("things", "approved in https://example.com/2", of),
    approve("unapproved, an experiment"),
    settled("things", "UnapprovedAnnotation", of),
    approve("bogus"),
    approve(null),
    approve("unapproved"),
    settled("things", 'not approved: \\"unapproved\\"', of),
  ]
}

const holder = { finalizers: ["example.com/hold"] }

function ended(): RequestStep[] {
  const path = `${definitions}/things.${group}`
  const list = `/apis/${group}/v1/namespaces/@{ns}/things`
  const thing = (name: string, metadata: object = {}): Json =>
    ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name, ...metadata } }) as Json
  return [
    kind("things", { kind: "Thing" }, {}, group, holder),
    get(list, { untilCode: 200 }),
    settled("things", established),
    post(list, thing("a")),
    post(list, thing("b", holder)),
    remove(path, undefined, { label: "WRITE end of things" }),
    settled("things", "InstanceDeletionInProgress"),
    get(`${list}/a`, { untilCode: 404 }),
    get(`${list}/b`, { untilText: "deletionTimestamp" }),
    get(`/apis/${group}/v1`, { untilText: '"list","watch"', label: "GET v1 meanwhile" }),
    post(list, thing("c"), { untilCode: 403 }),
    patch(`${list}/c?fieldManager=m`, "application/apply-patch+yaml", thing("c")),
    patch(`${list}/b`, mergePatch, { data: { a: "b" } }),
    remove(path, undefined, { label: "WRITE end of things again" }),
    settled("things", "InstanceDeletionInProgress"),
    patch(`${list}/b`, mergePatch, { metadata: { finalizers: null } }, { label: "PATCH b to go" }),
    settled("things", "InstanceDeletionCompleted"),
    get(list),
    get(`/apis/${group}/v1`),
    post(list, thing("d"), { label: "POST after the end" }),
    rename("things", { shortNames: ["x"] }),
    settled("things", '"shortNames":["x"]'),
    kind("things", { kind: "Thing" }),
    patch(path, mergePatch, { metadata: { finalizers: ["example.com/more"] } }, { label: "WRITE another finalizer" }),
    patch(path, mergePatch, { metadata: { finalizers: null } }, { label: "WRITE no finalizer" }),
    get(path, { untilCode: 404 }),
    get(list, { untilCode: 404, label: "LIST after the end" }),
  ]
}

function neverEstablished(): RequestStep[] {
  return [
    kind("things", { kind: "Thing" }),
    settled("things", established),
    kind("others", { kind: "Thing" }, {}, group, holder),
    settled("others", "KindConflict"),
    remove(`${definitions}/others.${group}`, undefined, { label: "WRITE end of others" }),
    settled("others", "NeverEstablished"),
    patch(
      `${definitions}/others.${group}`,
      mergePatch,
      { metadata: { finalizers: null } },
      { label: "WRITE no finalizer" },
    ),
    get(`${definitions}/others.${group}`, { untilCode: 404 }),
  ]
}

/** Admission has no say in the deletion of objects with their kind. */
function guarded(): RequestStep[] {
  const list = `/apis/${group}/v1/namespaces/@{ns}/things`
  const policies = "/apis/admissionregistration.k8s.io/v1"
  const name = "guard@{id}"
  return [
    kind("things", { kind: "Thing" }),
    get(list, { untilCode: 200 }),
    post(list, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } }),
    post(`${policies}/validatingadmissionpolicies`, {
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [{ apiGroups: [group], apiVersions: ["*"], operations: ["DELETE"], resources: ["things"] }],
        },
        validations: [{ expression: "false", message: "nothing goes" }],
      },
    }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    }),
    remove(`${list}/a?dryRun=All`, undefined, { untilText: "nothing goes" }),
    remove(`${definitions}/things.${group}`, undefined, { label: "WRITE end of things" }),
    get(`${definitions}/things.${group}`, { untilCode: 404 }),
    remove(`${policies}/validatingadmissionpolicybindings/${name}`),
    remove(`${policies}/validatingadmissionpolicies/${name}`),
  ]
}

function unserved(): RequestStep[] {
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } }
  const versions = [
    { name: "v1", served: false, storage: true, schema },
    { name: "v2", served: true, storage: false, schema },
  ]
  const list = `/apis/${group}/v2/namespaces/@{ns}/things`
  return [
    kind("things", { kind: "Thing" }, { versions }),
    get(list, { untilCode: 200 }),
    get(`/apis/${group}`),
    get(`/apis/${group}/v2`, { untilCode: 200 }),
    get(`/apis/${group}/v1`),
    post(list, { apiVersion: `${group}/v2`, kind: "Thing", metadata: { name: "a" }, data: { a: "b" } }),
    patch(`${list}/a`, mergePatch, { data: { a: "c" } }),
    get(list),
    remove(`${definitions}/things.${group}`, undefined, { label: "WRITE end of things" }),
    get(`${definitions}/things.${group}`, { untilCode: 404 }),
    get(list, { untilCode: 404, label: "LIST after the end" }),
  ]
}
