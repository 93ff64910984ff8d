// Custom resources with webhook conversion: in which version they are written, read and stored.

import { describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import {
  bodyOf,
  call,
  crds,
  definition,
  group,
  objectOf,
  properly,
  server,
  tests,
  useConvertedKind,
  webhook,
} from "./testing/converted-kind.ts"

useConvertedKind("v1")

describe("with a conversion webhook", () => {
  test("converts between the written and the read version", async () => {
    const made = await bodyOf(call("POST", tests("v2"), objectOf("v2", "one", { host: "h", port: "80" })))
    expect(made).toMatchObject({ apiVersion: `${group}/v2`, host: "h", port: "80" })
    const read = await bodyOf(call("GET", `${tests("v1")}/one`))
    expect(read).toMatchObject({ apiVersion: `${group}/v1`, hostPort: "h:80" })
    expect(read["metadata"]).toMatchObject({ uid: made["metadata"].uid })
    expect(await bodyOf(call("GET", `${tests("v2")}/one`))).toMatchObject({ host: "h", port: "80" })
  })

  test("reads the stored version without the webhook", async () => {
    await call("POST", tests("v1"), objectOf("v1", "two", { hostPort: "a:1" }))
    const before = server.calls.length
    await call("GET", `${tests("v1")}/two`)
    expect(server.calls.length).toBe(before)
  })

  test("converts a list with one call", async () => {
    await call("POST", tests("v1"), objectOf("v1", "three", { hostPort: "b:2" }))
    const before = server.calls.length
    const { items } = await bodyOf(call("GET", tests("v2")))
    expect(items.map(({ host }: Loose) => host)).toContain("b")
    expect(server.calls.length).toBe(before + 1)
    expect(server.calls.at(-1)?.body["request"].objects.length).toBe(items.length)
    expect(server.calls.at(-1)?.path).toBe("/convert?timeout=30s")
  })

  test("updates and patches are converted from the stored version", async () => {
    await call("POST", tests("v1"), objectOf("v1", "four", { hostPort: "c:3" }))
    const patched = await bodyOf(call("PATCH", `${tests("v2")}/four`, { port: "4" }, "application/merge-patch+json"))
    expect(patched).toMatchObject({ host: "c", port: "4" })
    expect(await bodyOf(call("GET", `${tests("v1")}/four`))).toMatchObject({ hostPort: "c:4" })
  })

  test("an update that changes only the stored version is written, once", async () => {
    await call("POST", tests("v1"), objectOf("v1", "bare", { hostPort: "s" }))
    const revision = async (): Promise<string> => {
      const patched = await bodyOf(call("PATCH", `${tests("v2")}/bare`, {}, "application/merge-patch+json"))
      return patched["metadata"].resourceVersion as string
    }
    const { metadata } = await bodyOf(call("GET", `${tests("v2")}/bare`))
    const first = await revision()
    expect(first).not.toBe(metadata.resourceVersion)
    expect(await revision()).toBe(first)
    await call("DELETE", `${tests("v1")}/bare`)
  })

  test("converts a long list with several calls", async () => {
    const names = ["l1", "l2", "l3", "l4"]
    for (const name of names) {
      const hostPort = `${"h".repeat(200_000)}:1`
      await call("POST", tests("v1"), {
        ...objectOf("v1", name, { hostPort }),
        metadata: { name, labels: { long: "yes" } },
      })
    }
    const before = server.calls.length
    const { items } = await bodyOf(call("GET", `${tests("v2")}?labelSelector=long=yes`))
    expect(items.map(({ metadata }: Loose) => metadata.name)).toEqual(names)
    const sizes = server.calls.slice(before).map(({ body }) => body["request"].objects.length as number)
    expect(sizes.length).toBeGreaterThan(1)
    for (const name of names) await call("DELETE", `${tests("v1")}/${name}`)
  })

  test("converts watch events to the requested version", async () => {
    const answered = await call("GET", `${tests("v2")}?watch=true&timeoutSeconds=1`)
    const events = answered.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Loose)
    expect(events.length).toBeGreaterThan(0)
    expect(events.every(({ object: shown }) => shown.apiVersion === `${group}/v2` && shown.host !== undefined)).toBe(
      true,
    )
  })

  test("converts objects of an earlier storage version", async () => {
    const current = await bodyOf(call("GET", `${crds}/tests.${group}`))
    const { metadata } = current
    const next = { ...definition("v2"), metadata: { ...metadata } }
    expect((await call("PUT", `${crds}/tests.${group}`, next)).code).toBe(200)
    await call("POST", tests("v2"), objectOf("v2", "five", { host: "d", port: "5" }))
    for (const [version, fields] of [
      ["v1", ["hostPort"]],
      ["v2", ["host", "port"]],
    ] as const) {
      const { items } = await bodyOf(call("GET", tests(version)))
      expect(items.length).toBe(5)
      expect(items.every((item: Loose) => fields.every((field) => item[field] !== undefined))).toBe(true)
    }
  })

  test("unknown fields of a version are dropped", async () => {
    webhook.convert = (given, version) => ({ ...properly(given, version), foreign: true })
    expect(await bodyOf(call("GET", `${tests("v1")}/five`))).not.toHaveProperty("foreign")
  })

  test("the webhook may change labels and annotations, but no other metadata", async () => {
    webhook.convert = (given, version) => {
      const converted = properly(given, version)
      return {
        ...converted,
        metadata: { ...converted["metadata"], labels: { by: "webhook" }, generation: 99, resourceVersion: "1" },
      }
    }
    const { metadata } = await bodyOf(call("GET", `${tests("v1")}/five`))
    expect(metadata.labels).toEqual({ by: "webhook" })
    expect(metadata.generation).toBe(1)
    expect(metadata.resourceVersion).not.toBe("1")
  })
})

test.each<[Loose, string]>([
  [
    { strategy: "Webhook" },
    "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
  ],
  [{ strategy: "Other" }, 'spec.conversion.strategy: Unsupported value: "Other": supported values: "None", "Webhook"'],
  [
    { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } },
    "spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook",
  ],
  [
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v7"], clientConfig: { url: "https://a/" } } },
    "must include at least one of v1, v1beta1",
  ],
  [
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "http://a/?b" } } },
    "'https' is the only allowed URL scheme; desired format: https://host[/path]",
  ],
])("a definition with %o is rejected", async (conversion, message) => {
  const wrong = definition("v1")
  wrong["spec"] = { ...wrong["spec"], group: "other.example.com", conversion }
  wrong["metadata"] = { name: "tests.other.example.com" }
  const answered = await call("POST", crds, wrong)
  expect([answered.code, (answered.json() as Loose)["message"]]).toEqual([422, expect.stringContaining(message)])
})

test("an object of a version that its definition has lost is sent to the webhook with all of its fields", async () => {
  const path = `${crds}/tests.${group}`
  await call("POST", tests("v1"), objectOf("v1", "lost", { hostPort: "localhost:7" }))
  const send = async (at: string, change: unknown): Promise<number> =>
    (await call("PATCH", at, change, "application/merge-patch+json")).code
  const { versions } = definition("v2")["spec"]
  expect(await send(path, { spec: { versions } })).toBe(200)
  expect(await send(`${path}/status`, { status: { storedVersions: ["v2"] } })).toBe(200)
  expect(await send(path, { spec: { versions: versions.slice(1) } })).toBe(200)
  expect(await bodyOf(call("GET", `${tests("v2")}/lost`))).toMatchObject({ host: "localhost", port: "7" })
})

test("what a webhook leaves out when an object is stored has the default of the stored version", async () => {
  const presets = definition("v2")
  presets["metadata"] = { name: `presets.${group}` }
  const properties = { shade: { type: "string", default: "dark" } }
  const versions = presets["spec"].versions.map((version: Loose) => ({
    ...version,
    schema: { openAPIV3Schema: { type: "object", properties } },
  }))
  presets["spec"] = { ...presets["spec"], names: { plural: "presets", kind: "Preset" }, versions }
  expect((await call("POST", crds, presets)).code).toBe(201)
  webhook.convert = ({ kind, metadata }, version) => ({ apiVersion: version, kind, metadata })
  const path = (version: string): string => `/apis/${group}/${version}/namespaces/default/presets`
  const made = { apiVersion: `${group}/v1`, kind: "Preset", metadata: { name: "a" }, shade: "light" }
  expect((await call("POST", path("v1"), made)).code).toBe(201)
  expect(await bodyOf(call("GET", `${path("v2")}/a`))).toMatchObject({ shade: "dark" })
})
