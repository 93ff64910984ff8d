// What a conversion webhook is asked, and what becomes of its responses.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  get,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  type Step,
} from "../scenario.ts"
import { as, conversionBy, definitionPath, servedBy, thing, v1, v2, v3, type Webhook } from "./kind.ts"

export function asked(webhook: Webhook): RequestStep[] {
  const mode = { v1: "asked", v2: "asked", v3: "asked" }
  return [
    ...servedBy(webhook),
    post(v2, thing("v2", "a", { host: "a", mode })),
    get(`${v1}/a`),
    get(`${v2}/a`),
    patch(`${v2}/a${as("m")}`, mergePatch, { spec: { host: "b" } }),
    get(`${v1}/a`, { label: "GET v1 after PATCH" }),
    patch(`${v3}/b${as("m")}`, applyPatch, thing("v3", "b", { host: "b", mode })),
    get(`${v1}/b`),
    post(v1, thing("v1", "c", { hostPort: "c", mode })),
    get(v2),
    get(`${v3}?limit=1`),
    remove(`${v3}/a`),
    patch(
      definitionPath,
      mergePatch,
      {
        spec: { conversion: conversionBy(webhook, { conversionReviewVersions: ["v9", "v1beta1", "v1"] }) },
      } as unknown as Json,
      { label: "WRITE definition for v1beta1" },
    ),
    get(`${v2}/c`, { untilText: "apiextensions.k8s.io/v1beta1", label: "GET with v1beta1" }),
    get(v2, { untilCode: 200, label: "LIST with v1beta1" }),
  ]
}

/** Each mode in conversions from the stored version, and into it. */
export function odd(webhook: Webhook, modes: readonly string[], reviewVersion = "v1"): Step[] {
  return [
    ...servedBy(webhook, { conversion: conversionBy(webhook, { conversionReviewVersions: [reviewVersion] }) }),
    ...modes.flatMap((mode, index) => {
      const [name, other] = [`o${index}`, `p${index}`]
      const label = (method: string): { label: string } => ({ label: `${method}: ${mode}` })
      return [
        post(v1, thing("v1", name, { hostPort: "a:1", mode: { v2: mode } }), label("POST v1")),
        get(`${v2}/${name}`, label("GET")),
        patch(`${v2}/${name}`, mergePatch, { spec: { host: "c" } }, label("PATCH")),
        put(`${v2}/${name}`, thing("v2", name, { host: "d", mode: { v2: mode } }), label("PUT")),
        patch(`${v2}/${name}${as("m")}`, applyPatch, thing("v2", name, { port: "2" }), label("APPLY")),
        post(v2, thing("v2", other, { host: "d", mode: { v1: mode } }), label("POST")),
        post(`${v2}?dryRun=All`, thing("v2", "dry", { host: "d", mode: { v1: mode } }), label("POST dry run")),
        get(`${v1}/${name}`, label("GET v1")),
        remove(`${v2}/${name}`, undefined, label("DELETE")),
      ]
    }),
  ]
}

export function failing(webhook: Webhook): Step[] {
  return [
    ...servedBy(webhook),
    post(v1, thing("v1", "a", { hostPort: "a:1", mode: { v2: "another name" } })),
    post(v1, thing("v1", "b", { hostPort: "b:1" })),
    get(v2),
    get(`${v2}?limit=1`),
    get(`${v2}/b`),
    post(v2, thing("v2", "a", { host: "a" }), { label: "POST what is there" }),
    post(`${v2}?dryRun=All`, thing("v2", "a", { host: "a" }), { label: "POST dry what is there" }),
    remove(v2),
    remove(v1),
  ]
}

export function configurations(webhook: Webhook): Step[] {
  const { url, caBundle } = webhook
  const clients: [string, object, string][] = [
    ["an URL with a path", { url: `${url}/a//b/../c/`, caBundle }, "/a/"],
    ["a closed port", { url: "https://127.0.0.1:1/convert", caBundle }, "127.0.0.1:1"],
    ["no authority", { url: `${url}/none` }, "none?"],
    ["a service that is missing", { service: { name: "s", namespace: "@{ns}" }, caBundle }, "not found"],
  ]
  return [
    ...servedBy(webhook),
    post(v1, thing("v1", "a", { hostPort: "a", mode: { v2: "asked" } })),
    ...clients.flatMap(([label, clientConfig, untilText]) => [
      patch(
        definitionPath,
        jsonPatch,
        [{ op: "replace", path: "/spec/conversion/webhook/clientConfig", value: clientConfig }] as unknown as Json,
        { label: `WRITE ${label}` },
      ),
      get(`${v2}/a`, { untilText, label: `GET with ${label}` }),
    ]),
    patch(
      definitionPath,
      mergePatch,
      { spec: { conversion: { strategy: "None", webhook: null } } },
      {
        label: "WRITE definition without webhook",
      },
    ),
    get(`${v2}/a`, { untilCode: 200, label: "GET without webhook" }),
    patch(`${v2}/a`, mergePatch, { spec: { host: "h" } }, { label: "PATCH without webhook" }),
    get(`${v1}/a`, { label: "GET v1 without webhook" }),
  ]
}
