// A converted resource as managers, lists, watches, selectors and subresources see it.

import {
  applyPatch,
  get,
  mergePatch,
  patch,
  post,
  put,
  remove,
  watch,
  type RequestStep,
  type Step,
} from "../scenario.ts"
import { as, scaledVersions, servedBy, thing, versionsOf, v1, v2, v3, type Webhook } from "./kind.ts"

export function managers(webhook: Webhook): Step[] {
  return [
    ...servedBy(webhook),
    patch(`${v1}/a${as("m1")}`, applyPatch, thing("v1", "a", { hostPort: "a:1" })),
    patch(`${v2}/a${as("m2")}`, applyPatch, thing("v2", "a", { host: "a" }), { label: "APPLY the same" }),
    patch(`${v2}/a${as("m2")}`, applyPatch, thing("v2", "a", { host: "b" }), { label: "APPLY conflicting" }),
    patch(`${v2}/a${as("m2")}&force=true`, applyPatch, thing("v2", "a", { host: "b" }), { label: "APPLY forced" }),
    get(`${v1}/a`),
    patch(`${v3}/a${as("m3")}`, mergePatch, { spec: { port: "3" } }),
    patch(`${v2}/a${as("m2")}`, applyPatch, thing("v2", "a", {}), { label: "APPLY nothing" }),
    patch(`${v1}/a${as("m1")}&force=true`, applyPatch, thing("v1", "a", {}), { label: "APPLY nothing in v1" }),
    get(`${v3}/a`, { label: "GET v3" }),
    put(`${v3}/a${as("m4")}`, thing("v3", "a", { host: "x", port: "y", extra: "z" })),
    patch(`${v2}/a${as("m2")}`, applyPatch, thing("v2", "a", { extra: "z" }), { label: "APPLY extra" }),
    patch(`${v1}/a${as("m5")}`, mergePatch, { spec: { hostPort: null } }, { label: "PATCH without hostPort" }),
    get(`${v2}/a`, { label: "GET at the end" }),
    post(`${v2}${as("m1")}`, thing("v2", "b", { host: "b", mode: { v3: "failed", v1: "" } })),
    patch(`${v3}/b${as("m2")}`, mergePatch, { spec: { host: "c" } }, { label: "PATCH b in v3" }),
    patch(`${v1}/b${as("m2")}`, mergePatch, { spec: { hostPort: "c" } }, { label: "PATCH b in v1" }),
    patch(`${v2}/b${as("m3")}`, mergePatch, { spec: { host: "d" } }, { label: "PATCH b in v2" }),
    patch(`${v2}/b${as("m3")}`, applyPatch, thing("v2", "b", { port: "9" }), { label: "APPLY b in v2" }),
    get(`${v2}/b`, { label: "GET b" }),
    post(`${v3}${as("m1")}`, thing("v3", "c", { host: "c", mode: { v3: "failed" } }), { label: "POST c in v3" }),
  ]
}

/** In an event of the last object, by which a watch knows that it has seen everything. */
const named = (name: string): string => `"name":"${name}"`

export function reads(webhook: Webhook): Step[] {
  const labelled = (name: string, labels: Record<string, string>, mode: Record<string, string> = {}): RequestStep =>
    post(v1, thing("v1", name, { hostPort: `${name}:1`, mode }, { metadata: { name, labels } }), { save: name })
  return [
    ...servedBy(webhook),
    labelled("a", { x: "a" }),
    labelled("b", { x: "b" }),
    labelled("c", { x: "c" }, { v2: "labels" }),
    labelled("d", { x: "a" }, { v2: "labels" }),
    watch(`${v2}?resourceVersion=@{a.metadata.resourceVersion}`, { untilText: named("z") }),
    watch(`${v2}?labelSelector=by=webhook&resourceVersion=@{a.metadata.resourceVersion}`, { untilText: named("z") }),
    watch(`${v2}?labelSelector=x=a`, { untilText: named("y") }),
    watch(`${v3}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, {
      untilText: named("z"),
    }),
    watch(`${v2}?fieldSelector=metadata.name=b`, { untilText: '"type":"DELETED"' }),
    get(`${v2}?labelSelector=x=a`),
    get(`${v2}?labelSelector=by=webhook`),
    get(`${v2}?labelSelector=x`),
    get(`${v2}?fieldSelector=metadata.name!=a`),
    get(`${v2}?limit=2`, { save: "page" }),
    get(`${v2}?limit=2&continue=@{page.metadata.continue}`),
    get(`${v3}?limit=2&continue=@{page.metadata.continue}`, { label: "LIST the next page in another version" }),
    get(`${v2}?labelSelector=by=webhook&limit=1`, { label: "LIST limited by label" }),
    get(`${v2}?resourceVersion=@{b.metadata.resourceVersion}&resourceVersionMatch=Exact`, { label: "LIST at b" }),
    patch(`${v1}/b`, mergePatch, { spec: { mode: { v2: "labels" } } }, { label: "PATCH b to get labels in v2" }),
    patch(`${v1}/c`, mergePatch, { spec: { mode: { v2: null } } }, { label: "PATCH c to have its own labels" }),
    remove(`${v1}/d`),
    remove(`${v2}?labelSelector=by=webhook`, undefined, { label: "DELETE by label" }),
    get(v1, { label: "LIST at the end" }),
    labelled("y", { x: "a" }),
    labelled("z", { x: "z" }, { v2: "labels" }),
  ]
}

export function subresources(webhook: Webhook): Step[] {
  return [
    ...servedBy(webhook, { versions: scaledVersions() }),
    post(`${v2}${as("m1")}`, thing("v2", "a", { host: "a", replicas: 2 }, { status: { replicas: 1 } })),
    patch(`${v2}/a/status${as("m2")}`, mergePatch, {
      status: { replicas: 1 },
      spec: { host: "x" },
      metadata: { labels: { a: "b" } },
    }),
    get(`${v2}/a/status`),
    get(`${v1}/a/status`),
    get(`${v3}/a/status`),
    get(`${v2}/a/scale`),
    get(`${v3}/a/scale`),
    patch(`${v2}/a/scale${as("m3")}`, mergePatch, { spec: { replicas: 3 } }),
    get(`${v1}/a`),
    put(`${v1}/a/scale${as("m3")}`, {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "a", namespace: "@{ns}" },
      spec: { replicas: 4 },
    }),
    patch(
      `${v2}/a/scale${as("m4")}`,
      applyPatch,
      {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name: "a" },
        spec: { replicas: 5 },
      },
      { label: "APPLY scale" },
    ),
    patch(`${v3}/a${as("m5")}`, mergePatch, { status: { replicas: 9 }, spec: { replicas: 9 } }, { label: "PATCH v3" }),
    get(`${v2}/a`, { label: "GET at the end" }),
    post(`${v1}${as("m1")}`, thing("v1", "b", { hostPort: "b", mode: { v2: "failed" } }), { label: "POST b" }),
    get(`${v2}/b/scale`),
    patch(`${v2}/b/status`, mergePatch, { status: { replicas: 1 } }, { label: "PATCH status of b" }),
    patch(`${v2}/b/scale`, mergePatch, { spec: { replicas: 1 } }, { label: "PATCH scale of b" }),
  ]
}

export function selected(webhook: Webhook): Step[] {
  const versions = versionsOf("v1", {
    v2: { selectableFields: [{ jsonPath: ".spec.host" }] },
    v1: { selectableFields: [{ jsonPath: ".spec.hostPort" }] },
  })
  return [
    ...servedBy(webhook, { versions }),
    post(v1, thing("v1", "a", { hostPort: "a:1" })),
    post(v2, thing("v2", "b", { host: "b", port: "1" })),
    watch(`${v2}?fieldSelector=spec.host=b&resourceVersion=0`, { untilText: named("z") }),
    get(`${v2}?fieldSelector=spec.host=a`),
    get(`${v2}?fieldSelector=spec.hostPort=a:1`),
    get(`${v1}?fieldSelector=spec.hostPort=a:1`),
    get(`${v1}?fieldSelector=spec.host=a`),
    get(`${v3}?fieldSelector=spec.host=a`),
    patch(`${v1}/a`, mergePatch, { spec: { hostPort: "b:2" } }),
    patch(`${v1}/b`, mergePatch, { spec: { hostPort: "c:2" } }),
    get(`${v2}?fieldSelector=spec.host=b`, { label: "LIST b" }),
    remove(`${v2}?fieldSelector=spec.host=b`),
    get(v1, { label: "LIST at the end" }),
    post(v2, thing("v2", "z", { host: "b" }), { label: "POST z" }),
  ]
}
