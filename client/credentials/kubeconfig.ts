// Creates the configuration of http/client.ts from a kubeconfig, or from the files of a pod.

import { X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { createSecureContext } from "node:tls"
import { errorMessage } from "../../apimachinery/error-message.ts"
import { parseYaml } from "../../apimachinery/schema/yaml/parse.ts"
import { systemClock, type Clock } from "../clock.ts"
import type { ExecConfig } from "./exec-credentials.ts"
import type { HttpClientConfig, TlsIdentity } from "../http/transport.ts"

/** The content of a kubeconfig for its current context. */
export interface ClientConfig extends HttpClientConfig {
  /**
   * Rereads the files named for authority, certificate and key, which may be renewed. Fails while they are being replaced and are
   * inconsistent. Absent if no file is named. Like client-go, it does not reread the kubeconfig itself: the current context may
   * belong to another cluster by then.
   */
  identityAgain?: () => Promise<TlsIdentity>
}

interface Cluster {
  server?: string
  "certificate-authority"?: string
  "certificate-authority-data"?: string
  "insecure-skip-tls-verify"?: boolean
  "tls-server-name"?: string
  "proxy-url"?: string
}

interface User {
  "client-certificate"?: string
  "client-certificate-data"?: string
  "client-key"?: string
  "client-key-data"?: string
  token?: string
  tokenFile?: string
  username?: string
  password?: string
  as?: string
  exec?: ExecConfig | null
  "auth-provider"?: unknown
}

interface Kubeconfig {
  kind?: string
  "current-context"?: string
  clusters?: { name: string; cluster?: Cluster }[]
  users?: { name: string; user?: User }[]
  contexts?: { name: string; context?: { cluster?: string; user?: string } }[]
}

/** Accepts a path, or the text itself (which has more than one line). `clock` determines when a token file is reread. */
export async function loadKubeconfig(pathOrText: string, clock = systemClock): Promise<ClientConfig> {
  const { what, directory, cluster, user } = await select(pathOrText)
  const readIdentity = async () => whole(what, await identityOf(what, cluster, user, directory))
  const server = { ...readCluster(what, cluster), ...(await readIdentity()) }
  return {
    ...server,
    ...(await readUser(what, user, directory, server, clock)),
    ...(namesFiles(cluster, user) ? { identityAgain: readIdentity } : {}),
  }
}

/**
 * Only what a client can renew while it is in use. Tokens renew themselves: a credential plugin must not run only to check
 * whether the kubeconfig is another one.
 */
export async function loadIdentity(pathOrText: string): Promise<TlsIdentity> {
  const { what, directory, cluster, user } = await select(pathOrText)
  return whole(what, await identityOf(what, cluster, user, directory))
}

interface Selected {
  /** Names the kubeconfig in errors. */
  what: string
  directory: string
  cluster: Cluster
  user: User
}

/** What the kubeconfig has for its current context. */
async function select(pathOrText: string): Promise<Selected> {
  const isText = pathOrText.includes("\n")
  const path = isText ? undefined : resolve(pathOrText)
  const what = path === undefined ? "kubeconfig" : `kubeconfig ${path}`
  const text = path === undefined ? pathOrText : await read(what, path)
  const config = parseKubeconfig(what, text)
  const name = config["current-context"] ?? ""
  if (name === "") throw new Error(`${what}: no current-context is set`)
  const context = find(what, "context", config.contexts, name).context ?? {}
  const cluster = find(what, "cluster", config.clusters, context.cluster ?? "").cluster ?? {}
  const user =
    context.user === undefined || context.user === "" ? {} : (find(what, "user", config.users, context.user).user ?? {})
  // Like in kubectl, relative file names are relative to the kubeconfig.
  const directory = path === undefined ? process.cwd() : dirname(path)
  return { what, directory, cluster, user }
}

function readCluster(what: string, cluster: Cluster): ClientConfig {
  const { server = "" } = cluster
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw new Error(`${what}: the cluster's server "${server}" is not a URL that begins with https://`)
  if (cluster["proxy-url"])
    throw new Error(`${what}: proxy-url is not supported; the server has to be reached directly`)
  return {
    server,
    ...(cluster["insecure-skip-tls-verify"] === true ? { insecureSkipTlsVerify: true } : {}),
    ...(cluster["tls-server-name"] === undefined ? {} : { serverName: cluster["tls-server-name"] }),
  }
}

async function identityOf(what: string, cluster: Cluster, user: User, directory: string): Promise<TlsIdentity> {
  const readPem = (data: string | undefined, file: string | undefined) => pem(what, data, file, directory)
  const certificateAuthority = await readPem(cluster["certificate-authority-data"], cluster["certificate-authority"])
  const certificate = await readPem(user["client-certificate-data"], user["client-certificate"])
  const key = await readPem(user["client-key-data"], user["client-key"])
  return {
    ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  }
}

function namesFiles(cluster: Cluster, user: User): boolean {
  const named = [cluster["certificate-authority"], user["client-certificate"], user["client-key"]]
  return named.some((file) => file !== undefined && file !== "")
}

/**
 * Fails if certificate and key do not match, or if one of them or the authority is not valid. `what` names their source. A key
 * without a certificate is ignored, as by kubectl.
 */
export function whole<T extends TlsIdentity>(what: string, identity: T): T {
  const { certificateAuthority, certificate, key } = identity
  const valid = (part: string, check: () => unknown): void => {
    try {
      check()
    } catch (error) {
      throw new Error(`${what}: ${part} cannot be used: ${errorMessage(error)}`, { cause: error })
    }
  }
  if (certificateAuthority !== undefined)
    valid("the certificate authority", () => new X509Certificate(certificateAuthority))
  if (certificate === undefined) {
    const { key: _, ...rest } = identity
    return rest as T
  }
  valid("the client certificate", () => new X509Certificate(certificate))
  if (key === undefined) throw new Error(`${what}: the client certificate has no key`)
  valid("the client key", () => createSecureContext({ cert: certificate, key }))
  return identity
}

async function readUser(
  what: string,
  user: User,
  directory: string,
  server: ClientConfig,
  clock: Clock,
): Promise<Partial<HttpClientConfig>> {
  if (user.as) throw new Error(`${what}: impersonation (as) is not supported; use a user with the rights themselves`)
  if (user["auth-provider"] !== undefined && user["auth-provider"] !== null) {
    throw new Error(
      `${what}: auth-provider is not supported; use an exec credential plugin, a token or a client certificate`,
    )
  }
  const token = await readToken(what, user, directory, server, clock)
  return {
    ...(token === undefined || token === "" ? {} : { token }),
    ...(user.username === undefined ? {} : { username: user.username }),
    ...(user.password === undefined ? {} : { password: user.password }),
  }
}

/**
 * As in client-go, renewable tokens take precedence over the inline one. A plugin is run at once, so that its errors surface
 * here.
 */
async function readToken(
  what: string,
  user: User,
  directory: string,
  server: ClientConfig,
  clock: Clock,
): Promise<HttpClientConfig["token"]> {
  if (user.exec !== undefined && user.exec !== null) {
    // Most kubeconfigs have no plugin, so the code for plugins is loaded on demand.
    const { execToken } = await import("./exec-credentials.ts")
    const token = execToken(user.exec, { what, directory, server })
    await token()
    return token
  }
  if (user.tokenFile === undefined) return user.token
  return fileToken(resolve(directory, user.tokenFile), `${what}: token file`, clock)
}

const serviceAccountDirectory = "/var/run/secrets/kubernetes.io/serviceaccount"

/** Uses the service account's files and the environment of the pod. */
export async function inClusterConfig(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  directory = serviceAccountDirectory,
): Promise<ClientConfig> {
  const host = environment["KUBERNETES_SERVICE_HOST"]
  const port = environment["KUBERNETES_SERVICE_PORT"]
  if (host === undefined || port === undefined) {
    throw new Error("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")
  }
  const what = "the service account's files"
  const readIdentity = async () =>
    whole(what, { certificateAuthority: await read("the cluster's certificate authority", `${directory}/ca.crt`) })
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    ...(await readIdentity()),
    identityAgain: readIdentity,
    token: fileToken(`${directory}/token`, "the service account's token"),
  }
}

/** The kubelet renews the file well before the token expires; client-go rereads it at the same interval. */
const tokenFileMs = 60_000

function fileToken(path: string, what: string, clock = systemClock): (refused?: string) => Promise<string> {
  let cached: { token: string; readAt: number } | undefined
  return async (refused) => {
    const now = clock.elapsed()
    if (cached !== undefined && cached.token !== refused && now - cached.readAt < tokenFileMs) return cached.token
    try {
      cached = { token: (await read(what, path)).trim(), readAt: now }
    } catch (error) {
      // While the file is being replaced, the previous token is still valid.
      if (cached === undefined) throw error
    }
    return cached.token
  }
}

async function pem(
  what: string,
  data: string | undefined,
  file: string | undefined,
  directory: string,
): Promise<string | undefined> {
  if (data !== undefined && data !== "") return Buffer.from(data, "base64").toString("utf8")
  return file === undefined || file === "" ? undefined : read(what, resolve(directory, file))
}

async function read(what: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    throw new Error(`${what}: ${errorMessage(error)}`, { cause: error })
  }
}

function parseKubeconfig(what: string, text: string): Kubeconfig {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    throw new Error(`${what} is not YAML: ${errorMessage(error)}`, { cause: error })
  }
  if (typeof value !== "object" || value === null || (value as Kubeconfig).kind !== "Config") {
    throw new Error(`${what} is not a kubeconfig (kind: Config)`)
  }
  return value
}

function find<T extends { name: string }>(what: string, kind: string, items: T[] | undefined, name: string): T {
  if (items !== undefined && !Array.isArray(items)) throw new Error(`${what}: ${kind}s is not a list`)
  const found = items?.find((item: T | null) => item?.name === name)
  if (found === undefined) throw new Error(`${what}: ${kind} "${name}" does not exist`)
  return found
}
