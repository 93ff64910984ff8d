// Generated token Secrets (listed in their account) that have not been used for a year: marks them as invalid, and deletes them
// another year later. Source: k8s.io/kubernetes/pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go.

import type { ConfigMap, Pod, Secret, ServiceAccount } from "../../apimachinery/object.ts"
import {
  accountAnnotation,
  invalidSinceLabel,
  lastUsedLabel,
  tokenType,
  uidAnnotation,
} from "../../apimachinery/core/service-account-tokens.ts"
import { hasReason, isNotFound } from "../../apimachinery/status.ts"
import { configMaps, pods as podResource, secrets, serviceAccounts } from "../../client/resources.ts"
import type { KubeClient } from "../../client/rest.ts"
import type { ReconcileResult } from "../../client/workqueue/workers.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"
import { mountedSecrets } from "../../apimachinery/core/pod-references.ts"

/** Contains the date since which the use of tokens is recorded. */
const tracking = { namespace: "kube-system", name: "kube-apiserver-legacy-service-account-token-tracking" }
const dayMs = 86_400_000
const dateForm = /^\d{4}-\d\d-\d\d$/

export function runUnusedTokens(ctx: ControllerContext): Promise<void> {
  const tokens = ctx.informers.mentioning<Secret>(secrets, [tokenType])
  const accounts = ctx.informers.of<ServiceAccount>(serviceAccounts)
  const pods = ctx.informers.of<Pod>(podResource)
  const controller = new Controller<Secret>(ctx, {
    name: "legacy-serviceaccount-token-cleaner",
    primary: tokens,
    concerns: ({ type }) => type === tokenType,
    reads: [accounts, pods],
  })
  const enqueueNamed = (tenant: string, { metadata, secrets: named = [] }: ServiceAccount): void => {
    for (const { name } of named) {
      if (name !== undefined && tokens.get(tenant, metadata.namespace, name) !== undefined) {
        controller.enqueue(tenant, metadata.namespace, name)
      }
    }
  }
  accounts.subscribe({ added: enqueueNamed, updated: enqueueNamed })
  return controller.run((key, actor) => reconcile(ctx, actor, key))
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  { tenant, namespace, name }: Key,
): Promise<ReconcileResult> {
  const secret = ctx.informers.mentioning<Secret>(secrets, [tokenType]).get(tenant, namespace, name)
  if (secret?.type !== tokenType || secret.metadata.deletionTimestamp !== undefined) return
  if (!isNamed(ctx, tenant, secret)) return
  const client = actor.client
  const now = ctx.clock.now()
  const { unusedTokenMs } = ctx.limits
  const lastUsed = secret.metadata.labels?.[lastUsedLabel]
  const used = lastUsed === undefined ? 0 : endOfDay(lastUsed)
  if (used === undefined) return
  const tracked = await trackedSince(client)
  if (tracked === undefined) return
  const created = Date.parse(secret.metadata.creationTimestamp ?? "")
  const due = Math.max(tracked, created, used) + unusedTokenMs
  if (now < due) return { requeueAfterMs: due - now }
  const pods = ctx.informers.of<Pod>(podResource).list(tenant, namespace)
  // Checked again every day, as upstream.
  if (pods.some((pod) => mountedSecrets(pod).has(name))) return { requeueAfterMs: dayMs }
  const { uid, resourceVersion = "", labels } = secret.metadata
  const since = endOfDay(labels?.[invalidSinceLabel] ?? "")
  try {
    if (since === undefined) {
      const patch = { metadata: { uid, labels: { [invalidSinceLabel]: new Date(now).toISOString().slice(0, 10) } } }
      await client.patch(secrets, namespace, name, patch, { type: "merge" })
      return
    }
    const goes = since + unusedTokenMs
    if (now < goes) return { requeueAfterMs: goes - now }
    await client.delete(secrets, namespace, name, { resourceVersion })
  } catch (error) {
    // Deleted, or used in the meantime, which causes an event.
    if (!hasReason(error, "NotFound", "Conflict")) throw error
  }
}

/** Whether the account lists the Secret, as was generated for every account in the past. */
function isNamed(ctx: ControllerContext, tenant: string, { metadata }: Secret): boolean {
  const { [accountAnnotation]: name = "", [uidAnnotation]: uid = "" } = metadata.annotations ?? {}
  const account = ctx.informers.of<ServiceAccount>(serviceAccounts).get(tenant, metadata.namespace, name)
  if (account === undefined || (uid !== "" && uid !== account.metadata.uid)) return false
  return (account.secrets ?? []).some((reference) => reference.name === metadata.name)
}

/** Undefined if it is not a valid date. */
function endOfDay(text: string): number | undefined {
  const at = dateForm.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text) ? at + dayMs : undefined
}

/** The end of the day; undefined if use is not recorded. */
async function trackedSince(client: KubeClient): Promise<number | undefined> {
  try {
    const { data } = await client.get<ConfigMap>(configMaps, tracking.namespace, tracking.name)
    return endOfDay(data?.["since"] ?? "")
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
