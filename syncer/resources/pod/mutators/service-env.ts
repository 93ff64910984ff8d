// Environment variables for services: those of the tenant, with addresses that work on the nodes. The kubelet would set those of the
// super namespace.

import { type ServiceAddress, serviceVariables } from "../../../../apimachinery/core/service-variables.ts"
import type { Container } from "../../../../apimachinery/object.ts"
import { requestEntityTooLarge } from "../../../../apimachinery/status.ts"
import { mapContainers, withSpec, type PodContext, type PodMutator } from "../context.ts"

type EnvVar = NonNullable<Container["env"]>[number]

/**
 * A name, not an address: the API server's certificate is valid for names, which are the same for every tenant, and host aliases
 * (host-aliases.ts) make it resolve without DNS.
 */
const kubernetesHost = "kubernetes"

export const serviceEnv: PodMutator = (pod, context) =>
  withSpec(pod, (spec) => {
    const containers = spec.containers.length + (spec.initContainers?.length ?? 0)
    const variables = variablesFor(context, spec.enableServiceLinks !== false, maxVariables / containers)
    return mapContainers(spec, (container) => {
      const own = new Set(container.env?.map(({ name }) => name))
      const isFromOther = otherSources(container, context)
      const added = variables.filter(({ name }) => !own.has(name) && !isFromOther(name))
      // Prepended, so that the container's own variables can refer to them.
      return added.length === 0 ? container : { ...container, env: [...added, ...(container.env ?? [])] }
    })
  })

/** Limit over all containers of a pod. More would exceed an API server's body limit, and this process would have to build them first. */
const maxVariables = 65_536

/** Sources of a container's variables that are looked at: for each, all variables for services are looked up. */
const maxSources = 64

/**
 * Whether a ConfigMap or Secret gives the variable. It is that one then, as in the kubelet, which adds those for services last. Here
 * they are among the container's own, which take precedence over those of such sources.
 */
function otherSources({ envFrom = [] }: Container, context: PodContext): (name: string) => boolean {
  const sources = envFrom.slice(0, maxSources).flatMap((source) => {
    const values = context.variablesOf(source)
    return values === undefined ? [] : [{ prefix: source.prefix ?? "", values }]
  })
  return (name) =>
    sources.some(({ prefix, values }) => name.startsWith(prefix) && Object.hasOwn(values, name.slice(prefix.length)))
}

function variablesFor(context: PodContext, links: boolean, most: number): EnvVar[] {
  const { kubernetes } = context
  // As in the kubelet: a service of the pod's namespace takes precedence over the one that is visible to every pod.
  const seen = new Map<string, ServiceAddress>()
  if (kubernetes !== undefined) seen.set(kubernetes.name, kubernetes)
  if (links) for (const service of context.services()) seen.set(service.name, service)
  const host: EnvVar = { name: "KUBERNETES_SERVICE_HOST", value: kubernetesHost }
  const variables: EnvVar[] = []
  for (const variable of serviceVariables(seen.values())) {
    if (variables.length >= most) throw tooManyVariables()
    if (variable.name !== host.name) variables.push(variable)
  }
  return [...variables, host]
}

const tooManyVariables = (): Error =>
  requestEntityTooLarge(
    `the containers would have more than ${maxVariables} environment variables for services: set enableServiceLinks to false`,
  )
