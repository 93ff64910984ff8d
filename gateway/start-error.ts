/** The reason why a gateway cannot start, in one sentence for the user. */
export class StartError extends Error {
  override readonly name = "StartError"
}
