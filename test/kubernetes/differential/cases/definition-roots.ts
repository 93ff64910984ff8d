// Definitions of several versions: what the root of a schema may have if any of them has a status, and names and warnings of odd
// letters.

import type { Json } from "../../../../apimachinery/object.ts"
import { post, type RequestStep, type Scenario } from "../scenario.ts"
import { definitions } from "./things.ts"

const group = "r@{id}.example.com"

export function definitionRootCases(): Scenario[] {
  return [
    {
      name: "a definition's root is restricted by a status of any version",
      steps: roots.flatMap(rooted),
      anyOrder: true,
    },
    { name: "a definition warns of versions in odd letters", steps: warnings.flatMap(warning) },
    { name: "a definition has a kind of odd letters", steps: kinds.map(kind) },
  ]
}

const dry = (versions: Json, label: string, names: object = {}): RequestStep =>
  post(
    `${definitions}?dryRun=All`,
    {
      metadata: { name: `things.${group}` },
      spec: { group, scope: "Namespaced", names: { plural: "things", kind: "Thing", ...names }, versions },
    },
    { label },
  )

const version = (name: string, root: object = {}, more: object = {}): Json =>
  ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: {} } }, ...root } },
    ...more,
  }) as unknown as Json

const roots: readonly object[] = [
  { minProperties: 1 },
  { maxProperties: 0 },
  { enum: [{}] },
  { enum: [] },
  { allOf: [{ required: ["spec"] }] },
  { allOf: [] },
  { oneOf: [] },
  { anyOf: [] },
  { not: { required: ["x"] } },
  { required: [], example: {}, title: "", "x-kubernetes-validations": [] },
  { "x-kubernetes-map-type": "atomic" },
  { "x-kubernetes-list-type": "atomic" },
  { "x-kubernetes-list-map-keys": [] },
  { "x-kubernetes-embedded-resource": true },
  { default: {} },
  { nullable: true },
  { type: "string" },
  { additionalProperties: true },
  { patternProperties: {}, definitions: {} },
  { $schema: "x" },
  { id: "x" },
]

/** The versions have one schema, which upstream keeps beside them, or each its own. */
function rooted(root: object): RequestStep[] {
  const status = { subresources: { status: {} } }
  const other = { ...root, description: "another" }
  const say = (about: string): string => `${about} ${JSON.stringify(root)}`
  return [
    dry([version("v1", root), version("v2", root)], say("no status,")),
    dry([version("v1", root, status), version("v2", root)], say("status of the first,")),
    dry([version("v1", root), version("v2", root, status)], say("status of the second,")),
    dry([version("v1", root, status), version("v2", other)], say("status of the first, another schema,")),
    dry([version("v1", other), version("v2", root, status)], say("status of the second, another schema,")),
    dry([version("v1", root, status), version("v1", other)], say("status of the first, the same name,")),
    dry([version("v1", root), version("v1", other, status)], say("status of the second, the same name,")),
  ]
}

const warnings = ["", "a\0", "a\u00A0b", "é".repeat(129), "a\tb", "\u2028", "\u00AD", "\u200B", "a\u007F", "ok <&>"]

function warning(deprecationWarning: string): RequestStep[] {
  return [true, false].map((deprecated) =>
    dry([version("v1", {}, { deprecated, deprecationWarning })], `${JSON.stringify(deprecationWarning)} ${deprecated}`),
  )
}

const kinds = ["İ", "İbc", "K", "ΑΣ", "ẞ", "Ab", "a-B"]

function kind(name: string): RequestStep {
  return dry([version("v1")], `kind ${name}`, { kind: name })
}
