// Authenticates the caller against this control plane's trust roots only. Without a credential the caller is the anonymous user;
// an invalid credential is answered with 401.

import { anonymous } from "../authentication/union.ts"
import type { Authenticated, Authenticator } from "../authentication/types.ts"
import type { Filter } from "./chain.ts"

export const withAuthentication: Filter = (_request, response, next) => {
  const { state } = response.locals
  const goOn = (answer: Authenticated | undefined): void => {
    state.user = answer?.user ?? anonymous
    // A caller with a valid certificate needs no token.
    const warning = answer === undefined ? state.credentials.warning : answer.warning
    if (warning !== undefined) state.warnings.add(warning)
    for (const [name, value] of Object.entries(answer?.annotations ?? {})) state.annotate(name, value)
    state.counts?.authenticated(state.user.name, answer?.certificateEnd)
    next()
  }
  const refuse = (error: unknown): never => {
    state.counts?.refused()
    throw error
  }
  let answer: ReturnType<Authenticator["authenticate"]>
  try {
    answer = state.controlPlane.authenticator.authenticate(state.credentials)
  } catch (error) {
    refuse(error)
  }
  return answer instanceof Promise ? answer.then(goOn, refuse) : goOn(answer)
}
