// What is special about each built-in kind, by "group/resource" ("/pods", "apps/deployments"). The facts say everything
// else; a kind that is not listed needs nothing beyond them.

import { controllerRevisions } from "./apps/controllerrevisions/strategy.ts"
import { daemonSets } from "./apps/daemonsets/strategy.ts"
import { deployments } from "./apps/deployments/strategy.ts"
import { replicaSets } from "./apps/replicasets/strategy.ts"
import { statefulSets } from "./apps/statefulsets/strategy.ts"
import { customResourceDefinitions } from "../custom-resources/definition/strategy.ts"
import { configMaps } from "./core/configmaps/strategy.ts"
import { endpoints } from "./core/endpoints/strategy.ts"
import { events } from "./core/events/strategy.ts"
import { limitRanges } from "./core/limitranges/strategy.ts"
import { namespaces } from "./core/namespaces/strategy.ts"
import { nodes } from "./core/nodes/strategy.ts"
import { persistentVolumeClaims } from "./core/persistentvolumeclaims/strategy.ts"
import { persistentVolumes } from "./core/persistentvolumes/strategy.ts"
import { pods } from "./core/pods/index.ts"
import { podTemplates } from "./core/podtemplates/strategy.ts"
import { replicationControllers } from "./core/replicationcontrollers/strategy.ts"
import { resourceQuotas } from "./core/resourcequotas/strategy.ts"
import { secrets } from "./core/secrets/strategy.ts"
import { serviceAccounts } from "./core/serviceaccounts/strategy.ts"
import { services } from "./core/services/strategy.ts"
import type { KindExtension } from "./strategy.ts"

export const kinds: Readonly<Record<string, KindExtension>> = {
  "/configmaps": configMaps,
  "/endpoints": endpoints,
  "/events": events,
  "/limitranges": limitRanges,
  "/namespaces": namespaces,
  "/nodes": nodes,
  "/persistentvolumeclaims": persistentVolumeClaims,
  "/persistentvolumes": persistentVolumes,
  "/pods": pods,
  "/podtemplates": podTemplates,
  "/replicationcontrollers": replicationControllers,
  "/resourcequotas": resourceQuotas,
  "/secrets": secrets,
  "/serviceaccounts": serviceAccounts,
  "/services": services,
  "apiextensions.k8s.io/customresourcedefinitions": customResourceDefinitions,
  "apps/controllerrevisions": controllerRevisions,
  "apps/daemonsets": daemonSets,
  "apps/deployments": deployments,
  "apps/replicasets": replicaSets,
  "apps/statefulsets": statefulSets,
  "events.k8s.io/events": events,
}
