// Creates the service account "default" and the ConfigMap kube-root-ca.crt in every namespace.
// Source: k8s.io/kubernetes/pkg/controller/serviceaccount, pkg/controller/certificates/rootcacertpublisher.

import type { ConfigMap, KubeObject, Namespace, ServiceAccount } from "../../apimachinery/object.ts"
import { isAlreadyExists } from "../../apimachinery/status.ts"
import { rootCAConfigMap } from "../../apimachinery/tenancy.ts"
import { configMaps, namespaces, serviceAccounts } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"
import type { TenantInformer } from "../../client/informers/tenant-informer.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import type { Actor } from "../actor.ts"
import type { ControllerContext } from "../context.ts"
import { Controller, type Key } from "../controller.ts"

const defaultAccount = "default"
const description =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the " +
  "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."

export function runServiceAccounts(ctx: ControllerContext): Promise<void> {
  const accounts = ctx.informers.of<ServiceAccount>(serviceAccounts)
  return perNamespace(ctx, "serviceaccount", accounts, defaultAccount, async (actor, key, isActive) => {
    if (!isActive || accounts.get(key.tenant, key.name, defaultAccount) !== undefined) return
    await create(actor, serviceAccounts, {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: defaultAccount, namespace: key.name },
    })
  })
}

export function runRootCertificates(ctx: ControllerContext): Promise<void> {
  const all = ctx.informers.of<ConfigMap>(configMaps)
  const data = { "ca.crt": ctx.rootCertificateAuthority }
  return perNamespace(ctx, "root-ca-certificate-publisher", all, rootCAConfigMap, async (actor, key, isActive) => {
    const present = all.get(key.tenant, key.name, rootCAConfigMap)
    const annotations = { ...present?.metadata.annotations, "kubernetes.io/description": description }
    const metadata = { name: rootCAConfigMap, namespace: key.name, annotations }
    if (present === undefined) {
      if (isActive) await create(actor, configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data })
      return
    }
    const isSame = Object.keys(present.data ?? {}).length === 1 && present.data?.["ca.crt"] === data["ca.crt"]
    if (isSame && (present.metadata.annotations?.["kubernetes.io/description"] ?? "") !== "") return
    const updated = { ...present, metadata: { ...present.metadata, annotations }, data }
    await actor.client.update(configMaps, updated)
  })
}

/** Keys are namespaces; a change of the object in a namespace enqueues the namespace. `isActive`: objects can be created in it. */
function perNamespace<T extends KubeObject>(
  ctx: ControllerContext,
  name: string,
  informer: TenantInformer<T>,
  only: string,
  reconcile: (actor: Actor, key: Key, isActive: boolean) => Promise<void>,
): Promise<void> {
  const all = ctx.informers.of<Namespace>(namespaces)
  const controller = new Controller<Namespace>(ctx, { name, primary: all, reads: [informer] })
  const changed = (tenant: string, object: T): void => {
    if (object.metadata.name === only) controller.enqueue(tenant, "", object.metadata.namespace ?? "")
  }
  informer.subscribe({ updated: changed, deleted: changed })
  return controller.run(async (key, actor) => {
    const namespace = all.get(key.tenant, undefined, key.name)
    const isActive = namespace !== undefined && namespace.metadata.deletionTimestamp === undefined
    await reconcile(actor, key, isActive)
  })
}

async function create(actor: Actor, resource: Resource, object: KubeObject): Promise<void> {
  try {
    await actor.client.create(resource, object)
  } catch (error) {
    // Another client created it first, or the namespace is being deleted.
    if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) throw error
  }
}
