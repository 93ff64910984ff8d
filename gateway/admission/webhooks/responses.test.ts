// What the response of a webhook leads to, and what a failure.

import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import { jsonPatch, reviewed, type WebhookHandler } from "../../testing/webhook-server.ts"
import { configMaps, configurations, verdict, WebhookTenant } from "./testing/webhook-tenant.ts"

const hooks = WebhookTenant.open()

describe("a webhook's response", () => {
  const prefix = 'admission webhook "hook-0.example.com" denied the request'
  test.each<[string, Loose, string]>([
    ["denied", { allowed: false }, `400 ${prefix} without explanation`],
    [
      "denied with a message",
      { allowed: false, status: { message: "too blue", code: 422 } },
      `422 ${prefix}: too blue`,
    ],
    [
      "denied with a reason",
      { allowed: false, status: { reason: "Forbidden", code: 403 } },
      `403 ${prefix}: Forbidden`,
    ],
    ["denied with a code of success", { allowed: false, status: { code: 200, message: "x" } }, `400 ${prefix}: x`],
    ["allowed", { allowed: true }, "accepted"],
  ])("%s", async (_, response, expected) => {
    hooks.answer = (given) => reviewed(given, response)
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toBe(expected)
  })

  test("denied with a whole status, which is kept", async () => {
    const status = { status: "Odd", message: "m", code: 600, metadata: { continue: "c" }, details: { name: "n" } }
    hooks.answer = (given) => reviewed(given, { allowed: false, status })
    await hooks.configure("Validating", {})
    const { code, json } = await hooks.create()
    expect(code).toBe(600)
    expect(json()).toEqual({ ...status, kind: "Status", apiVersion: "v1", message: `${prefix}: m` })
  })

  test("that denies an object of a collection ends the deletion of the others", async () => {
    const names = [hooks.fresh(), hooks.fresh(), hooks.fresh()].toSorted()
    await hooks.call("DELETE", configMaps)
    for (const name of names) await hooks.create(name)
    hooks.answer = (given) => reviewed(given, { allowed: given.body["request"].oldObject.metadata.name !== names[1] })
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.call("DELETE", configMaps))).toBe(`400 ${prefix} without explanation`)
    const left = (await hooks.call("GET", configMaps)).json() as { items: { metadata: { name: string } }[] }
    expect(left.items.map(({ metadata }) => metadata.name).filter((name) => names.includes(name))).toEqual(
      names.slice(1),
    )
  })

  test.each<[string, (body: string) => ReturnType<WebhookHandler>]>([
    ["compressed", (body) => ({ bytes: gzipSync(body), headers: { "content-encoding": "gzip" } })],
    ["YAML", (body) => ({ text: `# a review\n${body}` })],
  ])("may be %s", async (_, encode) => {
    hooks.answer = (given) => encode(JSON.stringify((reviewed(given, { allowed: false }) as { body: unknown }).body))
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toBe(`400 ${prefix} without explanation`)
  })

  test("that asks for another call later is called again", async () => {
    hooks.answer = (given) =>
      hooks.server.calls.length === 1 ? { code: 429, text: "", headers: { "retry-after": "0" } } : reviewed(given, {})
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toBe("accepted")
    expect(hooks.server.calls.length).toBe(2)
  })

  test("that switches protocols is none", async () => {
    const headers = { connection: "Upgrade", upgrade: "other" }
    hooks.answer = () => ({ code: 101, text: "", headers })
    await hooks.configure("Validating", {})
    const reason = "the server responded with the status code 101 but did not return more information"
    expect(await verdict(hooks.create())).toBe(
      `500 Internal error occurred: failed calling webhook "hook-0.example.com": failed to call webhook: ${reason}`,
    )
  })

  test("null fields are treated as missing", async () => {
    const status = { code: 409, message: "no", details: null, metadata: null }
    hooks.answer = (given) => reviewed(given, { allowed: false, status, warnings: null, auditAnnotations: { a: null } })
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toBe('409 admission webhook "hook-0.example.com" denied the request: no')
  })

  test("warnings are sent to the client, and annotations to the audit log", async () => {
    hooks.answer = (given) => reviewed(given, { warnings: ["mind the gap"], auditAnnotations: { color: "red" } })
    await hooks.configure("Validating", {})
    const { headers } = await hooks.create()
    expect(headers["warning"]).toBe('299 - "mind the gap"')
    await expect.poll(() => hooks.entries.at(-1)?.["annotations"]).toEqual({ "hook-0.example.com/color": "red" })
  })

  test("annotations without a valid name are dropped; a denial is annotated as well", async () => {
    hooks.answer = (given) =>
      reviewed(given, { allowed: false, auditAnnotations: { "Not A Key": "x", "a/b": "y", c: "z" } })
    await hooks.configure("Mutating", {})
    await hooks.create()
    await expect
      .poll(() => Object.keys(hooks.entries.at(-1)?.["annotations"] ?? {}))
      .toEqual(["hook-0.example.com/c", "mutation.webhook.admission.k8s.io/round_0_index_0"])
  })
})

describe("a webhook that fails", () => {
  const prefix = '500 Internal error occurred: failed calling webhook "hook-0.example.com": '
  const url = () => `${hooks.server.url}/0?timeout=10s`
  const unexpected =
    "received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got"
  test.each<[string, WebhookHandler, () => string]>([
    [
      "another uid",
      () => ({
        body: { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid: "x", allowed: true } },
      }),
      () => "received invalid webhook response: expected response.uid=",
    ],
    [
      "no response",
      () => ({ body: { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" } }),
      () => "received invalid webhook response: webhook response was absent",
    ],
    [
      "a null kind",
      (given) => ({ body: { ...(reviewed(given, {}).body as Loose), kind: null } }),
      () => `${unexpected} admission.k8s.io/v1, Kind=`,
    ],
    [
      "a null version",
      (given) => ({ body: { ...(reviewed(given, {}).body as Loose), apiVersion: null } }),
      () => `${unexpected} /, Kind=AdmissionReview`,
    ],
    [
      "a Status of another version",
      () => ({ body: { kind: "Status", apiVersion: "admission.k8s.io/v1", status: "Success" } }),
      () => "failed to call webhook: converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
    ],
    [
      "a patch of another type in another version",
      (given) => ({
        body: { ...(reviewed(given, { patch: 5 }).body as Loose), apiVersion: "admission.k8s.io/v1beta1" },
      }),
      () =>
        "failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.patch of type []uint8",
    ],
    [
      "a null kind in another version",
      (given) => ({
        body: { ...(reviewed(given, {}).body as Loose), kind: null, apiVersion: "admission.k8s.io/v1beta1" },
      }),
      () => "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
    ],
    [
      "a patch type of another type in another version, without a kind",
      () => ({ body: { apiVersion: "admission.k8s.io/v1beta1", response: { patchType: 5 } } }),
      () =>
        "failed to call webhook: json: cannot unmarshal number into Go struct field AdmissionResponse.response.patchType of type v1beta1.PatchType",
    ],
    [
      "an empty kind of another group",
      (given) => ({ body: { ...(reviewed(given, {}).body as Loose), kind: "", apiVersion: "example.com/v9" } }),
      () => 'failed to call webhook: no kind "AdmissionReview" is registered for version "example.com/v9" in scheme',
    ],
    [
      "a group without a version",
      (given) => ({ body: { ...(reviewed(given, {}).body as Loose), apiVersion: "admission.k8s.io/" } }),
      () => `${unexpected} admission.k8s.io/, Kind=AdmissionReview`,
    ],
    [
      "a Status with a field of another type",
      () => ({ body: { kind: "Status", apiVersion: "v1", details: { causes: [{ field: 5 }] } } }),
      () =>
        "failed to call webhook: json: cannot unmarshal number into Go struct field StatusCause.details.causes.field of type string",
    ],
    [
      "a patch when validating",
      (given) => reviewed(given, jsonPatch({ op: "add", path: "/data", value: {} })),
      () => "received invalid webhook response: validating webhook may not return response.patch",
    ],
    [
      "an empty body",
      () => ({ text: "" }),
      () => "failed to call webhook: 0-length response with status code: 200 and content type: application/json",
    ],
    [
      "an error in plain text",
      () => ({ code: 500, text: "boom", headers: { "content-type": "text/plain" } }),
      () => 'failed to call webhook: an error on the server ("boom") has prevented the request from succeeding',
    ],
    [
      "status 404",
      () => ({ code: 404, text: "" }),
      () => "failed to call webhook: the server could not find the requested resource",
    ],
    [
      "a redirect to a forbidden address",
      () => ({ code: 302, text: "", headers: { location: "https://169.254.169.254/" } }),
      () => 'failed to call webhook: Post "https://169.254.169.254/": dial tcp: 169.254.169.254: address not allowed',
    ],
    [
      "a response that is too long",
      () => ({ text: `"${"x".repeat(4 * 1024 * 1024)}"` }),
      () => "failed to call webhook: the answer is longer than",
    ],
  ])("with %s", async (_, handler, expected) => {
    hooks.answer = handler
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toContain(prefix + expected())
  })

  test.each<[Loose, string]>([
    [{ allowed: "yes" }, "string into Go struct field AdmissionResponse.response.allowed of type bool"],
    [{ uid: 5 }, "number into Go struct field AdmissionResponse.response.uid of type types.UID"],
    [{ patch: 5 }, "number into Go struct field AdmissionResponse.response.patch of type []uint8"],
    [
      { auditAnnotations: { a: 5 } },
      "number into Go struct field AdmissionResponse.response.auditAnnotations of type string",
    ],
    [{ warnings: "no" }, "string into Go struct field AdmissionResponse.response.warnings of type []string"],
    [{ status: "no" }, "string into Go struct field AdmissionResponse.response.status of type v1.Status"],
    [{ status: { code: "x" } }, "string into Go struct field Status.response.status.code of type int32"],
    [
      { status: { details: { name: 5 } } },
      "number into Go struct field StatusDetails.response.status.details.name of type string",
    ],
  ])("with an invalid review: %j", async (response, expected) => {
    hooks.answer = (given) => reviewed(given, { allowed: false, ...response })
    await hooks.configure("Validating", {})
    expect(await verdict(hooks.create())).toBe(`${prefix}failed to call webhook: json: cannot unmarshal ${expected}`)
    await hooks.call("DELETE", `${configurations}/validatingwebhookconfigurations`)
    await hooks.configure("Mutating", { failurePolicy: "Ignore" })
    expect(await verdict(hooks.create())).toBe("accepted")
  })

  test("with a patch that is not base64", async () => {
    hooks.answer = (given) => reviewed(given, { patchType: "JSONPatch", patch: "W10=?" })
    await hooks.configure("Mutating", {})
    expect(await verdict(hooks.create())).toBe(`${prefix}failed to call webhook: illegal base64 data at input byte 4`)
  })

  test("with a timeout", async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    hooks.answer = () => ({ wait: promise, body: {} })
    await hooks.configure("Validating", { timeoutSeconds: 1 })
    expect(await verdict(hooks.create())).toBe(
      `${prefix}failed to call webhook: Post "${hooks.server.url}/0?timeout=1s": context deadline exceeded`,
    )
    resolve()
  })

  test("is ignored with failurePolicy Ignore", async () => {
    hooks.answer = () => ({ code: 500, text: "" })
    await hooks.configure("Validating", { failurePolicy: "Ignore" })
    await hooks.configure("Mutating", { failurePolicy: "Ignore" })
    expect(await verdict(hooks.create())).toBe("accepted")
    expect(hooks.server.calls.length).toBe(2)
    hooks.answer = (given) => ({ body: { ...(reviewed(given, {}).body as Loose), apiVersion: null } })
    expect(await verdict(hooks.create())).toBe("accepted")
  })

  test("with an untrusted certificate", async () => {
    await hooks.configure("Validating", { clientConfig: { url: `${hooks.server.url}/0` } })
    expect(await verdict(hooks.create())).toBe(
      `${prefix}failed to call webhook: Post "${url()}": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    )
  })

  test("with a rejected connection", async () => {
    await hooks.configure("Validating", {
      clientConfig: { url: "https://127.0.0.1:1/0", caBundle: hooks.server.caBundle },
    })
    expect(await verdict(hooks.create())).toBe(
      `${prefix}failed to call webhook: Post "https://127.0.0.1:1/0?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`,
    )
  })

  test("with a missing Service", async () => {
    await hooks.configure("Validating", {
      clientConfig: { service: { name: "none", namespace: "default", path: "/x" } },
    })
    expect(await verdict(hooks.create())).toBe(
      `${prefix}failed to call webhook: Post "https://none.default.svc:443/x?timeout=10s": service "none" not found`,
    )
  })
})
