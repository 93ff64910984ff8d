// Completion indexes of Indexed Jobs, as text like "0-2,5". Pure. Source: k8s.io/kubernetes/pkg/controller/job/indexed_job_utils.go.

import type { Pod } from "../../apimachinery/object.ts"

export const indexLabel = "batch.kubernetes.io/job-completion-index"

export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexLabel] ?? pod.metadata.labels?.[indexLabel]
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

/** Indexes at or beyond `completions` are left out: the Job may have been made smaller. */
export function parseIndexes(text: string | undefined, completions: number): Set<number> {
  const indexes = new Set<number>()
  for (const part of (text ?? "").split(",")) {
    const [first, last = first] = part.split("-").map(Number)
    if (part === "" || first === undefined || last === undefined || Number.isNaN(first)) continue
    for (let index = first; index <= Math.min(last, completions - 1); index++) indexes.add(index)
  }
  return indexes
}

export function printIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b)
  const parts: string[] = []
  for (let at = 0; at < sorted.length;) {
    const first = sorted[at] ?? 0
    let last = first
    while (sorted[++at] === last + 1) last++
    // Upstream writes two neighbours as a list and more as a range.
    parts.push(last === first ? String(first) : last === first + 1 ? `${first},${last}` : `${first}-${last}`)
  }
  return parts.join(",")
}

/** The lowest indexes that neither completed nor are being worked on. */
export function missingIndexes(completions: number, taken: ReadonlySet<number>, count: number): number[] {
  const missing: number[] = []
  for (let index = 0; index < completions && missing.length < count; index++) if (!taken.has(index)) missing.push(index)
  return missing
}
