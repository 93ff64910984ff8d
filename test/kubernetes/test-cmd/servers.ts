// The two kinds of server the scripts run against: tenants, a new one for each run, and a real cluster as the control. As
// upstream's they have no node that runs anything, and let every user do everything (its --authorization-mode=AlwaysAllow).

import { readFile } from "node:fs/promises"
import { timestamp, type KubeObject } from "../../../apimachinery/object.ts"
import { clusterRoleBindings, nodes } from "../../../client/resources.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { startControllers } from "../../../controllers/main.ts"
import { RangeServiceAddresses } from "../../../gateway/registry/core/services/addresses.ts"
import { createCertificateSigner } from "../../../gateway/tenancy/certificate-signer.ts"
import { startTestGateway } from "../../../gateway/testing/start-gateway.ts"
import { TestKubernetes } from "../harness/test-kubernetes.ts"
import type { Fronted } from "./front.ts"

export interface Servers extends AsyncDisposable {
  target(): Promise<Fronted>
}

/** Upstream's: some scripts name addresses of it. */
const serviceRange = "10.0.0.0/24"
export const controlOptions = {
  controllerManager: true,
  controllerManagerFlags: ["--kube-api-qps=1000", "--kube-api-burst=2000"],
  apiServerFlags: [`--service-cluster-ip-range=${serviceRange}`],
}

export async function startTenants(): Promise<Servers> {
  await using stack = new AsyncDisposableStack()
  const test = stack.use(await startTestGateway({ superCluster: false, serviceAddresses: rangeAddresses }))
  const { gateway } = test
  const signer = createCertificateSigner(gateway.tenants)
  const { certificateAuthority } = gateway
  stack.use(startControllers(gateway.tenants, { rootCertificateAuthority: certificateAuthority, signer }))
  let count = 0
  const owned = stack.move()
  return {
    async target() {
      const name = `test-cmd-${++count}`
      const { url, certificate = "", key = "" } = await test.createTenant(name)
      const trust = (await gateway.tenants.byName(name))?.trust
      const clientAuthority = trust?.clientCertificateAuthority.certificate ?? ""
      const client = gateway.tenants.client(name)
      await prepare(client)
      return { url, certificateAuthority, clientAuthority, administrator: { certificate, key } }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

export async function startControl(): Promise<Servers> {
  const kubernetes = await TestKubernetes.start(controlOptions)
  const { server: url, certificateAuthority, client, token } = kubernetes
  const clientAuthority = await readFile(kubernetes.credential("ca.crt"), "utf8")
  await prepare(client)
  const target = { url, certificateAuthority, clientAuthority, administrator: { token } }
  return { target: () => Promise.resolve(target), [Symbol.asyncDispose]: () => kubernetes[Symbol.asyncDispose]() }
}

function rangeAddresses(): RangeServiceAddresses {
  return new RangeServiceAddresses({ cidr: serviceRange, load: () => Promise.resolve([]) })
}

async function prepare(client: KubeClient): Promise<void> {
  await client.create(nodes, onlyNode())
  await client.create(clusterRoleBindings, allowed)
}

/** Nobody plays it. The annotation leaves a trace of who manages it; its condition is what a controller says in a minute. */
function onlyNode(): KubeObject {
  const ready = { type: "Ready", status: "Unknown", reason: "NodeStatusNeverUpdated", lastTransitionTime: timestamp() }
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "127.0.0.1", annotations: { "save-managers": "true" } },
    status: { capacity: { memory: "1Gi" }, conditions: [ready] },
  }
}

const rbac = "rbac.authorization.k8s.io"
/** All users, and the group whose rights the scripts ask for. */
const groups = ["system:authenticated", "the-group"]
const allowed: KubeObject = {
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRoleBinding",
  metadata: { name: "test-cmd-always-allow" },
  roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "cluster-admin" },
  subjects: groups.map((name) => ({ apiGroup: rbac, kind: "Group", name })),
}
