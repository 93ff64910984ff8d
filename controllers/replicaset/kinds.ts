// The differences between ReplicaSet and ReplicationController, which share one controller.

import type { LabelSelector } from "../../apimachinery/labels.ts"
import type { KubeObject, PodTemplateSpec, ReplicaSet } from "../../apimachinery/object.ts"
import { replicaSets, replicationControllers } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"

export interface ReplicaKind {
  name: string
  resource: Resource
  apiVersion: string
  kind: string
  selector(object: KubeObject): LabelSelector
  /** Whether the kind has status.terminatingReplicas. */
  countsTerminating: boolean
}

/** The fields of both kinds, with ReplicaSet's names. */
export interface ReplicaObject extends KubeObject {
  spec?: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec }
  status?: NonNullable<ReplicaSet["status"]>
}

interface ReplicationController extends KubeObject {
  spec?: { selector?: { [key: string]: string }; template?: PodTemplateSpec }
}

export const replicaSetKind: ReplicaKind = {
  name: "replicaset",
  resource: replicaSets,
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  selector: (object) => (object as ReplicaSet).spec?.selector ?? {},
  countsTerminating: true,
}

/** Frozen, so that it is parsed once: it is compared with each pod that has no owner, and may have thousands of labels. */
const controllerSelectors = new WeakMap<KubeObject, LabelSelector>()

function controllerSelector(object: KubeObject): LabelSelector {
  const known = controllerSelectors.get(object)
  if (known !== undefined) return known
  const selector = Object.freeze({ matchLabels: (object as ReplicationController).spec?.selector ?? {} })
  controllerSelectors.set(object, selector)
  return selector
}

export const replicationControllerKind: ReplicaKind = {
  name: "replication",
  resource: replicationControllers,
  apiVersion: "v1",
  kind: "ReplicationController",
  selector: controllerSelector,
  countsTerminating: false,
}
