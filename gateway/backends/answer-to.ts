// The head of an untrusted server's response to a request.

import type { ClientRequest, IncomingMessage } from "node:http"
import { pushOrGather } from "../../client/http/small-pieces.ts"

/** In the words of client-go for a code that it does not expect. */
export class UnexpectedUpgrade extends Error {
  override readonly name = "UnexpectedUpgrade"

  constructor() {
    super("the server responded with the status code 101 but did not return more information")
  }
}

/** Rejects if there is none. */
export function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request.on("response", (answer) => resolve(Object.assign(answer, { push: pushOrGather })))
  request.on("error", reject)
  // Without this listener Node closes the connection and tells nobody, not even when the request's signal is aborted.
  request.on("upgrade", (_, socket) => {
    socket.destroy()
    reject(new UnexpectedUpgrade())
  })
  return promise
}
