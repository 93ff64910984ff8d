// Who is the caller, by this control plane's trust roots only. No credential at all is the anonymous user; a bad one is 401.

import { anonymous } from "../authentication/union.ts"
import type { Filter } from "./state.ts"

export const withAuthentication: Filter = async (_request, response, next) => {
  const { state } = response.locals
  const answer = await state.controlPlane.authenticator.authenticate(state.credentials)
  state.user = answer?.user ?? anonymous
  next()
}
