// Random expressions in policies that are in force: each warns of its value, or of the error in which it ends.

import type { Json } from "../../../../apimachinery/object.ts"
import { createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { expression, type Named } from "./expressions.ts"
import { titled } from "./titled.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const core = "/api/v1/namespaces/@{ns}"
const count = 12
/** Per policy: together they fit into the length of warnings that upstream does not cut off. */
const validationCount = 4

export function randomVerdictScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const numbers = Array.from({ length: count }, (_, number) => String(number))
  const steps = [
    ...numbers.flatMap((number) => inForce(number, policyOf(random))),
    ...inForce("last", { validations: [{ expression: "false", message: "all are in force" }] }),
    post(`${core}/configmaps?dryRun=All`, object("last", {}), { untilText: "all are in force" }),
    ...numbers.map((number) => post(`${core}/configmaps?dryRun=All`, object(number, data(random)))),
  ]
  return { name: `verdicts of policies at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

function object(policy: string, data: Json): Json {
  return { metadata: { name: "some-name", labels: { policy } }, data }
}

function data(random: Random): Json {
  return {
    s: pick(random, ["a", "Abc", "", "ü", "10.0.0.1"]),
    t: pick(random, ["x,y", "1Gi", "a b"]),
    n: pick(random, ["1", "-5", "x"]),
  }
}

/** Types, and the text of a value of each. */
const printable: readonly [string, (value: string) => string][] = [
  ...["int", "int", "double", "bool", "uint", "bytes", "duration", "timestamp", "net.IP", "net.CIDR"].map(
    (type): [string, (value: string) => string] => [type, (value) => `string(${value})`],
  ),
  ["string", (value) => value],
  ["string", (value) => value],
  ["string", (value) => value],
  ["list(string)", (value) => `${value}.join('|')`],
  ["list(int)", (value) => `${value}.map(each, string(each)).join(',')`],
  ["list(double)", (value) => `${value}.map(each, string(each)).join(',')`],
  ["kubernetes.Quantity", (value) => `string(${value}.asApproximateFloat())`],
  ["map(string, int)", (value) => `${value}.map(key, key).sort().join(',')`],
]

function policyOf(random: Random): Record<string, Json> {
  const type = pick(random, ["int", "string", "list(string)", "map(string, int)", "double"])
  const scope: Named[] = [{ name: "variables.v", type }]
  const validations = Array.from({ length: validationCount }, () => {
    const [wanted, printed] = pick(random, printable)
    const value = printed(expression(random, wanted, scope))
    return { expression: `(${value}) == 'never'`, messageExpression: `'<' + (${value}) + '>'` }
  })
  return { variables: [{ name: "v", expression: expression(random, type, []) }], validations }
}

function inForce(number: string, spec: Record<string, Json>): RequestStep[] {
  const name = `v${number}-@{id}`
  const resourceRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }]
  const matchConstraints = {
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "@{ns}" } },
    objectSelector: { matchLabels: { policy: number } },
    resourceRules,
  }
  const isLast = number === "last"
  return [
    post(`${policies}/validatingadmissionpolicies`, { metadata: { name }, spec: { matchConstraints, ...spec } }),
    post(`${policies}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: [isLast ? "Deny" : "Warn"] },
    }),
  ]
}
