// A kubeconfig with everything embedded: one cluster, one user, one context.

import { stringify } from "yaml"
import type { IssuedCertificate } from "./pki.ts"

export interface KubeconfigParts {
  /** Name of cluster and context. */
  name: string
  user: string
  server: string
  certificateAuthority: string
  client: IssuedCertificate
}

export function renderKubeconfig(parts: KubeconfigParts): string {
  const { name, server, certificateAuthority, client } = parts
  const user = `${name}-${parts.user}`
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, "certificate-authority-data": base64(certificateAuthority) } }],
    users: [
      {
        name: user,
        user: {
          "client-certificate-data": base64(client.certificate),
          "client-key-data": base64(client.key),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user } }],
    "current-context": name,
  })
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64")
}
