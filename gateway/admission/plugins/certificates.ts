// Approving or signing certificate requests requires permission for the signer; requests for client certificates of the group with
// all permissions are rejected. Source: k8s.io/kubernetes/plugin/pkg/admission/certificates.

import type { CertificateSigningRequest } from "../../../apimachinery/object.ts"
import { isGivenEmptyBytes } from "../../../apimachinery/schema/decode/given.ts"
import { isAllowed } from "../../authorization/further-rights.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { organizationsOf } from "./certificate-subject.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"
import { semanticEqual } from "../../registry/validation/equality.ts"

const group = "certificates.k8s.io"
const resource = "certificatesigningrequests"

export const certificates: AdmissionPlugin = {
  concerns: (attributes) => attributes.resource.group === group && attributes.resource.resource === resource,

  async validate(ctx, attributes) {
    if (isOf(attributes, group, resource) && attributes.operation === "CREATE") return checkSubject(attributes)
    if (attributes.operation !== "UPDATE") return
    const request = objectAs<CertificateSigningRequest>(attributes)
    const signer = (attributes.current as CertificateSigningRequest | undefined)?.spec?.signerName ?? ""
    if (isOf(attributes, group, resource, "approval")) return checkSigner(ctx, attributes, "approve", signer)
    if (!isOf(attributes, group, resource, "status")) return
    const before = attributes.current as CertificateSigningRequest | undefined
    if (!hasSameCertificate(request, before) || !semanticEqual(request.status?.conditions, before?.status?.conditions))
      await checkSigner(ctx, attributes, "sign", signer)
  },
}

/** One of no bytes is another than none. */
function hasSameCertificate({ status = {} }: CertificateSigningRequest, before?: CertificateSigningRequest): boolean {
  const { status: other = {} } = before ?? {}
  if (status.certificate !== other.certificate) return false
  return isGivenEmptyBytes(status, "certificate") === isGivenEmptyBytes(other, "certificate")
}

/** Permission for the signer by name, or for all signers of its domain. */
async function checkSigner(
  ctx: RequestContext,
  attributes: AdmissionAttributes,
  verb: "approve" | "sign",
  signer: string,
): Promise<void> {
  for (const name of [signer, `${signer.split("/", 1)[0]}/*`]) {
    if (await isAllowed(ctx, { verb, group, resource: "signers", name })) return
  }
  throw refuse(attributes, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`)
}

function checkSubject(attributes: AdmissionAttributes): void {
  const { spec } = objectAs<CertificateSigningRequest>(attributes)
  if (spec?.signerName !== "kubernetes.io/kube-apiserver-client") return
  const organizations = organizationsOf(Buffer.from(spec.request ?? "", "base64"))
  if (organizations.includes("system:masters")) {
    throw refuse(
      attributes,
      `use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
    )
  }
}
