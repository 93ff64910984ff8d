// The gateway and the controllers of bench/controllers.ts as a separate process, with the number of tenants given by the first
// argument and without a super cluster. Prints their addresses as one line of JSON.

// As in production.
import "../cli/runtime/runtime.mjs"
import { startControllers } from "../controllers/main.ts"
import { createCertificateSigner } from "../gateway/tenancy/certificate-signer.ts"
import { startTestGateway } from "../gateway/testing/start-gateway.ts"
import { endWithParent } from "./programs.ts"
import { argument } from "./report.ts"

const count = argument(0, 100)

const gateway = await startTestGateway({ superCluster: false })
const { certificateAuthority, tenants } = gateway.gateway
const signer = createCertificateSigner(tenants)
const controllers = startControllers(tenants, { rootCertificateAuthority: certificateAuthority, signer })
const places = []
for (let index = 0; index < count; index++) {
  const { url, certificate, key } = await gateway.createTenant(`bench-${index}`)
  places.push({ server: url, certificate, key })
}
process.stdout.write(`${JSON.stringify({ certificateAuthority, places })}\n`)
endWithParent(async () => {
  await controllers[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})
