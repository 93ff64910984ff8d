// services/proxy: HTTP to one of the pods behind a Service. Source: ResourceLocation in
// k8s.io/kubernetes/pkg/registry/core/service/storage/storage.go.

import type { Service } from "../../../../../apimachinery/object.ts"
import { serviceUnavailable } from "../../../../../apimachinery/status.ts"
import { pickEndpoint } from "../../../../backends/service-endpoint.ts"
import { type Locate, serveProxy } from "../../../../proxy/serve.ts"
import type { SubresourceHandler } from "../../../strategy.ts"

export const proxy: SubresourceHandler = {
  connect: (ctx, registry, _namespace, _name, exchange) =>
    serveProxy(ctx, registry, exchange, { what: "service", kind: "ServiceProxyOptions", locate }),
}

const locate: Locate = async (ctx, registry, { name, port }) => {
  const { namespace, name: asked } = ctx.info
  const { client, backends } = ctx.controlPlane
  const service = (await registry.get(ctx, namespace, name)).object() as Service
  const portName = /^\d+$/.test(port) ? nameOfPort(service, Number(port)) : port
  const endpoint = await pickEndpoint(client, { namespace, name }, portName, service.spec?.ipFamilies?.[0])
  // Only to pods: other addresses are arbitrary values of clients.
  if (endpoint?.pod === undefined) {
    throw serviceUnavailable(`no endpoints available for service ${JSON.stringify(asked)}`)
  }
  return { host: `${endpoint.address}:${endpoint.port}`, dial: (signal) => backends.dialEndpoint(endpoint, signal) }
}

function nameOfPort({ metadata, spec }: Service, number: number): string {
  const found = spec?.ports?.find(({ port }) => port === number)
  if (found === undefined) {
    throw serviceUnavailable(`no service port ${number} found for service ${JSON.stringify(metadata.name)}`)
  }
  return found.name ?? ""
}
