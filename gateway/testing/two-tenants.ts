// A gateway with two tenants, "a" and "b", each of which has a host name of its own. For tests.

import { afterAll, beforeAll } from "vitest"
import type { ServiceAccount } from "../../apimachinery/object.ts"
import { serviceAccounts } from "../../client/resources.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "./start-gateway.ts"

export const domain = "tenants.test"
export let fixture: TestGateway
export let a: TestTenant
export let b: TestTenant
/** Of the service account "default" in the namespace "default". */
export let tokenA: string
export let tokenB: string

/** All tests of the file share the gateway. */
export function useTwoTenants(): void {
  beforeAll(async () => {
    fixture = await startTestGateway({ domain })
    a = await fixture.createTenant("a")
    b = await fixture.createTenant("b")
    tokenA = await tokenOf("a")
    tokenB = await tokenOf("b")
  })
  afterAll(async () => {
    await fixture?.[Symbol.asyncDispose]()
  })
}

/** Of that account. */
export async function tokenOf(tenant: string, audiences: string[] = []): Promise<string> {
  const client = fixture.gateway.tenants.client(tenant)
  const account = await client.get<ServiceAccount>(serviceAccounts, "default", "default")
  const { token } = await (await fixture.gateway.tenants.byName(tenant))!.tokens.issue({
    namespace: "default",
    serviceAccount: { name: "default", uid: account.metadata.uid ?? "" },
    audiences,
    expirationSeconds: 3600,
  })
  return token
}
