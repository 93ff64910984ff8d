// Assigns every pod a service account of its namespace and, unless disabled, mounts its token where clients expect it. Source:
// k8s.io/kubernetes/plugin/pkg/admission/serviceaccount.

import { parseGoBool } from "../../../apimachinery/go/booleans.ts"
import { setTimeout as delay } from "node:timers/promises"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { generateName, validatePathSegmentName } from "../../../apimachinery/names.ts"
import type { Container, Pod, PodSpec, ServiceAccount } from "../../../apimachinery/object.ts"
import { mountedSecrets } from "../../../apimachinery/core/pod-references.ts"
import { mountedTokenSeconds } from "../../../apimachinery/core/service-account-tokens.ts"
import { serviceAccounts } from "../../../client/resources.ts"
import { isMirror } from "../../../apimachinery/core/mirror-pods.ts"
import { rootCAConfigMap } from "../../../apimachinery/tenancy.ts"
import { unexplained } from "../../../apimachinery/status.ts"
import type { RequestContext } from "../../request/context.ts"
import type { AdmissionAttributes, AdmissionPlugin } from "../chain.ts"
import { find } from "./lookup.ts"
import { isOf, objectAs, refuse } from "./refuse.ts"

const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount"
const volumePrefix = "kube-api-access-"
/**
 * The account that a controller creates in every namespace is awaited, since clients do not wait for it after creating a namespace.
 * Upstream looks ten times at intervals of 100 to 200 ms; this gives up equally late, but looks earlier at first.
 */
const defaultAccount = "default"
const retryDelaysMs = [5, 10, 20, 40, 80, 160, 320, 640]
/** As Go reads them: all else is false. */

export const serviceAccount: AdmissionPlugin = {
  concerns: (attributes) =>
    (isOf(attributes, "", "pods") && attributes.operation === "CREATE") || isOfDebuggers(attributes),

  async mutate(ctx, attributes) {
    if (isOfDebuggers(attributes)) return
    const pod = objectAs<Pod>(attributes)
    const spec = (pod.spec ??= { containers: [] })
    if (!isMirror(pod.metadata)) {
      const name = spec.serviceAccountName || defaultAccount
      spec.serviceAccountName = name
      spec.serviceAccount = name
      const account = await accountOf(ctx, attributes, name)
      if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec)
      if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0) {
        spec.imagePullSecrets = (account.imagePullSecrets ?? []).map((secret) => ({ ...secret }))
      }
    }
    await validatePod(ctx, attributes, pod)
  },

  validate: (ctx, attributes) => validatePod(ctx, attributes, objectAs<Pod>(attributes)),
}

const isOfDebuggers = (attributes: AdmissionAttributes): boolean =>
  isOf(attributes, "", "pods", "ephemeralcontainers") && attributes.operation === "UPDATE"

async function validatePod(ctx: RequestContext, attributes: AdmissionAttributes, pod: Pod): Promise<void> {
  const isDebugged = isOfDebuggers(attributes)
  if (!isDebugged && isMirror(pod.metadata)) return checkMirror(attributes, pod)
  const name = pod.spec?.serviceAccountName
  if (!name) {
    throw refuse(attributes, `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ""}`)
  }
  const account = await accountOf(ctx, attributes, name)
  if (parseGoBool(account.metadata.annotations?.["kubernetes.io/enforce-mountable-secrets"] ?? "") !== true) return
  const fault = isDebugged ? faultOfDebuggers(pod.spec, account) : faultOfSecrets(pod.spec, account)
  if (fault === undefined) return
  // Upstream's error for containers to debug with has no reason.
  throw isDebugged ? unexplained(fault) : refuse(attributes, fault)
}

async function accountOf(ctx: RequestContext, attributes: AdmissionAttributes, name: string): Promise<ServiceAccount> {
  const { namespace } = attributes
  const fail = (why: string): Error =>
    refuse(attributes, `error looking up service account ${namespace}/${name}: ${why}`)
  // Upstream looks it up by a path.
  const faults = validatePathSegmentName(name)
  if (faults.length > 0) throw fail(`invalid resource name ${goQuote(name)}: [${faults.join(" ")}]`)
  const look = () => find<ServiceAccount>(ctx, serviceAccounts, namespace, name)
  const account = (await look()) ?? (name === defaultAccount ? await awaitAccount(ctx, look) : undefined)
  if (account !== undefined) return account
  throw fail(`serviceaccount ${goQuote(name)} not found`)
}

async function awaitAccount<T>(ctx: RequestContext, look: () => Promise<T | undefined>): Promise<T | undefined> {
  for (const ms of retryDelaysMs) {
    await delay(ms, undefined, { signal: ctx.signal }).catch(() => undefined) // the client has disconnected
    if (ctx.signal.aborted) return undefined
    await ctx.turn?.()
    const found = await look()
    if (found !== undefined) return found
  }
  return undefined
}

function mountToken(spec: PodSpec): void {
  const present = (spec.volumes ?? []).find((volume) => (volume.name ?? "").startsWith(volumePrefix))
  const name = present?.name ?? generateName(volumePrefix)
  let needed = false
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    if ((container.volumeMounts ?? []).some((mount) => mount.mountPath === mountPath)) continue
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }]
    needed = true
  }
  if (present !== undefined || !needed) return
  const sources = [
    { serviceAccountToken: { path: "token", expirationSeconds: mountedTokenSeconds } },
    { configMap: { name: rootCAConfigMap, items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ]
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { defaultMode: 0o644, sources } }]
}

function checkMirror(attributes: AdmissionAttributes, pod: Pod): void {
  const spec = pod.spec ?? { containers: [] }
  if (spec.serviceAccountName) throw refuse(attributes, "a mirror pod may not reference service accounts")
  if (mountedSecrets(pod).size > 0) throw refuse(attributes, "a mirror pod may not reference secrets")
  const projects = (spec.volumes ?? []).some((volume) =>
    (volume.projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined),
  )
  if (projects) throw refuse(attributes, "a mirror pod may not use ServiceAccountToken volume projections")
}

const tailOf = ({ metadata }: ServiceAccount): string =>
  `is not allowed because service account ${metadata.name} does not reference that`

/** The first use of a Secret that is not one of the account's. */
function faultOfSecrets(spec: PodSpec | undefined, account: ServiceAccount): string | undefined {
  const tail = tailOf(account)
  const mountable = mountableOf(account)
  const volume = spec?.volumes?.find(({ secret }) => secret !== undefined && !mountable.has(secret.secretName))
  if (volume !== undefined) return `volume with secret.secretName="${volume.secret?.secretName ?? ""}" ${tail} secret`
  const inside =
    faultOfContainers(spec?.initContainers, "init container", account) ??
    faultOfContainers(spec?.containers, "container", account)
  if (inside !== undefined) return inside
  const pullable = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name))
  const pulled = spec?.imagePullSecrets ?? []
  const index = pulled.findIndex(({ name }) => !pullable.has(name))
  return index < 0 ? undefined : `imagePullSecrets[${index}].name="${pulled[index]?.name}" ${tail} imagePullSecret`
}

const faultOfDebuggers = (spec: PodSpec | undefined, account: ServiceAccount): string | undefined =>
  faultOfContainers(spec?.ephemeralContainers, "ephemeral container", account)

const mountableOf = ({ secrets = [] }: ServiceAccount): ReadonlySet<string | undefined> =>
  new Set(secrets.map((secret) => secret.name))

function faultOfContainers(
  containers: readonly Pick<Container, "name" | "env" | "envFrom">[] = [],
  word: string,
  account: ServiceAccount,
): string | undefined {
  const mountable = mountableOf(account)
  for (const { name, env = [], envFrom = [] } of containers) {
    const fault = (what: string, secret = ""): string =>
      `${word} ${name} with ${what} referencing secret.secretName="${secret}" ${tailOf(account)} secret`
    for (const { name: variable, valueFrom } of env) {
      const key = valueFrom?.secretKeyRef
      if (key !== undefined && !mountable.has(key.name)) return fault(`envVar ${variable}`, key.name)
    }
    for (const { secretRef } of envFrom) {
      if (secretRef !== undefined && !mountable.has(secretRef.name)) return fault("envFrom", secretRef.name)
    }
  }
  return undefined
}
