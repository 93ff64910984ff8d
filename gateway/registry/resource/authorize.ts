// Authorizes admin access to devices, binding of claims and reports on devices, during writes. Source:
// k8s.io/kubernetes/pkg/registry/resource/utils.go.

import { type FieldError, FieldPath, forbiddenField } from "../../../apimachinery/field-errors.ts"
import { validateDNS1123Subdomain } from "../../../apimachinery/names.ts"
import { attributesOf } from "../../authorization/further-rights.ts"
import { refusal } from "../../authorization/messages.ts"
import type { Attributes } from "../../authorization/types.ts"
import type { RequestContext } from "../../request/context.ts"
import { serviceAccountOf, type User } from "../../request/user.ts"
import { builtIn, onBehalf } from "../generic/internal-write.ts"
import { semanticEqual } from "../validation/equality.ts"
import type { Allocation, Claim, ClaimSpec, ClaimStatus } from "./types.ts"

const adminLabel = "resource.kubernetes.io/admin-access"

export async function mayClaimForAdministration(ctx: RequestContext, spec: ClaimSpec = {}): Promise<FieldError[]> {
  const asking = (spec.devices?.requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true)
  if (asking < 0) return []
  return isForAdministration(ctx, FieldPath.root("spec", "devices", "requests").index(asking).child("adminAccess"))
}

/** All permissions for a change of a claim's status. */
export async function mayChangeStatus(ctx: RequestContext, claim: Claim, current: Claim): Promise<FieldError[]> {
  const { status = {} } = claim
  const { status: before = {} } = current
  return [
    ...(await mayAllocateForAdministration(ctx, status, before)),
    ...(await mayBind(ctx, status, before)),
    ...(status.allocation === undefined ? [] : await mayReportDevices(ctx, status, before)),
  ]
}

async function mayAllocateForAdministration(
  ctx: RequestContext,
  status: ClaimStatus,
  before: ClaimStatus,
): Promise<FieldError[]> {
  const granted = ({ allocation }: ClaimStatus): number =>
    (allocation?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess === true)
  const index = granted(status)
  if (index < 0 || granted(before) >= 0) return []
  const path = FieldPath.root("status", "allocation", "devices", "results").index(index).child("adminAccess")
  return isForAdministration(ctx, path)
}

async function isForAdministration(ctx: RequestContext, path: FieldPath): Promise<FieldError[]> {
  const { namespace: name } = ctx.info
  const target = { group: "", version: "v1", resource: "namespaces", namespace: "", name }
  const namespace = await builtIn(ctx, target).get(onBehalf(ctx, { ...target, verb: "get" }), "", name)
  if (namespace.object().metadata.labels?.[adminLabel] === "true") return []
  const detail = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`
  return [forbiddenField(path, detail)]
}

async function mayBind(ctx: RequestContext, status: ClaimStatus, before: ClaimStatus): Promise<FieldError[]> {
  if (semanticEqual(status.allocation, before.allocation) && semanticEqual(status.reservedFor, before.reservedFor)) {
    return []
  }
  const { verb } = ctx.info
  const refused = await refusalOf(ctx, { verb, subresource: "binding", namespace: "", name: "" })
  const what = "changing status.allocation or status.reservedFor"
  const detail = `${what} requires resource="resourceclaims/binding", verb="${verb}" permission: ${refused ?? ""}`
  return refused === undefined ? [] : [forbiddenField(FieldPath.root("status", "allocation"), detail)]
}

/** Checked per driver: for the node of the allocation, or for any node. */
async function mayReportDevices(ctx: RequestContext, status: ClaimStatus, before: ClaimStatus): Promise<FieldError[]> {
  const { verb, namespace } = ctx.info
  const anywhere = `arbitrary-node:${verb}`
  const verbs = isNodeAccount(ctx.user, nodeOf(status.allocation)) ? [`associated-node:${verb}`, anywhere] : [anywhere]
  const errors: FieldError[] = []
  for (const name of changedDrivers(status, before)) {
    const refusals: (string | undefined)[] = []
    for (const one of verbs) {
      refusals.push(await refusalOf(ctx, { verb: one, subresource: "driver", namespace, name }))
      if (refusals.includes(undefined)) break
    }
    if (refusals.includes(undefined)) continue
    const needed = `requires resource="resourceclaims/driver", verb="[${verbs.join(" ")}]" permission`
    errors.push(
      forbiddenField(FieldPath.root("status", "devices"), `changing status.devices ${needed}: ${refusals[0] ?? ""}`),
    )
  }
  return errors
}

function changedDrivers({ devices = [] }: ClaimStatus, { devices: before = [] }: ClaimStatus): string[] {
  const keyOf = (device: ClaimStatusDevice): string =>
    JSON.stringify([device.driver ?? "", device.pool ?? "", device.device ?? "", device.shareID ?? ""])
  const earlier = new Map(before.map((device) => [keyOf(device), device]))
  const changed = new Set<string>()
  for (const device of devices) {
    if (!semanticEqual(device, earlier.get(keyOf(device)))) changed.add(device.driver ?? "")
    earlier.delete(keyOf(device))
  }
  for (const { driver = "" } of earlier.values()) changed.add(driver)
  return [...changed].sort()
}

type ClaimStatusDevice = NonNullable<ClaimStatus["devices"]>[number]

/** Undefined: allowed. */
async function refusalOf(
  ctx: RequestContext,
  wanted: Pick<Attributes, "verb" | "subresource" | "namespace" | "name">,
): Promise<string | undefined> {
  if (ctx.user.groups.includes("system:masters")) return undefined
  const { group, version, resource } = ctx.info
  const attributes = attributesOf(ctx.user, { group, version, resource, ...wanted })
  const { decision, reason } = await ctx.controlPlane.authorizer.authorize(attributes)
  return decision === "Allow" ? undefined : refusal(attributes, reason).message
}

/** The single node of an allocation, if it has one. */
function nodeOf({ nodeSelector }: Allocation = {}): string | undefined {
  const [term, ...others] = nodeSelector?.nodeSelectorTerms ?? []
  if (term === undefined || others.length > 0 || (term.matchExpressions ?? []).length > 0) return undefined
  const [field, ...more] = term.matchFields ?? []
  if (field?.key !== "metadata.name" || field.operator !== "In" || more.length > 0) return undefined
  return field.values?.length === 1 ? field.values[0] : undefined
}

function isNodeAccount({ name, extra }: User, node: string | undefined): boolean {
  const nodes = extra["authentication.kubernetes.io/node-name"] ?? []
  if (node === undefined || validateDNS1123Subdomain(node).length > 0) return false
  return serviceAccountOf(name) !== undefined && nodes.length === 1 && nodes[0] === node
}
