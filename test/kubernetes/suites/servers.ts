// What the suites run against: API servers on which, as on envtest's, nobody works but who makes service accounts, without which
// no pod can be made: tenants, and a real one as the control.

import { writeFile } from "node:fs/promises"
import path from "node:path"
import { startControllers } from "../../../controllers/main.ts"
import { localNetworks } from "../../../gateway/backends/networks.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { serviceCidr } from "../harness/control-plane.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"

export interface Servers extends AsyncDisposable {
  /** A new one; path of its administrator's kubeconfig. */
  target(): Promise<string>
}

export const controlOptions = {
  controllerManager: true,
  controllerManagerFlags: ["--controllers=serviceaccount-controller"],
}

/** Suites have their webhooks on this machine. */
export async function startTenants(folder: string): Promise<Servers> {
  await using stack = new AsyncDisposableStack()
  const test = stack.use(
    await startTestGateway({ superCluster: false, allowedNetworks: localNetworks, serviceAddresses: rangeAddresses }),
  )
  const { tenants, certificateAuthority: rootCertificateAuthority } = test.gateway
  stack.use(startControllers(tenants, { rootCertificateAuthority, only: ["serviceaccount"] }))
  let count = 0
  const owned = stack.move()
  return {
    async target() {
      const name = `suite-${++count}`
      const file = path.join(folder, `${name}.kubeconfig`)
      await writeFile(file, (await test.createTenant(name)).kubeconfig, { mode: 0o600 })
      return file
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export async function startControl(): Promise<Servers> {
  const kubernetes = await TestKubernetes.start(controlOptions)
  return {
    target: () => Promise.resolve(kubernetes.kubeconfig),
    [Symbol.asyncDispose]: () => kubernetes[Symbol.asyncDispose](),
  }
}

function rangeAddresses(): RangeServiceAddresses {
  return new RangeServiceAddresses({ cidr: serviceCidr, load: () => Promise.resolve([]) })
}
