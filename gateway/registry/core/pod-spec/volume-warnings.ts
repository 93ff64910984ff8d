// Warnings about files of a volume that hide each other. Source: k8s.io/kubernetes/pkg/api/pod/warnings.go.

import type { Volume } from "./types.ts"
import { trimRight } from "../../../../apimachinery/texts.ts"

interface Place {
  path: string
  /** The source of the file, if a volume has several. */
  source: string
}

export function volumePathWarnings(volumes: readonly Volume[]): string[] {
  return volumes.flatMap((volume) => {
    const { configMap, secret, downwardAPI } = volume
    return [
      ...overlaps(volume.name, `ConfigMap "${configMap?.name ?? ""}"`, placesOf(configMap?.items)),
      ...overlaps(volume.name, `Secret "${secret?.secretName ?? ""}"`, placesOf(secret?.items)),
      ...overlaps(volume.name, "DownwardAPI", placesOf(downwardAPI?.items)),
      ...projectedWarnings(volume),
    ]
  })
}

type Projection = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number]

function projectedWarnings({ name, projected }: Volume): string[] {
  const sources = projected?.sources ?? []
  return [
    ...sources
      .filter((source) => Object.keys(source).length === 0)
      .map(() => `volume ${JSON.stringify(name)} (Projected) has no sources provided`),
    ...overlaps(name, "Projected", sources.flatMap(placesOfProjection)),
  ]
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

function overlaps(volume: string, what: string, places: readonly Place[]): string[] {
  return places.flatMap((place, index) =>
    places
      .slice(0, index)
      .filter((other) => collide(place.path, other.path))
      .map(
        (other) =>
          `volume ${JSON.stringify(volume)} (${what}): overlapping paths: ${print(place)} with ${print(other)}`,
      ),
  )
}

function collide(a: string, b: string): boolean {
  return a !== "" && b !== "" && (`${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`))
}

function print({ path, source }: Place): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`
}
