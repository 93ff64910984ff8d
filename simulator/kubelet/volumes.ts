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

async function volumeFiles(
  sources: Sources,
  pod: Pod,
  volume: PodVolume,
  podIP: string,
): Promise<{ files: [string, string][]; readOnly: boolean }> {
  const namespace = pod.metadata.namespace ?? ""
  const { configMap, secret, downwardAPI, projected } = volume
  if (configMap) {
    const optional = configMap.optional === true
    return {
      files: pick(
        await configMapFiles(sources, namespace, configMap.name ?? "", optional),
        configMap.items,
        optional,
        "configmap",
      ),
      readOnly: true,
    }
  }
  if (secret) {
    const optional = secret.optional === true
    return {
      files: pick(
        await secretFiles(sources, namespace, secret.secretName ?? "", optional),
        secret.items,
        optional,
        "secret",
      ),
      readOnly: true,
    }
  }
  if (downwardAPI) return { files: downward(pod, downwardAPI.items, podIP), readOnly: true }
  if (!projected) return { files: [], readOnly: false }
  const files: [string, string][] = []
  for (const source of projected.sources ?? []) {
    if (source.configMap) {
      const optional = source.configMap.optional === true
      files.push(
        ...pick(
          await configMapFiles(sources, namespace, source.configMap.name ?? "", optional),
          source.configMap.items,
          optional,
          "configmap",
        ),
      )
    } else if (source.secret) {
      const optional = source.secret.optional === true
      files.push(
        ...pick(
          await secretFiles(sources, namespace, source.secret.name ?? "", optional),
          source.secret.items,
          optional,
          "secret",
        ),
      )
    } else if (source.downwardAPI) files.push(...downward(pod, source.downwardAPI.items, podIP))
    else if (source.serviceAccountToken)
      files.push([source.serviceAccountToken.path, await sources.tokens.get(pod, source.serviceAccountToken)])
  }
  return { files, readOnly: true }
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
