// pods/exec, attach and portforward: the client's protocol switch is forwarded to the node unchanged (WebSocket or SPDY).
// One exception: kubectl's port-forward carries SPDY inside WebSocket messages (KEP-4006), which no kubelet unwraps.

import { uintFault } from "../../../../../apimachinery/go/integers.ts"
import { goQuote } from "../../../../../apimachinery/go/quote.ts"
import { errorMessage } from "../../../../../apimachinery/error-message.ts"
import { badRequest, forbidden, internalError, StatusError } from "../../../../../apimachinery/status.ts"
import { forwardUpgrade, UpgradeRefused } from "../../../../../client/http/upgrade.ts"
import { admitConnect } from "../../../../admission/admit.ts"
import type { RequestContext } from "../../../../request/context.ts"
import type { SubresourceHandler } from "../../../strategy.ts"
import { chooseContainer, dialNode, getPod, kubeletPath } from "./location.ts"
import { connectOptions, connectQuery } from "./options.ts"
import { refusedByNode } from "./refusal.ts"
import { isTunnelled, tunnel } from "./websocket-tunnel.ts"

export const exec: SubresourceHandler = streamHandler("exec", "PodExecOptions", "exec", (asked) => {
  const command = asked.getAll("command")
  if (command.every((word) => word === "")) throw badRequest("you must specify at least one command for exec")
  const query = standardStreams(asked)
  for (const word of command) query.append("command", word)
  return query
})

export const attach: SubresourceHandler = streamHandler("attach", "PodAttachOptions", "attach", standardStreams)

const maxPort = 65_535n

export const portForward: SubresourceHandler = streamHandler(
  "portforward",
  "PodPortForwardOptions",
  "portForward",
  (asked) => {
    const query = new URLSearchParams()
    for (const ports of asked.getAll("ports")) {
      for (const port of ports.split(",")) {
        const fault = uintFault(port, maxPort)
        if (fault !== undefined)
          throw badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${goQuote(port)}: ${fault}`)
        query.append("port", port)
      }
    }
    return query
  },
)

function streamHandler(
  name: string,
  optionsKind: string,
  action: string,
  toQuery: (asked: URLSearchParams) => URLSearchParams,
): SubresourceHandler {
  return {
    async connect(ctx, registry, namespace, podName, exchange) {
      const { request, upgrade } = exchange
      if (action === "portForward") toQuery(ctx.query) // invalid options are reported first
      const options = connectOptions(optionsKind, ctx.query)
      await admitConnect(ctx, registry.definition, options)
      const asked = connectQuery(options)
      await confirmMayCreate(ctx)
      const pod = await getPod(ctx, registry, namespace, podName)
      const container = action === "portForward" ? undefined : chooseContainer(pod, asked.get("container"))
      const target = await dialNode(ctx, pod)
      if (target === undefined) throw badRequest(`pod ${podName} does not have a host assigned`)
      const query = toQuery(asked) // upstream leaves this check to the kubelet
      if (upgrade === undefined) throw badRequest("Upgrade request required")
      const path = kubeletPath(action, pod, container, query)
      try {
        const { holdUnsent: hold, signal } = ctx
        if (isTunnelled(request)) await tunnel({ ...exchange, upgrade }, { ...target, path }, { hold, signal })
        else await forwardUpgrade(request, upgrade, { ...target, path }, { hold, signal })
      } catch (error) {
        throw refused(name, error)
      }
    },
  }
}

/** WebSockets are opened by GET, but permission to read must not suffice to run something in a pod. */
async function confirmMayCreate({ controlPlane, info, user }: RequestContext): Promise<void> {
  if (info.verb === "create") return
  const { decision, reason } = await controlPlane.authorizer.authorize({ ...info, user, verb: "create" })
  if (decision !== "Allow") throw forbidden({ group: info.group, resource: info.resource }, info.name, reason)
}

/** stdin, stdout, stderr, tty of the API are input, output, error, tty of the kubelet. */
function standardStreams(asked: URLSearchParams): URLSearchParams {
  const isTrue = (name: string): boolean => ["true", "1"].includes(asked.get(name) ?? "")
  const tty = isTrue("tty")
  const query = new URLSearchParams()
  if (isTrue("stdin")) query.set("input", "1")
  if (isTrue("stdout")) query.set("output", "1")
  // A terminal has no separate stderr.
  if (isTrue("stderr") && !tty) query.set("error", "1")
  if (tty) query.set("tty", "1")
  if (!query.has("input") && !query.has("output") && !query.has("error")) {
    throw badRequest("you must specify at least 1 of stdin, stdout, stderr")
  }
  return query
}

function refused(name: string, error: unknown): StatusError {
  if (error instanceof StatusError) return error
  if (error instanceof UpgradeRefused) return refusedByNode(error.code, error.message, error)
  return internalError(`error dialing backend of ${name}: ${errorMessage(error)}`, {
    cause: error,
  })
}
