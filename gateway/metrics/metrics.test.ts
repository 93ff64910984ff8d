import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ClientMetrics } from "../../client/metrics/client-metrics.ts"
import { startTestGateway, type TestGateway, type TestTenant } from "../testing/start-gateway.ts"

describe("/metrics", () => {
  let gateway: TestGateway
  let tenant: TestTenant
  const clientMetrics = new ClientMetrics()

  beforeAll(async () => {
    clientMetrics.queue("deployment").added("one/default/d")
    gateway = await startTestGateway({ clientMetrics, limits: { maxInFlight: 17 } })
    tenant = await gateway.createTenant("one")
  })
  afterAll(() => gateway[Symbol.asyncDispose]())

  test("a tenant sees only its own metrics", async () => {
    const { text, headers } = await gateway.request("/tenants/one/metrics", tenant)
    const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name)
    const foreign = families.filter((name) =>
      /^(?:process_(?!start_time)|polyplane_|workqueue_|rest_client_)/.test(name),
    )
    expect(families.length).toBeGreaterThan(10)
    expect(foreign).toEqual([])
    const [, began] = /^process_start_time_seconds (\S+)$/m.exec(text) ?? []
    expect(headers["process-start-time-unix"]).toBe(String(Math.floor(Number(began))))
  })

  test("the operator sees the process, its clients and all tenants, without names", async () => {
    const { text } = await gateway.request("/metrics", gateway.administrator)
    expect(text).toContain('workqueue_depth{name="deployment"} 1')
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m)
    expect(text).toMatch(/^polyplane_tenants 1$/m)
    expect(text).not.toContain('"one"')
  })

  test("a new priority level has the seats of its control plane", async () => {
    const spec = { type: "Limited", limited: { nominalConcurrencyShares: 1, limitResponse: { type: "Reject" } } }
    const path = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"
    const body = { metadata: { name: "level" }, spec }
    const { code } = await gateway.request(`/tenants/one${path}`, { ...tenant, method: "POST", body })
    expect(code).toBe(201)
    const { text } = await gateway.request("/tenants/one/metrics", tenant)
    expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="level"} 17')
    expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="global-default"} 17')
  })

  test("an aggregated API without a server is unavailable", async () => {
    const spec = {
      group: "none.example.com",
      version: "v1",
      groupPriorityMinimum: 1,
      versionPriority: 1,
      service: { namespace: "default", name: "none" },
      insecureSkipTLSVerify: true,
    }
    const path = "/apis/apiregistration.k8s.io/v1/apiservices"
    const body = { metadata: { name: "v1.none.example.com" }, spec }
    expect((await gateway.request(`/tenants/one${path}`, { ...tenant, method: "POST", body })).code).toBe(201)
    const { text } = await gateway.request("/tenants/one/metrics", tenant)
    expect(text).toContain('aggregator_unavailable_apiservice{name="v1.none.example.com"} 1')
    expect(text).toContain('aggregator_unavailable_apiservice{name="v1.apps"} 0')
  })
})
