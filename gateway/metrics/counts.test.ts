import { describe, expect, test } from "vitest"
import { ControlPlaneCounts, Counts } from "./counts.ts"
import { dispatch, leave, type Passing, queue } from "./flow-counts.ts"
import { seriesKey } from "./request-counts.ts"

const lines = (text: string, pattern: RegExp): string[] => text.split("\n").filter((line) => pattern.test(line))

describe("counts of one control plane and of all", () => {
  test("contain users by kind, and decisions of authorization", () => {
    const all = new Counts()
    const [one, other] = [new ControlPlaneCounts(all), new ControlPlaneCounts(all)]
    one.authenticated("jane@example.com", Date.now() + 3_000_000)
    one.authenticated("jane", undefined)
    other.authenticated("admin", undefined)
    other.refused()
    one.authorized("Allow")
    other.authorized("NoOpinion")
    expect(lines(one.own.print(), /^auth/)).toEqual([
      'authenticated_user_requests{username="email_id"} 1',
      'authenticated_user_requests{username="other"} 1',
      'authentication_attempts{result="success"} 2',
      'authorization_attempts_total{result="allowed"} 1',
    ])
    expect(lines(all.print(), /^auth/)).toEqual([
      'authenticated_user_requests{username="admin"} 1',
      'authenticated_user_requests{username="email_id"} 1',
      'authenticated_user_requests{username="other"} 1',

      'authentication_attempts{result="success"} 3',
      'authentication_attempts{result="error"} 1',
      'authorization_attempts_total{result="allowed"} 1',
      'authorization_attempts_total{result="no-opinion"} 1',
    ])
    expect(one.own.print()).toContain('apiserver_client_certificate_expiration_seconds_bucket{le="3600"} 1')
  })

  test("contain a tenant's names only in its own metrics", () => {
    const all = new Counts()
    const one = new ControlPlaneCounts(all)
    one.webhookAnswered("secret.example.com", "admit", "CREATE", true, 0.01)
    one.eventsOf({ group: "secret.example.com", version: "v1", resource: "things" }, false)(2000)
    one.flows.of("secret", "level").dispatched++
    expect(one.own.print()).toContain('name="secret.example.com",operation="CREATE",rejected="true",type="admit"')
    expect(one.own.print()).toContain(
      'apiserver_watch_events_total{group="secret.example.com",resource="things",version="v1"} 1',
    )
    expect(all.print()).not.toContain("secret")
    expect(all.print()).toContain('apiserver_watch_events_total{group="",resource="",version=""} 1')
  })
})

describe("a tenant's counts can be reset", () => {
  const labels = {
    component: "apiserver",
    dryRun: "",
    verb: "WATCH",
    group: "",
    version: "v1",
    resource: "pods",
    subresource: "",
    scope: "cluster",
  }

  test("keeping the gauges of requests in progress", () => {
    const all = new Counts()
    const counts = new ControlPlaneCounts(all)
    const key = seriesKey(labels)
    const flow = counts.flows.of("s", "l")
    const request: Passing = { flow, queuedAt: undefined, isDispatched: false, isLongRunning: false }
    const sent = counts.eventsOf({ group: "", version: "v1", resource: "pods" }, true)
    counts.own.requests.begin("longRunning")
    counts.own.requests.begin("mutating")
    const leaveWatch = counts.own.requests.enter(labels, key)
    dispatch(request)
    sent(2000)
    counts.authorized("Allow")
    counts.admitted("admit", "CREATE", false, 1)
    counts.reset()
    expect(lines(counts.own.print(), /^[^#]/)).toEqual([
      'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 1',
      'apiserver_current_inflight_requests{request_kind="mutating"} 1',
      'apiserver_current_inflight_requests{request_kind="readOnly"} 0',
    ])
    expect(counts.flows.print([], 1)).toContain('current_executing_requests{flow_schema="s",priority_level="l"} 1')
    expect(counts.flows.print([], 1)).toContain('dispatched_requests_total{flow_schema="s",priority_level="l"} 0')
    expect(all.print()).toContain("apiserver_watch_events_total")
    sent(2000)
    leaveWatch()
    leave(request, false)
    expect(counts.own.print()).toContain('apiserver_watch_events_total{group="",resource="pods",version="v1"} 1')
    expect(counts.own.print()).toContain('subresource="",verb="WATCH",version="v1"} 0')
    expect(counts.flows.print([], 1)).toContain('current_executing_requests{flow_schema="s",priority_level="l"} 0')
  })
})

describe("a request in flow control", () => {
  const passing = (counts: ControlPlaneCounts, isLongRunning = false): Passing => ({
    flow: counts.flows.of("s", "l"),
    queuedAt: undefined,
    isDispatched: false,
    isLongRunning,
  })
  const flow = 'flow_schema="s",priority_level="l"'
  const has = (counts: ControlPlaneCounts, name: string, value: number, more = ""): void =>
    expect(counts.flows.print(["l"], 200)).toContain(`apiserver_flowcontrol_${name}{${flow}${more}} ${value}`)

  test("is counted while it is queued, while it is executed, and at its end", () => {
    const counts = new ControlPlaneCounts(new Counts())
    const request = passing(counts)
    queue(request)
    queue(request)
    has(counts, "current_inqueue_requests", 1)
    dispatch(request)
    has(counts, "current_inqueue_requests", 0)
    has(counts, "current_executing_requests", 1)
    has(counts, "current_executing_seats", 1)
    expect(counts.flows.print(["l"], 200)).toContain(
      'apiserver_flowcontrol_nominal_limit_seats{priority_level="l"} 200',
    )
    leave(request, false)
    has(counts, "current_executing_requests", 0)
    has(counts, "dispatched_requests_total", 1)
    expect(counts.flows.print(["l"], 200)).toContain(`request_wait_duration_seconds_count{execute="true",${flow}} 1`)
  })

  test("that ends while it is queued is counted with the reason", () => {
    const counts = new ControlPlaneCounts(new Counts())
    for (const isLate of [true, false]) {
      const request = passing(counts)
      queue(request)
      leave(request, isLate)
    }
    has(counts, "current_inqueue_requests", 0)
    has(counts, "rejected_requests_total", 1, ',reason="time-out"')
    has(counts, "rejected_requests_total", 1, ',reason="cancelled"')
    has(counts, "dispatched_requests_total", 0)
    expect(counts.flows.print(["l"], 200)).toContain(`request_wait_duration_seconds_count{execute="false",${flow}} 2`)
  })

  test("of a watch stops counting as executing when it has started", () => {
    const counts = new ControlPlaneCounts(new Counts())
    const request = passing(counts, true)
    dispatch(request)
    has(counts, "current_executing_requests", 0)
    leave(request, false)
    has(counts, "current_executing_requests", 0)
  })
})
