// Warnings about files of a volume that hide each other. Source: k8s.io/kubernetes/pkg/api/pod/warnings.go.

import type { Volume } from "./types.ts"
import { trimRight } from "../../../../apimachinery/texts.ts"

interface Place {
  path: string
  /** The source of the file, if a volume has several. */
  source: string
}

/** No more than these are told: warnings of 4 KiB (filters/warnings.ts). A volume, or a port, may have a thousand million such pairs. */
export const maxWarnings = 100

export function volumePathWarnings(volumes: readonly Volume[]): string[] {
  const warnings: string[] = []
  for (const warning of pathWarnings(volumes)) if (warnings.push(warning) === maxWarnings) break
  return warnings
}

function* pathWarnings(volumes: readonly Volume[]): Generator<string, void> {
  for (const volume of volumes) {
    const { configMap, secret, downwardAPI } = volume
    if (configMap?.items) yield* overlaps(volume.name, `ConfigMap "${configMap.name ?? ""}"`, placesOf(configMap.items))
    if (secret?.items) yield* overlaps(volume.name, `Secret "${secret.secretName ?? ""}"`, placesOf(secret.items))
    if (downwardAPI?.items) yield* overlaps(volume.name, "DownwardAPI", placesOf(downwardAPI.items))
    if (volume.projected) yield* projectedWarnings(volume)
  }
}

type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number]

function* projectedWarnings({ name, projected }: Volume): Generator<string, void> {
  const sources = projected?.sources ?? []
  if (sources.some((source) => Object.keys(source).length === 0))
    yield `volume ${JSON.stringify(name)} (Projected) has no sources provided`
  yield* overlaps(name, "Projected", sources.flatMap(placesOfProjection))
}

function placesOfProjection({ configMap, secret, downwardAPI, serviceAccountToken }: Projection): Place[] {
  if (configMap?.items !== undefined) return placesOf(configMap.items, `ConfigMap "${configMap.name ?? ""}"`)
  if (secret?.items !== undefined) return placesOf(secret.items, `Secret "${secret.name ?? ""}"`)
  if (downwardAPI?.items !== undefined) return placesOf(downwardAPI.items, "DownwardAPI")
  return placesOf(serviceAccountToken === undefined ? [] : [serviceAccountToken], "ServiceAccountToken")
}

function placesOf(items: readonly { path?: string }[] | undefined, source = ""): Place[] {
  return (items ?? []).map(({ path = "" }) => ({ path: trimRight(path, "/"), source }))
}

/** Every text once, in upstream's order: each place with those before it. */
function* overlaps(volume: string, what: string, places: readonly Place[]): Generator<string, void> {
  const paths = new PathTree()
  const distinct: Place[] = []
  /** By its text, the number of distinct places with which a place need not be compared again. */
  const compared = new Map<string, number>()
  for (const place of places) {
    if (place.path === "") continue
    const text = print(place)
    const before = compared.get(text)
    if (paths.add(place.path)) {
      for (const other of distinct.slice(before)) {
        if (!collide(place.path, other.path)) continue
        yield `volume ${JSON.stringify(volume)} (${what}): overlapping paths: ${text} with ${print(other)}`
      }
    }
    compared.set(text, distinct.length)
    if (before === undefined) distinct.push(place)
  }
}

interface Directory {
  names: Map<string, Directory>
  isPath: boolean
}

class PathTree {
  readonly #root: Directory = { names: new Map(), isPath: false }

  /** Whether the path is, contains or is contained in one that has been added. */
  add(path: string): boolean {
    let at = this.#root
    let isBelow = false
    for (const name of path.split("/")) {
      let next = at.names.get(name)
      if (next === undefined) at.names.set(name, (next = { names: new Map(), isPath: false }))
      isBelow ||= next.isPath
      at = next
    }
    const contains = at.names.size > 0
    at.isPath = true
    return isBelow || contains
  }
}

function collide(a: string, b: string): boolean {
  return a !== "" && b !== "" && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`))
}

function print({ path, source }: Place): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`
}
