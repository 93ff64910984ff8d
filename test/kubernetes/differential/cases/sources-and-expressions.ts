// Where a claim's content comes from, expressions with blanks around them, ports that are none, and forms of lists by name.

import type { Json } from "../../../../apimachinery/object.ts"
import { get, post, put, type RequestStep, type Scenario } from "../scenario.ts"
import { definitionOf, definitions } from "./things.ts"

const core = "/api/v1/namespaces/@{ns}"

export function sourceAndExpressionCases(): Scenario[] {
  return [
    { name: "a claim names what fills it in both ways", steps: sources() },
    { name: "a policy's expressions have blanks around them", steps: blanks() },
    { name: "a policy's expressions break off", steps: broken() },
    { name: "a service has ports that are none", steps: ports() },
    { name: "a list by name comes in no form that is known", steps: noForm() },
    { name: "a custom resource has numbers that are no multiples", steps: multiples(), anyOrder: true },
  ]
}

function sources(): RequestStep[] {
  const claims = `${core}/persistentvolumeclaims`
  const filled = { apiGroup: "example.com", kind: "Filled", name: "a" }
  const claim = (name: string, spec: { [key: string]: Json }): Json => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
  })
  return [
    post(claims, claim("a", { dataSourceRef: filled }), { label: "POST filled" }),
    put(`${claims}/a`, claim("a", { dataSourceRef: filled, dataSource: filled }), { label: "PUT both" }),
    put(`${claims}/a`, claim("a", { dataSource: filled }), { label: "PUT the older" }),
    put(`${claims}/a`, claim("a", { dataSourceRef: filled }), { label: "PUT the newer" }),
    put(`${claims}/a`, claim("a", { dataSource: { ...filled, name: "b" }, dataSourceRef: filled }), {
      label: "PUT two",
    }),
    post(claims, claim("b", { dataSource: filled }), { label: "POST the older" }),
    post(claims, claim("c", { dataSource: { ...filled, kind: "Other" }, dataSourceRef: filled }), {
      label: "POST two",
    }),
    post(claims, claim("d", { dataSource: filled, dataSourceRef: { ...filled, namespace: "x" } }), {
      label: "POST elsewhere",
    }),
  ]
}

function blanks(): RequestStep[] {
  const policies = "/apis/admissionregistration.k8s.io/v1"
  const name = "p@{id}.example.com"
  const rule = { apiGroups: [name], apiVersions: ["v1"], operations: ["CREATE"], resources: ["things"] }
  const expression = "  1 +\n\n"
  const common = {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: "a", expression }],
    variables: [{ name: "a", expression }],
  }
  const mutations = [
    { patchType: "ApplyConfiguration", applyConfiguration: { expression } },
    { patchType: "JSONPatch", jsonPatch: { expression } },
  ]
  const validations = [{ expression, messageExpression: expression }]
  const auditAnnotations = [{ key: "a", valueExpression: expression }]
  return [
    post(`${policies}/mutatingadmissionpolicies?dryRun=All`, {
      metadata: { name },
      spec: { ...common, reinvocationPolicy: "Never", mutations },
    }),
    post(`${policies}/validatingadmissionpolicies?dryRun=All`, {
      metadata: { name },
      spec: { ...common, validations, auditAnnotations },
    }),
  ]
}

function broken(): RequestStep[] {
  const policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
  const expressions = [
    "f(a b)",
    "[a b, 1]",
    "[a b]",
    "{1: 2 b}",
    "(a b)",
    "a[b c]",
    "f(`a`)",
    "f(in)",
    "a.f(?)",
    "f(1 +)",
    "f(1 && )",
    "[1 +]",
    "[1, 1 +]",
    "[? 1 +]",
    "a[1 +]",
    "a[1 ||]",
    "{1 +: 2}",
    "object. spec. ",
    "object. \n.spec",
    "object . . spec",
    "(1",
    "f(1, 2",
    "[1, 2",
    "f(1 2 3)",
    "'a' 'b'",
  ]
  return expressions.map((expression) =>
    post(
      `${policies}?dryRun=All`,
      { metadata: { name: "p@{id}.example.com" }, spec: { validations: [{ expression }] } },
      { label: `POST ${JSON.stringify(expression)}` },
    ),
  )
}

function ports(): RequestStep[] {
  const lists: Json[] = [
    [null, { port: 0 }],
    [{ name: "a" }, { port: 0, name: "b" }],
    [{ port: 0, name: "a" }, null],
  ]
  return lists.map((list, index) =>
    post(`${core}/services`, { metadata: { name: "a" }, spec: { ports: list } }, { label: `POST ${index}` }),
  )
}

function noForm(): RequestStep[] {
  const headers = { accept: "image/png" }
  return ["", "?fieldSelector=metadata.name%3Da", "/a"].map((rest) => get(`${core}/configmaps${rest}`, { headers }))
}

function multiples(): RequestStep[] {
  const group = "g@{id}.example.com"
  const things = `/apis/${group}/v1/namespaces/@{ns}/things`
  const of = (type: string, multipleOf: number): Json => ({ type, multipleOf })
  const spec = {
    type: "object",
    properties: {
      a: of("number", 0.5),
      b: of("number", 2.5),
      c: of("integer", 3),
      d: of("number", 0.1),
      e: of("integer", 2.5),
    },
  }
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } }
  const values = [
    "1",
    "3",
    "-3",
    "2.5",
    "0.3",
    "7.000000001",
    "9007199254740993",
    "9223372036854775808",
    "1e300",
    "1234567.25",
  ]
  return [
    post(definitions, definitionOf(group, {}, { schema }), { label: "POST definition" }),
    get(things, { untilCode: 200, label: "LIST when served" }),
    ...values.flatMap((value) =>
      ["a", "b", "c", "d", "e"].map((field) => ({
        ...post(
          `${things}?dryRun=All`,
          `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"${field}":${value}}}`,
        ),
        contentType: "application/json",
        label: `POST ${field}: ${value}`,
      })),
    ),
  ]
}
