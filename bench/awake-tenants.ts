// Makes tenants active in order to measure the gateway's memory per tenant: objects, and watches like those of an informer-style
// client. Over HTTP/1.1 each watch needs a connection; over HTTP/2, which client-go uses if offered, all share one.

import { once } from "node:events"
import { connect } from "node:http2"
import { BenchClient, type Server } from "./api-client.ts"

const collection = "/api/v1/namespaces/default/configmaps"

interface Use {
  objects: number
  watches: number
}

/** Creates a tenant's objects and opens its watches, which stay open until the stack is disposed. */
export async function useTenant(stack: DisposableStack, server: Server, use: Use, http2: boolean): Promise<void> {
  const client = stack.use(new BenchClient(server))
  const data = { text: "x".repeat(1000) }
  for (let index = 0; index < use.objects; index++) {
    const metadata = { name: `object-${index}`, namespace: "default" }
    const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data })
    await client.call({ method: "POST", path: collection, body })
  }
  const watch = http2
    ? watchesOfOneConnection(stack, server)
    : async (path: string) => stack.use(await client.watch(path))
  for (let index = 0; index < use.watches; index++)
    await watch(`${collection}?watch=1&resourceVersion=0&fieldSelector=metadata.name=w-${index}`)
}

function watchesOfOneConnection(stack: DisposableStack, server: Server): (path: string) => Promise<unknown> {
  const { url, certificateAuthority: ca, certificate: cert, key } = server
  const { origin, pathname } = new URL(url)
  const credential = cert === undefined || key === undefined ? {} : { cert, key }
  const session = connect(origin, { ca, ...credential, checkServerIdentity: () => undefined })
  stack.defer(() => session.destroy())
  return async (path) => {
    const stream = session.request({ ":path": `${pathname}${path}`, accept: "application/json" })
    const [headers] = (await once(stream, "response")) as [{ ":status"?: number }]
    if (headers[":status"] !== 200) throw new Error(`watch of ${url}: ${headers[":status"]}`)
    stream.on("error", () => undefined) // the connection is cut off at the end
    stream.resume()
  }
}
