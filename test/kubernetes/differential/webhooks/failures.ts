// Webhooks that cannot be called, with both failure policies, and in dry runs.

import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookCall, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import { post, remove, type RequestStep } from "../scenario.ts"
import { allow, maps, type WebhookScenario } from "./scenario.ts"

const create = (): RequestStep[] => [post(maps, { metadata: { name: "a" } })]

const both = [
  ["Mutating", "Fail"],
  ["Validating", "Ignore"],
] as const

export function failureScenarios(): WebhookScenario[] {
  return [
    ...failures.flatMap(([name, { webhook = {}, reply = allow }]) =>
      both.map(([kind, failurePolicy]) => ({
        name: `${kind}, ${failurePolicy}: ${name}`,
        hooks: [
          { kind, webhook: { failurePolicy, ...webhook }, reply },
          { kind, webhook: { failurePolicy } },
        ],
        steps: create(),
      })),
    ),
    {
      name: "a request has less time than its webhooks",
      hooks: [{ kind: "Mutating" }, { webhook: { timeoutSeconds: 2 } }],
      steps: [post(`${maps}?timeout=3s`, { metadata: { name: "a" } }), remove(`${maps}/a?timeout=3500ms`)],
    },
    ...["None", "NoneOnDryRun"].map((sideEffects) => ({
      name: `side effects in a dry run: ${sideEffects}`,
      hooks: [{ kind: "Mutating" as const, webhook: { sideEffects } }, { webhook: { sideEffects } }],
      steps: [
        post(`${maps}?dryRun=All`, { metadata: { name: "a" } }),
        post(maps, { metadata: { name: "a" } }),
        remove(`${maps}/a?dryRun=All`),
      ],
    })),
  ]
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const code = (status: number, more: Loose = {}): { reply: WebhookHandler } => ({
  reply: () => ({ code: status, text: "", ...more }),
})
const typed = (type: string): Loose => ({ headers: { "content-type": type } })
const plain = typed("text/plain")

/** As long as it must be for Base64 of something else to follow it. */
const padded = (text: string): string => text.padEnd(Math.ceil(text.length / 3) * 3, "\n")
const base64 = (text: string): string => Buffer.from(padded(text)).toString("base64")
const block = (type: string, content = "AAAA", header = ""): string =>
  `-----BEGIN ${type}-----\n${header}${content}\n-----END ${type}-----\n`

const bundles: Readonly<Record<string, string>> = {
  "white space": base64(" \n"),
  "a key": base64(block("PRIVATE KEY")),
  malformed: base64(block("CERTIFICATE")),
  "malformed, and text": base64(`${block("CERTIFICATE")}words`),
  "no Base64": base64(block("CERTIFICATE", "AA*")),
  "a key and text": base64(`${block("PRIVATE KEY")}words`),
  "without an end": base64("-----BEGIN CERTIFICATE-----\nAAAA\n"),
  "after text": `${base64("words\n")}@{ca}`,
  "after a key": `${base64(block("PRIVATE KEY"))}@{ca}`,
  "after a malformed one": `${base64(block("CERTIFICATE"))}@{ca}`,
  "after one with a header": `${base64(block("CERTIFICATE", "AAAA", "a: b\n\n"))}@{ca}`,
  "after words in its line": `${base64("words ")}@{ca}`,
}

const failures: readonly (readonly [string, { webhook?: Loose; reply?: WebhookHandler }])[] = [
  ["no server", { webhook: { clientConfig: { url: "https://127.0.0.1:1/x", caBundle: "@{ca}" } } }],
  ["no authority", { webhook: { clientConfig: { url: "@{url}" } } }],
  ["an authority that is none", { webhook: { clientConfig: { url: "@{url}", caBundle: "eA==" } } }],
  ...Object.entries(bundles).map(
    ([what, caBundle]) =>
      [`an authority that is ${what}`, { webhook: { clientConfig: { url: "@{url}", caBundle } } }] as const,
  ),
  ["another name", { webhook: { clientConfig: { url: "@{localhost}", caBundle: "@{ca}" } } }],
  ["a missing service", { webhook: { clientConfig: { service: { name: "s", namespace: "@{ns}", path: "/x" } } } }],
  ["a timeout", { webhook: { timeoutSeconds: 1 }, reply: () => ({ body: {}, wait: later(1500) }) }],
  ["only unknown versions of reviews", { webhook: { admissionReviewVersions: ["v1", "v7"] } }],
  ["a path with segments", { webhook: { clientConfig: { url: "@{url}/a//b/../c/", caBundle: "@{ca}" } } }],
  ...[400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 418, 422, 429, 500, 502, 503, 504, 505, 599].flatMap(
    (status) =>
      [
        [`code ${status}`, code(status)],
        [`code ${status} with text`, code(status, { text: "some words\n", ...plain })],
      ] as const,
  ),
  ["code 500 with JSON", code(500, { text: '{"a":1}' })],
  ["code 500 with long text", code(500, { text: "long ".repeat(1000), ...plain })],
  ["code 503 that may be repeated", code(503, { headers: { "retry-after": "1" } })],
  ["code 429 that may be repeated", code(429, { headers: { "retry-after": "1" } })],
  [
    "code 400 with a Status",
    code(400, {
      text: JSON.stringify({
        kind: "Status",
        apiVersion: "v1",
        status: "Failure",
        message: "so not",
        reason: "BadRequest",
        code: 400,
      }),
    }),
  ],
  [
    "code 403 with a Status of success",
    code(403, { text: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Success", message: "fine" }) }),
  ],
  [
    "code 500 with a Status without a message",
    code(500, {
      text: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "InternalError" }),
    }),
  ],
  [
    "code 500 with a review",
    {
      reply: (call) => ({
        code: 500,
        body: { ...call.body, response: { uid: call.body["request"].uid, allowed: true } },
      }),
    },
  ],
  ...[
    "x",
    "",
    "/json",
    "a/b/c",
    "a/b; c",
    'a/b; c="',
    "a/b; c=d; c=e",
    "Application/XML; c=d;",
    "application/json;",
  ].flatMap(
    (type) =>
      [
        [
          `content type ${JSON.stringify(type)}`,
          { reply: (call: WebhookCall) => ({ ...reviewed(call, {}), ...typed(type) }) },
        ],
        [`content type ${JSON.stringify(type)} of nothing`, code(200, typed(type))],
        [`content type ${JSON.stringify(type)} of an error`, code(500, { text: "some words", ...typed(type) })],
      ] as const,
  ),
  ...["TEXT/plain", "text"].map((type) => [`code 403, ${type}`, code(403, { text: "words", ...typed(type) })] as const),
  ...[403, 406, 500].map((status) => [`code ${status} with empty text`, code(status, plain)] as const),
  ["code 500 with odd text", code(500, { text: '\u0007 \u00e9 "x" \u2028', ...plain })],
  ...[201, 206, 207, 226, 299].map(
    (status) =>
      [`code ${status}`, { reply: (call: WebhookCall) => ({ ...reviewed(call, {}), code: status }) }] as const,
  ),
  ["a redirect", code(302, { headers: { location: "https://127.0.0.1:1/there" } })],
  ["a redirect to nowhere", code(302)],
  ["code 304", code(304)],
]
