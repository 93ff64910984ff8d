// Maintains the Secrets with pods' service account tokens: created before the pod, renewed while it lives, deleted with it. One that somebody in
// super changes gets new tokens: nobody else has those that it had.

import type { KubeObject, Pod, Secret } from "../apimachinery/object.ts"
import { superNamespace, tokenPodNameAnnotation, tokenPodUIDAnnotation } from "../apimachinery/tenancy.ts"
import { conflict, isAlreadyExists, isConflict, isNotFound, restated } from "../apimachinery/status.ts"
import type { Clock } from "../client/clock.ts"
import type { EventRecorder } from "../client/events.ts"
import { pods, secrets } from "../client/resources.ts"
import type { KubeClient } from "../client/rest.ts"
import type { Tenant, Tenants, TenantUse } from "../client/tenants.ts"
import type { Caches } from "./clusters/caches.ts"
import type { Outcome } from "./controller.ts"
import { recordedOwner } from "./conversion/ownership.ts"
import { inTenant } from "./failures.ts"
import { keyOf, podTokens, type SyncKey } from "./keys.ts"
import { syncerLimits } from "./options.ts"
import { RepeatedChanges } from "./repeated-changes.ts"
import type { Patch } from "./resources/resource-sync.ts"
import { tokenSecretName } from "./resources/pod/mutators/service-account-token.ts"
import { expiryOf, isMarked, issueTokens, isTokenSecret, needsTokens, refreshDue } from "./resources/pod/tokens.ts"

interface TokenKeeperParts {
  tenants: Tenants
  superClient: KubeClient
  caches: Caches
  clock: Clock
  events: EventRecorder
  /** Enqueues the key after that time. */
  schedule(key: SyncKey, afterMs: number): void
}

/** New tokens for a pod that is in super: somebody there may replace them again and again, also by replacing their Secret. */
const anew: Patch = { patch: {} }

/** Somebody has made it immutable, which nobody can take back, so that it must be replaced. A finalizer holds it. */
const isHeld = (secret: Secret | undefined): boolean =>
  secret?.immutable === true && secret.metadata.deletionTimestamp !== undefined

export class TokenKeeper {
  readonly #parts: TokenKeeperParts
  readonly #repeated: RepeatedChanges

  constructor(parts: TokenKeeperParts) {
    this.#parts = parts
    this.#repeated = new RepeatedChanges(parts.clock)
  }

  async reconcile(key: SyncKey, use?: TenantUse): Promise<Outcome> {
    const { tenants, caches, clock } = this.#parts
    const tenant = tenants.get(key.tenant)
    if (tenant === undefined) return
    if (key.name === "") return this.#identify(tenant, key.namespace)
    const pod = caches.tenantInformer(pods).get(tenant.name, key.namespace, key.name)
    const needed = pod !== undefined && needsTokens(pod)
    const own = needed ? tokenSecretName(pod.metadata.uid ?? "") : undefined
    for (const secret of this.#marked(tenant, key.namespace, key.name))
      if (secret.metadata.name !== own) await this.#remove(secret)
    if (!needed) return
    // If the pod is not in super, its tokens are created together with it. If tokens exist, the pod is about to be created.
    if (!this.#isInSuper(tenant, pod) && this.#secretOf(tenant, pod) === undefined) return
    const waitMs = this.#repeated.wait(pod, anew)
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    const due = await this.#refresh(tenant, pod, use)
    return { requeueAfterMs: Math.max(1000, due - clock.now()) }
  }

  /** Those that say that they are of this pod. What lies in others' namespaces is theirs, whatever it says. */
  #marked(tenant: Tenant, namespace: string, pod: string): KubeObject[] {
    const own = superNamespace(tenant.clusterKey, namespace)
    const marked = this.#parts.caches.tokenSecrets(tenant.clusterKey, namespace, pod)
    return marked.filter(({ metadata }) => metadata.namespace === own)
  }

  /** Of Secrets that do not say of which pod they are any more, the names do. */
  async #identify(tenant: Tenant, namespace: string): Promise<void> {
    const { caches } = this.#parts
    const nameless = this.#marked(tenant, namespace, "")
    if (nameless.length === 0) return
    const living = new Map(
      caches
        .tenantInformer(pods)
        .list(tenant.name, namespace)
        .filter((pod) => needsTokens(pod as Pod))
        .map(({ metadata: { uid = "", name = "" } }) => [tokenSecretName(uid), name]),
    )
    for (const secret of nameless) {
      const pod = living.get(secret.metadata.name ?? "")
      if (pod === undefined) await this.#remove(secret)
      else this.#parts.schedule(keyOf(tenant.name, podTokens, namespace, pod), 0)
    }
  }

  /** For what the tenant has in super: how long until its key has something to do. At most 0: now. */
  *due(tenant: Tenant): Generator<{ key: SyncKey; afterMs: number }> {
    const { caches, clock } = this.#parts
    const podOf = (namespace: string, name: string): Pod | undefined =>
      caches.tenantInformer(pods).get(tenant.name, namespace, name)
    for (const secret of caches.copiesOf(secrets, tenant.clusterKey)) {
      if (!isTokenSecret(secret)) continue
      const { [tokenPodNameAnnotation]: name = "", [tokenPodUIDAnnotation]: uid } = secret.metadata.annotations ?? {}
      const namespace = recordedOwner(secret)?.namespace ?? ""
      const pod = podOf(namespace, name)
      const isNeeded = pod !== undefined && pod.metadata.uid === uid && needsTokens(pod)
      const afterMs = isNeeded ? refreshDue(pod, secret, tenant) - clock.now() : 0
      yield { key: keyOf(tenant.name, podTokens, namespace, name), afterMs }
    }
    for (const copy of caches.copiesOf(pods, tenant.clusterKey)) {
      const pod = podOf(recordedOwner(copy)?.namespace ?? "", copy.metadata.name ?? "")
      if (pod === undefined || !needsTokens(pod)) continue
      const secret = this.#secretOf(tenant, pod)
      if (secret !== undefined && isMarked(secret, pod, tenant)) continue
      yield { key: keyOf(tenant.name, podTokens, pod.metadata.namespace, pod.metadata.name ?? ""), afterMs: 0 }
    }
  }

  /** Before the pod is made in super, where it could not start without them: whatever has become of them before, at once. */
  async ensure(tenant: Tenant, pod: Pod, use: TenantUse): Promise<void> {
    if (!needsTokens(pod)) return
    const due = await this.#refresh(tenant, pod, use)
    const { namespace, name = "" } = pod.metadata
    const key = keyOf(tenant.name, podTokens, namespace, name)
    this.#parts.schedule(key, Math.max(1000, due - this.#parts.clock.now()))
  }

  /** Issues tokens if they are due. Returns when they are due next. */
  async #refresh(tenant: Tenant, pod: Pod, use?: TenantUse): Promise<number> {
    const { clock, tenants } = this.#parts
    const present = this.#secretOf(tenant, pod)
    const due = present === undefined ? 0 : refreshDue(pod, present, tenant)
    if (due > clock.now()) return due
    const laterAt = clock.now() + syncerLimits.tokenRefreshMinMs
    if (isHeld(present)) return laterAt
    const lateAt = present === undefined ? undefined : expiryOf(pod, present, tenant)
    const issued = await inTenant(issueTokens(pod, tenant, tenants.client(tenant, use), clock.now()), { lateAt })
    if (issued === undefined) return Number.POSITIVE_INFINITY
    const isMade = await this.#store(tenant, pod, issued.secret, present)
    // Not the first ones. By the pod: the Secret may be another one each time, or none that is known, having lost its marks.
    if (present !== undefined || this.#isInSuper(tenant, pod)) this.#repeated.note(pod, anew)
    return isMade ? issued.refreshAt : laterAt
  }

  /** false: it must be replaced, and is not gone yet. */
  async #store(tenant: Tenant, pod: Pod, secret: Secret, present: Secret | undefined): Promise<boolean> {
    try {
      if (present === undefined && (await this.#isCreated(secret))) return true
      return await this.#replace(tenant, pod, secret, present)
    } catch (error) {
      if (!isNotFound(error)) throw error
      // Somebody there has deleted it meanwhile, or its namespace: nothing that the tenant's pod lacks.
      throw restated(conflict(secrets, secret.metadata.name ?? "", "it is gone"), {}, { cause: error })
    }
  }

  /** The contents of the one that is there. */
  async #replace(tenant: Tenant, pod: Pod, secret: Secret, present: Secret | undefined): Promise<boolean> {
    const { namespace, name = "" } = secret.metadata
    // One that has lost its label is in no cache.
    const there = present ?? (await this.#parts.superClient.get<Secret>(secrets, namespace, name))
    if (there.immutable !== true) {
      await this.#write(secret)
      return true
    }
    if (isHeld(there)) return false
    this.#tellFixed(tenant, pod, expiryOf(pod, there, tenant))
    await this.#remove(there)
    return this.#isCreated(secret)
  }

  /** false: there is one of that name. */
  async #isCreated(secret: Secret): Promise<boolean> {
    try {
      await this.#parts.superClient.create(secrets, secret)
      return true
    } catch (error) {
      if (isAlreadyExists(error)) return false
      throw error
    }
  }

  /** The tokens and marks of the Secret that is there. */
  async #write({ data, metadata: { namespace, name = "", labels, annotations } }: Secret): Promise<void> {
    const patch = { metadata: { labels, annotations }, data }
    await this.#parts.superClient.patch(secrets, namespace, name, patch, { type: "merge" })
  }

  /** A kubelet does not look again at a Secret that it has seen immutable. Source: pkg/kubelet/util/manager/watch_based_manager.go. */
  #tellFixed(tenant: Tenant, pod: Pod, expiresAt: number | undefined): void {
    if (!this.#isInSuper(tenant, pod)) return
    const { tenants, events } = this.#parts
    const until = expiresAt === undefined ? "" : `, until ${new Date(expiresAt).toISOString()}`
    const message = `the super cluster has fixed the service account tokens of this pod, which keeps those that it has${until}; replace the pod`
    const subject = { ...pod, apiVersion: "v1", kind: "Pod" }
    events.event(tenants.client(tenant, { isUse: false }), subject, "Warning", "FailedSync", message, tenant.name)
  }

  #isInSuper(tenant: Tenant, { metadata: { namespace = "", name = "" } }: Pod): boolean {
    const { caches } = this.#parts
    return caches.superInformer(pods).get(superNamespace(tenant.clusterKey, namespace), name) !== undefined
  }

  /** The Secret as cached from super. */
  #secretOf(tenant: Tenant, { metadata: { namespace = "", uid = "" } }: Pod): Secret | undefined {
    const informer = this.#parts.caches.superInformer(secrets)
    return informer.get(superNamespace(tenant.clusterKey, namespace), tokenSecretName(uid))
  }

  async #remove({ metadata }: KubeObject): Promise<void> {
    const { namespace, name = "", uid } = metadata
    try {
      await this.#parts.superClient.delete(secrets, namespace, name, uid === undefined ? {} : { uid })
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}
