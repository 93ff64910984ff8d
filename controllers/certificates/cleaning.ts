// Deletes CertificateSigningRequests some time after their approval, denial or certificate, or after their creation while pending.
// Source: k8s.io/kubernetes/pkg/controller/certificates/cleaner.

import type { CertificateSigningRequest } from "../../apimachinery/object.ts"
import { X509Certificate } from "node:crypto"
import { isNotFound } from "../../apimachinery/status.ts"
import { certificateSigningRequests } from "../../client/resources.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import { hasCondition } from "./request.ts"

const answeredMs = 3_600_000
const unansweredMs = 24 * 3_600_000

export function runCertificateCleaning(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<CertificateSigningRequest>(certificateSigningRequests)
  const controller = new Controller<CertificateSigningRequest>(ctx, {
    name: "certificatesigningrequest-cleaner",
    primary: all,
  })
  return controller.run(async ({ tenant, name }, actor) => {
    const request = all.get(tenant, undefined, name)
    if (request === undefined) return undefined
    const due = expiresAt(request)
    if (due === undefined) return undefined
    const wait = due - ctx.clock.now()
    if (wait > 0) return { requeueAfterMs: wait }
    const { uid } = request.metadata
    try {
      await actor.client.delete(certificateSigningRequests, undefined, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
    return undefined
  })
}

/** When to delete the request, in ms; undefined if nothing in its present state makes it expire. */
export function expiresAt(request: CertificateSigningRequest): number | undefined {
  const { conditions = [], certificate } = request.status ?? {}
  const created = Date.parse(request.metadata.creationTimestamp ?? "")
  const times = conditions.length === 0 ? [created + unansweredMs] : []
  for (const { type, lastUpdateTime } of conditions) {
    const at = Date.parse(lastUpdateTime ?? "")
    if (type === "Denied" || type === "Failed") times.push(at + answeredMs)
    if (type === "Approved") times.push(at + (certificate === undefined ? unansweredMs : answeredMs))
  }
  if (certificate !== undefined && hasCondition(request, "Approved")) times.push(endOf(certificate))
  const known = times.filter((time) => !Number.isNaN(time))
  return known.length === 0 ? undefined : Math.min(...known)
}

/** NaN if the certificate cannot be parsed. */
function endOf(certificate: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, "base64")).validTo)
  } catch {
    // A signer of the tenant may write anything into the status.
    return Number.NaN
  }
}
