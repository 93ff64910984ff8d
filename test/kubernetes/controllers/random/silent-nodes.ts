// Nodes that report this and that, fall silent, speak again, are deleted and made again, with pods that tolerate this for ever, for a time
// or not at all. Upstream looks at nodes every 5 s, takes them for silent after 50 s, and deletes pods of nodes that are gone after 40 s
// and more: each scenario takes minutes, and each step is waited for.

import { chance, pick, type Random } from "../../../../apimachinery/testing/random.ts"
import type { Step } from "../scenario.ts"
import { held, nodeNamed, own, podOn, saysAt, tolerates } from "../scenarios/node-steps.ts"
import { labels, settle } from "../scenarios/steps.ts"
import { type Family, maybe, refusable, reported, some } from "./family.ts"

const names = ["a", "b"] as const
const mostSilences = 2
/** Longer than upstream waits until it looks again. */
const seen = [settle, settle, settle]
const prefix = "node.kubernetes.io/"
const notReady = `${prefix}not-ready`
const unreachable = `${prefix}unreachable`

export const silentNodes: Family = (random) => {
  const world = new World(random)
  const steps: (() => Step[])[] = [
    () => world.newPod(),
    () => world.newPod(),
    () => world.speak(),
    () => world.speak(),
    () => world.speak(),
    () => world.fallSilent(),
    () => world.fallSilent(),
    () => world.fallSilent(),
    () => world.fallSilent(),
    () => world.deleteOrMake(),
    () => world.taint(),
    () => world.taint(),
    () => world.patch({ spec: { unschedulable: chance(random, 0.5) } }),
    () => world.patch({ metadata: { labels: { [`${prefix}exclude-disruption`]: pick(random, ["", null]) } } }),
    () => world.patch({ metadata: { labels: { "topology.kubernetes.io/zone": pick(random, zones) } } }),
    () => [reported(random, ["ready", "ready", "unready", "succeeded", { exit: 1 }])],
    () => [{ patchPods: labels, with: { spec: { tolerations: randomTolerations(random) } }, count: 1 }],
    () => [{ patchPods: labels, with: { metadata: { finalizers: pick(random, [null, held.finalizers]) } }, count: 1 }],
    () => [{ deletePods: labels, count: 1 }],
    () => [{ evictPods: labels, count: 1 }],
  ]
  const begin = world.begin()
  const turns = [world.newPod(), world.newPod(), ...some(random, 5, 9, () => pick(random, steps)())]
  return { steps: [...begin, ...turns.flatMap((turn) => [...turn.map(refusable), settle])] }
}

const zones = ["NAMESPACE", "NAMESPACE-2"]

interface NodeState {
  /** What its Ready condition says. "gone": it is deleted. */
  ready: "True" | "False" | "Unknown" | "gone"
  isSilent: boolean
}

class World {
  readonly #random: Random
  readonly #states = new Map<string, NodeState>()
  #pods = 0
  #words = 0
  #silences = 0

  constructor(random: Random) {
    this.#random = random
  }

  begin(): Step[] {
    return [...names.flatMap((name) => this.#make(name)), ...seen]
  }

  newPod(): Step[] {
    const random = this.#random
    const node = this.#present()
    if (node === undefined) return []
    const metadata = { labels, ...maybe(random, 0.25, held) }
    const spec = {
      tolerations: randomTolerations(random),
      ...maybe(random, 0.3, { terminationGracePeriodSeconds: 0 }),
      ...maybe(random, 0.2, { restartPolicy: "Never" }),
    }
    return [podOn(node, `p${this.#pods++}`, metadata, spec), ...maybeReady(random)]
  }

  /** A kubelet reports its state, and lives. */
  speak(name = this.#present()): Step[] {
    if (name === undefined) return []
    const random = this.#random
    const ready = pick(random, ["True", "True", "False"] as const)
    const at = `2026-01-01T00:${String(++this.#words).padStart(2, "0")}:00Z`
    this.#states.set(name, { ready, isSilent: false })
    return [
      { beats: `NAMESPACE-${name}`, is: true },
      saysAt(at, name, ["Ready", ready], ...pressures(random)),
      ...this.#isTainted(name),
    ]
  }

  fallSilent(): Step[] {
    const name = this.#present()
    const state = this.#states.get(name ?? "")
    if (name === undefined || state === undefined || state.isSilent || this.#silences === mostSilences) return []
    return [{ beats: `NAMESPACE-${name}`, is: false }, ...this.#isNoticed(name)]
  }

  #isNoticed(name: string): Step[] {
    this.#silences++
    this.#states.set(name, { ready: "Unknown", isSilent: true })
    const conditions = [{ type: "Ready", status: "Unknown" }]
    const isUnknown: Step = { until: ["nodes", `NAMESPACE-${name}`], has: { status: { conditions } }, late: true }
    return [isUnknown, ...this.#isTainted(name)]
  }

  /** Its pods are gone when one is that nothing holds. */
  deleteOrMake(): Step[] {
    const [gone] = [...this.#states].find(([, { ready }]) => ready === "gone") ?? []
    if (gone !== undefined) return [...this.#make(gone), ...seen]
    const name = this.#present() ?? ""
    this.#states.set(name, { ready: "gone", isSilent: true })
    const last = `last${this.#pods++}`
    return [
      { beats: `NAMESPACE-${name}`, is: false },
      podOn(name, last),
      settle,
      { delete: ["nodes", `NAMESPACE-${name}`] },
      { until: ["pods", last], has: null, late: true },
    ]
  }

  taint(): Step[] {
    const random = this.#random
    const taints = some(random, 0, 2, () => ({
      key: pick(random, keys),
      effect: pick(random, ["NoExecute", "NoExecute", "NoSchedule"]),
      ...maybe(random, 0.3, { value: pick(random, ["x", "y"]) }),
    }))
    return this.patch({ spec: { taints: [own, ...unique(taints)] } })
  }

  patch(fields: object): Step[] {
    const name = this.#present()
    return name === undefined ? [] : [{ patch: ["nodes", `NAMESPACE-${name}`], with: fields }, ...this.#isTainted(name)]
  }

  #make(name: string): Step[] {
    const isMute = this.#silences < mostSilences && chance(this.#random, 0.15)
    return [nodeNamed(name), ...(isMute ? this.#isNoticed(name) : this.speak(name))]
  }

  #present(): string | undefined {
    const present = names.filter((name) => {
      const state = this.#states.get(name)
      return state !== undefined && state.ready !== "gone"
    })
    return present.length === 0 ? undefined : pick(this.#random, present)
  }

  /** Its pods are to go, or may stay. */
  #isTainted(name: string): Step[] {
    const ready = this.#states.get(name)?.ready
    const node: [string, string] = ["nodes", `NAMESPACE-${name}`]
    const by = (key: string): object => ({ spec: { taints: [{ key, effect: "NoExecute" }] } })
    const lacks = (key: string): Step => ({ until: node, has: {}, lacks: by(key) })
    if (ready === "True") return [lacks(notReady), lacks(unreachable)]
    const [key, other] = ready === "False" ? [notReady, unreachable] : [unreachable, notReady]
    return [{ until: node, has: by(key) }, lacks(other)]
  }
}

/** Those of a node's state are taken away again by upstream within 5 s. */
const keys = ["leave", "go"] as const

/** Once each. */
const unique = <T extends { key: string; effect: string }>(taints: readonly T[]): T[] => [
  ...new Map(taints.map((taint) => [`${taint.key} ${taint.effect}`, taint])).values(),
]

const maybeReady = (random: Random): Step[] => (chance(random, 0.6) ? [{ pods: "ready" }] : [])

const pressures = (random: Random): [type: string, status: string][] =>
  ["MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"]
    .filter(() => chance(random, 0.4))
    .map((type) => [type, pick(random, ["True", "False", "False", "Unknown"])])

/** For no time, or for longer than a scenario; otherwise those of a node's state would be tolerated for five minutes. */
function randomTolerations(random: Random): object[] {
  const forSome = (): object => maybe(random, 0.75, { tolerationSeconds: pick(random, [0, 1, 3600, 7200]) })
  const toleration = (key: string, time: object): object => ({ key, operator: "Exists", effect: "NoExecute", ...time })
  return [
    tolerates,
    toleration(notReady, forSome()),
    toleration(unreachable, forSome()),
    ...some(random, 0, 1, () => toleration(pick(random, keys), forSome())),
  ]
}
