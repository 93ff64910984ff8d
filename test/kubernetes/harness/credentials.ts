// The files that a real control plane needs to start: authorities, serving certificate, service account key, tokens, and a
// kubeconfig for each client.

import { createPublicKey, randomBytes } from "node:crypto"
import { writeFile } from "node:fs/promises"
import path from "node:path"
import {
  createAuthority,
  createSigningKey,
  issueClientCertificate,
  issueServingCertificate,
  printKey,
} from "../../../gateway/pki/pki.ts"

export interface Credentials {
  /** PEM. */
  certificateAuthority: string
  /** The token of a member of system:masters. */
  token: string
  file: (name: CredentialFile) => string
}

export type CredentialFile =
  | "ca.crt"
  | "ca.key"
  | "apiserver.crt"
  | "apiserver.key"
  | "apiserver-kubelet-client.crt"
  | "apiserver-kubelet-client.key"
  | "front-proxy-ca.crt"
  | "front-proxy-client.crt"
  | "front-proxy-client.key"
  | "service-account.key"
  | "service-account.pub"
  | "tokens.csv"
  | `${User}.kubeconfig`

type User = keyof typeof users

const users = {
  admin: { name: "admin", group: "system:masters" },
  kwok: { name: "kwok", group: "system:masters" },
  "kube-controller-manager": { name: "system:kube-controller-manager", group: "" },
  "kube-scheduler": { name: "system:kube-scheduler", group: "" },
}

const inCluster = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]

/** `names`: additional hosts and addresses of the API server, besides those within the cluster. */
export async function writeCredentials(folder: string, server: string, names: readonly string[]): Promise<Credentials> {
  const [authority, frontProxyAuthority, serviceAccountKey] = await Promise.all([
    createAuthority("kubernetes"),
    createAuthority("front-proxy"),
    createSigningKey(),
  ])
  const [serving, kubeletClient, frontProxyClient] = await Promise.all([
    issueServingCertificate(authority, [...inCluster, ...names]),
    issueClientCertificate(authority, { name: "kube-apiserver-kubelet-client", groups: ["system:masters"] }),
    issueClientCertificate(frontProxyAuthority, { name: "front-proxy-client", groups: [] }),
  ])
  const tokens = Object.entries(users).map(([file, user]) => ({ file, user, token: randomBytes(24).toString("hex") }))
  const files: Record<string, string> = {
    "ca.crt": authority.certificate,
    "ca.key": printKey(authority.key),
    "apiserver.crt": serving.certificate,
    "apiserver.key": serving.key,
    "apiserver-kubelet-client.crt": kubeletClient.certificate,
    "apiserver-kubelet-client.key": kubeletClient.key,
    "front-proxy-ca.crt": frontProxyAuthority.certificate,
    "front-proxy-client.crt": frontProxyClient.certificate,
    "front-proxy-client.key": frontProxyClient.key,
    "service-account.key": printKey(serviceAccountKey),
    "service-account.pub": createPublicKey(serviceAccountKey).export({ type: "spki", format: "pem" }).toString(),
    "tokens.csv": tokens.map(({ user, token }) => `${token},${user.name},${user.name},"${user.group}"\n`).join(""),
  }
  for (const { file, token } of tokens) {
    files[`${file}.kubeconfig`] = kubeconfig(server, authority.certificate, token)
  }
  const write = ([name, text]: [string, string]) => writeFile(path.join(folder, name), text, { mode: 0o600 })
  await Promise.all(Object.entries(files).map(write))
  return {
    certificateAuthority: authority.certificate,
    token: tokens[0]?.token ?? "",
    file: (name) => path.join(folder, name),
  }
}

/** A kubeconfig is YAML, of which JSON is a subset. */
function kubeconfig(server: string, certificateAuthority: string, token: string): string {
  const authority = Buffer.from(certificateAuthority).toString("base64")
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "real", cluster: { server, "certificate-authority-data": authority } }],
    users: [{ name: "user", user: { token } }],
    contexts: [{ name: "real", context: { cluster: "real", user: "user" } }],
    "current-context": "real",
  })
}
