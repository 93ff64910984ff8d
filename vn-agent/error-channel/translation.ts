// What a runtime says of a command or a port that fails after the protocol switch, on the connection's channel for errors: to the tenant
// without the names that the super cluster has for the pod. All other bytes pass unchanged.

import type { IncomingHttpHeaders } from "node:http"
import type { Translation } from "../../client/http/join.ts"
import type { TenantIdentity } from "../identity.ts"
import type { RoutedRequest } from "../routes.ts"
import { tenantText } from "../translate.ts"
import { spdyErrors } from "./spdy.ts"
import { webSocketErrors } from "./web-socket.ts"

/** `accepted`: the headers of the answer that switches protocols. */
export function errorTranslation(
  identity: TenantIdentity,
  routed: RoutedRequest,
  accepted: IncomingHttpHeaders,
): Translation {
  // Names are ASCII; in this encoding any other bytes stay what they are.
  const translate = (text: Buffer): Buffer =>
    Buffer.from(tenantText(identity, routed, text.toString("latin1")), "latin1")
  if (accepted.upgrade?.toLowerCase() !== "websocket") return spdyErrors(translate)
  const protocol = accepted["sec-websocket-protocol"] ?? ""
  return { fromTarget: webSocketErrors(protocol, routed.action === "portForward", translate) }
}
