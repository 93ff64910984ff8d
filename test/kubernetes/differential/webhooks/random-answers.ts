// Random answers of webhooks, most of which have a fault: in their fields, their text, their patch, or what the patch makes of the object.
// Each is the answer to the request about an object of its own.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import type { WebhookCall, WebhookReply } from "../../../../gateway/testing/webhook-server.ts"
import { titled } from "../random/titled.ts"
import { patch, post, put, mergePatch, type RequestStep } from "../scenario.ts"
import { maybe, responseOf } from "./random-responses.ts"
import { maps, pods, type WebhookScenario } from "./scenario.ts"

const length = 30

export function randomAnswerScenario(seed: number): WebhookScenario {
  const random = createRandom(seed)
  const version = pick(random, ["v1", "v1", "v1", "v1beta1"])
  const kind = pick(random, ["Mutating", "Mutating", "Mutating", "Validating"] as const)
  const about = pick(random, [map, map, pod])
  const answers = Array.from({ length }, () => answerOf(random, version, kind === "Mutating", about.paths))
  const reply = (call: WebhookCall): WebhookReply => {
    const index = /^o(\d+)$/.exec(String(call.body["request"].name))?.[1]
    return answers[Number(index)]?.(call) ?? { body: {} }
  }
  const webhook = {
    admissionReviewVersions: [version],
    ...(chance(random, 0.3) ? { failurePolicy: "Ignore" } : {}),
    rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: [about.resource] }],
  }
  const names = Array.from({ length }, (_, index) => `o${index}`)
  const steps = names.flatMap((name) => about.steps(random, name))
  return {
    name: `answers of webhooks at random, seed ${seed}`,
    hooks: [{ kind, webhook, reply }, { kind: "Validating" }],
    steps: titled(steps),
    anyOrder: true,
    byChance: true,
  }
}

interface About {
  resource: string
  paths: readonly string[]
  steps: (random: Random, name: string) => RequestStep[]
}

const map: About = {
  resource: "configmaps",
  paths: [
    "/data",
    "/data/a",
    "/data/b",
    "/data/a~1b",
    "/data/a~0b",
    "/data/",
    "/data/-",
    "/binaryData",
    "/immutable",
    "/Data",
    "/none",
  ],
  steps: (random, name) => {
    const object = { metadata: { name, labels: { x: "y" } }, data: { a: "b", "a/b": "c", "": "d" } }
    return [
      post(maps, object),
      ...(chance(random, 0.3)
        ? [pick(random, [put(`${maps}/${name}`, object), patch(`${maps}/${name}`, mergePatch, { data: { b: "c" } })])]
        : []),
    ]
  },
}

const pod: About = {
  resource: "pods",
  paths: [
    "/spec",
    "/spec/containers",
    "/spec/containers/0",
    "/spec/containers/-",
    "/spec/containers/1",
    "/spec/containers/0/env",
    "/spec/containers/0/env/0",
    "/spec/containers/0/env/0/value",
    "/spec/containers/0/image",
    "/spec/containers/0/resources",
    "/spec/containers/0/ports/0/containerPort",
    "/spec/containers/0/readinessProbe",
    "/spec/volumes",
    "/spec/initContainers",
    "/spec/tolerations",
    "/spec/securityContext",
    "/spec/securityContext/runAsUser",
    "/spec/terminationGracePeriodSeconds",
    "/spec/nodeSelector",
    "/spec/nodeSelector/a",
    "/spec/restartPolicy",
    "/spec/affinity",
    "/status",
    "/status/phase",
    "/none",
  ],
  steps: (_random, name) => [
    post(pods, {
      metadata: { name, labels: { x: "y" } },
      spec: {
        containers: [{ name: "c", image: "i", env: [{ name: "A", value: "b" }], ports: [{ containerPort: 1 }] }],
      },
    } as Json),
  ],
}

type Answer = (call: WebhookCall) => WebhookReply

/** The uid of the request is put in later. */
const uidPlace = "00000000-1111-aaaa-bbbb-222222222222"

function answerOf(random: Random, version: string, isMutating: boolean, paths: readonly string[]): Answer {
  const review: Loose = {
    kind: chance(random, 0.98)
      ? "AdmissionReview"
      : pick<unknown>(random, ["", "admissionreview", null, 5, "Pod", "Status"]),
    apiVersion: chance(random, 0.98)
      ? `admission.k8s.io/${version}`
      : pick<unknown>(random, [
          "admission.k8s.io/v1",
          "admission.k8s.io/v1beta1",
          "v1",
          "",
          null,
          5,
          "admission.k8s.io",
          "a/b/c",
        ]),
    response: responseOf(random, uidPlace, isMutating, paths),
    ...maybe(random, 0.05, "request", null, {}),
    ...maybe(random, 0.03, "more", 1),
  }
  const text = written(random, JSON.stringify(review))
  const code = chance(random, 0.97) ? 200 : pick(random, [201, 202, 206, 207, 400, 403, 404, 409, 418, 422, 500])
  const headers: Record<string, string> = chance(random, 0.97)
    ? {}
    : {
        "content-type": pick(random, [
          "text/plain",
          "application/yaml",
          "application/json;charset=utf-8",
          "x",
          "",
          "application/json; x",
        ]),
      }
  return ({ body }) => ({ text: text.replaceAll(uidPlace, String(body["request"].uid)), code, headers })
}

/** Mostly as it is; otherwise with other names of fields, repeated fields, or more around it. */
function written(random: Random, text: string): string {
  if (chance(random, 0.88)) return text
  return pick<() => string>(random, [
    () => text.replace('"allowed"', '"Allowed"'),
    () => text.replace('"uid"', '"UID"'),
    () => text.replace('"response"', '"Response"'),
    () => text.replace('"patch"', '"PATCH"'),
    () => text.replace('"response":{', '"response":{"allowed":false,'),
    () => text.replace(/}}?$/, (end) => `,"kind":"AdmissionReview"${end.slice(1)}}`),
    () => `${text} `,
    () => `${text}{}`,
    () => `\n${text}`,
    () => `[${text}]`,
    () => text.slice(0, -1),
    () => text.replaceAll('"', "'"),
    () => text.replaceAll(/"(\w+)":/g, "$1: "),
  ])()
}
