// A pod's volumes as files: configMap, secret, downwardAPI and projected with their items; emptyDir, claims, host paths and all
// other kinds start empty.

import type { Pod } from "../../apimachinery/object.ts"
import { Volume, type Mount } from "../container/file-system.ts"
import type { Container } from "../../apimachinery/object.ts"
import { configMapFiles, fieldValue, MissingSource, resourceValue, secretFiles, type Sources } from "./sources.ts"
import { trimRight } from "../../apimachinery/texts.ts"

type PodVolume = NonNullable<NonNullable<Pod["spec"]>["volumes"]>[number]
type Items = { key: string; path: string }[] | undefined

function pick(files: Record<string, string>, items: Items, optional: boolean, what: string): [string, string][] {
  if (items === undefined || items.length === 0) return Object.entries(files)
  return items.flatMap(({ key, path }): [string, string][] => {
    const text = files[key]
    if (text !== undefined) return [[path, text]]
    if (optional) return []
    throw new MissingSource(`${what} references non-existent config key: ${key}`)
  })
}

type DownwardItems = NonNullable<NonNullable<PodVolume["downwardAPI"]>["items"]>

function downward(pod: Pod, items: DownwardItems | undefined, podIP: string): [string, string][] {
  return (items ?? []).map(({ path, fieldRef, resourceFieldRef }) => [
    path,
    fieldRef
      ? fieldValue(pod, fieldRef.fieldPath, podIP)
      : resourceFieldRef
        ? resourceValue(pod, undefined, resourceFieldRef)
        : "",
  ])
}

/** A source of files: each kind stands alone as a volume, and in the list of a projected volume. */
interface FileSource {
  configMap?: { name?: string; items?: Items; optional?: boolean } | undefined
  secret?: { name?: string; items?: Items; optional?: boolean } | undefined
  downwardAPI?: { items?: DownwardItems } | undefined
  serviceAccountToken?: (Parameters<Sources["tokens"]["get"]>[1] & { path: string }) | undefined
}

async function sourceFiles(sources: Sources, pod: Pod, source: FileSource, podIP: string): Promise<[string, string][]> {
  const namespace = pod.metadata.namespace ?? ""
  const { configMap, secret, downwardAPI, serviceAccountToken } = source
  if (configMap) {
    const { name = "", items, optional = false } = configMap
    return pick(await configMapFiles(sources, namespace, name, optional), items, optional, "configmap")
  }
  if (secret) {
    const { name = "", items, optional = false } = secret
    return pick(await secretFiles(sources, namespace, name, optional), items, optional, "secret")
  }
  if (downwardAPI) return downward(pod, downwardAPI.items, podIP)
  if (serviceAccountToken) return [[serviceAccountToken.path, await sources.tokens.get(pod, serviceAccountToken)]]
  return []
}

/** Undefined: the volume starts empty and can be written to. */
function sourcesOf({ configMap, secret, downwardAPI, projected }: PodVolume): FileSource[] | undefined {
  if (configMap) return [{ configMap }]
  if (secret) return [{ secret: { ...secret, name: secret.secretName ?? "" } }]
  if (downwardAPI) return [{ downwardAPI }]
  return projected ? (projected.sources ?? []) : undefined
}

async function volumeFiles(
  sources: Sources,
  pod: Pod,
  volume: PodVolume,
  podIP: string,
): Promise<{ files: [string, string][]; readOnly: boolean }> {
  const parts = sourcesOf(volume)
  const files: [string, string][] = []
  for (const part of parts ?? []) files.push(...(await sourceFiles(sources, pod, part, podIP)))
  return { files, readOnly: parts !== undefined }
}

/** Volumes by name. Throws MissingSource if something that a volume needs is missing. */
export async function prepareVolumes(sources: Sources, pod: Pod, podIP: string): Promise<Map<string, Volume>> {
  const volumes = new Map<string, Volume>()
  for (const volume of pod.spec?.volumes ?? []) {
    const { files, readOnly } = await volumeFiles(sources, pod, volume, podIP)
    volumes.set(volume.name, new Volume(files, readOnly))
  }
  return volumes
}

/** Updates files from their ConfigMaps and Secrets, as the kubelet does every minute. Writable volumes are not changed. */
export async function refreshVolumes(
  sources: Sources,
  pod: Pod,
  podIP: string,
  volumes: ReadonlyMap<string, Volume>,
): Promise<void> {
  for (const volume of pod.spec?.volumes ?? []) {
    const { files, readOnly } = await volumeFiles(sources, pod, volume, podIP)
    if (readOnly) volumes.get(volume.name)?.replace(files)
  }
}

export function mountsOf(container: Container, volumes: ReadonlyMap<string, Volume>): Mount[] {
  return (container.volumeMounts ?? []).flatMap((mount): Mount[] => {
    const volume = volumes.get(mount.name)
    if (volume === undefined) return []
    const subPath = mount.subPath === undefined || mount.subPath === "" ? {} : { subPath: mount.subPath }
    return [
      {
        path: trimRight(mount.mountPath, "/") || mount.mountPath.slice(0, 1),
        volume,
        readOnly: mount.readOnly === true,
        ...subPath,
      },
    ]
  })
}

/** The pod's /etc/hostname, /etc/hosts and /etc/resolv.conf. */
export function ownFiles(pod: Pod, hostname: string, podIP: string): [string, string][] {
  const aliases = (pod.spec?.hostAliases ?? []).map(({ ip, hostnames }) => `${ip}\t${(hostnames ?? []).join("\t")}\n`)
  const dns = pod.spec?.dnsConfig
  return [
    ["etc/hostname", `${hostname}\n`],
    ["etc/hosts", `127.0.0.1\tlocalhost\n${podIP}\t${hostname}\n${aliases.join("")}`],
    [
      "etc/resolv.conf",
      [
        ...(dns?.nameservers ?? []).map((server) => `nameserver ${server}\n`),
        ...(dns?.searches === undefined ? [] : [`search ${dns.searches.join(" ")}\n`]),
        ...(dns?.options === undefined
          ? []
          : [
              `options ${dns.options.map(({ name, value }) => (value === undefined ? name : `${name}:${value}`)).join(" ")}\n`,
            ]),
      ].join(""),
    ],
  ]
}
