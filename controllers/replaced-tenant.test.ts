// A tenant is deleted, and made again under its name, while its objects are reconciled: nothing of that reaches the next tenant.

import { expect, test } from "vitest"
import type { CertificateSigningRequest, KubeObject } from "../apimachinery/object.ts"
import { isNotFound } from "../apimachinery/status.ts"
import {
  certificateSigningRequests,
  daemonSets,
  deployments,
  events,
  jobs,
  nodes,
  pods,
  replicaSets,
  replicationControllers,
  serviceAccounts,
  statefulSets,
} from "../client/resources.ts"
import type { KubeClient, Resource } from "../client/rest.ts"
import type { Tenants } from "../client/tenants.ts"
import { createCertificateSigner } from "../gateway/tenancy/certificate-signer.ts"
import { createClientRequest } from "../gateway/testing/certificate-request.ts"
import { startTestGateway, type TestGateway } from "../gateway/testing/start-gateway.ts"
import { startControllers } from "./main.ts"
import { eventually } from "./testing/harness.ts"

const name = "acme"
const labels = { app: "web" }
const template = {
  metadata: { labels },
  spec: { containers: [{ name: "c", image: "i" }], tolerations: [{ operator: "Exists" }] },
}
const selector = { matchLabels: labels }
const parallel = { podManagementPolicy: "Parallel", serviceName: "web" }
const once = { template: { spec: { ...template.spec, restartPolicy: "Never" } } }

/** Each makes several objects in one reconcile, or one and an event about it. */
const workloads: readonly [controller: string, resource: Resource, apiVersion: string, kind: string, spec: object][] = [
  ["deployment", deployments, "apps/v1", "Deployment", { selector, template }],
  ["replicaset", replicaSets, "apps/v1", "ReplicaSet", { replicas: 4, selector, template }],
  ["replicationcontroller", replicationControllers, "v1", "ReplicationController", { replicas: 4, template }],
  ["statefulset", statefulSets, "apps/v1", "StatefulSet", { replicas: 4, selector, template, ...parallel }],
  ["daemonset", daemonSets, "apps/v1", "DaemonSet", { selector, template }],
  ["job", jobs, "batch/v1", "Job", { parallelism: 4, completions: 4, ...once }],
]

/** After the first creation that succeeds, `then` happens before the caller is told. */
function interrupted(tenants: Tenants, resources: readonly Resource[], then: () => Promise<void>): Tenants {
  let left = 1
  const around = (client: KubeClient): KubeClient => ({
    discover: () => client.discover(),
    unavailable: () => client.unavailable(),
    get: (...call) => client.get(...call),
    raw: (path) => client.raw(path),
    list: (...call) => client.list(...call),
    watch: (...call) => client.watch(...call),
    update: (...call) => client.update(...call),
    patch: (...call) => client.patch(...call),
    delete: (...call) => client.delete(...call),
    deleteCollection: (...call) => client.deleteCollection(...call),
    async create(resource, ...call) {
      const created = await client.create(resource, ...call)
      if (resources.includes(resource) && left-- === 1) await then()
      return created as never
    },
  })
  return {
    get: (tenant) => tenants.get(tenant),
    list: () => tenants.list(),
    subscribe: (handler) => tenants.subscribe(handler),
    client: (tenant, use) => around(tenants.client(tenant, use)),
    watch: (...of) => tenants.watch(...of),
    wake: (tenant, use) => tenants.wake(tenant, use),
    register: (worker) => tenants.register(worker),
    pause: (tenant) => tenants.pause(tenant),
  }
}

const hasAccount = (client: KubeClient): Promise<void> =>
  eventually(async () => void (await client.get(serviceAccounts, "default", "default")))

async function replace(gateway: TestGateway): Promise<void> {
  const { tenants } = gateway.gateway
  await tenants.delete(name)
  await gateway.createTenant(name)
  // Pods can be made in it.
  await hasAccount(tenants.client(name))
}

test.each(workloads)(
  "%s: the rest of a reconcile does not reach the next tenant",
  async (...[only, resource, apiVersion, kind, spec]) => {
    await using gateway = await startTestGateway()
    const { tenants } = gateway.gateway
    await gateway.createTenant(name)
    const replaced = Promise.withResolvers<void>()
    const all = interrupted(tenants, [pods, replicaSets, jobs], async () => {
      await replace(gateway)
      replaced.resolve()
    })
    await using stack = new AsyncDisposableStack()
    const accounts = startControllers(tenants, { rootCertificateAuthority: "CA", only: ["serviceaccount"] })
    stack.use(accounts)
    const controllers = stack.use(startControllers(all, { rootCertificateAuthority: "CA", only: [only] }))
    const client = tenants.client(name)
    await hasAccount(client)
    for (const node of ["a", "b", "c", "d"])
      await client.create<KubeObject>(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: node } })
    await client.create<KubeObject>(resource, {
      apiVersion,
      kind,
      metadata: { name: "web", namespace: "default" },
      spec,
    } as KubeObject)
    await replaced.promise
    // Waits for reconciles and for events.
    await controllers[Symbol.asyncDispose]()
    const next = tenants.client(name)
    for (const of of [pods, replicaSets, jobs, events])
      expect((await next.list(of, { namespace: "default" })).items).toEqual([])
    await expect(next.get(resource, "default", "web")).rejects.toSatisfy(isNotFound)
  },
)

test("a request that was approved in a tenant is not signed with the keys of the next one", async () => {
  await using gateway = await startTestGateway()
  const { tenants } = gateway.gateway
  await gateway.createTenant(name)
  const signer = createCertificateSigner(tenants)
  const signed = Promise.withResolvers<string>()
  const sign: typeof signer.sign = async (tenant, request) => {
    await replace(gateway)
    const signing = signer.sign(tenant, request)
    signing.then(signed.resolve, signed.reject)
    return signing
  }
  await using _ = startControllers(tenants, {
    rootCertificateAuthority: "CA",
    signer: { sign },
    only: ["serviceaccount", "certificatesigningrequest-signing"],
  })
  const client = tenants.client(name)
  const { request } = await createClientRequest("CN=jane")
  const asked = await client.create<CertificateSigningRequest>(certificateSigningRequests, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name: "jane" },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["client auth"],
    },
  })
  const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "it may" }]
  await client.update(certificateSigningRequests, { ...asked, status: { conditions } }, { subresource: "approval" })
  await expect(signed.promise).rejects.toSatisfy(isNotFound)
})
