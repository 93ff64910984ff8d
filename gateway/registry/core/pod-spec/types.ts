// Short names for the parts of a pod spec on the wire.

import type * as models from "@kubernetes/client-node"
import type { Wire } from "../../../../apimachinery/object.ts"

export type { Container, PodSpec, PodTemplateSpec } from "../../../../apimachinery/object.ts"
export type Volume = Wire<models.V1Volume>
export type VolumeMount = Wire<models.V1VolumeMount>
export type Probe = Wire<models.V1Probe>
export type LifecycleHandler = Wire<models.V1LifecycleHandler>
export type Toleration = Wire<models.V1Toleration>
export type Affinity = Wire<models.V1Affinity>
export type EphemeralContainer = Wire<models.V1EphemeralContainer>
export type KeyToPath = Wire<models.V1KeyToPath>
export type ObjectFieldSelector = Wire<models.V1ObjectFieldSelector>
export type ResourceFieldSelector = Wire<models.V1ResourceFieldSelector>
export type ResourceRequirements = Wire<models.V1ResourceRequirements>
export type ResourceList = Record<string, string>
