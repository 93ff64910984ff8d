// The authority of the nodes that `polyplane up` has in its own process, and the certificates that all of them share. It lives as
// long as the process; the certificates do not, and are replaced before their end.

import { X509Certificate } from "node:crypto"
import { systemClock } from "../../client/clock.ts"
import { follow, type Following } from "../../client/follow.ts"
import {
  type Authority,
  certificateLifetimes,
  createAuthority,
  isNearEnd,
  type IssuedCertificate,
  issueClientCertificate,
  issueServingCertificate,
} from "../../gateway/pki/pki.ts"
import type { KubeletCredentials } from "../compose/node-dialers.ts"

/** Where they listen. */
export const nodeHost = "127.0.0.1"

interface NodeCertificates extends Pick<KubeletCredentials, "certificate" | "key"> {
  serving: IssuedCertificate
}

/** Read where it is used: the certificates are not always the same. */
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

/** Replaces the authority's certificates before their end, until the signal ends. `renewed`: who serves with them. */
export function keepNodeCertificates(authority: NodeAuthority, renewed: () => void, context: Following): Promise<void> {
  const { clock = systemClock } = context
  const read = async (): Promise<NodeCertificates> => {
    const now = clock.now()
    return isNearEnd(new X509Certificate(authority.serving.certificate), now) ? authority.issue(now) : authority
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
