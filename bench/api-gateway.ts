// The gateway of bench/api.ts as a separate process: one tenant with only its API. Prints its address as one line of JSON.

// As in production.
import "../cli/runtime/runtime.mjs"
import { startTestGateway } from "../gateway/testing/start-gateway.ts"
import { endWithParent } from "./programs.ts"

const gateway = await startTestGateway({ superCluster: false })
const { url, certificate, key } = await gateway.createTenant("bench", { controllers: false })
const { certificateAuthority } = gateway.gateway
process.stdout.write(`${JSON.stringify({ url, certificate, key, certificateAuthority })}\n`)
endWithParent(() => gateway[Symbol.asyncDispose]())
