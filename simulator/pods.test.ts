import { describe, expect, test } from "vitest"
import type { Pod } from "../apimachinery/object.ts"
import { configMaps, events, pods, services } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import {
  cluster,
  conditionOf,
  container,
  exec,
  find,
  hasEvent,
  isGone,
  isReady,
  messagesOf,
  namespace,
  phase,
  podOf,
  ready,
  restart,
  run,
  running,
  simulator,
  sleeping,
  useSimulation,
} from "./testing/simulation.ts"

useSimulation()

describe("a pod", () => {
  test("is scheduled and becomes ready with an address of its node", async () => {
    const pod = await run("a", { containers: [sleeping] })
    expect(pod.spec?.nodeName).toMatch(/^node-[12]$/)
    expect(pod.status?.phase).toBe("Running")
    expect(pod.status?.podIP).toMatch(/^10\.12[89]\.0\.\d+$/)
    expect(pod.status?.podIPs).toEqual([{ ip: pod.status?.podIP }])
    expect(pod.status?.containerStatuses?.[0]).toMatchObject({
      name: "main",
      ready: true,
      started: true,
      restartCount: 0,
    })
    for (const type of ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"])
      expect(conditionOf(pod, type)?.status).toBe("True")
  })

  test("becomes ready in one write", async () => {
    await run("a", { containers: [sleeping] })
    expect(cluster.writes.filter((write) => write === "update pods default/a/status")).toHaveLength(1)
  })

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

  test("runs init containers in order, before the others", async () => {
    const pod = await run("init", {
      initContainers: [
        {
          ...container(["sh", "-c", "echo 1 >> /work/order"]),
          name: "first",
          volumeMounts: [{ name: "w", mountPath: "/work" }],
        },
        {
          ...container(["sh", "-c", "echo 2 >> /work/order"]),
          name: "second",
          volumeMounts: [{ name: "w", mountPath: "/work" }],
        },
      ],
      containers: [{ ...sleeping, volumeMounts: [{ name: "w", mountPath: "/work" }] }],
      volumes: [{ name: "w", emptyDir: {} }],
    })
    expect(await exec(pod, "cat", "/work/order")).toBe("1\n2\n")
    expect(pod.status?.initContainerStatuses?.map(({ ready: done }) => done)).toEqual([true, true])
  })

  test("is not blocked by an init container whose program is not simulated", async () => {
    const prepared = (restartPolicy?: "Always") => ({
      name: restartPolicy === undefined ? "prepares" : "beside",
      image: "registry.example.com/prepare:1",
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    })
    const pod = await run("prepared", {
      initContainers: [prepared(), prepared("Always")],
      containers: [{ ...sleeping }],
    })
    const states = pod.status?.initContainerStatuses?.map(({ state }) => state)
    expect(states).toMatchObject([{ terminated: { exitCode: 0, reason: "Completed" } }, { running: {} }])
  })

  test("waits for a ConfigMap its environment needs", async () => {
    const env = [{ name: "KEY", valueFrom: { configMapKeyRef: { name: "settings", key: "key" } } }]
    await cluster.create(pods, podOf("env", { containers: [{ ...sleeping, env }] }))
    const waiting = await eventually(() => find("env")?.status?.containerStatuses?.[0]?.state?.waiting?.message, {
      what: "it waits",
    })
    expect(waiting).toBe('configmap "settings" not found')
    await cluster.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace },
      data: { key: "value" },
    })
    expect(await exec(await ready("env"), "printenv", "KEY")).toBe("value\n")
  })

  test("has files of ConfigMaps, the downward API, services and tokens", async () => {
    await cluster.create(configMaps, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "c", namespace },
      data: { file: "text" },
    })
    await cluster.create(services, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "my-db", namespace },
      spec: { clusterIP: "10.0.0.5", ports: [{ port: 5432 }] },
    })
    const pod = await run("files", {
      serviceAccountName: "default",
      containers: [
        {
          ...sleeping,
          env: [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
          volumeMounts: [
            { name: "c", mountPath: "/c" },
            { name: "t", mountPath: "/t" },
          ],
        },
      ],
      volumes: [
        { name: "c", configMap: { name: "c" } },
        { name: "t", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
      ],
    })
    expect(await exec(pod, "cat", "/c/file", "/etc/hostname")).toBe("textfiles\n")
    expect(await exec(pod, "sh", "-c", "echo $POD $MY_DB_SERVICE_HOST:$MY_DB_SERVICE_PORT")).toBe(
      "files 10.0.0.5:5432\n",
    )
    expect(await exec(pod, "cat", "/t/token")).toMatch(/^token-/)
    expect(await exec(pod, "curl")).toBe("sh: curl: not found\n")
  })

  test("is ready when its probe succeeds", async () => {
    const readinessProbe = { exec: { command: ["cat", "/tmp/ready"] }, periodSeconds: 1 }
    await cluster.create(pods, podOf("probe", { containers: [container(["sleep", "3600"], { readinessProbe })] }))
    const pod = await phase("probe", "Running")
    expect(conditionOf(pod, "Ready")).toMatchObject({ status: "False", reason: "ContainersNotReady" })
    await exec(pod, "touch", "/tmp/ready")
    await ready("probe")
  })

  test("waits for its readiness gates", async () => {
    await cluster.create(
      pods,
      podOf("gate", { readinessGates: [{ conditionType: "x.io/open" }], containers: [sleeping] }),
    )
    const pod = await phase("gate", "Running")
    expect(conditionOf(pod, "Ready")?.reason).toBe("ReadinessGatesNotReady")
    const conditions = [...(pod.status?.conditions ?? []), { type: "x.io/open", status: "True" }]
    cluster.edit(pods, namespace, "gate", { status: { conditions } })
    await ready("gate")
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

  test("keeps its address across a restart of the simulator", async () => {
    const before = await run("stays", { containers: [sleeping] })
    await restart()
    const after = await eventually(
      () => {
        const found = find("stays")
        return found?.status?.containerStatuses?.[0]?.restartCount === 1 ? found : undefined
      },
      { what: "it runs again" },
    )
    expect(after.status?.podIP).toBe(before.status?.podIP)
    expect(isReady(after)).toBe(true)
  })

  test("records events", async () => {
    await run("told", { containers: [sleeping] })
    const reasons = (): string[] =>
      cluster
        .all(events)
        .filter((event) => (event["involvedObject"] as { name: string }).name === "told")
        .map((event) => event["reason"] as string)
    await eventually(() => reasons().includes("Started"), { what: "the event is recorded" })
    expect(reasons().sort()).toEqual(["Created", "Pulled", "Scheduled", "Started"])
  })
})
