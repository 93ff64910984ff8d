import { describe, expect, test } from "vitest"
import { configMaps, events, pods, services } from "../client/resources.ts"
import { eventually } from "../test/harness/eventually.ts"
import {
  cluster,
  conditionOf,
  container,
  exec,
  find,
  isReady,
  namespace,
  phase,
  podOf,
  ready,
  restart,
  run,
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
