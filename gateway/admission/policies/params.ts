// The params of a binding for its policy. Source: k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go.

import type { ParamKind, ParamRef } from "../../../apimachinery/cel/admission/policy.ts"
import { printSelector, selectorFromLabelSelector } from "../../../apimachinery/labels.ts"
import { type KubeObject, printGroupVersion } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import { onBehalf } from "../../registry/generic/internal-write.ts"
import type { Registry } from "../../registry/rest.ts"
import { takeTurn } from "../../request/awaited.ts"
import type { RequestContext } from "../../request/context.ts"

/** An error in the configuration of a policy or a binding, with upstream's message. */
export class ConfigurationFault extends Error {}

export function paramRegistry(ctx: RequestContext, { apiVersion = "", kind = "" }: ParamKind): Registry {
  const [version = "", group = ""] = apiVersion.split("/").reverse()
  const { resources } = ctx.controlPlane
  const found = resources
    .definitions()
    .find((definition) => definition.group === group && definition.version === version && definition.kind === kind)
  const registry = found === undefined ? undefined : resources.registry(found)
  if (registry === undefined) {
    throw new ConfigurationFault(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`)
  }
  return registry
}

/** [undefined]: evaluated once without params; []: not evaluated. */
export async function collectParams(
  ctx: RequestContext,
  registry: Registry | undefined,
  reference: ParamRef | undefined,
  requestNamespace: string,
): Promise<(KubeObject | undefined)[]> {
  if (registry === undefined || reference === undefined) return [undefined]
  const { definition } = registry
  const { name = "", namespace: given = "", selector, parameterNotFoundAction } = reference
  if (!definition.namespaced && given !== "") {
    throw new ConfigurationFault("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
  }
  const namespace = definition.namespaced ? given || requestNamespace : ""
  if (definition.namespaced && namespace === "") {
    throw new ConfigurationFault(
      "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
    )
  }
  if (!definition.verbs.includes("list")) {
    // Upstream waits in vain for a list of them.
    const kind = `&ParamKind{APIVersion:${printGroupVersion(definition)},Kind:${definition.kind},}`
    throw new ConfigurationFault(`paramKind kind \`${kind}\` not yet synced to use for admission`)
  }
  if (name !== "" && selector !== undefined) {
    throw new ConfigurationFault("paramRef.name and paramRef.selector are mutually exclusive")
  }
  if (name === "" && selector === undefined) throw new ConfigurationFault("one of name or selector must be provided")
  const target = onBehalf(ctx, { ...definition, namespace, name, verb: name === "" ? "list" : "get" })
  const found =
    name === ""
      ? await select(target, registry, namespace, selector ?? {})
      : await one(target, registry, namespace, name)
  if (found.length === 0 && parameterNotFoundAction === "Deny") {
    throw new ConfigurationFault("no params found for policy binding with `Deny` parameterNotFoundAction")
  }
  return found
}

async function one(ctx: RequestContext, registry: Registry, namespace: string, name: string): Promise<KubeObject[]> {
  try {
    return [(await registry.get(ctx, namespace, name)).object()]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

async function select(
  ctx: RequestContext,
  registry: Registry,
  namespace: string,
  selector: NonNullable<ParamRef["selector"]>,
): Promise<KubeObject[]> {
  const labelSelector = printSelector(selectorFromLabelSelector(selector))
  const { items } = await registry.list(ctx, {
    ...(namespace === "" ? {} : { namespace }),
    ...(labelSelector === "" ? {} : { labelSelector }),
  })
  const found: KubeObject[] = []
  for (const item of items) {
    await takeTurn(ctx)
    found.push(item.object())
  }
  return found
}
