// The resources of a running polyplane: memory, open files, time series of its metrics. For benches that check whether they grow.

import { readdir } from "node:fs/promises"
import type { Polyplane } from "../test/harness/polyplane.ts"
import { residentMiB } from "./processor-time.ts"

export interface Held {
  memoryMiB: number
  /** Memory that does not belong to file pages. */
  anonymousMiB: number
  descriptors: number
  series: number
}

export async function heldBy(up: Polyplane): Promise<Held> {
  const { pid = 0 } = up
  const metrics = await up.kubectl(["get", "--raw", "/metrics"], { kubeconfig: "admin" })
  const series = metrics.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length
  const [memoryMiB, anonymousMiB] = await Promise.all([residentMiB([pid]), residentMiB([pid], "RssAnon")])
  return { memoryMiB, anonymousMiB, descriptors: (await readdir(`/proc/${pid}/fd`)).length, series }
}

/** Slope of `y` over `x` by least squares. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const x = mean(points.map((point) => point.x))
  const y = mean(points.map((point) => point.y))
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread
}
