// What becomes of requests whose objects the webhook does not convert as it should.

import { beforeAll, describe, expect, test } from "vitest"
import type { Loose } from "../../testing/kinds.ts"
import type { WebhookCall, WebhookReply } from "../../testing/webhook-server.ts"
import {
  call,
  group,
  objectOf,
  properly,
  restore,
  reviewed,
  tests,
  useConvertedKind,
  webhook,
} from "./testing/converted-kind.ts"

useConvertedKind("v2")

describe("a failed conversion", () => {
  beforeAll(async () => {
    await call("POST", tests("v2"), objectOf("v2", "five", { host: "d", port: "5" }))
  })

  test("does not block writes in the stored version, and drops the managers of other versions", async () => {
    await call("POST", tests("v1"), objectOf("v1", "six", { hostPort: "d:4" }))
    webhook.answer = () => ({ code: 500, text: "" })
    const patch = { host: "e" }
    const written = await call("PATCH", `${tests("v2")}/six`, patch, "application/merge-patch+json")
    restore()
    expect([written.code, (written.json() as Loose)["host"]]).toEqual([200, "e"])
    expect((written.json() as Loose)["metadata"]).not.toHaveProperty("managedFields")
  })

  const about = `conversion webhook for ${group}/v2, Kind=Test`
  test.each<[string, (call: WebhookCall) => WebhookReply, string]>([
    [
      "with a message responds with it",
      (c) => reviewed(c, { result: { status: "Failed", message: "too odd" } }),
      `${about} failed: too odd`,
    ],
    [
      "without a message responds with the status",
      (c) => reviewed(c, { result: { status: "Failed" } }),
      `${about} failed: response.result.status was 'Failed', not 'Success'`,
    ],
    [
      "without objects responds with the number",
      (c) => reviewed(c, { convertedObjects: [] }),
      `${about} returned 0 objects, expected 1`,
    ],
    [
      "with another uid responds with the expected one",
      (c) => reviewed(c, { uid: "x" }),
      `${about} failed: expected response.uid=`,
    ],
    [
      "of another kind responds with both",
      () => ({ body: { kind: "Status", apiVersion: "v1", status: "Success" } }),
      `${about} failed: converting (v1.Status) to (v1.ConversionReview): unknown conversion`,
    ],
    [
      "of another type responds with it",
      (c) => reviewed(c, { convertedObjects: "x" }),
      `${about} failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension`,
    ],
    [
      "without a response responds with an error",
      () => ({ body: { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1" } }),
      `${about} failed: no response provided`,
    ],
    [
      "with an HTTP error responds with it",
      () => ({ code: 500, text: "" }),
      `${about} failed: an error on the server ("unknown") has prevented the request from succeeding`,
    ],
  ])("%s", async (_, reply, message) => {
    webhook.answer = reply
    const answered = await call("GET", `${tests("v1")}/five`)
    expect([answered.code, (answered.json() as Loose)["message"]]).toEqual([500, expect.stringContaining(message)])
    expect((await call("GET", tests("v1"))).code).toBe(500)
  })

  test.each<[string, (object: Loose) => Loose, string]>([
    [
      "version",
      (given) => ({ ...given, apiVersion: "x/v1" }),
      `object at index 0: invalid groupVersion (expected ${group}/v1, received x/v1)`,
    ],
    [
      "kind",
      (given) => ({ ...given, kind: "Other" }),
      "object at index 0: invalid kind (expected Test, received Other)",
    ],
    [
      "name",
      (given) => ({ ...given, metadata: { ...given["metadata"], name: "y" } }),
      "object: must have the same name: five != y",
    ],
    [
      "type of labels",
      (given) => ({ ...given, metadata: { ...given["metadata"], labels: [] } }),
      "metadata: invalid metadata.labels of type []interface {} in converted object",
    ],
    [
      "type of an annotation",
      (given) => ({ ...given, metadata: { ...given["metadata"], annotations: { a: 1.5 } } }),
      "metadata: metadata.annotations[a] must be a string, but is float64 in converted object",
    ],
    [
      "labels to invalid ones",
      (given) => ({ ...given, metadata: { ...given["metadata"], labels: { a: "-" } } }),
      `metadata: metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
  ])("is reported if the webhook changes the %s", async (_, change, message) => {
    webhook.convert = (given, version) => change(properly(given, version))
    const answered = await call("GET", `${tests("v1")}/five`)
    expect((answered.json() as Loose)["message"]).toBe(`${about} returned invalid ${message}`)
  })
})
