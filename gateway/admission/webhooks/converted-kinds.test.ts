// Webhooks of other versions than the request's, of a kind between whose versions another webhook converts.

import { beforeAll, describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { jsonPatch, reviewed, type WebhookCall, type WebhookReply } from "../../testing/webhook-server.ts"
import { WebhookTenant, verdict } from "./testing/webhook-tenant.ts"

const hooks = WebhookTenant.open()
const group = "converted.example.com"
const things = `/apis/${group}/v1/namespaces/default/things`

/** v1 has spec.one, and v2 has spec.two instead; spec.extra is in neither, and lost. */
function converted({ body }: WebhookCall): WebhookReply {
  const { kind, apiVersion, request } = body
  const { uid, desiredAPIVersion, objects } = request as Loose
  const [from, to] = (desiredAPIVersion as string).endsWith("/v1") ? ["two", "one"] : ["one", "two"]
  const convertedObjects = objects.map((object: Loose) => {
    const { metadata, spec } = object as { metadata: Loose; spec: Loose }
    const name = spec["fails"] === desiredAPIVersion.split("/")[1] ? "other" : metadata["name"]
    const { [from]: text, extra: _, ...rest } = spec
    return { ...object, apiVersion: desiredAPIVersion, metadata: { ...metadata, name }, spec: { ...rest, [to]: text } }
  })
  return { body: { kind, apiVersion, response: { uid, result: { status: "Success" }, convertedObjects } } }
}

function version(name: string): Loose {
  const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true }
  const openAPIV3Schema = { type: "object", properties: { spec } }
  return { name, served: true, storage: name === "v1", schema: { openAPIV3Schema } }
}

beforeAll(async () => {
  const clientConfig = { url: `${hooks.server.url}/convert`, caBundle: hooks.server.caBundle }
  const webhook = { conversionReviewVersions: ["v1"], clientConfig }
  await hooks.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: ["v1", "v2", "v3"].map(version),
      conversion: { strategy: "Webhook", webhook },
    },
  })
})

/** Answers of the webhooks by their numbers; the others allow. */
function answering(replies: Record<number, (call: WebhookCall) => WebhookReply>): void {
  hooks.answer = (call) => {
    if (call.path.startsWith("/convert")) return converted(call)
    return (replies[Number(call.path.slice(1, 2))] ?? ((given) => reviewed(given, {})))(call)
  }
}

const of = (apiVersion: string, more: Loose = {}): Loose => ({
  rules: [{ operations: ["*"], apiGroups: [group], apiVersions: [apiVersion], resources: ["things"] }],
  ...more,
})

const create = (spec: Loose) =>
  hooks.call("POST", things, {
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name: hooks.fresh() },
    spec,
  })

/** The specs that the webhooks were shown, in the order of the calls. */
const shown = (): Loose[] =>
  hooks.server.calls.filter(({ path }) => !path.startsWith("/convert")).map(({ body }) => body["request"].object.spec)

describe("an object in another version", () => {
  test("stays as a webhook has made it until one of another version is called", async () => {
    const extra = jsonPatch({ op: "add", path: "/spec/extra", value: "kept" })
    answering({ 0: (call) => reviewed(call, extra) })
    await hooks.configure("Mutating", of("v2"), of("v2"), of("v1"), of("v2"))
    expect(await verdict(create({ one: "x" }))).toBe("accepted")
    expect(shown()).toEqual([{ two: "x" }, { two: "x", extra: "kept" }, { one: "x" }, { two: "x" }])
  })

  test.each<[string, Loose, number]>([
    ["a null, which is an empty text", { env: "prod", x: null }, 2],
    ["one that is no text, with which there are none", { env: "prod", x: 5 }, 1],
  ])("is selected by its labels as a webhook has made them: with %s", async (_, labels, calls) => {
    answering({ 0: (call) => reviewed(call, jsonPatch({ op: "add", path: "/metadata/labels", value: labels })) })
    await hooks.configure("Mutating", of("v1"), of("v1", { objectSelector: { matchLabels: { env: "prod" } } }))
    await create({ one: "x" })
    expect(shown()).toHaveLength(calls)
  })

  test.each<[string, Loose, RegExp]>([
    ["of a new object", { kind: "Other" }, /^422 Other\..* is invalid: kind: Invalid value: "Other": must be Thing$/],
    [
      "that there is not",
      { apiVersion: `${group}/v9` },
      /^500 request to convert CR from an invalid group\/version: converted.example.com\/v9$/,
    ],
  ])("is not looked at before it is converted: a kind %s", async (_, change, words) => {
    const operations = Object.entries(change).map(([field, value]) => ({ op: "replace", path: `/${field}`, value }))
    answering({ 0: (call) => reviewed(call, jsonPatch(...operations)) })
    await hooks.configure("Mutating", of("v2"), of("v2"))
    expect(await verdict(create({ one: "x" }))).toMatch(words)
    expect(shown()).toHaveLength(2)
  })

  test("is converted after the stored one", async () => {
    const name = hooks.fresh()
    const object = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec: { one: "x", fails: "v3" } }
    answering({ 0: (call) => reviewed(call, jsonPatch({ op: "add", path: "/spec/fails", value: "v1" })) })
    expect(await verdict(hooks.call("POST", things, object))).toBe("accepted")
    await hooks.configure("Mutating", of("v2"), of("v3"))
    hooks.server.calls.length = 0
    const patch = { metadata: { labels: { a: "b" } } }
    const path = `${things}/${name}`
    expect(await verdict(hooks.call("PATCH", path, patch, "application/merge-patch+json"))).toMatch(/^500 .*same name/)
    expect(shown()).toHaveLength(1)
    expect(hooks.server.calls.at(-1)?.body["request"].desiredAPIVersion).toBe(`${group}/v3`)
  })

  test.each(["Mutating", "Validating"] as const)(
    "that cannot be converted for a %s webhook is refused, whatever its failure policy is",
    async (kind) => {
      answering({})
      await hooks.configure(kind, of("v2", { failurePolicy: "Ignore" }))
      expect(await verdict(create({ one: "x", fails: "v2" }))).toMatch(/^500 Internal error occurred: .*same name/)
      expect(shown()).toEqual([])
    },
  )
})

describe("an object whose metadata cannot be converted to the stored version", () => {
  const path = things.replace("/v1/", "/v2/")
  const labels = { op: "add", path: "/metadata/labels", value: 5 }
  const body = (name: string, more: Loose = {}): Loose => ({
    apiVersion: `${group}/v2`,
    kind: "Thing",
    metadata: { name, ...more },
    spec: { two: "x" },
  })

  /** From here on, a webhook makes these patches. */
  async function patchedWith(...operations: Loose[]): Promise<void> {
    answering({
      0: (call) => reviewed(call, call.body["request"].operation === "DELETE" ? {} : jsonPatch(...operations)),
    })
    await hooks.configure("Mutating", of("v2"))
  }

  const post = (name: string, query = ""): Promise<string> => verdict(hooks.call("POST", `${path}${query}`, body(name)))

  test("is refused last: in a dry run after its name", async () => {
    const name = hooks.fresh()
    answering({})
    expect(await post(name)).toBe("accepted")
    await patchedWith(labels)
    expect(await post(name, "?dryRun=All")).toMatch(/^409 .*already exists/)
    expect(await post(hooks.fresh(), "?dryRun=All")).toMatch(/^500 .*cannot unmarshal number/)
    expect(await post(hooks.fresh())).toMatch(/^500 .*cannot unmarshal number/)
  })

  test("is refused for a resourceVersion first", async () => {
    await patchedWith(labels, { op: "add", path: "/metadata/resourceVersion", value: "5" })
    expect(await post(hooks.fresh())).toMatch(/^500 .*resourceVersion should not be set on objects to be created/)
  })

  test("is removed if nothing keeps it any more", async () => {
    const name = hooks.fresh()
    answering({})
    const one = `${path}/${name}`
    expect(await verdict(hooks.call("POST", path, body(name, { finalizers: ["a.b/c"] })))).toBe("accepted")
    expect(await verdict(hooks.call("DELETE", one))).toBe("accepted")
    await patchedWith(labels)
    const patch = { metadata: { finalizers: null } }
    expect(await verdict(hooks.call("PATCH", one, patch, "application/merge-patch+json"))).toBe("accepted")
    expect(await verdict(hooks.call("GET", one))).toMatch(/^404/)
  })
})
