// Credential plugins: programs named by a kubeconfig that print a token, as those of cloud providers and of OIDC logins do.
// Implements client.authentication.k8s.io (KEP-541) like client-go, for programs without user interaction.

import { execFile } from "node:child_process"
import { resolve, sep } from "node:path"
import { errorMessage } from "../../apimachinery/error-message.ts"
import type { HttpClientConfig } from "../http/transport.ts"

/** `users[].user.exec` of a kubeconfig. */
export interface ExecConfig {
  apiVersion?: string
  command?: string
  args?: readonly string[] | null
  env?: readonly { name: string; value: string }[] | null
  installHint?: string
  provideClusterInfo?: boolean
  interactiveMode?: string
}

/** The kubeconfig and the server for which a program runs. */
interface ExecContext {
  /** Names the kubeconfig in errors. */
  what: string
  /** The kubeconfig's directory. */
  directory: string
  server: Pick<HttpClientConfig, "server" | "certificateAuthority" | "insecureSkipTlsVerify" | "serverName">
}

interface ExecCredential {
  kind?: string
  apiVersion?: string
  status?: {
    token?: string
    /** RFC 3339. If absent, the token is used until the server rejects it. */
    expirationTimestamp?: string
    clientCertificateData?: string
  }
}

const versions: readonly string[] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]
const timeoutMs = 60_000
const maxOutputBytes = 1024 * 1024

/**
 * Returns a token. Runs the program if there is no token yet, if it has expired, or if the server has rejected it. Errors are for
 * the user.
 */
export function execToken(exec: ExecConfig, context: ExecContext): (refused?: string) => Promise<string> {
  const { what } = context
  check(what, exec)
  let known: { token: string; expires: number } | undefined
  let running: Promise<string> | undefined
  const renew = async (): Promise<string> => {
    known = tokenOf(what, exec, await outputOf(exec, context))
    return known.token
  }
  return (refused) => {
    if (known !== undefined && known.token !== refused && Date.now() < known.expires)
      return Promise.resolve(known.token)
    running ??= renew().finally(() => (running = undefined))
    return running
  }
}

function check(what: string, { apiVersion = "", command = "", interactiveMode }: ExecConfig): void {
  if (command === "") throw new Error(`${what}: the exec credential plugin has no command`)
  if (!versions.includes(apiVersion))
    throw new Error(
      `${what}: the exec credential plugin's apiVersion is "${apiVersion}", not one of ${versions.join(", ")}`,
    )
  if (interactiveMode === "Always")
    throw new Error(`${what}: the exec credential plugin ${command} wants to ask a person (interactiveMode Always)`)
}

/**
 * Returns the program's output. As with client-go, it runs with our environment and gets the request in `KUBERNETES_EXEC_INFO`.
 */
function outputOf(
  { apiVersion, command = "", args, env, installHint, provideClusterInfo }: ExecConfig,
  { what, directory, server }: ExecContext,
): Promise<string> {
  const spec = { ...(provideClusterInfo === true ? { cluster: clusterOf(server) } : {}), interactive: false }
  const info = JSON.stringify({ kind: "ExecCredential", apiVersion, spec })
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
  // A path is relative to the kubeconfig; a bare name is looked up in PATH.
  const program = command.includes(sep) ? resolve(directory, command) : command
  const options = {
    env: { ...process.env, ...own, KUBERNETES_EXEC_INFO: info },
    timeout: timeoutMs,
    maxBuffer: maxOutputBytes,
  }
  return new Promise((settle, reject) => {
    execFile(program, args ?? [], options, (error, stdout, stderr) => {
      if (error === null) return settle(stdout)
      const hint = error.code === "ENOENT" && installHint !== undefined ? `\n${installHint}` : ""
      const said = stderr.trim() === "" ? errorMessage(error).trim() : stderr.trim()
      reject(new Error(`${what}: the exec credential plugin ${command} failed: ${said}${hint}`, { cause: error }))
    }).stdin?.end()
  })
}

/** The cluster as described to the program. */
function clusterOf({ server, certificateAuthority, insecureSkipTlsVerify, serverName }: ExecContext["server"]) {
  return {
    server,
    ...(serverName === undefined ? {} : { "tls-server-name": serverName }),
    ...(insecureSkipTlsVerify === undefined ? {} : { "insecure-skip-tls-verify": insecureSkipTlsVerify }),
    ...(certificateAuthority === undefined
      ? {}
      : { "certificate-authority-data": Buffer.from(certificateAuthority).toString("base64") }),
  }
}

function tokenOf(
  what: string,
  { command, apiVersion }: ExecConfig,
  output: string,
): { token: string; expires: number } {
  const plugin = `${what}: the exec credential plugin ${command}`
  let credential: ExecCredential
  try {
    credential = JSON.parse(output) as ExecCredential
  } catch (error) {
    throw new Error(`${plugin} printed no JSON`, { cause: error })
  }
  if (credential.kind !== "ExecCredential" || credential.apiVersion !== apiVersion)
    throw new Error(`${plugin} printed ${credential.apiVersion} ${credential.kind}, not ${apiVersion} ExecCredential`)
  const { token = "", expirationTimestamp, clientCertificateData } = credential.status ?? {}
  if (clientCertificateData !== undefined)
    throw new Error(`${plugin} gave a client certificate, which is not supported: only tokens are`)
  if (token === "") throw new Error(`${plugin} gave no token`)
  const expires = expirationTimestamp === undefined ? Number.POSITIVE_INFINITY : Date.parse(expirationTimestamp)
  if (Number.isNaN(expires)) throw new Error(`${plugin} gave a token until "${expirationTimestamp}", which is no time`)
  return { token, expires }
}
