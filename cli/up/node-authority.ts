// The authority of the nodes that run in the process of `polyplane up`, and the certificates that all of them share. The
// authority lives as long as the process; the certificates are replaced before they expire.

import { X509Certificate } from "node:crypto"
import { systemClock } from "../../client/clock.ts"
import { follow, type Following } from "../../client/credentials/follow.ts"
import {
  type Authority,
  certificateLifetimes,
  createAuthority,
  mustBeRenewed,
  type IssuedCertificate,
  issueClientCertificate,
  issueServingCertificate,
} from "../../gateway/pki/pki.ts"
import type { KubeletCredentials } from "../compose/node-dialers.ts"

/** The address at which the nodes listen. */
export const nodeHost = "127.0.0.1"

interface NodeCertificates extends Pick<KubeletCredentials, "certificate" | "key"> {
  serving: IssuedCertificate
}

/** Read the properties at the time of use, because the certificates are replaced. */
export interface NodeAuthority extends KubeletCredentials, NodeCertificates {
  issue(now: number): Promise<NodeCertificates>
}

export async function createNodeAuthority(clock = systemClock): Promise<NodeAuthority> {
  const authority = await createAuthority("polyplane simulated nodes")
  const issue = (at: number) => issueCertificates(authority, at)
  return { certificateAuthority: authority.certificate, issue, ...(await issue(clock.now())) }
}

const kubeletClient = { name: "kube-apiserver-kubelet-client", groups: ["system:masters"] }

async function issueCertificates(authority: Authority, now: number): Promise<NodeCertificates> {
  const [serving, client] = await Promise.all([
    issueServingCertificate(authority, [nodeHost, "localhost"], now),
    issueClientCertificate(authority, kubeletClient, certificateLifetimes.clientMs, now),
  ])
  return { ...client, serving }
}

/**
 * Replaces the authority's certificates before they expire, until the signal ends. `renewed` updates the servers that use them.
 */
export function renewNodeCertificates(
  authority: NodeAuthority,
  renewed: () => void,
  context: Following,
): Promise<void> {
  const { clock = systemClock } = context
  const read = async (): Promise<NodeCertificates> => {
    const now = clock.now()
    return mustBeRenewed(new X509Certificate(authority.serving.certificate), now) ? authority.issue(now) : authority
  }
  const isSame = (a: NodeCertificates, b: NodeCertificates): boolean => a.serving.certificate === b.serving.certificate
  const { certificate, key, serving } = authority
  const renew = (now: NodeCertificates): void => {
    Object.assign(authority, now)
    renewed()
  }
  return follow(
    { what: "certificate of the nodes", read, current: { certificate, key, serving }, isSame, renew },
    context,
  )
}
