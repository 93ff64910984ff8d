// References to the ConfigMap with the control plane's CA, which has another name in super.

import type { Container } from "../../../../apimachinery/object.ts"
import { superConfigMapName } from "../../../../apimachinery/tenancy.ts"
import { mapContainers, withSpec, type PodMutator } from "../context.ts"

interface Reference {
  name?: string
}

export const rootCA: PodMutator = (pod) =>
  withSpec(pod, (spec) => {
    const volumes = spec.volumes?.map((volume) => ({
      ...volume,
      ...(volume.configMap === undefined ? {} : { configMap: renamed(volume.configMap) }),
      ...(volume.projected?.sources === undefined
        ? {}
        : {
            projected: {
              ...volume.projected,
              sources: volume.projected.sources.map((source) =>
                source.configMap === undefined ? source : { ...source, configMap: renamed(source.configMap) },
              ),
            },
          }),
    }))
    return mapContainers(volumes === undefined ? spec : { ...spec, volumes }, renameInContainer)
  })

function renameInContainer(container: Container): Container {
  const { env, envFrom } = container
  return {
    ...container,
    ...(env === undefined
      ? {}
      : {
          env: env.map((variable) => {
            const reference = variable.valueFrom?.configMapKeyRef
            if (reference === undefined) return variable
            return { ...variable, valueFrom: { ...variable.valueFrom, configMapKeyRef: renamed(reference) } }
          }),
        }),
    ...(envFrom === undefined
      ? {}
      : {
          envFrom: envFrom.map((source) =>
            source.configMapRef === undefined ? source : { ...source, configMapRef: renamed(source.configMapRef) },
          ),
        }),
  }
}

function renamed<T extends Reference>(reference: T): T {
  return reference.name === undefined ? reference : { ...reference, name: superConfigMapName(reference.name) }
}
