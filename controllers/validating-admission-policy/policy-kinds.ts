// Which kinds the rules of a policy name: those whose group, version and resource are all spelled out. Source:
// k8s.io/apiserver/pkg/admission/plugin/policy/validating/typechecking.go (typesToCheck).

import type { PolicySpec } from "../../apimachinery/cel/admission/policy.ts"
import type { TypedKind } from "../../apimachinery/cel/admission/type-check.ts"
import { builtInType, customType } from "../../apimachinery/cel/types/kind-types.ts"
import type { GroupVersionResource, Json, KubeObject } from "../../apimachinery/object.ts"
import { builtInResources } from "../../apimachinery/schema/facts.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { customResourceDefinitions } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"

/** Of one rule. */
const maxKinds = 10
/** Of one policy: with thousands of groups, versions and resources, a rule names more than could ever be looked up. */
const maxLookups = 1000

export async function kindsOf(client: KubeClient, { matchConstraints }: PolicySpec): Promise<TypedKind[]> {
  const found = new Map<string, TypedKind>()
  let lookups = 0
  for (const rule of matchConstraints?.resourceRules ?? []) {
    let count = 0
    for (const resource of resourcesOf(rule)) {
      if (++lookups > maxLookups) return sorted(found)
      const kind = await kindOf(client, resource)
      if (kind === undefined) continue
      found.set(`${kind.group}\n${kind.version}\n${kind.kind}`, kind)
      if (++count === maxKinds) return sorted(found)
    }
  }
  return sorted(found)
}

function sorted(found: ReadonlyMap<string, TypedKind>): TypedKind[] {
  return [...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, kind]) => kind)
}

type Rule = NonNullable<NonNullable<PolicySpec["matchConstraints"]>["resourceRules"]>[number]

function* resourcesOf({
  apiGroups = [],
  apiVersions = [],
  resources = [],
}: Rule): Generator<GroupVersionResource, void> {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes("*"))) return
  const whole = resources.filter((name) => !/[*/]/.test(name)).sort()
  const [groups, versions] = [apiGroups.toSorted(), apiVersions.toSorted()]
  for (const group of groups)
    for (const version of versions) for (const resource of whole) yield { group, version, resource }
}

async function kindOf(client: KubeClient, wanted: GroupVersionResource): Promise<TypedKind | undefined> {
  const { group, version, resource } = wanted
  const own = builtInResources().find(
    (each) => each.group === group && each.version === version && each.resource === resource,
  )
  if (own !== undefined) return { group, version, kind: own.kind, declared: builtInType({ ...own, kind: own.kind }) }
  const definition = await definitionOf(client, `${resource}.${group}`)
  return definition && customKind(definition, version)
}

/** Undefined: nothing is known of what paramKind names. */
export async function paramType(client: KubeClient, { paramKind }: PolicySpec): Promise<TypedKind["declared"]> {
  const { apiVersion = "", kind = "" } = paramKind ?? {}
  const [version = "", group = ""] = apiVersion.split("/").reverse()
  if (kind === "") return undefined
  const own = builtInType({ group, version, kind })
  if (own !== undefined) return own
  const { items } = await client.list<Definition>(customResourceDefinitions)
  const definition = items.find(({ spec }) => spec.group === group && spec.names.kind === kind)
  return definition && customKind(definition, version)?.declared
}

interface Definition extends KubeObject {
  spec: {
    group: string
    names: { kind: string }
    versions: { name: string; served?: boolean; schema?: { openAPIV3Schema?: Json } }[]
  }
}

function customKind({ spec }: Definition, version: string): TypedKind | undefined {
  const { group, names, versions } = spec
  const found = versions.find(({ name, served }) => name === version && served === true)
  if (found === undefined) return undefined
  return { group, version, kind: names.kind, declared: customType(found.schema?.openAPIV3Schema ?? { type: "object" }) }
}

async function definitionOf(client: KubeClient, name: string): Promise<Definition | undefined> {
  try {
    return await client.get<Definition>(customResourceDefinitions, undefined, name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
