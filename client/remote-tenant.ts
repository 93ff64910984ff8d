// The connections to one tenant of a gateway in another process, and the clients that use them.

import { clientOver, type Transport } from "./http/client.ts"
import { HttpTransport, type HttpClientConfig } from "./http/transport.ts"
import { failureFields, type Log } from "./log.ts"
import type { KubeClient } from "./rest.ts"
import { type GivenTenant, tenantUIDHeader, useHeaders } from "./tenants.ts"

export interface RemoteTenant {
  transport: HttpTransport
  client: KubeClient
  /** Its calls are no use of the tenant. */
  unused: KubeClient
}

/** `config`: of the gateway. Nothing is connected before the first call. */
export function openTenant(config: HttpClientConfig, { name, uid }: GivenTenant): RemoteTenant {
  const { server, headers } = config
  const transport = new HttpTransport({
    ...config,
    server: `${server.replace(/\/$/, "")}/tenants/${name}`,
    headers: () => ({ ...(typeof headers === "function" ? headers() : headers), ...meantFor(uid) }),
  })
  const unused = clientOver(withHeaders(transport, useHeaders({ isUse: false })))
  return { transport, client: clientOver(transport), unused }
}

export const meantFor = (uid: string | undefined): Record<string, string> =>
  uid === undefined ? {} : { [tenantUIDHeader]: uid }

/** Sends the same requests with further headers. */
function withHeaders(transport: Transport, headers: Record<string, string>): Transport {
  return {
    limits: transport.limits,
    open: (request) => transport.open({ ...request, headers: { ...request.headers, ...headers } }),
    readBody: (request, response) => transport.readBody(request, response),
    asStatusError: (request, error) => transport.asStatusError(request, error),
  }
}

export async function closeTenant({ transport }: RemoteTenant, log: Log): Promise<void> {
  try {
    await transport[Symbol.asyncDispose]()
  } catch (error) {
    log.warn(failureFields(error), "closing a client failed")
  }
}
