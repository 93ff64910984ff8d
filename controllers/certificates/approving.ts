// Approves the client certificates that kubelets request for themselves, if RBAC allows it.
// Source: k8s.io/kubernetes/pkg/controller/certificates/approver.

import { type CertificateSigningRequest, timestamp, type KubeObject } from "../../apimachinery/object.ts"
import { certificateSigningRequests, subjectAccessReviews } from "../../client/resources.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import { hasCondition, kubeletClientSigner, notKubeletClient, pemOf, subjectOf } from "./request.ts"

interface AccessReview extends KubeObject {
  status?: { allowed?: boolean }
}

/** Subresources of the request that the requesting user must be allowed to create, with the message of the approval. */
const permissions = {
  selfnodeclient: "Auto approving self kubelet client certificate after SubjectAccessReview.",
  nodeclient: "Auto approving kubelet client certificate after SubjectAccessReview.",
} as const

const firstRetryMs = 200
const longestRetryMs = 1_000_000

export function runCertificateApproving(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<CertificateSigningRequest>(certificateSigningRequests)
  const controller = new Controller<CertificateSigningRequest>(ctx, {
    name: "certificatesigningrequest-approving",
    primary: all,
  })
  return controller.run(async ({ tenant, name }, actor) => {
    const request = all.get(tenant, undefined, name)
    if (request === undefined || request.spec?.signerName !== kubeletClientSigner) return undefined
    if (request.status?.certificate !== undefined) return undefined
    if (hasCondition(request, "Approved") || hasCondition(request, "Denied")) return undefined
    const subject = subjectOf(pemOf(request))
    if (notKubeletClient(subject, request.spec.usages ?? []) !== undefined) return undefined
    const isSelf = request.spec.username === subject.commonName
    for (const [subresource, message] of Object.entries(permissions)) {
      if (subresource === "selfnodeclient" && !isSelf) continue
      if (!(await mayCreate(actor, request, subresource))) continue
      const lastUpdateTime = timestamp(new Date(ctx.clock.now()))
      const approved = { type: "Approved", status: "True", reason: "AutoApproved", message, lastUpdateTime }
      const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), approved] }
      const changed = { ...request, status }
      await actor.client.update(certificateSigningRequests, changed, { subresource: "approval" })
      return undefined
    }
    return { requeueAfterMs: retryMs(request, ctx.clock.now()) }
  })
}

/** RBAC may allow it later: the delay until the next check equals the request's age, within the limits. */
function retryMs({ metadata }: CertificateSigningRequest, now: number): number {
  const age = now - Date.parse(metadata.creationTimestamp ?? "")
  return Math.min(Math.max(age || 0, firstRetryMs), longestRetryMs)
}

async function mayCreate(actor: Actor, { spec }: CertificateSigningRequest, subresource: string): Promise<boolean> {
  const { username: user = "", uid = "", groups = [], extra = {} } = spec ?? {}
  const { group, resource } = certificateSigningRequests
  const review = await actor.client.create<AccessReview>(subjectAccessReviews, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    metadata: {},
    spec: {
      user,
      uid,
      groups,
      extra,
      resourceAttributes: { group, resource, verb: "create", subresource, version: "*" },
    },
  })
  return review.status?.allowed === true
}
