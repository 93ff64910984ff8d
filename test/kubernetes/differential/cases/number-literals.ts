// Numbers that are written in other ways than they print, or that do not fit, in every place and every kind of body; and lists
// where something else should be.

import type { Json } from "../../../../apimachinery/object.ts"
import {
  applyPatch,
  jsonPatch,
  mergePatch,
  patch,
  post,
  put,
  type RequestStep,
  type Scenario,
  strategicPatch,
} from "../scenario.ts"

const deployments = "/apis/apps/v1/namespaces/@{ns}/deployments"
const dry = `${deployments}/d?dryRun=All`
const maps = "/api/v1/namespaces/@{ns}/configmaps"
const applied = "dryRun=All&fieldManager=x&force=true"
const yaml = "application/yaml"

const forms = ["1.0", "1e3", "1.5", "-0", "0.0", "1E5", "1.25e-7", "1e-400", "1e18", "1e19", "1e21", "1e400", "-1e400"]
const large = ["2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775809"]
const more = ["123456789012345678901234567890", "01", "+1", "1.", ".5", "0x10", "1_000", "NaN", "1e"]
const literals = [forms, large, more].flat()

export function numberLiteralCases(): Scenario[] {
  return [
    { name: "a patch has numbers written in other ways", steps: [made(), ...literals.flatMap(patches)] },
    { name: "a body has numbers written in other ways", steps: literals.flatMap(bodies) },
    { name: "a patch has lists where something else should be", steps: [made(), ...lists()] },
  ]
}

const container = { name: "a", image: "x", ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] }

function deployment(spec: object = { containers: [container] }): Json {
  const labels = { app: "d" }
  const template = { metadata: { labels }, spec }
  return { metadata: { name: "d" }, spec: { replicas: 1, selector: { matchLabels: labels }, template } } as Json
}

const made = (): RequestStep => post(deployments, deployment())

function patches(literal: string): RequestStep[] {
  const ofPod = (spec: string): string => `{"spec":{"template":{"spec":${spec}}}}`
  const documents: readonly (readonly [string, string])[] = [
    ["32 bits", `{"spec":{"replicas":${literal}}}`],
    ["64 bits", ofPod(`{"terminationGracePeriodSeconds":${literal}}`)],
    ["a key", ofPod(`{"containers":[{"name":"a","ports":[{"containerPort":${literal}}]}]}`)],
    ["a number or text", `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":${literal}}}}}`],
    ["a quantity", ofPod(`{"containers":[{"name":"a","image":"x","resources":{"limits":{"cpu":${literal}}}}]}`)],
    ["a text", `{"metadata":{"labels":{"x":${literal}}}}`],
    ["an unknown field", `{"bogus":${literal}}`],
  ]
  const operations: readonly (readonly [string, string])[] = [
    ["32 bits", `[{"op":"replace","path":"/spec/replicas","value":${literal}}]`],
    ["a text", `[{"op":"add","path":"/metadata/labels","value":{"x":${literal}}}]`],
    ["a test", `[{"op":"test","path":"/spec/replicas","value":${literal}}]`],
  ]
  return [
    ...documents.flatMap(([what, text]) => [
      patch(dry, strategicPatch, text, { label: `STRATEGIC ${what} ${literal}` }),
      patch(dry, mergePatch, text, { label: `MERGE ${what} ${literal}` }),
    ]),
    ...operations.map(([what, text]) => patch(dry, jsonPatch, text, { label: `JSON ${what} ${literal}` })),
  ]
}

function bodies(literal: string): RequestStep[] {
  const text = JSON.stringify(deployment()).replace('"replicas":1', `"replicas":${literal}`)
  const typed = `{"apiVersion":"apps/v1","kind":"Deployment",${text.slice(1)}`
  const map = (more: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n${more}`
  return [
    post(`${deployments}?dryRun=All`, text, { label: `POST ${literal}` }),
    post(`${deployments}?dryRun=All`, text, { contentType: yaml, label: `POST as YAML ${literal}` }),
    post(`${maps}?dryRun=All`, map(`  generation: ${literal}\n`), { contentType: yaml, label: `POST YAML ${literal}` }),
    post(`${maps}?dryRun=All`, map(`data:\n  x: ${literal}\n`), {
      contentType: yaml,
      label: `POST YAML text ${literal}`,
    }),
    patch(`${maps}/a?${applied}`, applyPatch, map(`data:\n  x: ${literal}\n`), { label: `APPLY YAML ${literal}` }),
    patch(`${deployments}/d?${applied}`, applyPatch, typed, { label: `APPLY ${literal}` }),
  ]
}

function lists(): RequestStep[] {
  const of = (more: object): object => ({ containers: [{ ...container, ...more }] })
  const specs: readonly object[] = [
    ...[[[]], [[container]], [container, [container]], [[container], container], [1], [container, 1]].map(
      (containers) => ({ containers }),
    ),
    { initContainers: [[container]] },
    { containers: {} },
    ...[[[]], [[{ name: "A" }]], [{ name: "A" }, []]].map((env) => of({ env })),
    of({ command: [["x"]] }),
    of({ ports: [[{ containerPort: 1 }]] }),
    { tolerations: [[]] },
    { volumes: [{ name: "v", emptyDir: {} }, [{ name: "w" }]] },
    { nodeSelector: [["a"]] },
    { nodeSelector: { a: ["b"] } },
    { securityContext: { supplementalGroups: [[1]] } },
    { affinity: [[]] },
    { containers: [container], "$setElementOrder/containers": [[{ name: "a" }]] },
    of({ "$deleteFromPrimitiveList/command": [["x"]] }),
  ]
  return specs.flatMap((spec) => {
    const label = JSON.stringify(spec)
    const [[name, value] = ["", null]] = Object.entries(spec)
    const whole = { apiVersion: "apps/v1", kind: "Deployment", ...(deployment(spec) as object) }
    const change = { spec: { template: { spec } } } as Json
    return [
      patch(dry, strategicPatch, change, { label: `STRATEGIC ${label}` }),
      patch(dry, mergePatch, change, { label: `MERGE ${label}` }),
      patch(dry, jsonPatch, [{ op: "add", path: `/spec/template/spec/${name}`, value }] as Json, {
        label: `JSON ${label}`,
      }),
      patch(`${deployments}/d?${applied}`, applyPatch, JSON.stringify(whole), { label: `APPLY ${label}` }),
      put(dry, whole as Json, { label: `PUT ${label}` }),
    ]
  })
}
