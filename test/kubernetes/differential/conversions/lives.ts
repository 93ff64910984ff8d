// A converted resource from create to delete, in changing versions.

import type { Json } from "../../../../apimachinery/object.ts"
import { asMetadataList, asTable } from "../generate/life-scenarios.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  watch,
  type RequestStep,
  type Step,
} from "../scenario.ts"
import { as, definitionPath, servedBy, thing, versionsOf, v1, v2, v3, type Webhook } from "./kind.ts"

export function life(webhook: Webhook): RequestStep[] {
  return [
    ...servedBy(webhook),
    post(`${v2}${as("m")}`, thing("v2", "a", { host: "h", port: "80", extra: "e" }), { save: "a" }),
    get(`${v1}/a`),
    get(`${v2}/a`),
    get(`${v3}/a`),
    post(`${v1}${as("m")}`, thing("v1", "b", { hostPort: "b:1" })),
    get(`${v2}/b`),
    ...[v1, v2, v3].flatMap((path) => [
      get(path),
      get(path, { headers: asTable }),
      get(path, { headers: asMetadataList }),
    ]),
    patch(`${v2}/a${as("m2")}`, mergePatch, { spec: { port: "81" } }),
    patch(`${v3}/a${as("m2")}`, jsonPatch, [{ op: "replace", path: "/spec/host", value: "i" }]),
    patch(`${v1}/a${as("m2")}`, mergePatch, { spec: { hostPort: "j:82" } }),
    get(`${v2}/a`, { save: "a", label: "GET v2 after patches" }),
    put(
      `${v2}/a${as("m2")}`,
      thing(
        "v2",
        "a",
        { host: "k" },
        {
          metadata: { name: "a", resourceVersion: "@{a.metadata.resourceVersion}", labels: { x: "y" } },
        },
      ),
    ),
    put(
      `${v2}/a${as("m2")}`,
      thing("v2", "a", { host: "l" }, { metadata: { name: "a", resourceVersion: "@{a.metadata.resourceVersion}" } }),
      { label: "PUT outdated" },
    ),
    put(`${v2}/a`, thing("v1", "a", { hostPort: "h:1" }), { label: "PUT of another version" }),
    post(v2, thing("v1", "c", { hostPort: "h:1" }), { label: "POST of another version" }),
    post(v2, thing("v2", "c", { host: "UPPER" }), { label: "POST invalid" }),
    post(v1, thing("v1", "c", { hostPort: "UPPER:1" }), { label: "POST invalid in another version" }),
    get(`${v2}/c`, { label: "GET invalid" }),
    patch(`${v2}/c`, mergePatch, { metadata: { labels: { x: "y" } } }, { label: "PATCH labels of invalid" }),
    post(`${v2}?dryRun=All`, thing("v2", "d", { host: "d", port: "1", extra: "e" })),
    patch(`${v2}/a?dryRun=All`, mergePatch, { spec: { host: "x", extra: "y" } }),
    post(`${v2}?fieldValidation=Strict`, thing("v2", "d", { host: "d", hostPort: "x" })),
    remove(`${v2}/b`),
    remove(v3),
    get(v1),
  ]
}

export function unchanged(webhook: Webhook): Step[] {
  return [
    ...servedBy(webhook),
    post(`${v2}${as("m")}`, thing("v2", "a", { host: "a", port: "1" })),
    patch(`${v2}/a${as("m")}`, mergePatch, { spec: { extra: "lost" } }, { label: "PATCH what is not stored" }),
    put(`${v2}/a${as("m")}`, thing("v2", "a", { host: "a", port: "1", extra: "lost" }), {
      label: "PUT what is not stored",
    }),
    patch(`${v2}/a${as("m")}`, applyPatch, thing("v2", "a", { extra: "lost" })),
    patch(`${v2}/a${as("m")}`, applyPatch, thing("v2", "a", { extra: "lost too" }), { label: "APPLY other" }),
    get(`${v1}/a`, { label: "GET v1" }),
    post(`${v1}${as("m")}`, thing("v1", "b", { hostPort: "b:1" })),
    patch(`${v2}/b${as("m")}`, mergePatch, { spec: { host: "b" } }, { label: "PATCH b the same" }),
    post(`${v1}${as("m")}`, thing("v1", "c", { hostPort: "c:1", mode: { v1: "stamp" } }), { label: "POST c" }),
    patch(`${v2}/c${as("m")}`, mergePatch, { spec: { host: "c" } }, { label: "PATCH c the same" }),
    patch(`${v2}/c${as("m")}`, mergePatch, { spec: { host: "c" } }, { label: "PATCH c the same again" }),
    get(`${v1}/c`, { label: "GET c" }),
    post(`${v1}${as("m")}`, thing("v1", "d", { hostPort: "d:1", mode: { v2: "stamp" } }), { label: "POST d" }),
    patch(`${v2}/d${as("m")}`, mergePatch, {}, { label: "PATCH d the same" }),
    get(`${v1}/d`, { label: "GET d" }),
    post(`${v1}${as("m")}`, thing("v1", "e", { hostPort: "e:1", mode: { v2: "labels" } }), { label: "POST e" }),
    patch(`${v2}/e${as("m")}`, mergePatch, {}, { label: "PATCH e the same" }),
    patch(`${v2}/e${as("m")}`, mergePatch, {}, { label: "PATCH e the same again" }),
    get(`${v1}/e`, { label: "GET e" }),
    watch(`${v1}?resourceVersion=0&timeoutSeconds=1`, { untilEnd: true }),
  ]
}

export function storageChange(webhook: Webhook): Step[] {
  const store = (version: string, more: object = {}): RequestStep =>
    patch(definitionPath, mergePatch, { spec: { versions: versionsOf(version, more as never) } } as unknown as Json, {
      label: `WRITE definition to store ${version} ${Object.keys(more).join(" ")}`,
    })
  return [
    ...servedBy(webhook),
    post(`${v1}${as("m")}`, thing("v1", "a", { hostPort: "a:1" })),
    post(`${v2}${as("m")}`, thing("v2", "b", { host: "b", port: "1", extra: "lost" })),
    store("v2"),
    post(`${v2}?dryRun=All`, thing("v2", "probe", { host: "p", extra: "kept" }), {
      untilText: '"extra":"kept"',
      label: "POST until v2 is stored",
    }),
    post(`${v2}${as("m")}`, thing("v2", "probe", { host: "p", port: "1", extra: "kept" }), {
      label: "POST probe",
    }),
    ...[v1, v2, v3].map((path) => get(path, { untilCode: 200, label: `LIST ${path} after change` })),
    patch(`${v2}/a${as("m")}`, mergePatch, {}, { label: "PATCH a the same" }),
    patch(`${v2}/a${as("m")}`, mergePatch, {}, { label: "PATCH a the same again" }),
    put(`${v2}/b${as("m")}`, thing("v2", "b", { host: "b", port: "1", extra: "kept" })),
    get(`${v2}/b`),
    get(`${v3}/b`),
    get(`${v1}/b`),
    get(definitionPath, { untilText: '"storedVersions":["v1","v2"]', label: "WRITE nothing until both are stored" }),
    patch(`${definitionPath}/status`, mergePatch, { status: { storedVersions: ["v2"] } }, { label: "WRITE stored" }),
    patch(
      `${definitionPath}/status`,
      mergePatch,
      { status: { storedVersions: ["v1"] } },
      { label: "WRITE stored wrong" },
    ),
    store("v2", { v1: { served: false } }),
    get(v1, { untilCode: 404 }),
    patch(`${v2}/a${as("m")}`, mergePatch, { spec: { extra: "x" } }, { label: "PATCH a" }),
    get(v3, { untilCode: 200, label: "LIST v3 without v1" }),
    watch(`${v3}?resourceVersion=0&timeoutSeconds=1`, { untilEnd: true }),
    get(v2, { untilCode: 200, label: "LIST at the end" }),
  ]
}

export function retired(webhook: Webhook): Step[] {
  const versions = versionsOf("v2", {
    v1: { deprecated: true },
    v3: { deprecated: true, deprecationWarning: "v3 goes away" },
  })
  return [
    ...servedBy(webhook, { versions }),
    post(`${v1}${as("m1")}`, thing("v1", "a", { hostPort: "a:1" })),
    patch(`${v3}/a${as("m3")}`, applyPatch, thing("v3", "a", { extra: "x" })),
    get(v1),
    get(`${v2}/a`),
    get(`${v3}/a`),
    post(v1, thing("v1", "b", { hostPort: "a:1", mode: { v2: "failed" } }), { label: "POST that fails" }),
    remove(`${v3}/a?dryRun=All`),
    patch(
      definitionPath,
      mergePatch,
      {
        spec: { versions: versionsOf("v2", { v1: { served: false }, v3: { deprecated: true } }) },
      } as unknown as Json,
      { label: "WRITE definition without v1" },
    ),
    get(v1, { untilCode: 404, label: "LIST v1 when not served" }),
    get(`${v1}/a`),
    patch(`${v2}/a${as("m1")}`, mergePatch, { spec: { host: "b" } }),
    patch(`${v3}/a${as("m4")}`, applyPatch, thing("v3", "a", { port: "4" }), { label: "APPLY v3" }),
    get(`/apis/${"c@{id}.example.com"}`, { label: "GET group" }),
    get(`/apis/${"c@{id}.example.com"}/v3`, { label: "GET v3" }),
    get(`/apis/${"c@{id}.example.com"}/v1`, { label: "GET v1" }),
  ]
}
