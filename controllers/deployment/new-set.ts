// The ReplicaSet for a Deployment's template. Source: k8s.io/kubernetes/pkg/controller/deployment/sync.go.

import type { Deployment, ReplicaSet } from "../../apimachinery/object.ts"
import { stepsInTurns } from "../../client/in-turns.ts"
import { controllerReference } from "../pods/pod-control.ts"
import { canonicalizing, hashing } from "../template-hash.ts"
import { newSetAnnotations } from "./annotations.ts"
import {
  desiredReplicasAnnotation,
  maxReplicasAnnotation,
  mostReplicas,
  newSetReplicas,
  replicasOf,
} from "./replicas.ts"
import { templateHashLabel } from "./template.ts"

export const deploymentKind = { apiVersion: "apps/v1", kind: "Deployment" } as const

/** The ReplicaSet to create; the old ones limit its initial size. */
export async function newSetFor(
  deployment: Deployment,
  old: readonly ReplicaSet[],
  revision: bigint,
): Promise<ReplicaSet> {
  const { template, selector, minReadySeconds } = deployment.spec ?? {}
  const hash = await stepsInTurns(
    hashing(await stepsInTurns(canonicalizing(template)), deployment.status?.collisionCount),
  )
  const labels = { ...template?.metadata?.labels, [templateHashLabel]: hash }
  const { name = "", namespace = "" } = deployment.metadata
  const set = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      // The deterministic name prevents duplicates. The length limit is upstream's.
      name: `${name.slice(0, 253 - 1 - hash.length)}-${hash}`,
      namespace,
      labels,
      ownerReferences: [controllerReference(deployment, deploymentKind)],
    },
    spec: {
      replicas: 0,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [templateHashLabel]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  } as ReplicaSet
  const replicas = newSetReplicas(deployment, [...old, set], set)
  const annotations = { ...newSetAnnotations(deployment, undefined, revision), ...sizeAnnotations(deployment) }
  return {
    ...set,
    metadata: { ...set.metadata, annotations },
    spec: { ...set.spec, replicas } as ReplicaSet["spec"] & {},
  }
}

/** The annotations in which a ReplicaSet records the size of its Deployment. */
export function sizeAnnotations(deployment: Deployment): Record<string, string> {
  const replicas = replicasOf(deployment)
  return {
    [desiredReplicasAnnotation]: String(replicas),
    [maxReplicasAnnotation]: String(mostReplicas(deployment)),
  }
}
