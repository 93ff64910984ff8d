// A program in a tenant's pod, which clients reach through the gateway's proxy.

import { once } from "node:events"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { NodeFixture } from "./node-fixture.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "./start-gateway.ts"

/** Of the pod's port 8080, after the tenant's prefix. */
export const proxyPath = "/api/v1/namespaces/default/pods/web:8080/proxy"

export interface ProxiedProgram extends AsyncDisposable {
  gateway: TestGateway
  /** Named "a". */
  tenant: TestTenant
}

export async function startProxiedProgram(
  program: Server,
  options: Parameters<typeof startTestGateway>[0] = {},
): Promise<ProxiedProgram> {
  await using stack = new AsyncDisposableStack()
  await once(program.listen(0, "127.0.0.1"), "listening")
  stack.defer(() => {
    program.closeAllConnections()
    program.close()
  })
  const node = stack.use(await NodeFixture.start())
  const gateway = stack.use(await startTestGateway({ nodeDialer: () => node.dialer, ...options }))
  const tenant = await gateway.createTenant("a")
  const { port } = program.address() as AddressInfo
  await node.addPod(gateway.gateway.tenants.client("a"), "web", { 8080: port })
  const all = stack.move()
  return { gateway, tenant, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
