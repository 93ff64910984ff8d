// Creates and deletes pods for an owner, and records the Events that users expect.
// Source: k8s.io/kubernetes/pkg/controller/controller_utils.go (RealPodControl).

import { errorMessage } from "../../apimachinery/error-message.ts"
import type { KubeObject, OwnerReference, Pod, PodTemplateSpec } from "../../apimachinery/object.ts"
import { isNotFound, unexplained } from "../../apimachinery/status.ts"
import { isNamespaceTerminating } from "../../client/namespace-terminating.ts"
import { pods } from "../../client/resources.ts"
import type { Actor } from "../actor.ts"

export interface OwnerKind {
  apiVersion: string
  kind: string
}

export function controllerReference(owner: KubeObject, { apiVersion, kind }: OwnerKind): OwnerReference {
  return {
    apiVersion,
    kind,
    name: owner.metadata.name ?? "",
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** The pod of a template; `named` sets its name instead of generateName. */
export function podFromTemplate(
  template: PodTemplateSpec | undefined,
  owner: KubeObject,
  reference: OwnerReference,
  named?: string,
): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {}
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      namespace: owner.metadata.namespace ?? "",
      ...(named === undefined ? { generateName: `${owner.metadata.name ?? ""}-` } : { name: named }),
      labels: { ...labels },
      annotations: { ...annotations },
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [reference],
    },
    ...(template?.spec === undefined ? {} : { spec: template.spec }),
  }
}

export async function createPod(actor: Actor, owner: KubeObject, pod: Pod): Promise<Pod> {
  if (Object.keys(pod.metadata.labels ?? {}).length === 0) throw unexplained("unable to create pods, no labels")
  try {
    const created = await actor.client.create<Pod>(pods, pod)
    actor.event(owner, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name ?? ""}`)
    return created
  } catch (error) {
    if (!isNamespaceTerminating(error)) {
      actor.event(owner, "Warning", "FailedCreate", `Error creating: ${errorMessage(error)}`)
    }
    throw error
  }
}

/** true if it was deleted now; false if it did not exist. */
export async function deletePod(actor: Actor, owner: KubeObject, pod: Pod): Promise<boolean> {
  const { namespace, name = "", uid } = pod.metadata
  try {
    await actor.client.delete(pods, namespace, name, uid === undefined ? {} : { uid })
  } catch (error) {
    if (isNotFound(error)) return false
    const text = errorMessage(error)
    actor.event(owner, "Warning", "FailedDelete", `Error deleting: ${text}`)
    throw unexplained(`unable to delete pods: ${text}`, { cause: error })
  }
  actor.event(owner, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`)
  return true
}
