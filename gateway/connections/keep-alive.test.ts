import { once } from "node:events"
import type { IncomingMessage } from "node:http"
import { Agent, get } from "node:https"
import { expect, onTestFinished, test, vi } from "vitest"
import { startTestGateway } from "../testing/start-gateway.ts"

const waitFor = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 20 })

test("the keep-alive timeout is shorter while there are many idle connections", async () => {
  await using fixture = await startTestGateway({ limits: { maxIdleConnections: 2, keepAliveMs: 90_000 } })
  /** A client with a single connection. */
  const client = (): Agent => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    onTestFinished(() => agent.destroy())
    return agent
  }
  /** The keep-alive timeout in the response. */
  const ask = async (agent: Agent): Promise<string> => {
    const [response] = (await once(get(`${fixture.gateway.url}/version`, { agent }), "response")) as [IncomingMessage]
    response.resume()
    await once(response, "end")
    return String(response.headers["keep-alive"])
  }
  const first = client()
  expect(await ask(first)).toBe("timeout=90")
  const others = [client(), client(), client()]
  for (const agent of others) await ask(agent)
  await waitFor(async () => expect(await ask(first)).toBe("timeout=5"))
  for (const agent of others) agent.destroy()
  await waitFor(async () => expect(await ask(first)).toBe("timeout=90"))
})
