// What a scenario is made of: steps a user would make, and what the nodes do meanwhile. Data, played alike on a real
// kube-controller-manager and on ours (play.ts); what is left at the end is compared (snapshot.ts).

import type { KubeObject } from "../../../apimachinery/object.ts"
import type { CustomMetric, Value } from "./custom-metrics.ts"

/** "deployments", "statefulsets", …: those of kinds.ts. In another namespace: what is there under that name. */
export type Where = [resource: string, name: string, namespace?: string]

/** What is refused is compared too, where it may be. */
export type Step = Action & { mayBeRefused?: true }

export type Action =
  | { create: object }
  /** A merge patch. `mayBeGone`: it is a matter of moments whether the object is still there. */
  | { patch: Where; with: object; subresource?: "scale" | "status" | "approval"; mayBeGone?: true }
  | { delete: Where; policy?: "Background" | "Foreground" | "Orphan" }
  /** All of the namespace. */
  | { deleteAll: string }
  /** A merge patch of all of the namespace, whose names may be random. */
  | { patchAll: string; with: object }
  /**
   * Until the object has these fields, and lacks the others; null: until it is gone. `late`: it takes longer than most, but no three
   * minutes.
   */
  | { until: Where; has: object | null; lacks?: object; late?: true }
  /** Until nothing has changed for a while. */
  | { settle: true }
  /** The node reports this of pods, those that match first by name; `count` of them, default all. */
  | { pods: PodReport; labels?: Record<string, string>; count?: number }
  /** Whether the lease of that node is renewed from now on. Default: it is not. */
  | { beats: string; is: boolean }
  /** As a scheduler would. */
  | { bind: [pod: string, node: string] }
  /** Deletes pods as a user would. */
  | { deletePods: Record<string, string>; count?: number }
  /** A merge patch of pods. */
  | { patchPods: Record<string, string>; with: object; subresource?: "status"; count?: number }
  /** What a metrics server says of pods. */
  | { usage: { cpu: string; memory: string }; count?: number }
  /** What the external metric "queue" is. */
  | { queue: string }
  /** What a custom metrics API says: the same of all pods, or the first of them, or of objects that are named. */
  | { custom: CustomMetric; is: string | readonly Value[]; count?: number }
  /** By the eviction API. */
  | { evictPods: Record<string, string>; count?: number }
  /** All at the same time; what is refused of them is compared in their order. */
  | { atOnce: readonly Action[] }

/** Restarts: how often the containers of a running pod did. Families: it is ready, with these addresses if it had none. */
export type PodReport =
  | "ready"
  | "unready"
  | "succeeded"
  | { exit: number; condition?: string }
  | { restarts: number }
  | { families: readonly Family[] }

export type Family = "IPv4" | "IPv6"

/**
 * "NAMESPACE" in its steps stands for the name of the namespace it is played in, "RANGE4" and "RANGE6" for the beginning of addresses that
 * are its own, "UID:<resource>/<name>" for an object's uid; it may say another namespace before the resource.
 */
export interface Scenario {
  name: string
  /** bound: pods get a node and end when they are deleted; ready: they also run and are ready at once; default: none. */
  nodes?: "ready" | "bound"
  /** Steps before the controllers are restarted (restarted.test.ts). */
  before?: readonly Step[]
  steps: readonly Step[]
  /** Types of conditions that depend on what was seen when: each with its reason where the scenario is. */
  ignoreConditions?: readonly string[]
}

export interface Snapshot {
  objects: Record<string, KubeObject[]>
  /** "Kind/name Type Reason: message", each once. */
  events: string[]
  /** How lines of events begin of which some may be missing (cut-events.ts). */
  cut: string[]
  /** "Reason: message", step by step. */
  refusals: string[]
}
