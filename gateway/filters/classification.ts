// Reports the flow schema and priority level of the request in response headers, like API priority and fairness. This is only
// informational: requests take turns by tenant (fair-turns.ts). As upstream, streams other than watches have no such headers. Requests
// without credentials have none either, because the headers would reveal which tenants exist.

import { anonymous } from "../authentication/union.ts"
import { isLongRunning } from "../request/long-running.ts"
import type { Flows } from "../registry/flowcontrol/classification.ts"
import type { Filter } from "./chain.ts"

export const withClassification: Filter = (_request, response, next) => {
  const { state } = response.locals
  const { info, user, controlPlane, counts } = state
  if (user === anonymous || (isLongRunning(info) && info.verb !== "watch")) return next()
  const goOn = (flows: Flows): void => {
    const flow = flows.classify(user, info)
    if (flow !== undefined) {
      response.stand(flow.headers)
      if (counts !== undefined) state.flow = flow.series ??= counts.flows.of(flow.schema, flow.level)
    }
    next()
  }
  const flows = controlPlane.flows.current()
  return flows instanceof Promise ? flows.then(goOn) : goOn(flows)
}
