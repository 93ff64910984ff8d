// CertificateSigningRequests: the server sets the requesting user; approval and certificate have a subresource each. Source:
// k8s.io/kubernetes/pkg/{apis,registry}/certificates.

import { repeats } from "../../../../apimachinery/repeats.ts"
import {
  duplicate,
  type FieldError,
  FieldPath,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from "../../../../apimachinery/field-errors.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import { type KubeObject, timestamp } from "../../../../apimachinery/object.ts"
import { requestFault } from "../../../../apimachinery/request-faults.ts"
import { isCertificate, pemBlocks } from "../../../../apimachinery/pem.ts"
import { onBehalf } from "../../generic/internal-write.ts"
import { keepGiven } from "../../../../apimachinery/schema/decode/given.ts"
import type { KindExtension, Strategy, SubresourceHandler } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { validateSignerName } from "./signer-name.ts"

interface Condition {
  type?: string
  status?: string
  lastUpdateTime?: string
  lastTransitionTime?: string
}

type Request = KubeObject & {
  spec?: {
    request?: string
    signerName?: string
    usages?: string[]
    expirationSeconds?: number
    username?: string
    uid?: string
    groups?: string[]
    extra?: Record<string, string[]>
  }
  status?: { conditions?: Condition[]; certificate?: string }
}

const path = FieldPath.root("spec")
const conditionsPath = FieldPath.root("status", "conditions")
const minSeconds = 600
const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
]

const strategy: Strategy<Request> = {
  generation: false,
  // Any name that is valid in a path.
  nameRule: () => [],

  default(request) {
    request.spec ??= {}
  },

  prepareForCreate(ctx, request) {
    const spec = (request.spec ??= {})
    spec.username = ctx.user.name
    if (ctx.user.uid === undefined) delete spec.uid
    else spec.uid = ctx.user.uid
    spec.groups = [...ctx.user.groups]
    const extra = Object.entries(ctx.user.extra).map(([name, values]) => [name, [...values]])
    if (extra.length === 0) delete spec.extra
    else spec.extra = Object.fromEntries(extra) as Record<string, string[]>
    request.status = {}
  },

  prepareForUpdate(ctx, request, current) {
    const { subresource } = ctx.info
    if (current.spec !== undefined) request.spec = current.spec
    if (subresource === "") return
    const conditions = withTimes(request.status?.conditions ?? [], current.status?.conditions ?? [])
    const [from, kept] =
      subresource === "approval" ? [current.status, conditions] : [request.status, keepApproval(conditions, current)]
    request.status = keepGiven({ ...from, conditions: kept }, from)
    if (conditions.length === 0) delete request.status.conditions
  },

  validate: (_ctx, request) => validate(request),

  validateUpdate(ctx, request, current) {
    return [...validate(request), ...validateChange(request, current, ctx.info.subresource)]
  },

  selectableFields: (request) => ({ "spec.signerName": request.spec?.signerName ?? "" }),
}

const approval: SubresourceHandler = {
  async get(ctx, registry, _namespace, name) {
    return (await registry.get(ctx, "", name)).object()
  },
  async update(ctx, registry, _namespace, name, change, options, admit) {
    const { definition } = registry
    const result = await registry.update(
      onBehalf(ctx, { ...definition, namespace: "", name, subresource: "approval" }),
      "",
      name,
      (current) => change(current as KubeObject),
      { ...options, subresource: "approval" },
      admit,
    )
    return result.value.object()
  },
}

export const certificateSigningRequests: KindExtension = { strategy, subresources: { approval } }

const identityOf = ({ type, status }: Condition): string => JSON.stringify([type, status])

function withTimes(conditions: readonly Condition[], before: readonly Condition[]): Condition[] {
  const now = timestamp()
  const known = new Map(before.toReversed().map((condition) => [identityOf(condition), condition]))
  return conditions.map((condition) => {
    const same = known.get(identityOf(condition))
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    }
  })
}

/** Updates by the signer cannot change approvals. */
function keepApproval(conditions: readonly Condition[], current: Request): Condition[] {
  const present = new Map(current.status?.conditions?.toReversed().map((condition) => [condition.type, condition]))
  return conditions.map((condition) => {
    if (condition.type !== "Approved" && condition.type !== "Denied") return condition
    return present.get(condition.type) ?? condition
  })
}

function validate(request: Request): FieldError[] {
  const { request: encoded, signerName = "", usages: asked = [], expirationSeconds } = request.spec ?? {}
  const errors: FieldError[] = []
  const [block] = pemBlocks(Buffer.from(encoded ?? "", "base64").toString("latin1"))
  const fault =
    block?.type === "CERTIFICATE REQUEST" ? requestFault(block.content) : "PEM block type must be CERTIFICATE REQUEST"
  if (fault !== undefined) errors.push(invalidValue(path.child("request"), encoded, fault))
  if (asked.length === 0) errors.push(required(path.child("usages")))
  const repeated = repeats(asked)
  for (const [index, usage] of asked.entries())
    if (!usages.includes(usage)) errors.push(notSupported(path.child("usages").index(index), usage, usages))
  for (const index of repeated) errors.push(duplicate(path.child("usages").index(index), asked[index]))
  errors.push(...validateSignerName(path.child("signerName"), signerName))
  if (expirationSeconds !== undefined && expirationSeconds < minSeconds) {
    errors.push(
      invalidValue(
        path.child("expirationSeconds"),
        expirationSeconds,
        "may not specify a duration less than 600 seconds (10 minutes)",
      ),
    )
  }
  return [...errors, ...validateConditions(request)]
}

function validateConditions(request: Request): FieldError[] {
  const conditions = request.status?.conditions ?? []
  const seen = new Set<string>()
  const errors: FieldError[] = []
  for (const [index, { type = "", status }] of conditions.entries()) {
    const at = conditionsPath.index(index)
    if (!type) errors.push(required(at.child("type")))
    const only = ["Approved", "Denied", "Failed"].includes(type) ? ["True"] : ["False", "True", "Unknown"]
    if (!status) errors.push(required(at.child("status")))
    else if (!only.includes(status)) errors.push(notSupported(at.child("status"), status, only))
    if ((type === "Approved" && seen.has("Denied")) || (type === "Denied" && seen.has("Approved")))
      errors.push(invalidValue(conditionsPath, type, "Approved and Denied conditions are mutually exclusive"))
    if (seen.has(type)) errors.push(duplicate(at.child("type"), type))
    seen.add(type)
  }
  return errors
}

function validateCertificate(request: Request, current: Request): FieldError[] {
  const certificate = request.status?.certificate ?? ""
  if (certificate === "" || certificate === current.status?.certificate) return []
  const fault = certificateFault(Buffer.from(certificate, "base64").toString("latin1"))
  const at = FieldPath.root("status", "certificate")
  return fault === undefined ? [] : [invalidValue(at, "<certificate data>", fault)]
}

/** Validates a PEM chain. */
function certificateFault(text: string): string | undefined {
  const blocks = [...pemBlocks(text)]
  for (const { type, hasHeaders, content } of blocks) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(type)}`
    if (hasHeaders) return "no PEM block headers are permitted"
    if (content.length === 0) return "found CERTIFICATE PEM block containing 0 certificates"
    if (!isCertificate(content)) return "x509: malformed certificate"
  }
  return blocks.length === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined
}

function validateChange(request: Request, current: Request, subresource: string): FieldError[] {
  const of = (from: Request, type: string): Condition[] =>
    (from.status?.conditions ?? []).filter((condition) => condition.type === type)
  const errors = validateCertificate(request, current)
  for (const type of ["Approved", "Denied", "Failed"]) {
    if (of(request, type).length < of(current, type).length)
      errors.push(forbiddenField(conditionsPath, `updates may not remove a condition of type "${type}"`))
  }
  for (const type of subresource === "approval" ? [] : ["Approved", "Denied"]) {
    const [now, before] = [of(request, type), of(current, type)]
    if (now.length > before.length)
      errors.push(forbiddenField(conditionsPath, `updates may not add a condition of type "${type}"`))
    else if (now.length === before.length && !semanticEqual(now, before))
      errors.push(forbiddenField(conditionsPath, `updates may not modify a condition of type "${type}"`))
  }
  const [certificate, issued] = [request.status?.certificate ?? "", current.status?.certificate ?? ""]
  if (certificate === issued) return errors
  const at = FieldPath.root("status", "certificate")
  if (subresource !== "status") errors.push(forbiddenField(at, "updates may not set certificate content"))
  else if (issued !== "") errors.push(forbiddenField(at, "updates may not modify existing certificate content"))
  return errors
}
