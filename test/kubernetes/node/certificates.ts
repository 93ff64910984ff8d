// All credentials of a cluster: one authority for servers and users, one for the front proxy, the key that signs service account
// tokens, and kubeconfigs.

import { generateKeyPairSync } from "node:crypto"
import { stringify } from "yaml"
import {
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type Authority,
  type IssuedCertificate,
} from "../../../gateway/pki/pki.ts"
import { clusterDomain, nodeName, ranges, type Network } from "./layout.ts"

export interface ClusterKeys {
  authority: Authority
  frontProxyAuthority: Authority
  /** The serving certificate of kube-apiserver. */
  apiServer: IssuedCertificate
  /** kube-apiserver's client certificate for kubelets. A vn-agent for a real node needs the same. */
  kubeletClient: IssuedCertificate
  /** kube-apiserver's client certificate for aggregated API servers. */
  frontProxyClient: IssuedCertificate
  /** PEM. RSA, as in most clusters. */
  serviceAccountKey: string
  /** The serving certificates of kubelets, by node. */
  kubelets: ReadonlyMap<string, IssuedCertificate>
  kubeconfig(user: string): string
}

/** The users of kubeconfigs, with the names and groups known to RBAC. */
function users(nodes: number): Map<string, { name: string; groups: string[] }> {
  const found = new Map<string, { name: string; groups: string[] }>([
    ["admin", { name: "admin", groups: ["system:masters"] }],
    ["kube-controller-manager", { name: "system:kube-controller-manager", groups: [] }],
    ["kube-scheduler", { name: "system:kube-scheduler", groups: [] }],
    ["kube-proxy", { name: "system:kube-proxy", groups: [] }],
  ])
  for (let number = 1; number <= nodes; number++) {
    const node = nodeName(number)
    found.set(`kubelet-${node}`, { name: `system:node:${node}`, groups: ["system:nodes"] })
  }
  return found
}

export async function createClusterKeys(server: string, network: Network, nodes: number): Promise<ClusterKeys> {
  const [authority, frontProxyAuthority] = await Promise.all([
    createAuthority("kubernetes"),
    createAuthority("front-proxy"),
  ])
  const kubernetesNames = ["", ".default", ".default.svc", `.default.svc.${clusterDomain}`].map(
    (suffix) => `kubernetes${suffix}`,
  )
  const serving = [...kubernetesNames, "localhost", "127.0.0.1", ranges.kubernetes, network.node(1)]
  const kubelets = new Map<string, IssuedCertificate>()
  for (let number = 1; number <= nodes; number++) {
    const names = [nodeName(number), network.node(number)]
    kubelets.set(nodeName(number), await issueServingCertificate(authority, names))
  }
  const kubeconfigs = new Map<string, string>()
  for (const [user, identity] of users(nodes)) {
    const issued = await issueClientCertificate(authority, identity)
    kubeconfigs.set(user, printKubeconfig(server, authority.certificate, issued))
  }
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  return {
    authority,
    frontProxyAuthority,
    apiServer: await issueServingCertificate(authority, serving),
    kubeletClient: await issueClientCertificate(authority, {
      name: "kube-apiserver-kubelet-client",
      groups: ["system:masters"],
    }),
    frontProxyClient: await issueClientCertificate(frontProxyAuthority, { name: "front-proxy-client", groups: [] }),
    serviceAccountKey: privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
    kubelets,
    kubeconfig(user) {
      const text = kubeconfigs.get(user)
      if (text === undefined) throw new Error(`there is no user "${user}"`)
      return text
    },
  }
}

function printKubeconfig(server: string, authority: string, { certificate, key }: IssuedCertificate): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64")
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "nodes", cluster: { server, "certificate-authority-data": base64(authority) } }],
    users: [
      { name: "nodes", user: { "client-certificate-data": base64(certificate), "client-key-data": base64(key) } },
    ],
    contexts: [{ name: "nodes", context: { cluster: "nodes", user: "nodes" } }],
    "current-context": "nodes",
  })
}
