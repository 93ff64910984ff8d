// Random admission policies, most of whose expressions have a fault: in syntax, types, or undeclared names. All as dry runs.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"

const policies = "/apis/admissionregistration.k8s.io/v1"
const name = "p@{id}.example.com"
const length = 20

export function randomPolicyScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = Array.from({ length }, (_, index): RequestStep => {
    const [resource, spec] = pick(random, [validating, validating, mutating, webhooks])(random)
    const body = resource.endsWith("configurations")
      ? { metadata: { name }, webhooks: [spec] }
      : { metadata: { name }, spec }
    return post(`${policies}/${resource}?dryRun=All`, body, { label: `${index} POST ${resource}` })
  })
  return { name: `expressions of policies at random, seed ${seed}`, steps, anyOrder: true, byChance: true }
}

const atoms: Readonly<Record<string, readonly string[]>> = {
  bool: ["true", "has(object.spec)", "object == null", "authorizer.group('').resource('pods').check('get').allowed()"],
  int: ["1", "size(object.metadata.name)", "object.spec.replicas", "params.data.size()", "9223372036854775808", "-1"],
  string: [
    "'a'",
    "object.metadata.name",
    "request.userInfo.username",
    "namespaceObject.metadata.name",
    "string(1)",
    '"\\u00e9"',
  ],
  list: ["[1, 2]", "object.metadata.finalizers", "['a']", "request.userInfo.groups", "[1, 'a']", "[]"],
  map: ["{'a': 1}", "object.metadata.labels", "params", "oldObject", "{}", "{1: 'a', 'b': 2}"],
  double: ["1.5", "double(1)"],
  other: [
    "null",
    "variables.one",
    "variables.none",
    "dyn(1)",
    "request",
    "timestamp('x')",
    "duration('1h')",
    "type(1)",
    "b'x'",
    "1u",
  ],
  odd: [
    "bogus",
    "self",
    "object.",
    "",
    "  ",
    "'a",
    "1 +",
    "(1",
    "a b",
    "object..spec",
    "@",
    "`a`",
    "object['a",
    "in",
    "if",
    "1.",
    "\n",
    "\u0000",
    "'\\q'",
    "ü",
  ],
}

const anyKind = Object.keys(atoms)

function atom(random: Random, kind: string): string {
  return pick(random, (chance(random, 0.85) ? atoms[kind] : undefined) ?? atoms[pick(random, anyKind)] ?? [])
}

/** An expression that mostly has this type. */
function expression(random: Random, kind: string, depth = 0): string {
  if (depth > 2 || chance(random, 0.25)) return atom(random, kind)
  const part = (of: string): string => expression(random, of, depth + 1)
  const forms: Readonly<Record<string, readonly (() => string)[]>> = {
    bool: [
      () => `${part("int")} ${pick(random, ["<", "==", ">=", "!="])} ${part("int")}`,
      () => `${part("bool")} ${pick(random, ["&&", "||"])} ${part("bool")}`,
      () => `!(${part("bool")})`,
      () =>
        `${part("list")}.${pick(random, ["all", "exists", "exists_one", "bogus"])}(${pick(random, ["x", "x", "1", "x.y"])}, ${part("bool")})`,
      () => `${part("string")}.${pick(random, ["startsWith", "contains", "matches", "bogus"])}(${part("string")})`,
      () => `${part("string")} in ${part("list")}`,
      () => `has(${pick(random, ["object.spec.a", "object", "object['a']", "x.y", "variables.one"])})`,
      () => `isURL(${part("string")})`,
      () => `ip.isCanonical(${part("string")})`,
    ],
    int: [
      () => `${part("int")} ${pick(random, ["+", "-", "*", "/", "%"])} ${part("int")}`,
      () => `size(${part(pick(random, ["list", "string", "map", "int"]))})`,
      () => `${part("bool")} ? ${part("int")} : ${part("int")}`,
      () => `int(${part("string")})`,
      () => `${part("list")}[${part("int")}]`,
    ],
    string: [
      () => `${part("string")} + ${part("string")}`,
      () => `string(${part("int")})`,
      () => `${part("list")}.join(${pick(random, ["','", "", "1"])})`,
      () =>
        `${part("string")}.${pick(random, ["lowerAscii()", "substring(1)", "split(',')", "format([1])", "replace('a')", "nothing()"])}`,
    ],
    list: [
      () => `[${part("int")}, ${part("int")}]`,
      () => `${part("list")}.map(x, ${part("int")})`,
      () => `${part("list")} + ${part("list")}`,
    ],
    map: [() => `{${part("string")}: ${part("int")}}`, () => `${part("map")}.${pick(random, ["a", "b.c", "?d"])}`],
    object: [
      () => `Object{spec: Object.spec{replicas: ${part("int")}}}`,
      () => `Object{metadata: Object.metadata{labels: {'a': ${part("string")}}}}`,
      () => `Object{${pick(random, ["spec", "bogus", "1", ""])}: ${part("map")}}`,
      () => `Other{a: ${part("int")}}`,
      () => "Object{}",
    ],
    patch: [
      () => `[JSONPatch{op: ${part("string")}, path: ${part("string")}, value: ${part("int")}}]`,
      () => `[JSONPatch{op: "add", ${pick(random, ["bogus", "from", "path"])}: ${part("string")}}]`,
      () => `JSONPatch{op: "add", path: "/a"}`,
      () =>
        `[JSONPatch{op: "add", path: "/" + jsonpatch.escapeKey(${part("string")}), value: Object.spec{a: ${part("int")}}}]`,
      () => "[]",
    ],
  }
  const known = forms[kind]
  return known === undefined ? atom(random, kind) : pick(random, known)()
}

function some<T>(random: Random, most: number, make: () => T): T[] {
  return Array.from({ length: random(most + 1) }, make)
}

function constraints(random: Random): JsonObject {
  const rule = { apiGroups: [name], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] }
  return {
    ...(chance(random, 0.95) ? { matchConstraints: { resourceRules: [rule] } } : {}),
    ...(chance(random, 0.4)
      ? {
          paramKind: pick<Json>(random, [
            { apiVersion: "v1", kind: "ConfigMap" },
            { apiVersion: "a/b/c", kind: "X" },
            {},
          ]),
        }
      : {}),
    variables: some(random, 2, () => ({
      name: pick(random, ["one", "two", "one", "object", "bad-name", "1", ""]),
      expression: expression(random, pick(random, ["bool", "int", "string", "list", "map"])),
    })),
    matchConditions: conditions(random),
  }
}

function conditions(random: Random): Json[] {
  return some(random, 1, () => ({
    name: pick(random, ["a", "b.example.com/c", "bad name!", ""]),
    expression: expression(random, "bool"),
  }))
}

function validating(random: Random): [string, JsonObject] {
  const validations = some(random, 2, () => ({
    expression: expression(random, "bool"),
    ...(chance(random, 0.3) ? { message: pick(random, ["no", "", " ", "a\nb"]) } : {}),
    ...(chance(random, 0.5) ? { messageExpression: expression(random, "string") } : {}),
    ...(chance(random, 0.2) ? { reason: pick(random, ["Invalid", "Forbidden", "Bogus", "Unauthorized"]) } : {}),
  }))
  const auditAnnotations = some(random, 1, () => ({
    key: pick(random, ["a", "A", "a", "bad key!", ""]),
    valueExpression: expression(random, pick(random, ["string", "other"])),
  }))
  return ["validatingadmissionpolicies", { ...constraints(random), validations, auditAnnotations }]
}

function mutating(random: Random): [string, JsonObject] {
  const mutations = some(random, 2, () =>
    chance(random, 0.5)
      ? { patchType: "ApplyConfiguration", applyConfiguration: { expression: expression(random, "object") } }
      : {
          patchType: pick(random, ["JSONPatch", "JSONPatch", "Bogus"]),
          jsonPatch: { expression: expression(random, "patch") },
        },
  )
  return ["mutatingadmissionpolicies", { ...constraints(random), reinvocationPolicy: "Never", mutations }]
}

function webhooks(random: Random): [string, JsonObject] {
  return [
    pick(random, ["validatingwebhookconfigurations", "mutatingwebhookconfigurations"]),
    {
      name,
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      clientConfig: { url: "https://example.com" },
      matchConditions: conditions(random),
    },
  ]
}
