// The conversion webhook of these scenarios, called by both servers. Objects say what it does with them, so that it needs no state:
// `spec.mode` has an entry for each version into which a conversion is not the usual one.

import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { type WebhookCall, type WebhookReply, WebhookServer } from "../../../../gateway/testing/webhook-server.ts"

/** v1 has spec.hostPort, later versions spec.host and spec.port; what v1 lacks, spec.extra, is lost on the way. */
function converted({ spec, ...rest }: Loose, apiVersion: string): Loose {
  if (typeof spec !== "object" || spec === null) return { ...rest, apiVersion, ...(spec === undefined ? {} : { spec }) }
  const { hostPort, host, port, extra, ...others } = spec
  const [givenHost = host, givenPort = port] = typeof hostPort === "string" ? hostPort.split(":") : []
  const fields = apiVersion.endsWith("/v1")
    ? host === undefined
      ? {}
      : { hostPort: port === undefined ? host : `${host}:${port}` }
    : { host: givenHost, port: givenPort }
  const isNear = hostPort === undefined && !apiVersion.endsWith("/v1")
  return { ...rest, apiVersion, spec: { ...others, ...fields, ...(isNear ? { extra } : {}) } }
}

/** What is done with one object, by mode. */
const changes: Readonly<Record<string, (object: Loose, call: WebhookCall) => unknown>> = {
  /** Without the number of objects: upstream converts the items of a list one by one. */
  asked: (object, { path, headers, body }) => {
    const {
      uid: _,
      objects: [{ metadata }],
      ...request
    } = body["request"]
    const { accept, "user-agent": agent, "content-type": type } = headers
    const keys = [body["request"], metadata].map((given) => Object.keys(given).toSorted())
    const asked = { path, accept, agent, type, ...body, request, keys }
    return { ...object, spec: { ...object["spec"], asked: JSON.stringify(asked) } }
  },
  stamp: (object) => ({ ...object, spec: { ...object["spec"], stamp: "converted" } }),
  "another version": (object) => ({ ...object, apiVersion: "x/v1" }),
  "no version": ({ apiVersion: _version, ...object }) => object,
  "another kind": (object) => ({ ...object, kind: "Other" }),
  "no kind": () => ({ apiVersion: "x/v1" }),
  "no object": () => null,
  text: () => "text",
  list: () => [],
  "kind list": (object) => ({ ...object, kind: "ThingList", items: [] }),
  "another name": meta({ name: "other" }),
  "another namespace": meta({ namespace: "other" }),
  "another uid": meta({ uid: "other" }),
  "no name": meta({ name: undefined }),
  "no metadata": ({ metadata: _metadata, ...object }) => object,
  "metadata null": (object) => ({ ...object, metadata: null }),
  "metadata text": (object) => ({ ...object, metadata: "text" }),
  labels: meta({ labels: { by: "webhook" }, annotations: { by: "webhook" } }),
  "labels null": meta({ labels: null, annotations: null }),
  "labels empty": meta({ labels: {}, annotations: {} }),
  "labels text": meta({ labels: "text" }),
  "labels list": meta({ labels: [] }),
  "labels invalid": meta({ labels: { "a b": "c d", ok: "-" } }),
  "label number": meta({ labels: { a: 1 } }),
  "label null": meta({ labels: { a: null } }),
  "annotation fraction": meta({ annotations: { a: 1.5 } }),
  "annotation object": meta({ annotations: { a: {} } }),
  "annotation boolean": meta({ annotations: { a: true } }),
  "annotations invalid": meta({ annotations: { "a b": "c", "x/": "" } }),
  "annotations number": meta({ annotations: 7 }),
  "system fields": meta({
    resourceVersion: "1",
    generation: 99,
    finalizers: ["example.com/webhook"],
    ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "b" }],
    creationTimestamp: "2020-01-01T00:00:00Z",
    deletionTimestamp: "2020-01-01T00:00:00Z",
    managedFields: [],
    generateName: "x",
    bogus: 1,
  }),
  "unknown fields": (object) => ({ ...object, bogus: 1, spec: { ...object["spec"], bogus: 1 } }),
  "wrong types": (object) => ({ ...object, spec: { ...object["spec"], host: 7, hostPort: 7, port: {} } }),
  invalid: (object) => ({ ...object, spec: { ...object["spec"], host: "INVALID", hostPort: "INVALID" } }),
  "spec null": (object) => ({ ...object, spec: null }),
  "spec text": (object) => ({ ...object, spec: "text" }),
  nulls: (object) => ({ ...object, spec: { ...object["spec"], port: null, extra: null } }),
}

function meta(given: Loose): (object: Loose) => Loose {
  return (object) => ({ ...object, metadata: { ...object["metadata"], ...given } })
}

/** What the whole response is, by mode. */
const responses: Readonly<Record<string, (review: Loose) => WebhookReply>> = {
  "another review uid": (review) => response(review, { uid: "other" }),
  "no review uid": (review) => response(review, { uid: undefined }),
  "too few": (review) => response(review, { convertedObjects: [] }),
  "too many": (review) => response(review, { convertedObjects: [{}, ...review["response"].convertedObjects] }),
  "no objects": (review) => response(review, { convertedObjects: undefined }),
  "objects null": (review) => response(review, { convertedObjects: null }),
  "objects text": (review) => response(review, { convertedObjects: "text" }),
  failed: (review) => response(review, { result: { status: "Failed", message: "it is too odd" } }),
  "failed in silence": (review) => response(review, { result: { status: "Failure" } }),
  "no result": (review) => response(review, { result: undefined }),
  "result text": (review) => response(review, { result: "text" }),
  "no response": (review) => ({ body: { ...review, response: undefined } }),
  "response null": (review) => ({ body: { ...review, response: null } }),
  "response text": (review) => ({ body: { ...review, response: "text" } }),
  "another review": (review) => ({ body: { ...review, kind: "Other" } }),
  "another review version": (review) => ({ body: { ...review, apiVersion: "apiextensions.k8s.io/v1beta1" } }),
  "unknown review version": (review) => ({ body: { ...review, apiVersion: "apiextensions.k8s.io/v9" } }),
  "foreign review": (review) => ({ body: { ...review, apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } }),
  "no review kind": (review) => ({ body: { ...review, kind: undefined } }),
  "no review version": (review) => ({ body: { ...review, apiVersion: undefined } }),
  "review null": () => ({ text: "null" }),
  "review list": () => ({ text: "[]" }),
  "review empty": () => ({ text: "{}" }),
  half: (review) => ({ text: JSON.stringify(review).slice(0, 40) }),
  nothing: () => ({ text: "" }),
  "as text": (review) => ({ headers: { "content-type": "text/plain" }, body: review }),
  "a Status": () => ({ body: { kind: "Status", apiVersion: "v1", status: "Failure", message: "no", code: 418 } }),
  "201": (review) => ({ code: 201, body: review }),
  "204": () => ({ code: 204, text: "" }),
  "226": (review) => ({ code: 226, body: review }),
  "no type": (review) => ({ headers: { "content-type": "x; y" }, body: review }),
  "301": () => ({ code: 301, headers: { location: "/elsewhere" }, text: "" }),
  "304": () => ({ code: 304, text: "" }),
  ...Object.fromEntries(
    [400, 401, 403, 404, 405, 409, 410, 413, 415, 418, 422, 429, 500, 502, 503, 504].flatMap((code) => [
      [`${code}`, () => ({ code, headers: { "content-type": "text/plain" }, text: `what ${code} means` })],
      [`${code} empty`, () => ({ code, text: "" })],
      [
        `${code} Status`,
        () => ({
          code,
          body: { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Odd", message: "so it is", code },
        }),
      ],
    ]),
  ),
}

function response(review: Loose, changed: Loose): WebhookReply {
  return { body: { ...review, response: { ...review["response"], ...changed } } }
}

/** What objects can ask for. */
export const objectModes: readonly string[] = Object.keys(changes)
export const responseModes: readonly string[] = Object.keys(responses)

function reply(call: WebhookCall): WebhookReply {
  const { apiVersion, kind, request } = call.body
  if (request === undefined) return { code: 404, text: "" } // after a redirect
  const { uid, desiredAPIVersion, objects } = request
  const version = desiredAPIVersion.split("/")[1]
  const modeOf = ({ spec }: Loose): string => spec?.mode?.[version] ?? ""
  const convertedObjects = objects.map((object: Loose) => {
    const usual = converted(object, desiredAPIVersion)
    return changes[modeOf(object)]?.(usual, call) ?? (modeOf(object) === "no object" ? null : usual)
  })
  const review = { kind, apiVersion, response: { uid, result: { status: "Success" }, convertedObjects } }
  const mode = objects.map(modeOf).find((name: string) => Object.hasOwn(responses, name))
  return responses[mode]?.(review) ?? { body: review }
}

export function startConversionWebhook(): Promise<WebhookServer> {
  return WebhookServer.start(reply)
}
