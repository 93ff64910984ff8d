// Random resizes of pods: amounts of containers, init containers, sidecars and whole pods, on nodes that have them or not, with what the
// node has reported before.

import type { Json } from "../../../../apimachinery/object.ts"
import { chance, createRandom, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { JsonObject } from "../generate/objects.ts"
import { get, jsonPatch, mergePatch, patch, post, put, remove } from "../scenario.ts"
import { applyPatch, type RequestStep, type Scenario, strategicPatch } from "../scenario.ts"
import { titled } from "./titled.ts"

const pods = "/api/v1/namespaces/@{ns}/pods"
const length = 30
const names = ["a", "b", "c"]
const nodes = ["small", "large", "windows"]
const features: Readonly<Record<string, string[]>> = {
  large: ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"],
  windows: ["InPlacePodVerticalScalingInitContainers"],
}

export function randomResizeScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const steps = [
    ...nodes.flatMap(node),
    ...names.map((name) => made(random, name)),
    ...Array.from({ length }, () => pick(random, choices)(random, pick(random, names))),
    ...nodes.map((name) => remove(`/api/v1/nodes/${name}-@{id}`)),
  ]
  return { name: `resizes at random, seed ${seed}`, steps: titled(steps), anyOrder: true, byChance: true }
}

/** Until it is known to those who ask for it. */
function node(name: string): RequestStep[] {
  const allocatable = name === "large" ? { cpu: "64", memory: "64Gi", pods: "9" } : { cpu: "500m", memory: "1Gi" }
  const labels = { "kubernetes.io/os": name === "windows" ? "windows" : "linux" }
  const at = `/api/v1/nodes/${name}-@{id}`
  const probe = {
    metadata: { name: `probe-${name}` },
    spec: { nodeName: `${name}-@{id}`, containers: [container("m")] },
  }
  const asked = { spec: { containers: [{ name: "m", resources: { requests: { cpu: "65" } } }] } }
  return [
    post("/api/v1/nodes", { metadata: { name: `${name}-@{id}`, labels } }),
    patch(`${at}/status`, mergePatch, {
      status: { allocatable, capacity: allocatable, declaredFeatures: features[name] ?? [] },
    }),
    post(pods, { ...probe, spec: { ...probe.spec, containers: [container("m", { requests: { cpu: "1m" } })] } }),
    patch(`${pods}/probe-${name}/resize?dryRun=All`, strategicPatch, asked, {
      untilText: [`allocatable: ${name === "large" ? 64_000 : 500}`, "only supported on linux"],
    }),
  ]
}

const container = (name: string, resources: Json = {}): JsonObject => ({ name, image: "i", resources })

const cpus = ["100m", "0.1", "1", "2", "0", "50m", "1500m", "1e-1"]
const memories = ["64Mi", "67108864", "1Gi", "2Gi", "0", "128974848", "100M"]

function amounts(random: Random): JsonObject {
  return {
    ...(chance(random, 0.6) ? { cpu: pick(random, cpus) } : {}),
    ...(chance(random, 0.5) ? { memory: pick(random, memories) } : {}),
    ...(chance(random, 0.06) ? { "ephemeral-storage": "1Gi" } : {}),
    ...(chance(random, 0.04) ? { "example.com/gpu": "1" } : {}),
    ...(chance(random, 0.03) ? { "hugepages-2Mi": "2Mi" } : {}),
  }
}

/** Mostly requests below limits, of which there are some for every class of service. */
function resources(random: Random): JsonObject {
  const asked = amounts(random)
  return pick<() => JsonObject>(random, [
    () => ({}),
    () => ({ requests: asked }),
    () => ({ requests: asked, limits: asked }),
    () => ({ limits: asked }),
    () => ({ requests: { cpu: "50m", memory: "64Mi" }, limits: { cpu: "2", memory: "2Gi" } }),
    () => ({ requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } }),
    () => ({ requests: asked, limits: amounts(random) }),
    () => ({ requests: {}, limits: {}, ...(chance(random, 0.2) ? { claims: [{ name: "c" }] } : {}) }),
  ])()
}

function policies(random: Random): JsonObject {
  if (!chance(random, 0.3)) return {}
  return {
    resizePolicy: ["cpu", "memory"].flatMap((resourceName) =>
      chance(random, 0.7)
        ? [
            {
              resourceName,
              restartPolicy: pick(random, ["NotRequired", "RestartContainer", "RestartContainer", "Odd"]),
            },
          ]
        : [],
    ),
  }
}

function containers(random: Random): JsonObject {
  const sized = (name: string): JsonObject => ({ ...container(name, resources(random)), ...policies(random) })
  const kinds: readonly JsonObject[] = [{}, { restartPolicy: "Always" }]
  return {
    containers: [sized("m"), ...(chance(random, 0.4) ? [sized("n")] : [])],
    ...(chance(random, 0.4)
      ? {
          initContainers: ["i", "j"]
            .slice(0, 1 + random(2))
            .map((name) => ({ ...sized(name), ...pick(random, kinds) })),
        }
      : {}),
    ...(chance(random, 0.3) ? { resources: resources(random) } : {}),
  }
}

function made(random: Random, name: string): RequestStep {
  const metadata = { name, ...(chance(random, 0.05) ? { annotations: { "kubernetes.io/config.mirror": "x" } } : {}) }
  const spec = {
    ...containers(random),
    ...(chance(random, 0.7) ? { nodeName: pick(random, [...nodes.map((one) => `${one}-@{id}`), "absent"]) } : {}),
    ...(chance(random, 0.2) ? { overhead: { cpu: "100m" } } : {}),
    ...(chance(random, 0.1) ? { os: { name: pick(random, ["linux", "windows"]) } } : {}),
    ...(chance(random, 0.1) ? { restartPolicy: "Never" } : {}),
    ...(chance(random, 0.1) ? { resourceClaims: [{ name: "c", resourceClaimName: "c" }] } : {}),
  }
  return post(pods, { metadata, spec })
}

const dry = (random: Random): string => (chance(random, 0.2) ? "?dryRun=All" : "")

type Choice = (random: Random, name: string) => RequestStep

const resizes: Choice = (random, name) => {
  const path = `${pods}/${name}/resize${dry(random)}`
  const sized = (list: string, one: string): JsonObject => ({
    [list]: [{ name: one, resources: resources(random), ...(chance(random, 0.2) ? policies(random) : {}) }],
  })
  const spec = pick<() => JsonObject>(random, [
    () => sized("containers", pick(random, ["m", "m", "n", "x"])),
    () => sized("containers", "m"),
    () => sized("initContainers", pick(random, ["i", "j"])),
    () => ({ resources: resources(random) }),
    () => ({ ...sized("containers", "m"), resources: resources(random) }),
    () => ({ resources: null }),
    () => ({ ...sized("containers", "m"), nodeName: "other", priority: 5 }),
  ])()
  return patch(path, strategicPatch, { spec })
}

const choices: readonly Choice[] = [
  resizes,
  resizes,
  resizes,
  resizes,
  resizes,
  resizes,
  (random, name) => patch(`${pods}/${name}/resize${dry(random)}`, mergePatch, { spec: containers(random) }),
  (random, name) =>
    patch(`${pods}/${name}/resize${dry(random)}`, jsonPatch, [
      pick<Json>(random, [
        { op: "remove", path: "/spec/containers/0/resources" },
        { op: "remove", path: "/spec/containers/0/resources/limits" },
        { op: "remove", path: "/spec/containers/0/resizePolicy" },
        { op: "add", path: "/spec/containers/0/resources", value: resources(random) },
        { op: "replace", path: "/spec/resources", value: resources(random) },
        { op: "add", path: "/spec/containers/0/image", value: "other" },
      ]),
    ]),
  (random, name) => {
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: containers(random) }
    return patch(`${pods}/${name}/resize?fieldManager=r&force=true`, applyPatch, body)
  },
  (random, name) => put(`${pods}/${name}/resize${dry(random)}`, { metadata: { name }, spec: containers(random) }),
  (random, name) => patch(`${pods}/${name}`, mergePatch, { spec: containers(random) }),
  reports,
  reports,
  (random, name) => made(random, name),
  (_, name) => remove(`${pods}/${name}?gracePeriodSeconds=0`),
  (_, name) => get(`${pods}/${name}`),
]

function reports(random: Random, name: string): RequestStep {
  const running = { state: { running: {} }, ...(chance(random, 0.7) ? { resources: resources(random) } : {}) }
  const status = {
    ...(chance(random, 0.7)
      ? {
          containerStatuses: [{ name: "m", ready: true, restartCount: 0, image: "i", imageID: "", ...running }],
        }
      : {}),
    ...(chance(random, 0.3) ? { qosClass: pick(random, ["Burstable", "Guaranteed", "BestEffort"]) } : {}),
    ...(chance(random, 0.3) ? { resources: resources(random), allocatedResources: amounts(random) } : {}),
    ...(chance(random, 0.3)
      ? { conditions: [{ type: "PodResizePending", status: "True", reason: "Deferred", observedGeneration: 1 }] }
      : {}),
    ...(chance(random, 0.2) ? { resize: pick(random, ["Proposed", "InProgress"]) } : {}),
  }
  return patch(`${pods}/${name}/status`, mergePatch, { status })
}
