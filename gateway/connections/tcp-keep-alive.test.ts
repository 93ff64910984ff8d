// Clients that vanish without a word, while a watch or an exec is silent.

import { once } from "node:events"
import { connect } from "node:tls"
import { expect, test } from "vitest"
import { areProbed } from "../../client/testing/probed-connections.ts"
import { startTestGateway } from "../testing/start-gateway.ts"

test.runIf(process.platform === "linux").each([true, false])(
  "every connection is probed, HTTP/2: %s",
  async (http2) => {
    await using fixture = await startTestGateway({ superCluster: false, http2 })
    const { hostname: host, port } = new URL(fixture.url)
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
    await once(socket, "secureConnect")
    await expect.poll(() => areProbed(Number(port))).toEqual([true])
    socket.destroy()
  },
)
