// pods/proxy: HTTP to a port of a pod.

import { isGlobalUnicast, joinHostPort, parseLooseAddress, unmapped } from "../../../../../apimachinery/addresses.ts"
import type { Pod } from "../../../../../apimachinery/object.ts"
import { badRequest } from "../../../../../apimachinery/status.ts"
import { type Locate, serveProxy } from "../../../../proxy/serve.ts"
import type { SubresourceHandler } from "../../../strategy.ts"
import { getPod } from "./location.ts"

const defaultPorts = { http: 80, https: 443 } as const

export const proxy: SubresourceHandler = {
  connect: (ctx, registry, _namespace, _name, exchange) =>
    serveProxy(ctx, registry, exchange, { what: "pod", kind: "PodProxyOptions", locate }),
}

const locate: Locate = async (ctx, registry, { scheme, name, port }) => {
  const pod = await getPod(ctx, registry, ctx.info.namespace, name)
  const podIP = pod.status?.podIP ?? ""
  const address = parseLooseAddress(podIP)
  if (address === undefined || !isGlobalUnicast(unmapped(address))) throw badRequest("address not allowed")
  const asked = port === "" ? firstPort(pod) : port
  const number = Number(asked ?? defaultPorts[scheme])
  const { backends } = ctx.controlPlane
  return {
    // As in links of the pod to itself.
    host: asked === undefined ? (podIP.includes(":") ? `[${podIP}]` : podIP) : joinHostPort(podIP, number),
    dial: (signal) => {
      if (!Number.isInteger(number) || number < 1 || number > 65535)
        throw new Error(`dial tcp: lookup tcp/${port}: unknown port`)
      return backends.dialPod(pod, number, signal)
    },
  }
}

function firstPort({ spec }: Pod): number | undefined {
  for (const { ports } of spec?.containers ?? []) if (ports?.[0] !== undefined) return ports[0].containerPort
  return undefined
}
