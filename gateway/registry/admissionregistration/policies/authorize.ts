// Creating a policy that reads params, or a binding that refers to them, requires permission to read them, since messages may
// contain their contents. Source: k8s.io/kubernetes/pkg/registry/admissionregistration/…/authz.go.

import type { BindingSpec, ParamKind, Policy } from "../../../../apimachinery/cel/admission/policy.ts"
import { isNotFound } from "../../../../apimachinery/status.ts"
import { isAllowed, type ResourceRight } from "../../../authorization/further-rights.ts"
import type { RequestContext } from "../../../request/context.ts"
import type { User } from "../../../request/user.ts"
import { builtIn, onBehalf } from "../../generic/internal-write.ts"

interface Wanted {
  group: string
  version: string
  resource: string
}

const anything: Wanted = { group: "*", version: "*", resource: "*" }

function resourceOf(ctx: RequestContext, { apiVersion = "", kind = "" }: ParamKind): Wanted {
  const [version = "", group = ""] = apiVersion.split("/").reverse()
  const found = ctx.controlPlane.resources
    .definitions()
    .find((definition) => definition.group === group && definition.version === version && definition.kind === kind)
  return { group, version, resource: found?.resource ?? "*" }
}

async function mayRead(ctx: RequestContext, right: ResourceRight): Promise<boolean> {
  return ctx.user.groups.includes("system:masters") || isAllowed(ctx, right)
}

/** Go's representation of a user. */
function print({ name, uid = "", groups, extra }: User): string {
  return `&{${name} ${uid} [${groups.join(" ")}] map[${Object.entries(extra)
    .map(([key, values]) => `${key}:[${values.join(" ")}]`)
    .join(" ")}]}`
}

/** Returns undefined if it is allowed, otherwise the reason. */
export async function mayReadParams(ctx: RequestContext, kind: ParamKind): Promise<string | undefined> {
  if (await mayRead(ctx, { ...resourceOf(ctx, kind), verb: "get", namespace: "*", name: "*" })) return undefined
  const { kind: name = "", apiVersion = "" } = kind
  return `user ${print(ctx.user)} must have "get" permission on all objects of the referenced paramKind (kind=${name}, apiVersion=${apiVersion})`
}

export async function mayUseParams(
  ctx: RequestContext,
  spec: BindingSpec,
  mutating: boolean,
): Promise<string | undefined> {
  const { policyName = "", paramRef = {} } = spec
  const policy = await policyNamed(ctx, policyName, mutating)
  const kind = policy?.spec?.paramKind
  const wanted = kind === undefined ? anything : resourceOf(ctx, kind)
  const verb = paramRef.name ? "get" : "list"
  const { namespace = "", name = "" } = paramRef
  if (await mayRead(ctx, { ...wanted, verb, namespace, name })) return undefined
  const user = `user ${print(ctx.user)} does not have "${verb}" permission`
  const everything = "for all groups, versions and resources"
  if (policy === undefined)
    return `unable to get policy ${policyName} to determine minimum required permissions and ${user} ${everything}`
  return `${user} on the object referenced by paramRef`
}

async function policyNamed(ctx: RequestContext, name: string, mutating: boolean): Promise<Policy | undefined> {
  const resource = mutating ? "mutatingadmissionpolicies" : "validatingadmissionpolicies"
  const target = { group: "admissionregistration.k8s.io", version: "v1", resource, namespace: "", name }
  try {
    return (await builtIn(ctx, target).get(onBehalf(ctx, { ...target, verb: "get" }), "", name)).object()
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
