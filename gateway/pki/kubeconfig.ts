// Kubeconfigs with embedded credentials: one cluster, one user, one context.

import type { TenantAddress } from "../../client/tenants.ts"
import { type Authority, issueClientCertificate, type IssuedCertificate } from "./pki.ts"

interface KubeconfigParts {
  /** Name of cluster and context. */
  name: string
  user: string
  server: string
  certificateAuthority: string
  client: IssuedCertificate
}

/** For a tenant's administrator, with a new certificate. */
export async function issueKubeconfig(name: string, address: TenantAddress, authority: Authority): Promise<string> {
  const user = { name: "admin", groups: ["system:masters"] }
  return renderKubeconfig({
    ...address,
    name,
    user: user.name,
    client: await issueClientCertificate(authority, user),
  })
}

/** Renders YAML directly: each new tenant needs one, and only names have to be quoted. */
export function renderKubeconfig(parts: KubeconfigParts): string {
  const { server, certificateAuthority, client } = parts
  const name = quoted(parts.name)
  const user = quoted(`${parts.name}-${parts.user}`)
  return `apiVersion: v1
kind: Config
clusters:
  - name: ${name}
    cluster:
      server: ${server}
      certificate-authority-data: ${base64(certificateAuthority)}
users:
  - name: ${user}
    user:
      client-certificate-data: ${base64(client.certificate)}
      client-key-data: ${base64(client.key)}
contexts:
  - name: ${name}
    context:
      cluster: ${name}
      user: ${user}
current-context: ${name}
`
}

/** Names are DNS labels, of which YAML would not parse all as strings: digits only, or "on". */
function quoted(name: string): string {
  return JSON.stringify(name)
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64")
}
