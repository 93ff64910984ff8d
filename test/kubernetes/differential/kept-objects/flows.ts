// The initial flow schemas and priority levels, and those that look like initial ones.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, mergePatch, patch, post, remove, type RequestStep, type Scenario } from "../scenario.ts"

const group = "/apis/flowcontrol.apiserver.k8s.io/v1"
const schemas = `${group}/flowschemas`
const levels = `${group}/prioritylevelconfigurations`
const annotation = "apf.kubernetes.io/autoupdate-spec"
const change = (path: string, body: Json): RequestStep => patch(path, mergePatch, body)
const annotated = (value: string | null) => ({ metadata: { annotations: { [annotation]: value } } })
const found = "and it exists"

export function flowScenarios(): Scenario[] {
  return [
    { name: "deleted flow schemas and priority levels are created again", steps: deleted() },
    { name: "the spec of a flow schema is restored", steps: restored() },
    { name: "a priority level is restored", steps: level() },
    { name: "a flow schema becomes its users' by its annotation", steps: freed() },
    { name: "a changed flow schema without an annotation is its users'", steps: unannotated() },
    { name: "a flow schema that was made again without an annotation is the server's", steps: made() },
    { name: "mandatory objects are the server's", steps: mandatory() },
    { name: "flow schemas and priority levels that claim to be initial are deleted", steps: claiming() },
  ]
}

function deleted(): RequestStep[] {
  return [
    remove(`${schemas}/probes`),
    remove(`${schemas}/catch-all`),
    remove(`${levels}/node-high`),
    remove(`${levels}/catch-all`),
    ...["probes", "catch-all"].map((name) => get(`${schemas}/${name}`, { untilText: found })),
    ...["node-high", "catch-all"].map((name) => get(`${levels}/${name}`, { untilCode: 200 })),
  ]
}

function restored(): RequestStep[] {
  const path = `${schemas}/global-default`
  return [
    change(path, { spec: { matchingPrecedence: 9899, rules: null } }),
    get(path, { untilText: '"matchingPrecedence":9900' }),
    change(path, annotated("T")),
    change(path, { spec: { distinguisherMethod: { type: "ByNamespace" } } }),
    get(path, { untilText: '"ByUser"' }),
  ]
}

function level(): RequestStep[] {
  const path = `${levels}/workload-high`
  return [
    change(path, { spec: { limited: { nominalConcurrencyShares: 7, borrowingLimitPercent: 3 } } }),
    get(path, { untilText: '"nominalConcurrencyShares":40' }),
  ]
}

function freed(): RequestStep[] {
  const path = `${schemas}/service-accounts`
  return [
    change(path, { ...annotated("F"), spec: { matchingPrecedence: 9001 } }),
    // Another one shows that the server has looked.
    change(`${schemas}/kube-scheduler`, { spec: { matchingPrecedence: 801 } }),
    get(`${schemas}/kube-scheduler`, { untilText: '"matchingPrecedence":800' }),
    get(path),
    change(path, annotated("true")),
    get(path, { untilText: '"matchingPrecedence":9000' }),
  ]
}

function unannotated(): RequestStep[] {
  const path = `${schemas}/system-nodes`
  return [
    change(path, { ...annotated(null), spec: { matchingPrecedence: 501 } }),
    get(path, { untilText: annotation }),
    change(path, annotated("maybe")),
    get(path, { untilText: '"false"' }),
  ]
}

function made(): RequestStep[] {
  const path = `${schemas}/kube-controller-manager`
  return [
    // The server has just looked, so it does not make the object again before this does.
    change(path, { spec: { matchingPrecedence: 801 } }),
    get(path, { untilText: '"matchingPrecedence":800' }),
    remove(path),
    post(schemas, {
      metadata: { name: "kube-controller-manager", labels: { mine: "1" } },
      spec: { priorityLevelConfiguration: { name: "system" }, matchingPrecedence: 777 },
    }),
    get(path, { untilText: found }),
    // The status follows the spec.
    get(path, { untilText: String.raw`\"workload-high\" ${found}` }),
  ]
}

function mandatory(): RequestStep[] {
  return [
    change(`${schemas}/exempt`, annotated("false")),
    change(`${levels}/exempt`, { ...annotated("0"), spec: { exempt: { nominalConcurrencyShares: 3 } } }),
    get(`${schemas}/exempt`, { untilText: `"${annotation}":"true"` }),
    get(`${levels}/exempt`, { untilText: `"${annotation}":"true"` }),
  ]
}

function claiming(): RequestStep[] {
  const schema = (name: string, value: string) => ({
    ...annotated(value),
    metadata: { name: `@{id}${name}`, annotations: { [annotation]: value } },
    spec: { priorityLevelConfiguration: { name: "exempt" } },
  })
  const spec = { type: "Limited", limited: { limitResponse: { type: "Reject" } } }
  return [
    post(schemas, schema("claiming", "1")),
    ...["false", "0", "maybe", ""].map((value, index) => post(schemas, schema(`other${index}`, value))),
    post(levels, { metadata: { name: "@{id}claiming", annotations: { [annotation]: "true" } }, spec }),
    post(levels, { metadata: { name: "@{id}other" }, spec }),
    get(`${schemas}/@{id}claiming`, { untilCode: 404 }),
    get(`${levels}/@{id}claiming`, { untilCode: 404 }),
    ...[0, 1, 2, 3].map((index) => get(`${schemas}/@{id}other${index}`, { untilText: found })),
    get(`${levels}/@{id}other`),
  ]
}
