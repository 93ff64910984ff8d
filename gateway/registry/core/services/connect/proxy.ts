// services/proxy: HTTP to one of the pods behind a Service, which its Endpoints name. Source: ResourceLocation in
// k8s.io/kubernetes/pkg/registry/core/service/storage/storage.go.

import { randomInt } from "node:crypto"
import { joinHostPort } from "../../../../../apimachinery/addresses.ts"
import type { Endpoints, Pod, Service } from "../../../../../apimachinery/object.ts"
import { isNotFound, notFound, serviceUnavailable } from "../../../../../apimachinery/status.ts"
import { endpoints, pods } from "../../../../../client/resources.ts"
import type { Reader, ServiceEndpoint } from "../../../../backends/service-endpoint.ts"
import { type Locate, serveProxy } from "../../../../proxy/serve.ts"
import type { RequestContext } from "../../../../request/context.ts"
import type { SubresourceHandler } from "../../../strategy.ts"

export const proxy: SubresourceHandler = {
  connect: (ctx, registry, _namespace, _name, exchange) =>
    serveProxy(ctx, registry, exchange, { what: "service", kind: "ServiceProxyOptions", locate }),
}

type Subset = NonNullable<Endpoints["subsets"]>[number]

interface PodName {
  namespace: string
  name: string
}

const locate: Locate = async (ctx, registry, { name, port }) => {
  const { namespace, name: asked } = ctx.info
  const { client, backends } = ctx.controlPlane
  const portName = isNumber(port) ? nameOfPort((await registry.get(ctx, namespace, name)).object(), port) : port
  const found = await client.get<Endpoints>(endpoints, namespace, name).catch((error: unknown) => {
    throw isNotFound(error) ? notFound(registry.definition, name) : error
  })
  const { subsets = [] } = found
  if (subsets.length === 0) throw unavailable(name)
  const endpoint = await pickPod(client, { namespace, subsets, portName }, ctx.pause)
  if (endpoint === undefined) throw unavailable(asked)
  const host = joinHostPort(endpoint.address, endpoint.port)
  return { host, dial: (signal) => backends.dialEndpoint(endpoint, signal) }
}

const unavailable = (service: string): Error =>
  serviceUnavailable(`no endpoints available for service ${JSON.stringify(service)}`)

/** As Go reads a number of 64 bits; any other text is the name of a port. */
const isNumber = (text: string): boolean => /^[+-]?\d{1,64}$/.test(text) && isInt64(BigInt(text.replace(/^\+/, "")))
const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

function nameOfPort({ metadata, spec }: Service, text: string): string {
  const number = BigInt(text.replace(/^\+/, ""))
  const found = spec?.ports?.find(({ port }) => BigInt(port) === number)
  if (found === undefined) {
    throw serviceUnavailable(`no service port ${number} found for service ${JSON.stringify(metadata.name)}`)
  }
  return found.name ?? ""
}

/** Looked up for one request: a client may write any number of addresses that no pod has. Upstream tries all of them. */
export const maxTries = 256

interface Wanted {
  namespace: string
  subsets: readonly Subset[]
  portName: string
}

/** Only pods at their own addresses: others are arbitrary values of clients. */
export async function pickPod(
  client: Reader,
  wanted: Wanted,
  pause?: RequestContext["pause"],
): Promise<ServiceEndpoint | undefined> {
  let tries = 0
  for (const candidate of candidatesOf(wanted)) {
    if (tries++ === maxTries) return undefined
    if (await hasAddress(client, candidate.pod, candidate.address)) return candidate
    await pause?.()
  }
  return undefined
}

function* candidatesOf({ namespace, subsets, portName }: Wanted): Generator<ServiceEndpoint & { pod: PodName }> {
  for (const { addresses = [], ports = [] } of fromRandom(subsets)) {
    for (const { port } of ports.filter(({ name = "" }) => name === portName)) {
      for (const { ip, targetRef } of fromRandom(addresses)) {
        if (targetRef?.name === undefined || targetRef.namespace !== namespace) continue
        yield { pod: { namespace, name: targetRef.name }, address: ip, port }
      }
    }
  }
}

/** All of them, in their order, from one by chance. */
function fromRandom<T>(list: readonly T[]): readonly T[] {
  const start = list.length === 0 ? 0 : randomInt(list.length)
  return [...list.slice(start), ...list.slice(0, start)]
}

async function hasAddress(client: Reader, { namespace, name }: PodName, ip: string): Promise<boolean> {
  const pod = await client.get<Pod>(pods, namespace, name).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
  return pod?.status?.podIPs?.some((address) => address.ip === ip) === true
}
