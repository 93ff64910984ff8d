import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { KubeObject, Secret, ServiceAccount } from "../../apimachinery/object.ts"
import { conflict, isNotFound, objectModified } from "../../apimachinery/status.ts"
import { configMaps, secrets, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import { startTestGateway, type TestGateway } from "../../gateway/testing/start-gateway.ts"
import { startControllers } from "../main.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually, startHarness } from "../testing/harness.ts"

let gateway: TestGateway
let controllers: AsyncDisposable
let client: KubeClient

beforeAll(async () => {
  gateway = await startTestGateway()
  await gateway.createTenant("a")
  client = gateway.gateway.tenants.client("a")
  const only = ["serviceaccount", "serviceaccount-token"]
  controllers = startControllers(gateway.gateway.tenants, { rootCertificateAuthority: "CA", only })
})

afterAll(async () => {
  await controllers[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const tokenSecret = (name: string, account: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, namespace: "default", annotations: { "kubernetes.io/service-account.name": account } },
  type: "kubernetes.io/service-account-token",
})

const find = (name: string): Promise<Secret> => client.get<Secret>(secrets, "default", name)
const decoded = (secret: Secret, key: string): string =>
  Buffer.from((secret.data as unknown as Record<string, string>)[key] ?? "", "base64").toString()

describe("a Secret for an account's token", () => {
  test("gets a token that is valid until the Secret is deleted", async () => {
    await client.create(serviceAccounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "robot", namespace: "default" },
      secrets: [{ name: "robot-token" }],
    } as KubeObject)
    await client.create(secrets, tokenSecret("robot-token", "robot"))
    await eventually(async () => expect(decoded(await find("robot-token"), "token")).not.toBe(""))
    const secret = await find("robot-token")
    const account = await client.get(serviceAccounts, "default", "robot")
    expect(secret.metadata.annotations).toMatchObject({ "kubernetes.io/service-account.uid": account.metadata.uid })
    expect([decoded(secret, "namespace"), decoded(secret, "ca.crt")]).toEqual(["default", "CA"])
    const ask = () => gateway.request("/tenants/a/api/v1/namespaces/default/pods", { token: decoded(secret, "token") })
    const answer = await ask()
    expect(answer.code).toBe(403)
    expect(answer.text).toContain('User \\"system:serviceaccount:default:robot\\" cannot list')
    await client.delete(secrets, "default", "robot-token")
    expect((await ask()).code).toBe(401)
    await eventually(async () => {
      expect((await client.get<ServiceAccount>(serviceAccounts, "default", "robot")).secrets ?? []).toEqual([])
    })
  })

  test("is deleted with its account, and if its account does not exist", async () => {
    await client.create(serviceAccounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "short", namespace: "default" },
    })
    await client.create(secrets, tokenSecret("short-token", "short"))
    await client.create(secrets, tokenSecret("lost-token", "nobody"))
    await eventually(async () => expect(decoded(await find("short-token"), "token")).not.toBe(""))
    await eventually(() => expect(find("lost-token")).rejects.toSatisfy(isNotFound))
    await client.delete(serviceAccounts, "default", "short")
    await eventually(() => expect(find("short-token")).rejects.toSatisfy(isNotFound))
  })

  test("is removed from its account's list when it is deleted, also with concurrent writes", async () => {
    const cluster = new FakeCluster()
    await using harness = await startHarness({ only: ["serviceaccount-token"], cluster })
    const metadata = { name: "robot", namespace: "default" }
    const named = [{ name: "robot-token" }, { name: "other" }]
    await harness.create(serviceAccounts, { apiVersion: "v1", kind: "ServiceAccount", metadata, secrets: named })
    await harness.create(secrets, tokenSecret("robot-token", "robot"))
    const resource = { group: "", resource: "serviceaccounts" }
    let conflicts = 3
    cluster.fail = (verb, of) =>
      verb === "update" && of === "serviceaccounts" && conflicts-- > 0
        ? conflict(resource, "robot", objectModified)
        : undefined
    await cluster.delete(secrets, "default", "robot-token")
    await eventually(() => {
      const account = cluster.find<ServiceAccount>(serviceAccounts, "default", "robot")
      expect(account?.secrets).toEqual([{ name: "other" }])
    })
    expect(conflicts).toBe(-1)
  })

  test("is not confused with another Secret", async () => {
    const metadata = { name: "plain", namespace: "default" }
    await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata })
    await client.create(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata })
    await client.create(secrets, tokenSecret("default-token", "default"))
    await eventually(async () => expect(decoded(await find("default-token"), "token")).not.toBe(""))
    expect((await find("plain")).data).toBeUndefined()
  })
})
