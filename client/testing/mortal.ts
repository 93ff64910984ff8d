// What a process uses until it dies, between any two of its requests: it hears of no answer any more, and its further calls reach nobody.

import type { KubeClient } from "../rest.ts"
import type { TenantIdentity, Tenants, TenantUse } from "../tenants.ts"

export interface Life {
  isOver: boolean
}

const never = (): Promise<never> => new Promise(() => undefined)

export function mortalClient(client: KubeClient, life: Life): KubeClient {
  const call =
    (method: (...args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      if (life.isOver) return never()
      const answer = method(...args)
      return answer instanceof Promise ? answer.finally(() => (life.isOver ? never() : undefined)) : answer
    }
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? call(value.bind(target) as (...args: unknown[]) => unknown) : value
    },
  })
}

export function mortalTenants(tenants: Tenants, life: Life): Tenants {
  const client = (tenant: string | TenantIdentity, use?: TenantUse): KubeClient =>
    mortalClient(tenants.client(tenant, use), life)
  return new Proxy(tenants, {
    get(target, name) {
      if (name === "client") return client
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
  })
}
