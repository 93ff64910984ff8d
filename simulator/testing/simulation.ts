// The simulator on a fake cluster with two nodes, for tests.

import { afterEach, beforeEach } from "vitest"
import type { KubeObject, Pod } from "../../apimachinery/object.ts"
import { events, pods } from "../../client/resources.ts"
import { FakeCluster } from "../../client/testing/fake-cluster.ts"
import { eventually } from "../../test/harness/eventually.ts"
import type { SimulatedContainer } from "../container/container.ts"
import { startSimulator, type Simulator } from "../main.ts"

export const namespace = "default"
export let cluster: FakeCluster
export let simulator: Simulator

const start = (): Promise<Simulator> => startSimulator({ client: cluster, nodes: 2, kubeletPort: () => 10250 })

/** Each test of the file has its own. */
export function useSimulation(): void {
  beforeEach(async () => {
    cluster = new FakeCluster({ isPopulated: true })
    simulator = await start()
  })
  afterEach(() => simulator[Symbol.asyncDispose]())
}

export async function restart(): Promise<void> {
  await simulator[Symbol.asyncDispose]()
  simulator = await start()
}

export function podOf(name: string, spec: Record<string, unknown>): KubeObject {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, spec }
}

export const container = (command: string[], more: Record<string, unknown> = {}) => ({
  name: "main",
  image: "busybox",
  command,
  ...more,
})

export const sleeping = container(["sleep", "3600"])

export const find = (name: string): Pod | undefined => cluster.find<Pod>(pods, namespace, name)

export const conditionOf = (pod: Pod | undefined, type: string) =>
  pod?.status?.conditions?.find((condition) => condition.type === type)

export const isReady = (pod: Pod | undefined): boolean => conditionOf(pod, "Ready")?.status === "True"

export function ready(name: string): Promise<Pod> {
  return eventually(() => (isReady(find(name)) ? find(name) : undefined), { what: `${name} is ready` })
}

export function phase(name: string, wanted: string): Promise<Pod> {
  const what = `${name} is ${wanted}`
  return eventually(() => (find(name)?.status?.phase === wanted ? find(name) : undefined), { what })
}

/** Resolves when the pod is ready. */
export async function run(name: string, spec: Record<string, unknown>): Promise<Pod> {
  await cluster.create(pods, podOf(name, spec))
  return ready(name)
}

export function isGone(name: string): Promise<unknown> {
  return eventually(() => find(name) === undefined, { what: `${name} is gone` })
}

/** Of the events about a pod with that reason. */
export function messagesOf(name: string, reason: string): string[] {
  return cluster.all(events).flatMap((event) => {
    const { name: involved } = event["involvedObject"] as { name: string }
    return involved === name && event["reason"] === reason ? (event["message"] as string) : []
  })
}

export function hasEvent(name: string, reason: string): Promise<unknown> {
  return eventually(() => messagesOf(name, reason).length > 0, { what: `${name} has an event ${reason}` })
}

export function running({ spec, metadata }: Pod, container = "main"): SimulatedContainer {
  const found = simulator.sandbox(spec?.nodeName ?? "", namespace, metadata.name ?? "")
  const one = found?.find(container)?.current
  if (one === undefined) throw new Error("the pod does not run")
  return one
}

/** Returns the output. */
export async function exec(pod: Pod, ...command: string[]): Promise<string> {
  let output = ""
  const write = (text: string): void => void (output += text)
  await running(pod).exec(command, { stdout: write, stderr: write }, new AbortController().signal)
  return output
}
