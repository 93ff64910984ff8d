import { X509Certificate } from "node:crypto"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { CertificateSigningRequest, KubeObject } from "../../apimachinery/object.ts"
import { isNotFound, notFound } from "../../apimachinery/status.ts"
import { FakeClock } from "../../client/testing/fake-clock.ts"
import { certificateSigningRequests } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { singleCluster } from "../../client/single-cluster.ts"
import { createCertificateSigner } from "../../gateway/tenancy/certificate-signer.ts"
import { createClientRequest } from "../../gateway/testing/certificate-request.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
import { startControllers } from "../main.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness } from "../testing/harness.ts"
import { expiresAt } from "./cleaning.ts"

let gateway: TestGateway
let controllers: AsyncDisposable
let client: KubeClient

beforeAll(async () => {
  gateway = await startTestGateway()
  await gateway.createTenant("a")
  client = gateway.gateway.tenants.client("a")
  controllers = startControllers(gateway.gateway.tenants, {
    rootCertificateAuthority: "CA",
    signer: createCertificateSigner(gateway.gateway.tenants),
    only: ["certificatesigningrequest-approving", "certificatesigningrequest-signing"],
  })
})

afterAll(async () => {
  await controllers[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const clientUsages = ["digital signature", "key encipherment", "client auth"]

async function ask(name: string, subject: string, spec: object): Promise<CertificateSigningRequest> {
  const { request } = await createClientRequest(subject)
  return client.create<CertificateSigningRequest>(certificateSigningRequests, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: { request: Buffer.from(request).toString("base64"), signerName: "", usages: clientUsages, ...spec },
  })
}

async function approve(request: CertificateSigningRequest): Promise<void> {
  const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "it may" }]
  const approved = { ...request, status: { conditions } }
  await client.update<CertificateSigningRequest>(certificateSigningRequests, approved, { subresource: "approval" })
}

const find = (name: string): Promise<CertificateSigningRequest> =>
  client.get(certificateSigningRequests, undefined, name)

describe("a CertificateSigningRequest in a tenant", () => {
  test("is signed by the tenant's authority when it is approved", async () => {
    const signerName = "kubernetes.io/kube-apiserver-client"
    await approve(await ask("jane", "CN=jane, O=team", { signerName, expirationSeconds: 3600 }))
    await eventually(async () => {
      const { status } = await find("jane")
      const certificate = new X509Certificate(Buffer.from(status?.certificate ?? "", "base64"))
      expect(certificate.subject).toBe("O=team\nCN=jane")
      expect(Date.parse(certificate.validTo) - Date.now()).toBeLessThanOrEqual(3_600_000)
    })
  })

  test("with usages that its signer does not allow fails with a reason", async () => {
    const spec = { signerName: "kubernetes.io/kube-apiserver-client", usages: ["server auth"] }
    await approve(await ask("server", "CN=server", spec))
    await eventually(async () => {
      const { status } = await find("server")
      expect(status?.conditions).toMatchObject([
        { type: "Approved" },
        {
          type: "Failed",
          status: "True",
          reason: "SignerValidationFailure",
          message: "invalid usage for client certificate: server auth",
        },
      ])
      expect(status?.certificate).toBeUndefined()
    })
  })

  test("for another signer is ignored", async () => {
    await approve(await ask("other", "CN=other", { signerName: "example.com/other" }))
    await approve(await ask("last", "CN=last", { signerName: "kubernetes.io/kube-apiserver-client" }))
    await eventually(async () => expect((await find("last")).status?.certificate).toBeDefined())
    expect((await find("other")).status?.certificate).toBeUndefined()
  })

  test("of a node for itself is approved immediately", async () => {
    const spec = { signerName: "kubernetes.io/kube-apiserver-client-kubelet" }
    await ask("node", "CN=system:node:n1, O=system:nodes", spec)
    await ask("not-a-node", "CN=n1, O=system:nodes", spec)
    await eventually(async () => {
      const { status } = await find("node")
      expect(status?.conditions).toMatchObject([{ type: "Approved", reason: "AutoApproved" }])
      expect(status?.certificate).toBeDefined()
    })
    expect((await find("not-a-node")).status?.conditions).toBeUndefined()
  })

  test("is checked by the last common name of its subject", async () => {
    const signerName = "kubernetes.io/kube-apiserver-client-kubelet"
    const subject = "CN=system:node:n1, CN=system:kube-scheduler, O=system:nodes"
    const request = await ask("two-names", subject, { signerName })
    await ask("later", "CN=system:node:n1, O=system:nodes", { signerName })
    await eventually(async () => expect((await find("later")).status?.certificate).toBeDefined())
    expect((await find("two-names")).status?.conditions).toBeUndefined()
    await approve(request)
    await eventually(async () => {
      const { status } = await find("two-names")
      const message = "subject common name does not begin with system:node:"
      expect(status?.conditions).toMatchObject([{ type: "Approved" }, { type: "Failed", message }])
      expect(status?.certificate).toBeUndefined()
    })
  })
})

describe("a CertificateSigningRequest that cannot be processed yet", () => {
  const signerName = "kubernetes.io/kube-apiserver-client-kubelet"
  const subject = "CN=system:node:n1, O=system:nodes"

  async function requestIn(cluster: FakeCluster): Promise<CertificateSigningRequest> {
    const { request } = await createClientRequest(subject)
    return cluster.create<CertificateSigningRequest>(certificateSigningRequests, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "node" },
      spec: { request: Buffer.from(request).toString("base64"), signerName, usages: clientUsages, username: "n1" },
    } as CertificateSigningRequest)
  }
  const statusIn = (cluster: FakeCluster): CertificateSigningRequest["status"] =>
    cluster.find<CertificateSigningRequest>(certificateSigningRequests, undefined, "node")!.status

  test("is approved when its requestor is authorized later", async () => {
    const clock = new FakeClock()
    const cluster = new AnsweringCluster({ clock })
    await requestIn(cluster)
    await using _ = await startHarness({ only: ["certificatesigningrequest-approving"], clock, cluster })
    await eventually(() => expect(cluster.asked).toBe(1))
    cluster.isAllowed = true
    await eventually(() => {
      clock.advance(10)
      expect(statusIn(cluster)?.conditions).toMatchObject([{ type: "Approved", reason: "AutoApproved" }])
    })
    expect(cluster.asked).toBe(2)
  })

  test("is signed when the signer works again, and does not fail", async () => {
    const cluster = new FakeCluster()
    const request = await requestIn(cluster)
    const conditions = [{ type: "Approved", status: "True", reason: "Test", message: "it may" }]
    const approved = { ...request, status: { conditions } }
    await cluster.update<CertificateSigningRequest>(certificateSigningRequests, approved, { subresource: "status" })
    let times = 0
    await using _ = startControllers(singleCluster(cluster, "tenant-a"), {
      rootCertificateAuthority: "CA",
      signer: {
        sign: () => (++times < 3 ? Promise.reject(notFound({ group: "", resource: "x" }, "x")) : Promise.resolve("C")),
      },
      only: ["certificatesigningrequest-signing"],
    })
    await eventually(() => expect(statusIn(cluster)?.certificate).toBe(Buffer.from("C").toString("base64")))
    expect(times).toBe(3)
    expect(statusIn(cluster)?.conditions).toEqual(conditions)
  })
})

/** Answers SubjectAccessReviews. */
class AnsweringCluster extends FakeCluster {
  isAllowed = false
  asked = 0

  override async create<T extends KubeObject>(
    ...[resource, object, ...options]: Parameters<KubeClient["create"]>
  ): Promise<T> {
    if (resource.resource !== "subjectaccessreviews") return super.create<T>(resource, object as T, ...options)
    this.asked++
    return { ...object, status: { allowed: this.isAllowed } } as unknown as T
  }
}

describe("old requests", () => {
  const at = "2026-01-01T00:00:00Z"
  const hour = 3_600_000
  const request = (status: object): CertificateSigningRequest =>
    ({ metadata: { creationTimestamp: at }, status }) as unknown as CertificateSigningRequest
  const condition = (type: string): object => ({ type, status: "True", lastUpdateTime: at })

  test.each([
    ["are pending", {}, 24 * hour],
    ["were denied", { conditions: [condition("Denied")] }, hour],
    ["failed", { conditions: [condition("Approved"), condition("Failed")] }, hour],
    ["were approved but not signed", { conditions: [condition("Approved")] }, 24 * hour],
    ["were signed", { conditions: [condition("Approved")], certificate: "bm8=" }, hour],
  ])("that %s are deleted after their lifetime", (_, status, after) => {
    expect(expiresAt(request(status))).toBe(Date.parse(at) + after)
  })

  test("are deleted", async () => {
    const clock = new FakeClock(Date.parse(at))
    const cluster = new FakeCluster({ clock })
    await using harness = await startHarness({ only: ["certificatesigningrequest-cleaner"], clock, cluster })
    const { metadata } = await harness.create<KubeObject>(certificateSigningRequests, {
      apiVersion: "certificates.k8s.io/v1",
      kind: "CertificateSigningRequest",
      metadata: { name: "old" },
    })
    await eventually(() => {
      clock.advance(hour)
      expect(cluster.all(certificateSigningRequests)).toEqual([])
    })
    expect(clock.now() - Date.parse(metadata.creationTimestamp!)).toBeGreaterThanOrEqual(24 * hour)
    await expect(cluster.get(certificateSigningRequests, undefined, "old")).rejects.toSatisfy(isNotFound)
  })
})
