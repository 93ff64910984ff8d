/** Why a gateway cannot start, in one sentence for the person who started it. */
export class StartError extends Error {
  override readonly name = "StartError"
}
