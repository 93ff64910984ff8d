// How pods and their containers end, and what is reported of it.

import { describe, expect, test } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { events, pods } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import {
  cluster,
  container,
  exec,
  find,
  hasEvent,
  isGone,
  messagesOf,
  namespace,
  phase,
  podOf,
  run,
  running,
  simulator,
  sleeping,
  useSimulation,
} from "./testing/simulation.ts"

useSimulation()

describe("a pod", () => {
  test("runs its command to the end", async () => {
    await cluster.create(
      pods,
      podOf("ok", { restartPolicy: "Never", containers: [container(["sh", "-c", "echo done"])] }),
    )
    const pod = await phase("ok", "Succeeded")
    expect(running(pod).log.lines.map(({ text }) => text)).toEqual(["done"])
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 0, reason: "Completed" })
    await cluster.create(
      pods,
      podOf("bad", { restartPolicy: "Never", containers: [container(["sh", "-c", "exit 3"])] }),
    )
    const failed = await phase("bad", "Failed")
    expect(failed.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ exitCode: 3, reason: "Error" })
  })

  test("that keeps failing backs off", async () => {
    await cluster.create(pods, podOf("crash", { containers: [container(["false"])] }))
    const pod = await eventually(
      () => {
        const found = find("crash")
        return found?.status?.containerStatuses?.[0]?.state?.waiting?.reason === "CrashLoopBackOff" ? found : undefined
      },
      { what: "it backs off" },
    )
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 1 } },
    })
    expect(pod.status?.phase).toBe("Running")
  })

  test("restarts containers by their own rules and policies, then by that of the pod", async () => {
    const rule = { action: "Restart", exitCodes: { operator: "In", values: [42] } }
    const ends = (code: number, more: Record<string, unknown>) => container(["sh", "-c", `exit ${code}`], more)
    const pod = podOf("rules", {
      containers: [
        sleeping,
        ends(3, { name: "never", restartPolicy: "Never" }),
        ends(42, { name: "matched", restartPolicy: "Never", restartPolicyRules: [rule] }),
        ends(0, { name: "done", restartPolicy: "OnFailure" }),
        ends(0, { name: "again" }),
      ],
    })
    await cluster.create(pods, pod)
    const states = (): (string | undefined)[] | undefined =>
      find("rules")?.status?.containerStatuses?.map(
        ({ state }) => state?.waiting?.reason ?? state?.terminated?.reason ?? "Running",
      )
    await expect.poll(states).toEqual(["Running", "Error", "CrashLoopBackOff", "Completed", "CrashLoopBackOff"])
    expect(find("rules")?.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 0, 1, 0, 1])
  })

  test("ends when none of its containers restarts, whatever its own policy", async () => {
    const once = container(["sh", "-c", "exit 3"], { restartPolicy: "Never" })
    await cluster.create(pods, podOf("failed", { containers: [once] }))
    await phase("failed", "Failed")
    await cluster.create(
      pods,
      podOf("unprepared", { initContainers: [{ ...once, name: "i" }], containers: [sleeping] }),
    )
    await phase("unprepared", "Failed")
  })

  test("fails when its deadline has passed", async () => {
    await cluster.create(pods, podOf("late", { activeDeadlineSeconds: 1, containers: [sleeping] }))
    expect((await phase("late", "Failed")).status?.reason).toBe("DeadlineExceeded")
    const [event] = cluster.all(events).filter(({ reason }) => reason === "DeadlineExceeded")
    expect(event).toMatchObject({ involvedObject: { name: "late" }, count: 1 })
  })

  test.each([
    { name: "said", script: "echo done > /dev/termination-log", message: "done\n" },
    { name: "unsaid", script: "echo why; exit 3", policy: "FallbackToLogsOnError", message: "why\n" },
    { name: "quiet", script: "echo why; exit 3", policy: "File", message: undefined },
    { name: "fine", script: "echo why", policy: "FallbackToLogsOnError", message: undefined },
  ])("reports what a container said last: $name", async ({ name, script, policy = "File", message }) => {
    const more = { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: policy }
    const containers = [container(["sh", "-c", script], more)]
    await cluster.create(pods, podOf(name, { restartPolicy: "Never", containers }))
    const pod = await phase(name, script.includes("exit") ? "Failed" : "Succeeded")
    expect(pod.status?.containerStatuses?.[0]?.state?.terminated?.message).toBe(message)
  })

  test("ends when it is deleted and reports how its containers ended", async () => {
    const pod = await run("gone", { containers: [sleeping] })
    const phases: unknown[] = []
    cluster.onChange(({ object }) => {
      if (object.metadata.name === "gone") phases.push((object as Pod).status?.phase)
    })
    await cluster.delete(pods, namespace, "gone")
    await eventually(() => find("gone") === undefined, { what: "it is gone" })
    expect(phases).toContain("Failed")
    expect(simulator.sandbox(pod.spec?.nodeName ?? "", namespace, "gone")).toBeUndefined()
  })

  test("ends its sidecars after the others, the last first, and reports each once", async () => {
    const sidecar = (name: string) => ({ ...sleeping, name, restartPolicy: "Always" })
    const pod = await run("helped", { initContainers: [sidecar("one"), sidecar("two")], containers: [sleeping] })
    const ended: string[] = []
    for (const name of ["one", "main", "two"]) void running(pod, name).ended.then(() => ended.push(name))
    await cluster.delete(pods, namespace, "helped", { gracePeriodSeconds: 3600 })
    await isGone("helped")
    expect(ended).toEqual(["main", "two", "one"])
    const messages = ["main", "one", "two"].map((name) => `Stopping container ${name}`)
    await eventually(() => messagesOf("helped", "Killing").length >= messages.length, { what: "its events" })
    expect(messagesOf("helped", "Killing").toSorted()).toEqual(messages)
  })

  test("is finished when its sidecars have ended as well", async () => {
    const lifecycle = { preStop: { exec: { command: ["sh", "-c", "until test -e /go; do sleep 1; done"] } } }
    const sidecar = { ...sleeping, name: "beside", restartPolicy: "Always", lifecycle }
    const main = container(["sh", "-c", "until test -e /go; do sleep 1; done"])
    const pod = await run("finishing", {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 3600,
      initContainers: [sidecar],
      containers: [main],
    })
    await exec(pod, "touch", "/go")
    await hasEvent("finishing", "Killing")
    const isReported = () => find("finishing")?.status?.containerStatuses?.[0]?.state?.terminated !== undefined
    await eventually(isReported, { what: "the end of its container" })
    expect(find("finishing")?.status?.phase).toBe("Running")
    const streams = { stdout: () => {}, stderr: () => {} }
    await running(pod, "beside").exec(["touch", "/go"], streams, new AbortController().signal)
    expect((await phase("finishing", "Succeeded")).status?.initContainerStatuses).toMatchObject([
      { state: { terminated: {} } },
    ])
  })
})
