// Assigns every pod a service account of its namespace and, unless disabled, mounts its token where clients expect it. Source:
// k8s.io/kubernetes/plugin/pkg/admission/serviceaccount.

import { setTimeout as delay } from "node:timers/promises"
import { goQuote } from "../../../apimachinery/go/quote.ts"
import { generateName, validatePathSegmentName } from "../../../apimachinery/names.ts"
import type { Container, Pod, PodSpec, ServiceAccount } from "../../../apimachinery/object.ts"
import { mountedTokenSeconds } from "../../../apimachinery/core/service-account-tokens.ts"
import { serviceAccounts } from "../../../client/resources.ts"
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
const mirrorAnnotation = "kubernetes.io/config.mirror"

export const serviceAccount: AdmissionPlugin = {
  name: "ServiceAccount",

  concerns: (attributes) => isOf(attributes, "", "pods") && attributes.operation === "CREATE",

  async mutate(ctx, attributes) {
    const pod = objectAs<Pod>(attributes)
    const spec = (pod.spec ??= { containers: [] })
    if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return checkMirror(attributes, pod)
    const name = spec.serviceAccountName || defaultAccount
    spec.serviceAccountName = name
    spec.serviceAccount = name
    const account = await accountOf(ctx, attributes, name)
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec)
    if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0) {
      spec.imagePullSecrets = (account.imagePullSecrets ?? []).map((secret) => ({ ...secret }))
    }
  },

  async validate(ctx, attributes) {
    const pod = objectAs<Pod>(attributes)
    if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return checkMirror(attributes, pod)
    const name = pod.spec?.serviceAccountName
    if (!name) {
      throw refuse(
        attributes,
        `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ""}`,
      )
    }
    const account = await accountOf(ctx, attributes, name)
    if (account.metadata.annotations?.["kubernetes.io/enforce-mountable-secrets"] === "true") {
      checkSecrets(attributes, pod.spec, account)
    }
  },
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
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    {
      downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] },
    },
  ]
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { defaultMode: 0o644, sources } }]
}

function checkMirror(attributes: AdmissionAttributes, pod: Pod): void {
  const spec = pod.spec ?? { containers: [] }
  if (spec.serviceAccountName) throw refuse(attributes, "a mirror pod may not reference service accounts")
  const volumes = spec.volumes ?? []
  if (volumes.some((volume) => volume.secret !== undefined)) {
    throw refuse(attributes, "a mirror pod may not reference secrets")
  }
  const projects = volumes.some((volume) =>
    (volume.projected?.sources ?? []).some((source) => source.serviceAccountToken !== undefined),
  )
  if (projects) throw refuse(attributes, "a mirror pod may not use ServiceAccountToken volume projections")
}

function checkSecrets(attributes: AdmissionAttributes, spec: PodSpec | undefined, account: ServiceAccount): void {
  const mountable = new Set((account.secrets ?? []).map((secret) => secret.name))
  const tail = `is not allowed because service account ${account.metadata.name} does not reference that secret`
  for (const { secret } of spec?.volumes ?? []) {
    if (secret !== undefined && !mountable.has(secret.secretName)) {
      throw refuse(attributes, `volume with secret.secretName="${secret.secretName}" ${tail}`)
    }
  }
  const check = (container: Container, word: string): void => {
    for (const { name, valueFrom } of container.env ?? []) {
      const secret = valueFrom?.secretKeyRef?.name
      if (secret === undefined || mountable.has(secret)) continue
      throw refuse(
        attributes,
        `${word} ${container.name} with envVar ${name} referencing secret.secretName="${secret}" ${tail}`,
      )
    }
    for (const { secretRef } of container.envFrom ?? []) {
      if (secretRef === undefined || mountable.has(secretRef.name)) continue
      throw refuse(
        attributes,
        `${word} ${container.name} with envFrom referencing secret.secretName="${secretRef.name}" ${tail}`,
      )
    }
  }
  for (const container of spec?.initContainers ?? []) check(container, "init container")
  for (const container of spec?.containers ?? []) check(container, "container")
  const pullable = new Set((account.imagePullSecrets ?? []).map((secret) => secret.name))
  for (const [index, { name }] of (spec?.imagePullSecrets ?? []).entries()) {
    if (pullable.has(name)) continue
    throw refuse(
      attributes,
      `imagePullSecrets[${index}].name="${name}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`,
    )
  }
}
