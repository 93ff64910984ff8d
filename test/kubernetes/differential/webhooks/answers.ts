// What becomes of a webhook's answer: denials, warnings, annotations, and answers that are none.

import type { Json } from "../../../../apimachinery/object.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookCall, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import { mergePatch, patch, post, remove, type RequestStep } from "../scenario.ts"
import { answer, deny, maps, pods, rule, type WebhookScenario } from "./scenario.ts"

const map = (name: string, more: object = {}): Json => ({ metadata: { name }, ...more }) as Json
const create = (): RequestStep[] => [post(maps, map("a"))]

const ways = [
  ["Mutating", "v1"],
  ["Validating", "v1"],
  ["Mutating", "v1beta1"],
] as const

export function answerScenarios(): WebhookScenario[] {
  return [
    ...denials.flatMap((status) =>
      (["Mutating", "Validating"] as const).map((kind) => ({
        name: `${kind} denies with ${JSON.stringify(status)}`,
        hooks: [{ kind, reply: deny(status) }],
        steps: create(),
      })),
    ),
    ...odd.flatMap(([name, reply]) =>
      ways.map(([kind, version]) => ({
        name: `${kind}, ${version}: ${name}`,
        hooks: [{ kind, reply, webhook: { admissionReviewVersions: [version] } }],
        steps: create(),
      })),
    ),
    ...Object.entries(denied).map(([name, steps]) => ({
      name: `${name} is denied`,
      hooks: [
        {
          reply: (call: WebhookCall) => deniedUnlessMade(call),
          webhook: { rules: [rule("*/*", { scope: "Namespaced" })] },
        },
      ],
      steps,
    })),
    ...warned.map((warnings) => ({
      name: `webhooks warn: ${JSON.stringify(warnings).slice(0, 60)}`,
      hooks: [
        { kind: "Mutating" as const, reply: answer({ warnings }) },
        { kind: "Mutating" as const, reply: answer({ warnings: ["other"] }) },
        { reply: answer({ warnings, allowed: warnings.length > 1 }) },
      ],
      steps: create(),
    })),
    {
      name: "webhooks annotate",
      hooks: [
        { kind: "Mutating", reply: answer({ auditAnnotations: { a: "b", "c.d/e": "f", "": "x", "Not A Key": "y" } }) },
        { kind: "Mutating", reply: answer({ auditAnnotations: { a: "", long: "x".repeat(500) } }) },
        { reply: answer({ auditAnnotations: { a: "c" }, allowed: false, status: { message: "no" } }) },
      ],
      steps: create(),
    },
    {
      name: "the same webhook annotates in both phases",
      hooks: [
        { kind: "Mutating", webhook: { name: "same.example.com" }, reply: answer({ auditAnnotations: { a: "1" } }) },
        { webhook: { name: "same.example.com" }, reply: answer({ auditAnnotations: { a: "2" } }) },
      ],
      steps: create(),
    },
  ]
}

const denials: readonly Loose[] = [
  {},
  { message: "no" },
  { reason: "Forbidden" },
  { message: "no", reason: "Conflict", code: 409 },
  { code: 200, message: "fine" },
  { code: 301, message: "moved" },
  { code: 399 },
  { code: 400, status: "Success", message: "m" },
  {
    code: 422,
    status: "Failure",
    reason: "Invalid",
    details: { name: "n", kind: "k", causes: [{ field: "f", message: "m" }] },
  },
  { code: 429, details: { retryAfterSeconds: 7 }, message: "later" },
  { code: 503, message: "m", status: "Odd" },
  { code: 599, message: "m" },
  { code: 600, message: "m" },
  { code: 999, message: "m" },
  { code: -1, message: "m" },
  { message: 'lines\nof "text"', code: 403 },
  { metadata: { resourceVersion: "5", continue: "c", remainingItemCount: 3 }, message: "m" },
  { kind: "Other", apiVersion: "v9", message: "m" },
  { details: {}, message: "" },
]

const review =
  (more: (call: WebhookCall) => Loose): WebhookHandler =>
  (call) => ({ body: more(call) })
const own = ({ body }: WebhookCall): Loose => ({ uid: body["request"].uid, allowed: true })
const whole = ({ body }: WebhookCall): Loose => ({ kind: "AdmissionReview", apiVersion: body["apiVersion"] })

const groupName = "admission.k8s.io"
const versions = ["v1", "/", groupName, `${groupName}/`, `${groupName}/v1`, `${groupName}/v1beta1`, `${groupName}/v2`]

const odd: readonly (readonly [string, WebhookHandler])[] = [
  ["another uid", review((call) => ({ ...whole(call), response: { uid: "other", allowed: true } }))],
  ["no uid", review((call) => ({ ...whole(call), response: { allowed: true } }))],
  ["no response", review((call) => whole(call))],
  ["a null response", review((call) => ({ ...whole(call), response: null }))],
  ["an empty response", review((call) => ({ ...whole(call), response: {} }))],
  ["no kind", review((call) => ({ apiVersion: call.body["apiVersion"], response: own(call) }))],
  ["no version", review((call) => ({ kind: "AdmissionReview", response: own(call) }))],
  ["neither kind nor version", review((call) => ({ response: own(call) }))],
  ["another kind", review((call) => ({ ...whole(call), kind: "Pod", response: own(call) }))],
  ["another group", review((call) => ({ ...whole(call), apiVersion: "example.com/v1", response: own(call) }))],
  ...versions.flatMap((apiVersion): [string, WebhookHandler][] => [
    [`version ${apiVersion}`, review((call) => ({ kind: "AdmissionReview", apiVersion, response: own(call) }))],
    [`version ${apiVersion}, an empty kind`, review((call) => ({ kind: "", apiVersion, response: own(call) }))],
    [`version ${apiVersion}, a number for the type`, review(() => ({ apiVersion, response: { patchType: 5 } }))],
  ]),
  ["a faulty version", review((call) => ({ ...whole(call), apiVersion: "a/b/c", response: own(call) }))],
  [
    "a Status of failure",
    () => ({ body: { kind: "Status", apiVersion: "v1", status: "Failure", message: "broken", code: 418 } }),
  ],
  ["a null kind", review((call) => ({ ...whole(call), kind: null, response: own(call) }))],
  ["a null version", review((call) => ({ ...whole(call), apiVersion: null, response: own(call) }))],
  ["nulls for both", review((call) => ({ kind: null, apiVersion: null, response: own(call) }))],
  ...["admission.k8s.io/v1", "example.com/v9", "", "a/b/c"].map((apiVersion): [string, WebhookHandler] => [
    `a Status of version ${JSON.stringify(apiVersion)}`,
    () => ({ body: { kind: "Status", apiVersion, status: "Success" } }),
  ]),
  ...[{ status: 5 }, { code: "x" }, { metadata: [] }, { details: { causes: [{ field: 5 }] } }].map(
    (more): [string, WebhookHandler] => [
      `a Status with ${JSON.stringify(more)}`,
      () => ({ body: { kind: "Status", apiVersion: "v1", ...more } }),
    ],
  ),
  ["a Status of success", () => ({ body: { kind: "Status", apiVersion: "v1", status: "Success" } })],
  ["a patch type without a patch", answer({ patchType: "JSONPatch" })],
  ["a patch without a type", answer({ patch: "W10=" })],
  ["an empty patch type", answer({ patchType: "", patch: "W10=" })],
  ["another patch type", answer({ patchType: "MergePatch", patch: "W3t9XQ==" })],
  ["an empty patch", answer({ patchType: "JSONPatch", patch: "" })],
  ["unknown fields", review((call) => ({ ...whole(call), none: 1, response: { ...own(call), none: 2 } }))],
  ["fields of another case", review((call) => ({ ...whole(call), Response: own(call) }))],
  [
    "duplicate fields",
    (call) => ({
      text: `{"kind":"AdmissionReview","apiVersion":"${call.body["apiVersion"]}","response":{"uid":"${call.body["request"].uid}","allowed":false,"allowed":true}}`,
    }),
  ],
  [
    "YAML",
    (call) => ({
      text: `kind: AdmissionReview\napiVersion: ${call.body["apiVersion"]}\nresponse: {uid: ${call.body["request"].uid}, allowed: true}\n`,
    }),
  ],
  [
    "YAML of that type",
    (call) => ({
      text: `kind: AdmissionReview\napiVersion: ${call.body["apiVersion"]}\nresponse: {uid: ${call.body["request"].uid}, allowed: true}\n`,
      headers: { "content-type": "application/yaml" },
    }),
  ],
  [
    "another content type",
    (call) => ({ ...reviewed(call, {}), headers: { "content-type": "text/plain; charset=utf-8" } }),
  ],
  [
    "protobuf's content type",
    (call) => ({ ...reviewed(call, {}), headers: { "content-type": "application/vnd.kubernetes.protobuf" } }),
  ],
  ["code 201", (call) => ({ ...reviewed(call, {}), code: 201 })],
  ["code 206", (call) => ({ ...reviewed(call, {}), code: 206 })],
  ["code 204", () => ({ code: 204, text: "" })],
  ["space before and after", (call) => ({ text: `  \n${JSON.stringify(reviewed(call, {}).body)}\n ` })],
  ["text after it", (call) => ({ text: `${JSON.stringify(reviewed(call, {}).body)}x` })],
  ["two documents", (call) => ({ text: `${JSON.stringify(reviewed(call, {}).body)}{}` })],
  ["nothing", () => ({ text: "" })],
  ["null", () => ({ text: "null" })],
  ["a number", () => ({ text: "5" })],
  ["a list", () => ({ text: "[]" })],
  ["an empty object", () => ({ text: "{}" })],
  ["half a text", () => ({ text: '{"kind":"Adm' })],
  ["words", () => ({ text: "allowed" })],
  ["a byte order mark", (call) => ({ text: `\ufeff${JSON.stringify(reviewed(call, {}).body)}` })],
]

/** Denies what is not a create of an object that later steps need. */
const deniedUnlessMade: WebhookHandler = (call) =>
  call.body["request"].operation === "CREATE" && call.body["request"].subResource === undefined
    ? reviewed(call, {})
    : reviewed(call, { allowed: false, status: { message: "no", code: 403 } })

const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } }
const denied: Record<string, RequestStep[]> = {
  "an update": [post(maps, map("a")), patch(`${maps}/a`, mergePatch, { data: { a: "b" } })],
  "a delete": [post(maps, map("a")), remove(`${maps}/a`), remove(`${maps}/a?dryRun=All`)],
  "a delete of a collection": [post(maps, map("a")), post(maps, map("b")), remove(maps)],
  "an eviction": [post(pods, pod), post(`${pods}/p/eviction`, { metadata: { name: "p" } })],
  "a binding": [post(pods, pod), post(`${pods}/p/binding`, { target: { kind: "Node", name: "n" } })],
  "a connection": [post(pods, pod), { method: "GET", path: `${pods}/p/exec?command=a` }],
  "a token": [post("/api/v1/namespaces/@{ns}/serviceaccounts/default/token", {})],
}

const warned: readonly string[][] = [
  ["one"],
  ["one", "one", "two"],
  ["a\nb", 'quotes "', "back \\ slash", "ünïcode"],
  ["", " "],
  ["\u0007bell", "tab\t"],
  ["x".repeat(5000), "y"],
  Array.from({ length: 30 }, (_, index) => `${index} ${"z".repeat(200)}`),
]
