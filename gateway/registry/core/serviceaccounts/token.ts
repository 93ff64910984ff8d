// serviceaccounts/token: signs a token for a service account, optionally bound to a pod, secret or node (KEP-1205). Source:
// k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage/token.go and pkg/apis/authentication/validation.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { type FieldError, FieldPath, invalidValue } from "../../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import {
  type Json,
  type KubeObject,
  parseGroupVersion,
  type Pod,
  type ServiceAccount,
  timestamp,
} from "../../../../apimachinery/object.ts"
import { longestTokenSeconds, mountedTokenSeconds } from "../../../../apimachinery/core/service-account-tokens.ts"
import { writeZeros } from "../../../../apimachinery/schema/decode/decode.ts"
import { schemaOf } from "../../../../apimachinery/schema/facts.ts"
import { badRequest, conflict, invalid, isNotFound, notFound } from "../../../../apimachinery/status.ts"
import type { RequestContext } from "../../../request/context.ts"
import { builtIn } from "../../generic/internal-write.ts"
import type { SubresourceHandler } from "../../strategy.ts"

interface BoundObject {
  kind?: string
  apiVersion?: string
  name?: string
  uid?: string
}

interface TokenRequest extends KubeObject {
  spec?: { audiences?: string[]; expirationSeconds?: number; boundObjectRef?: BoundObject | null }
  status?: { token: string; expirationTimestamp: string }
}

const defaultSeconds = 3600
const minSeconds = 600
const extendedSeconds = 365 * 24 * 60 * 60
/** The kinds to which a token can be bound; deletions of other kinds could not be detected. */
const bindable: Readonly<Record<string, { resource: string; namespaced: boolean }>> = dictionary({
  Pod: { resource: "pods", namespaced: true },
  Secret: { resource: "secrets", namespaced: true },
  Node: { resource: "nodes", namespaced: false },
})

const requestKind = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" }

export const token: SubresourceHandler = {
  keepsSystemFields: true,

  defaultBody(body) {
    const request = body as TokenRequest
    request.spec = { ...request.spec, expirationSeconds: request.spec?.expirationSeconds ?? defaultSeconds }
  },

  async create(ctx, registry, namespace, name, body, _options, admit) {
    const request = body as TokenRequest
    confirmPlace(request, name, "name", name)
    confirmPlace(request, name, "namespace", namespace)
    const account = (await registry.get(ctx, namespace, name)).object() as ServiceAccount
    const { uid = "" } = account.metadata
    if (request.metadata.uid && request.metadata.uid !== uid) {
      const detail = `the UID in the token request (${request.metadata.uid}) does not match the UID of the service account (${uid})`
      throw conflict({ group: requestKind.group, resource: requestKind.kind }, name, detail)
    }
    const spec = (request.spec ??= {})
    if ((spec.audiences ?? []).length === 0) spec.audiences = [ctx.controlPlane.trust.issuer]
    request.metadata = { ...request.metadata, name, namespace, uid, creationTimestamp: timestamp() }
    delete request.status
    const errors = validate(spec)
    if (errors.length > 0) throw invalid(requestKind, "", errors)
    await admit.validate(request, undefined)
    const bound = spec.boundObjectRef ? await resolve(ctx, namespace, name, spec.boundObjectRef) : undefined
    spec.boundObjectRef ??= null
    const { audiences = [], expirationSeconds = defaultSeconds } = spec
    request.status = await ctx.controlPlane.tokens.issue({
      namespace,
      serviceAccount: { name, uid },
      audiences,
      expirationSeconds,
      ...(isExtended(spec, bound, ctx.controlPlane.trust.issuer) ? { extendedSeconds } : {}),
      boundObject: bound,
    })
    const schema = schemaOf(requestKind)
    if (schema !== undefined) writeZeros(schema, request as unknown as Json, false)
    return request
  },
}

/** A request need not name its account. */
function confirmPlace({ metadata }: TokenRequest, name: string, field: "name" | "namespace", actual: string): void {
  const given = metadata[field] ?? ""
  if (given === "" || given === actual) return
  const detail = `must match the service account ${field} if specified`
  throw invalid(requestKind, name, [invalidValue(FieldPath.root("metadata", field), given, detail)])
}

/**
 * Clients that read their token only once keep working beyond the hour that admission requests for pods: such a token, for this API
 * server only, is valid for a year.
 */
function isExtended(
  { audiences = [], expirationSeconds }: NonNullable<TokenRequest["spec"]>,
  bound: BoundObject | undefined,
  issuer: string,
): boolean {
  const isOwn = audiences.every((audience) => audience === issuer)
  return bound?.kind === "Pod" && expirationSeconds === mountedTokenSeconds && isOwn
}

function validate(spec: NonNullable<TokenRequest["spec"]>): FieldError[] {
  const at = FieldPath.root("spec", "expirationSeconds")
  const seconds = spec.expirationSeconds ?? defaultSeconds
  if (seconds < minSeconds) return [invalidValue(at, seconds, "may not specify a duration less than 10 minutes")]
  if (seconds > longestTokenSeconds)
    return [invalidValue(at, seconds, "may not specify a duration larger than 2^32 seconds")]
  return []
}

async function resolve(ctx: RequestContext, namespace: string, account: string, reference: BoundObject) {
  const { kind = "", apiVersion = "", name = "" } = reference
  const known = bindable[kind]
  // An apiVersion with more than a group and a version is treated as empty.
  const { group, version } = parseGroupVersion(apiVersion.split("/").length > 2 ? "" : apiVersion)
  if (known === undefined || group !== "")
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`)
  if (name === "") throw badRequest("Name parameter required.")
  const registry = builtIn(ctx, { group: "", version: "v1", resource: known.resource })
  const object = await registry
    .get(ctx, known.namespaced ? namespace : "", name)
    .then((value) => value.object())
    .catch((error: unknown) => {
      throw isNotFound(error) ? notFound({ group: "", resource: known.resource }, name) : error
    })
  const wanted = (object as Pod).spec?.serviceAccountName
  if (kind === "Pod" && wanted !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${goQuote(account)} to pod running with different serviceaccount name.`,
    )
  }
  const actual = object.metadata.uid ?? ""
  if (reference.uid && reference.uid !== actual) {
    throw conflict(
      { group: "", resource: kind },
      name,
      `the UID in the bound object reference (${reference.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  }
  return { kind, apiVersion, name, uid: actual }
}
