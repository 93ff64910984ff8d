// Secrets of type kubernetes.io/service-account-token: sets the token, the CA and the namespace, and deletes them with their
// account. The token is bound to the Secret (KEP-2799) and has the maximum lifetime: it becomes invalid with the Secret.
// Source: k8s.io/kubernetes/pkg/controller/serviceaccount/tokens_controller.go.

import {
  accountAnnotation,
  longestTokenSeconds,
  tokenType,
  uidAnnotation,
} from "../../apimachinery/core/service-account-tokens.ts"
import type { KubeObject, Secret, ServiceAccount } from "../../apimachinery/object.ts"
import { hasReason, isConflict, isNotFound } from "../../apimachinery/status.ts"
import { secrets, serviceAccounts } from "../../client/resources.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"

/** Number of attempts while other clients update the account too. */
const referenceAttempts = 10

interface TokenRequest extends KubeObject {
  status?: { token?: string }
}

const isToken = ({ type, metadata }: Secret): boolean =>
  type === tokenType && metadata.annotations?.[accountAnnotation] !== undefined

export function runServiceAccountTokens(ctx: ControllerContext): Promise<void> {
  // Other Secrets are not cached, and few tenants have Secrets of this type.
  const informer = ctx.informers.mentioning<Secret>(secrets, [tokenType])
  const accounts = ctx.informers.of<ServiceAccount>(serviceAccounts)
  const controller = new Controller<Secret>(ctx, {
    name: "serviceaccount-token",
    primary: informer,
    concerns: isToken,
    reads: [accounts],
  })
  const enqueueSecrets = (tenant: string, { metadata }: ServiceAccount): void => {
    for (const secret of informer.list(tenant, metadata.namespace)) {
      if (secret.metadata.annotations?.[accountAnnotation] === metadata.name) controller.enqueueObject(tenant, secret)
    }
  }
  accounts.subscribe({ added: enqueueSecrets, deleted: enqueueSecrets })
  informer.subscribe({
    deleted(tenant, secret) {
      if (isToken(secret)) void forgetReference(controller.actor(tenant), secret, ctx)
    },
  })
  return controller.run((key, actor) => reconcile(ctx, actor, informer, key))
}

async function reconcile(
  ctx: ControllerContext,
  actor: Actor,
  informer: TenantInformer<Secret>,
  { tenant, namespace, name }: Key,
): Promise<void> {
  const secret = informer.get(tenant, namespace, name)
  if (secret === undefined || !isToken(secret)) return
  const { annotations = {}, uid } = secret.metadata
  const client = actor.client
  const accountName = annotations[accountAnnotation] ?? ""
  const known = annotations[uidAnnotation] ?? ""
  const isOwner = (account: ServiceAccount | undefined): boolean =>
    account !== undefined && (known === "" || account.metadata.uid === known)
  let account = ctx.informers.of<ServiceAccount>(serviceAccounts).get(tenant, namespace, accountName)
  if (!isOwner(account)) {
    // The cache may be stale, and a token must not be deleted because of that.
    account = await client.get<ServiceAccount>(serviceAccounts, namespace, accountName).catch((error: unknown) => {
      if (hasReason(error, "NotFound")) return undefined
      throw error
    })
  }
  if (account === undefined || !isOwner(account)) {
    await client.delete(secrets, namespace, name, uid === undefined ? {} : { uid }).catch((error: unknown) => {
      if (!hasReason(error, "NotFound", "Conflict")) throw error
    })
    return
  }
  const encoded = (text: string): string => Buffer.from(text).toString("base64")
  const { token, namespace: of, ...others } = (secret.data ?? {}) as Record<string, string>
  const authority = encoded(ctx.rootCertificateAuthority)
  const isGiven = (value: string | undefined): value is string => value !== undefined && value !== ""
  if (isGiven(token) && isGiven(of) && others["ca.crt"] === authority) return
  const data = {
    ...others,
    "ca.crt": authority,
    namespace: isGiven(of) ? of : encoded(namespace),
    token: isGiven(token) ? token : encoded(await issue(actor, account, secret)),
  }
  const metadata = {
    ...secret.metadata,
    annotations: { ...annotations, [uidAnnotation]: account.metadata.uid ?? "" },
  }
  await client.update<Secret>(secrets, { ...secret, metadata, data })
}

async function issue(actor: Actor, account: ServiceAccount, secret: Secret): Promise<string> {
  const { name = "", namespace = "" } = account.metadata
  const bound = { kind: "Secret", apiVersion: "v1", name: secret.metadata.name, uid: secret.metadata.uid }
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name, namespace },
    spec: { audiences: [], expirationSeconds: longestTokenSeconds, boundObjectRef: bound },
  }
  const answer = await actor.client.create<TokenRequest>(serviceAccounts, request, { subresource: "token" })
  return answer.status?.token ?? ""
}

/** Removes the account's reference to a deleted Secret. */
async function forgetReference(actor: Actor | undefined, { metadata }: Secret, ctx: ControllerContext): Promise<void> {
  if (actor === undefined) return
  const { tenant, client } = actor
  const { namespace, name, annotations = {} } = metadata
  const { [accountAnnotation]: accountName = "", [uidAnnotation]: uid = "" } = annotations
  for (let attempt = 1; ; attempt++) {
    try {
      const account = await client.get<ServiceAccount>(serviceAccounts, namespace, accountName)
      const named = account.secrets ?? []
      const left = named.filter((reference) => reference.name !== name)
      if (left.length === named.length || (uid !== "" && uid !== account.metadata.uid)) return
      await client.update<ServiceAccount>(serviceAccounts, { ...account, secrets: left })
      return
    } catch (error) {
      if (isConflict(error) && attempt < referenceAttempts) continue
      // A dangling reference is harmless.
      if (!isNotFound(error))
        ctx.log.debug({ tenant, namespace, name, err: error }, "token reference not removed from its service account")
      return
    }
  }
}
