// The downward API: pods get their namespace, uid, labels and annotations in the tenant. Environment variables get the values. Files
// follow later changes, so they read annotations that the syncer maintains on the super pod.

import { dictionary } from "../../../../apimachinery/dictionary.ts"
import { goQuote } from "../../../../apimachinery/go/quote.ts"
import type { Container, Pod } from "../../../../apimachinery/object.ts"
import {
  isTenancyKey,
  namespaceAnnotation,
  tenancyPrefix,
  tenantAnnotationsAnnotation,
  tenantLabelsAnnotation,
  uidAnnotation,
} from "../../../../apimachinery/tenancy.ts"
import { mapContainers, withSpec, type PodContext, type PodMutator } from "../context.ts"

type EnvVar = NonNullable<Container["env"]>[number]

/** Field of the tenant's pod → field of the super pod that contains the value. */
const filePaths: Readonly<Record<string, string>> = dictionary({
  "metadata.namespace": annotationPath(namespaceAnnotation),
  "metadata.uid": annotationPath(uidAnnotation),
  "metadata.labels": annotationPath(tenantLabelsAnnotation),
  "metadata.annotations": annotationPath(tenantAnnotationsAnnotation),
})

export const downwardAPI: PodMutator = (pod, context) =>
  withSpec(pod, (spec) => {
    const volumes = spec.volumes?.map((volume) => ({
      ...volume,
      ...(volume.downwardAPI === undefined ? {} : { downwardAPI: rewriteItems(volume.downwardAPI) }),
      ...(volume.projected?.sources === undefined
        ? {}
        : {
            projected: {
              ...volume.projected,
              sources: volume.projected.sources.map((source) =>
                source.downwardAPI === undefined
                  ? source
                  : { ...source, downwardAPI: rewriteItems(source.downwardAPI) },
              ),
            },
          }),
    }))
    return mapContainers(volumes === undefined ? spec : { ...spec, volumes }, (container) =>
      container.env === undefined
        ? container
        : { ...container, env: container.env.map((variable) => literal(variable, pod, context)) },
    )
  })

/** An annotation that no super pod has and no tenant can set, so the file is empty. */
const emptyPath = annotationPath(`${tenancyPrefix}/none`)

/** The annotations that downward API files of this pod read; complete maps only if a file uses them. */
export function downwardAPIAnnotations(pod: Pod): Record<string, string> {
  const paths = new Set<string>()
  for (const volume of pod.spec?.volumes ?? []) {
    for (const source of [volume, ...(volume.projected?.sources ?? [])]) {
      for (const item of source.downwardAPI?.items ?? []) paths.add(item.fieldRef?.fieldPath ?? "")
    }
  }
  const result: Record<string, string> = {}
  if (paths.has("metadata.labels")) result[tenantLabelsAnnotation] = formatMap(pod.metadata.labels)
  if (paths.has("metadata.annotations")) result[tenantAnnotationsAnnotation] = formatMap(pod.metadata.annotations)
  return result
}

function literal(variable: EnvVar, pod: Pod, { namespace }: PodContext): EnvVar {
  const path = variable.valueFrom?.fieldRef?.fieldPath
  if (path === "metadata.namespace") return { name: variable.name, value: namespace }
  if (path === "metadata.uid") return { name: variable.name, value: pod.metadata.uid ?? "" }
  return isOurs(path) ? { name: variable.name, value: "" } : variable
}

/** Our own keys exist only on the super pod. */
function isOurs(path = ""): boolean {
  const key = /^metadata\.(?:labels|annotations)\['(.*)'\]$/.exec(path)?.[1]
  return key !== undefined && isTenancyKey(key)
}

function rewriteItems<T extends { items?: { fieldRef?: { fieldPath: string } }[] }>(source: T): T {
  if (source.items === undefined) return source
  const items = source.items.map((item) => {
    const asked = item.fieldRef?.fieldPath
    const path = isOurs(asked) ? emptyPath : filePaths[asked ?? ""]
    return path === undefined ? item : { ...item, fieldRef: { ...item.fieldRef, fieldPath: path } }
  })
  return { ...source, items }
}

function annotationPath(key: string): string {
  return `metadata.annotations['${key}']`
}

/** The format in which the kubelet writes a map to a file. Source: pkg/fieldpath/fieldpath.go. */
function formatMap(map: Record<string, string> | undefined): string {
  return Object.keys(map ?? {})
    .filter((key) => !isTenancyKey(key))
    .sort()
    .map((key) => `${key}=${goQuote(map?.[key] ?? "")}`)
    .join("\n")
}
