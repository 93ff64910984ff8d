// Who is the caller, by this control plane's trust roots only. No credential at all is the anonymous user; a bad one is 401.

import { anonymous } from "../authentication/union.ts"
import type { Authenticated } from "../authentication/types.ts"
import type { Filter } from "./state.ts"

export const withAuthentication: Filter = (_request, response, next) => {
  const { state } = response.locals
  const goOn = (answer: Authenticated | undefined): void => {
    state.user = answer?.user ?? anonymous
    next()
  }
  const answer = state.controlPlane.authenticator.authenticate(state.credentials)
  return answer instanceof Promise ? answer.then(goOn) : goOn(answer)
}
