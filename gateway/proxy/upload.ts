// The body of a request that is sent on.

import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http"
import { gatherSmallWrites } from "../../client/http/small-pieces.ts"
import { countUpload, type HoldUnsent } from "../../client/http/unsent.ts"

/**
 * The head does not wait for the first bytes of the body longer than for those that came with it: a server may answer it, or say something
 * before its answer, and the client may wait for that. Source: FlushHeaders in Go's net/http/transfer.go.
 */
export function sendBody(
  client: IncomingMessage,
  request: ClientRequest,
  response: ServerResponse,
  hold: HoldUnsent | undefined,
): void {
  countUpload(client, request, response, hold)
  gatherSmallWrites(request)
  let hasBegun = false // the request does not tell: with headers in a list, Node takes them for sent from the start
  client.once("data", () => (hasBegun = true)).pipe(request)
  setImmediate(() => {
    if (!hasBegun && !request.writableEnded && !request.destroyed) request.flushHeaders()
  })
}
