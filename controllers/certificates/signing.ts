// Signs approved requests for Kubernetes' own signers with the tenant's CA.
// Source: k8s.io/kubernetes/pkg/controller/certificates/signer.

import { dictionary } from "../../apimachinery/dictionary.ts"
import { type CertificateSigningRequest, timestamp } from "../../apimachinery/object.ts"
import { aborted } from "../../client/clock.ts"
import { certificateSigningRequests } from "../../client/resources.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller } from "../controller.ts"
import {
  hasCondition,
  kubeletClientSigner,
  notClient,
  notKubeletClient,
  notKubeletServing,
  pemOf,
  subjectOf,
} from "./request.ts"

/** Limits of a certificate's lifetime. */
const longestMs = 365 * 24 * 3_600_000
const shortestMs = 10 * 60_000

/** By signer name: why the signer rejects a request; undefined if it accepts it. */
const signers: Readonly<Record<string, (request: CertificateSigningRequest) => string | undefined>> = dictionary({
  "kubernetes.io/kube-apiserver-client": ({ spec }) => notClient(spec?.usages ?? []),
  [kubeletClientSigner]: (request) => notKubeletClient(subjectOf(pemOf(request)), request.spec?.usages ?? []),
  "kubernetes.io/kubelet-serving": (request) =>
    notKubeletServing(subjectOf(pemOf(request)), request.spec?.usages ?? []),
})

export function runCertificateSigning(ctx: ControllerContext): Promise<void> {
  const { signer } = ctx
  // Without the CA's keys (another process, or a cluster that is not ours) nothing can be signed.
  if (signer === undefined) return aborted(ctx.signal)
  const all = ctx.informers.of<CertificateSigningRequest>(certificateSigningRequests)
  const controller = new Controller<CertificateSigningRequest>(ctx, {
    name: "certificatesigningrequest-signing",
    primary: all,
  })
  return controller.run(async ({ tenant, name }, actor) => {
    const request = all.get(tenant, undefined, name)
    const refusal = signers[request?.spec?.signerName ?? ""]
    if (request === undefined || refusal === undefined || request.status?.certificate !== undefined) return
    const isApproved = hasCondition(request, "Approved") && !hasCondition(request, "Denied")
    if (!isApproved || hasCondition(request, "Failed")) return
    const { usages = [], expirationSeconds } = request.spec ?? {}
    const why = refusal(request)
    if (why !== undefined) {
      const failed = {
        type: "Failed",
        status: "True",
        reason: "SignerValidationFailure",
        message: why,
        lastUpdateTime: timestamp(new Date(ctx.clock.now())),
      }
      return write(actor, request, { conditions: [...(request.status?.conditions ?? []), failed] })
    }
    const asked = expirationSeconds === undefined ? longestMs : expirationSeconds * 1000
    const lifetimeMs = Math.max(shortestMs, Math.min(longestMs, asked))
    // An error here is not caused by the request, so it is retried.
    const certificate = await signer.sign(actor.identity, { request: pemOf(request), usages, lifetimeMs })
    await write(actor, request, { certificate: Buffer.from(certificate).toString("base64") })
  })
}

async function write(
  actor: Actor,
  request: CertificateSigningRequest,
  changes: NonNullable<CertificateSigningRequest["status"]>,
): Promise<void> {
  const changed = { ...request, status: { ...request.status, ...changes } }
  await actor.client.update(certificateSigningRequests, changed, { subresource: "status" })
}
