// Random webhooks between the built-in plugins: what both make of pods, claims, ingresses and others, in the order in which they run, and
// again after a webhook has changed something that plugins look at.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Loose } from "../../../../gateway/testing/kinds.ts"
import { reviewed, type WebhookHandler } from "../../../../gateway/testing/webhook-server.ts"
import {
  applyPatch,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  remove,
  type RequestStep,
  strategicPatch,
} from "../scenario.ts"
import { titled } from "../random/titled.ts"
import { fixtures, removed } from "./plugin-fixtures.ts"
import { otherPatches, podPatches } from "./plugin-patches.ts"
import { patchText, pods, type RegisteredHook, rule, space, type WebhookScenario } from "./scenario.ts"

const length = 30
const container = { name: "c", image: "i" }

export function randomPluginScenario(seed: number): WebhookScenario {
  const random = createRandom(seed)
  const count = 1 + random(5)
  const hooks = Array.from({ length: count }, () => randomHook(random))
  const writes = Array.from({ length }, () => write(random))
  const steps = [...fixtures(random), ...titled(writes), ...removed]
  return {
    name: `plugins and webhooks at random, seed ${seed}`,
    hooks: [...hooks, last],
    steps,
    anyOrder: true,
    byChance: true,
  }
}

/** Shows what all have made of an object. */
const last: RegisteredHook = { webhook: { rules: [rule(["pods", "pods/*", "persistentvolumeclaims", "deployments"])] } }

/** By how often they are chosen: a resource and its group. */
const resources: readonly (readonly [string, string])[] = [
  ["pods", ""],
  ["pods", ""],
  ["pods", ""],
  ["pods", ""],
  ["pods/binding", ""],
  ["pods/eviction", ""],
  ["pods/status", ""],
  ["pods/resize", ""],
  ["pods/ephemeralcontainers", ""],
  ["persistentvolumeclaims", ""],
  ["ingresses", "networking.k8s.io"],
  ["deployments", "apps"],
  ["deployments/scale", "apps"],
  ["serviceaccounts/token", ""],
]

function randomHook(random: Random): RegisteredHook {
  const [resource, group] = pick(random, resources)
  const candidates = otherPatches[resource] ?? podPatches
  const operations = Array.from({ length: pick(random, [1, 1, 1, 2]) }, () => pick(random, candidates)).flat()
  const webhook = {
    rules: [rule(resource, { apiGroups: [group], operations: pick(random, [["*"], ["*"], ["CREATE"], ["UPDATE"]]) })],
    ...(chance(random, 0.5) ? { reinvocationPolicy: "IfNeeded" } : {}),
    ...(chance(random, 0.2) ? { admissionReviewVersions: ["v1beta1"] } : {}),
  }
  return { kind: "Mutating", webhook, reply: patching(operations) }
}

function patching(operations: readonly Loose[]): WebhookHandler {
  const text = JSON.stringify(operations)
  return (call) => {
    const { operation, namespace } = call.body["request"] as Loose
    if (operation === "DELETE") return reviewed(call, {})
    return patchText(text.replaceAll("@{id}", String(namespace).slice(2)))(call)
  }
}

function write(random: Random): RequestStep {
  return pick(random, [writePod, writePod, writePod, writeOther])(random)
}

function podSpec(random: Random): Loose {
  const some = (probability: number, fields: Loose): Loose => (chance(random, probability) ? fields : {})
  return {
    containers: [
      {
        ...container,
        ...some(0.3, { resources: pick(random, [{ limits: { cpu: "1" } }, { requests: { cpu: "1" } }]) }),
      },
      ...(chance(random, 0.2) ? [{ name: "d", image: "i" }] : []),
    ],
    ...some(0.15, { initContainers: [{ name: "i", image: "i" }] }),
    ...some(0.2, { priorityClassName: pick(random, ["high-@{id}", "low-@{id}", "system-node-critical"]) }),
    ...some(0.15, { runtimeClassName: "rc-@{id}" }),
    ...some(0.2, { serviceAccountName: pick(random, ["quiet", "strict"]) }),
    ...some(0.1, { nodeName: "n-@{id}" }),
    ...some(0.1, { automountServiceAccountToken: false }),
    ...some(0.1, { tolerations: [{ key: "a", operator: "Exists" }] }),
    ...some(0.3, { terminationGracePeriodSeconds: 0 }),
    ...some(0.2, {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    }),
  }
}

function writePod(random: Random): RequestStep {
  const name = pick(random, ["a", "b", "c"])
  const one = `${pods}/${name}`
  const query = pick(random, ["", "", "?dryRun=All", "?fieldManager=m", "?fieldManager=n&force=true"])
  const labels = { x: pick(random, ["y", "z"]) }
  const object = { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec: podSpec(random) } as unknown as Json
  return pick(random, [
    () => post(`${pods}${query}`, object),
    () => post(`${pods}${query}`, object),
    () =>
      post(`${pods}${query}`, { metadata: { generateName: "gen-", labels }, spec: podSpec(random) } as unknown as Json),
    () => patch(`${one}${query}`, applyPatch, object),
    () => patch(`${one}${query}`, mergePatch, { metadata: { labels } }),
    () => patch(`${one}${query}`, strategicPatch, { spec: { containers: [{ name: "c", image: "j" }] } }),
    () =>
      patch(`${one}${query}`, jsonPatch, [
        { op: "add", path: "/spec/tolerations/-", value: { key: "n", operator: "Exists" } },
      ]),
    () => put(`${one}${query}`, object),
    () => patch(`${one}/status${query}`, mergePatch, { status: { message: pick(random, ["m", "n"]) } }),
    () =>
      patch(`${one}/ephemeralcontainers${query}`, strategicPatch, {
        spec: { ephemeralContainers: [{ name: pick(random, ["e", "f"]), image: "i" }] },
      }),
    () =>
      patch(`${one}/resize${query}`, strategicPatch, {
        spec: { containers: [{ name: "c", resources: { limits: { cpu: pick(random, ["1", "2", "3"]) } } }] },
      }),
    () => post(`${one}/binding${query}`, { target: { kind: "Node", name: "n-@{id}" } }),
    () => post(`${one}/eviction${query}`, { metadata: { name } }),
    () => remove(`${one}${query.startsWith("?dryRun") ? query : ""}`),
    () => remove(`${one}?gracePeriodSeconds=0`),
  ])()
}

function writeOther(random: Random): RequestStep {
  const query = pick(random, ["", "", "?dryRun=All", "?fieldManager=m"])
  const name = pick(random, ["a", "b"])
  const claims = `${space}/persistentvolumeclaims`
  const ingresses = "/apis/networking.k8s.io/v1/namespaces/@{ns}/ingresses"
  const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
  const size = pick(random, ["1Gi", "500Mi", "4Gi"])
  return pick(random, [
    () =>
      post(`${claims}${query}`, {
        metadata: { name },
        spec: {
          accessModes: ["ReadWriteOnce"],
          resources: { requests: { storage: size } },
          ...(chance(random, 0.2) ? { storageClassName: "sc-@{id}" } : {}),
        },
      }),
    () =>
      patch(`${claims}/${name}${query}`, mergePatch, {
        metadata: { annotations: { n: String(random(1_000_000)) } },
        spec: { resources: { requests: { storage: size } } },
      }),
    () => patch(`${claims}/${name}/status`, mergePatch, { status: { phase: "Bound" } }),
    () => remove(`${claims}/${name}`),
    () =>
      post(`${ingresses}${query}`, {
        metadata: { name },
        spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
      }),
    () =>
      post(`${deployments}${query}`, {
        metadata: { name },
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [container] } },
        },
      }),
    () => patch(`${deployments}/${name}${query}`, mergePatch, { spec: { replicas: random(4) } }),
    () => patch(`${deployments}/${name}/scale${query}`, mergePatch, { spec: { replicas: random(4) } }),
    () =>
      post(`${space}/serviceaccounts/default/token${query.startsWith("?dryRun") ? query : ""}`, {
        spec: { audiences: ["a"] },
      }),
  ])()
}
