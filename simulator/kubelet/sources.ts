// The sources of a container's environment and files: the pod itself, ConfigMaps, Secrets and Services of its namespace. A
// missing required object is a MissingSource, which the kubelet retries.

import { serviceVariables } from "../../apimachinery/core/service-variables.ts"
import type { ConfigMap, Container, KubeObject, Pod, Secret, Service } from "../../apimachinery/object.ts"
import { isNotFound } from "../../apimachinery/status.ts"
import { milliValue, parseQuantity, unitValue } from "../../apimachinery/quantity.ts"
import type { Informer } from "../../client/informers/informer.ts"
import { configMaps, secrets, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"

export class MissingSource extends Error {}

/**
 * Maximum number of characters of a process' arguments and environment, as in Linux. Needed because each variable may contain the
 * previous one twice.
 */
const maxProcessText = 2 * 1024 * 1024

function checkLength(length: number): void {
  if (length > maxProcessText) throw new MissingSource("argument list too long")
}

export interface Sources {
  client: KubeClient
  services: Informer<Service>
  tokens: ServiceAccountTokens
  now: () => number
}

async function read<T extends KubeObject>(
  sources: Sources,
  resource: typeof configMaps,
  namespace: string,
  name: string,
  optional: boolean,
): Promise<T | undefined> {
  try {
    return await sources.client.get<T>(resource, namespace, name)
  } catch (error) {
    if (!isNotFound(error)) throw error
    if (optional) return undefined
    throw new MissingSource(`${resource.resource.slice(0, -1)} "${name}" not found`, { cause: error })
  }
}

const decode = (base64: string): string => Buffer.from(base64, "base64").toString("utf8")

export async function configMapFiles(
  sources: Sources,
  namespace: string,
  name: string,
  optional: boolean,
): Promise<Record<string, string>> {
  const map = await read<ConfigMap>(sources, configMaps, namespace, name, optional)
  const binary = Object.entries(map?.binaryData ?? {}).map(([key, value]) => [key, decode(value)] as const)
  return { ...map?.data, ...Object.fromEntries(binary) }
}

export async function secretFiles(
  sources: Sources,
  namespace: string,
  name: string,
  optional: boolean,
): Promise<Record<string, string>> {
  const secret = await read<Secret>(sources, secrets, namespace, name, optional)
  return Object.fromEntries(Object.entries(secret?.data ?? {}).map(([key, value]) => [key, decode(value)]))
}

/** A value of the downward API. `path` as in fieldRef. */
export function fieldValue(pod: Pod, path: string, podIP: string): string {
  const subscript = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path)
  if (subscript !== null) return pod.metadata[subscript[1] as "labels" | "annotations"]?.[subscript[2] ?? ""] ?? ""
  switch (path) {
    case "metadata.name":
    case "metadata.namespace":
    case "metadata.uid":
      return pod.metadata[path.slice("metadata.".length) as "name" | "namespace" | "uid"] ?? ""
    case "metadata.labels":
    case "metadata.annotations":
      return Object.entries(pod.metadata[path.slice("metadata.".length) as "labels" | "annotations"] ?? {})
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join("\n")
    case "spec.nodeName":
      return pod.spec?.nodeName ?? ""
    case "spec.serviceAccountName":
      return pod.spec?.serviceAccountName ?? ""
    case "status.hostIP":
    case "status.hostIPs":
      return pod.status?.hostIP ?? "127.0.0.1"
    case "status.podIP":
    case "status.podIPs":
      return podIP
    default:
      throw new MissingSource(`unsupported fieldPath: ${path}`)
  }
}

export function resourceValue(
  pod: Pod,
  container: Container | undefined,
  reference: { containerName?: string; resource: string; divisor?: string },
): string {
  const of =
    reference.containerName === undefined
      ? container
      : pod.spec?.containers.find(({ name }) => name === reference.containerName)
  const [kind, resource = ""] = reference.resource.split(".")
  const text = (kind === "limits" ? of?.resources?.limits : of?.resources?.requests)?.[resource] ?? "0"
  const divisor = parseQuantity(reference.divisor === undefined || reference.divisor === "0" ? "1" : reference.divisor)
  const value = parseQuantity(text)
  const quotient = resource === "cpu" ? milliValue(value) / milliValue(divisor) : unitValue(value) / unitValue(divisor)
  return String(Math.ceil(quotient))
}

/** The variables of `env` and `envFrom`, which override those that every pod gets. */
export async function environmentOf(
  sources: Sources,
  pod: Pod,
  container: Container,
  podIP: string,
): Promise<Record<string, string>> {
  const namespace = pod.metadata.namespace ?? ""
  const environment: Record<string, string> = {
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOSTNAME: hostnameOf(pod),
    HOME: "/root",
    ...variablesOfServices(sources, pod),
  }
  for (const { configMapRef, secretRef, prefix = "" } of container.envFrom ?? []) {
    const files = configMapRef
      ? await configMapFiles(sources, namespace, configMapRef.name ?? "", configMapRef.optional === true)
      : secretRef
        ? await secretFiles(sources, namespace, secretRef.name ?? "", secretRef.optional === true)
        : {}
    for (const [key, value] of Object.entries(files)) environment[prefix + key] = value
  }
  let length = 0
  for (const { name, value, valueFrom } of container.env ?? []) {
    const resolved =
      valueFrom === undefined
        ? substitute(value ?? "", environment)
        : await resolveValue(sources, pod, container, valueFrom, podIP)
    if (resolved !== undefined) environment[name] = resolved
    checkLength((length += resolved?.length ?? 0))
  }
  return environment
}

type ValueFrom = NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>

async function resolveValue(
  sources: Sources,
  pod: Pod,
  container: Container,
  from: ValueFrom,
  podIP: string,
): Promise<string | undefined> {
  const namespace = pod.metadata.namespace ?? ""
  if (from.fieldRef) return fieldValue(pod, from.fieldRef.fieldPath, podIP)
  if (from.resourceFieldRef) return resourceValue(pod, container, from.resourceFieldRef)
  const reference = from.configMapKeyRef ?? from.secretKeyRef
  if (reference === undefined) return undefined
  const optional = reference.optional === true
  const read = from.configMapKeyRef ? configMapFiles : secretFiles
  const value = (await read(sources, namespace, reference.name ?? "", optional))[reference.key]
  if (value === undefined && !optional) {
    throw new MissingSource(
      `couldn't find key ${reference.key} in ${from.configMapKeyRef ? "ConfigMap" : "Secret"} ${namespace}/${reference.name ?? ""}`,
    )
  }
  return value
}

/**
 * $(NAME) refers to an earlier variable; $$(NAME) is literal; unknown names are kept unchanged. Fails if the result is too long.
 */
export function substitute(text: string, environment: Readonly<Record<string, string>>): string {
  // No reference can end after the last parenthesis.
  const end = text.lastIndexOf(")") + 1
  let length = 0
  const named = text.slice(0, end).replace(/\$\$|\$\(([^)]+)\)/g, (whole, name: string | undefined) => {
    const value = name === undefined ? "$" : (environment[name] ?? whole)
    checkLength((length += value.length))
    return value
  })
  return named + text.slice(end).replaceAll("$$", () => "$")
}

/** For the Services of the namespace and that of the API server. */
function variablesOfServices(sources: Sources, pod: Pod): Record<string, string> {
  const linked = pod.spec?.enableServiceLinks === false ? [] : sources.services.list(pod.metadata.namespace ?? "")
  const kubernetes = sources.services.get("default", "kubernetes")
  const addresses = (kubernetes === undefined ? linked : [kubernetes, ...linked]).flatMap(({ metadata, spec }) => {
    const { clusterIP = "", ports = [] } = spec ?? {}
    return clusterIP === "" || clusterIP === "None" ? [] : [{ name: metadata.name ?? "", clusterIP, ports }]
  })
  return Object.fromEntries(Array.from(serviceVariables(addresses), ({ name, value }) => [name, value]))
}

export function hostnameOf(pod: Pod): string {
  return (pod.spec?.hostname ?? pod.metadata.name ?? "").slice(0, 63)
}

/** A token is renewed after this fraction of its lifetime, as by the kubelet. */
const refreshAfter = 0.8

interface Token {
  text: string
  refreshAt: number
}

/** The tokens projected into pods, by pod uid, audience and lifetime; requested on first use. */
export class ServiceAccountTokens {
  readonly #client: KubeClient
  readonly #now: () => number
  readonly #byPod = new Map<string, Map<string, Token>>()

  constructor(client: KubeClient, now: () => number) {
    this.#client = client
    this.#now = now
  }

  async get(pod: Pod, projection: { audience?: string; expirationSeconds?: number }): Promise<string> {
    const { audience = "", expirationSeconds = 3600 } = projection
    const uid = pod.metadata.uid ?? ""
    const tokens = this.#byPod.get(uid) ?? new Map<string, Token>()
    const key = `${expirationSeconds} ${audience}`
    const present = tokens.get(key)
    if (present !== undefined && present.refreshAt > this.#now()) return present.text
    const text = await this.#request(pod, audience, expirationSeconds)
    tokens.set(key, { text, refreshAt: this.#now() + expirationSeconds * 1000 * refreshAfter })
    this.#byPod.set(uid, tokens)
    return text
  }

  forget(uid: string): void {
    this.#byPod.delete(uid)
  }

  async #request(pod: Pod, audience: string, expirationSeconds: number): Promise<string> {
    const { namespace = "", name = "", uid = "" } = pod.metadata
    const request = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      metadata: { namespace, name: pod.spec?.serviceAccountName ?? "default" },
      spec: {
        audiences: audience === "" ? [] : [audience],
        expirationSeconds,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name, uid },
      },
    }
    const answer = await this.#client.create<KubeObject & { status?: { token?: string } }>(serviceAccounts, request, {
      subresource: "token",
    })
    if (answer.status?.token === undefined) throw new MissingSource("the API server answered without a token")
    return answer.status.token
  }
}
