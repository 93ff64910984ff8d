// pods/log: GET only; streams the kubelet's bytes.

import { request as httpsRequest } from "node:https"
import type { IncomingMessage } from "node:http"
import { pipeline } from "node:stream/promises"
import { errorMessage } from "../../../../../apimachinery/error-message.ts"
import { FieldPath, forbiddenField, invalidValue, type FieldError } from "../../../../../apimachinery/field-errors.ts"
import { parseInt64 } from "../../../../../apimachinery/go/integers.ts"
import { canonicalScalar } from "../../../../../apimachinery/schema/scalars.ts"
import { badRequest, invalid, serviceUnavailable } from "../../../../../apimachinery/status.ts"
import { tcpKeepAlive } from "../../../../../client/http/tcp-keep-alive.ts"
import { gatherSmallWrites } from "../../../../../client/http/small-pieces.ts"
import { countUnsent } from "../../../../../client/http/unsent.ts"
import type { UpgradeTarget } from "../../../../../client/http/upgrade.ts"
import { answerTo } from "../../../../backends/answer-to.ts"
import type { RequestContext } from "../../../../request/context.ts"
import { isWebSocket } from "../../../../request/web-socket.ts"
import type { SubresourceHandler } from "../../../strategy.ts"
import { chooseContainer, dialNode, getPod, kubeletPath } from "./location.ts"
import { refusedLog } from "./refusal.ts"
import { streamOverWebSocket } from "./websocket-stream.ts"

/** Maximum number of bytes of a kubelet's error text that are returned. */
const maxErrorBytes = 16 * 1024

export const log: SubresourceHandler = {
  produces: ["text/plain"],

  async connect(ctx, registry, namespace, name, { request, response, upgrade, refused }) {
    const query = logQuery(ctx.query, name)
    const pod = await getPod(ctx, registry, namespace, name)
    const container = chooseContainer(pod, ctx.query.get("container"))
    const target = await dialNode(ctx, pod)
    if (refused !== undefined) throw refused
    if (target === undefined) {
      // A pod without a node has no log yet; upstream also responds with 204.
      response.writeHead(204).end()
      return
    }
    const answer = await fetch(ctx, { ...target, path: kubeletPath("containerLogs", pod, container, query) })
    if (answer.statusCode !== 200) throw refusedLog(answer.statusCode ?? 0, await beginningOf(answer), name)
    const { holdUnsent: hold } = ctx
    if (upgrade !== undefined && isWebSocket(request)) return streamOverWebSocket(request, upgrade, answer, hold)
    response.writeHead(200, { "content-type": "text/plain" })
    response.flushHeaders()
    countUnsent(answer, response, hold)
    gatherSmallWrites(response)
    // One side has disconnected; the other gets a truncated stream. (kube-apiserver ends a log of a dead kubelet as if it were complete.)
    await pipeline(answer, response).catch(() => response.destroy())
  },
}

/** As upstream, syntax errors are reported before the errors of ValidatePodLogOptions. */
function logQuery(asked: URLSearchParams, pod: string): URLSearchParams {
  const query = new URLSearchParams()
  for (const flag of ["follow", "previous", "timestamps"]) {
    const value = asked.get(flag)
    if (value !== null && value.toLowerCase() !== "false" && value !== "0") query.set(flag, "true")
  }
  for (const [field, read] of [
    ["sinceSeconds", parseInt64],
    ["sinceTime", parseTime],
    ["tailLines", parseInt64],
    ["limitBytes", parseInt64],
  ] as const) {
    const text = asked.get(field)
    if (text !== null) query.set(field, String(read(text)))
  }
  const errors: FieldError[] = []
  const confirmAtLeast = (minimum: number, field: string): void => {
    const value = BigInt(query.get(field) ?? minimum)
    if (value >= minimum) return
    errors.push(
      invalidValue(FieldPath.root(field), value, `must be greater than ${minimum === 0 ? "or equal to " : ""}0`),
    )
  }
  confirmAtLeast(0, "tailLines")
  confirmAtLeast(1, "limitBytes")
  if (!query.has("sinceTime")) confirmAtLeast(1, "sinceSeconds")
  else if (query.has("sinceSeconds"))
    errors.push(forbiddenField(FieldPath.root(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"))
  // Upstream's feature gate for it is disabled.
  if (asked.has("stream")) errors.push(forbiddenField(FieldPath.root("stream"), "may not be specified"))
  if (errors.length > 0) throw invalid({ group: "", kind: "PodLogOptions" }, pod, errors)
  return query
}

/** An empty text is Go's zero time and not a missing value. */
function parseTime(text: string): string {
  if (text === "" || text === "null") return "0001-01-01T00:00:00Z"
  try {
    return canonicalScalar("time", text)
  } catch (error) {
    throw badRequest(errorMessage(error), { cause: error })
  }
}

function fetch({ controlPlane, signal }: RequestContext, target: UpgradeTarget): Promise<IncomingMessage> {
  const request = httpsRequest({ ...tcpKeepAlive, ...target, method: "GET", signal })
  controlPlane.nodes.limit(request, target)
  request.end()
  return answerTo(request).catch((error: unknown) => {
    throw serviceUnavailable(`the node of this pod does not answer: ${errorMessage(error)}`, { cause: error })
  })
}

async function beginningOf(answer: IncomingMessage): Promise<string> {
  let text = ""
  answer.setEncoding("utf8")
  for await (const chunk of answer) {
    text += String(chunk)
    if (text.length > maxErrorBytes) break
  }
  return text.trim()
}
