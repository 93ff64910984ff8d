// The differences between ReplicaSet and ReplicationController, which share one controller.

import type { KubeObject, PodTemplateSpec, ReplicaSet } from "../../apimachinery/object.ts"
import { replicaSets, replicationControllers } from "../../client/resources.ts"
import type { Resource } from "../../client/rest.ts"

export interface ReplicaKind {
  name: string
  resource: Resource
  apiVersion: string
  kind: string
  selector(object: KubeObject): { matchLabels?: { [key: string]: string } }
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

export const replicationControllerKind: ReplicaKind = {
  name: "replication",
  resource: replicationControllers,
  apiVersion: "v1",
  kind: "ReplicationController",
  selector: (object) => ({ matchLabels: (object as ReplicationController).spec?.selector ?? {} }),
  countsTerminating: false,
}
