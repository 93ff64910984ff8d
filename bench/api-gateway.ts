// The gateway of bench/api.ts, in a process of its own: one tenant, nothing but its API. Says where it is in one line of JSON.

// As the product has it.
import "../cli/runtime.mjs"
import { startTestGateway } from "../gateway/testing/start-gateway.ts"
import { endWithParent } from "./programs.ts"

const gateway = await startTestGateway({ superCluster: false })
const { url, certificate, key } = await gateway.createTenant("bench", { controllers: false })
const { certificateAuthority } = gateway.gateway
process.stdout.write(`${JSON.stringify({ url, certificate, key, certificateAuthority })}\n`)
endWithParent(() => gateway[Symbol.asyncDispose]())
