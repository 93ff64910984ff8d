// Where a tenant's administrator could send the gateway by what the tenant's Nodes say of themselves.

import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject } from "../../apimachinery/object.ts"
import { certificateOf, call, type Call, type Credential } from "../harness/https.ts"
import { startPolyplane, type Polyplane } from "../harness/polyplane.ts"

let up: Polyplane
let credential: Credential

beforeAll(async () => {
  up = await startPolyplane({ args: ["--tenants", "team-a"] })
  credential = certificateOf(await up.readKubeconfig("team-a"))
})

afterAll(async () => {
  await up?.[Symbol.asyncDispose]()
})

describe("the gateway does not connect to the address in a tenant's Node", () => {
  const path = "/tenants/team-a/api/v1/nodes"
  const ask = (request: Call) => call(up.url, { ...request, ...credential })

  /** `node`: its name, if it exists. */
  async function reach(
    node: string | undefined,
    address: string,
    port: number,
  ): Promise<[status: number, message: string]> {
    const status = {
      addresses: [{ type: "InternalIP", address }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    }
    const name = node ?? "trap"
    const body = JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name }, status })
    const headers = { "content-type": "application/merge-patch+json" }
    const write =
      node === undefined ? { method: "POST", path } : { method: "PATCH", path: `${path}/${name}/status`, headers }
    const written = await ask({ ...write, body })
    expect(JSON.parse(written.text)).toMatchObject({ status })
    const answer = await ask({ path: `${path}/${name}/proxy/containerLogs/default/a/b` })
    if (node === undefined) await ask({ method: "DELETE", path: `${path}/${name}` })
    return [answer.status, answer.text]
  }

  test("if it is one of the super cluster", async () => {
    const heard: unknown[] = []
    const trap = createServer((socket) => {
      heard.push(socket.remotePort)
      socket.destroy()
    })
    trap.listen(0, "127.0.0.1")
    await once(trap, "listening")
    const { items } = JSON.parse((await ask({ path })).text) as { items: KubeObject[] }
    const [status, text] = await reach(items[0]?.metadata.name, "127.0.0.1", (trap.address() as AddressInfo).port)
    trap.close()
    expect([status, text, heard]).toEqual([404, 'pod "a" in namespace "default" is not on this node', []])
  })

  test("if webhooks may not lead there", async () => {
    const [status, text] = await reach(undefined, "169.254.169.254", 443)
    expect([status, text]).toEqual([503, expect.stringContaining("169.254.169.254: address not allowed")])
  })
})
