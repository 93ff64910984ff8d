// The kubelet server of a node with one pod, and the credentials of a client.

import { silentLog } from "../../../client/log.ts"
import { createAuthority, issueClientCertificate, issueServingCertificate } from "../../../gateway/pki/pki.ts"
import type { PodSandbox } from "../../kubelet/pod-sandbox.ts"
import { startKubeletServer } from "../server.ts"

export interface TestServer extends AsyncDisposable {
  port: number
  /** For connections with TLS. */
  client: { ca: string; cert: string; key: string }
}

/** `pod`: what the action to be tested uses of it. */
export async function startTestServer(pod: unknown): Promise<TestServer> {
  const authority = await createAuthority("nodes")
  const { certificate, key } = await issueClientCertificate(authority, { name: "kubelet-client", groups: [] })
  const server = await startKubeletServer({
    node: "node-1",
    host: "127.0.0.1",
    port: 0,
    tls: await issueServingCertificate(authority, ["127.0.0.1"]),
    clientCertificateAuthority: authority.certificate,
    sandbox: () => pod as PodSandbox,
    log: silentLog,
  })
  return {
    port: server.port,
    client: { ca: authority.certificate, cert: certificate, key },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
