// An unhandled promise rejection is a bug in polyplane, for which Node ends the process by default. Here that would end the
// control planes of all tenants, as often as one of them triggers the bug (docs/decisions/0018).

import type { Log } from "../client/log.ts"

export const unhandledRejection = "unhandled promise rejection: a bug in polyplane, please report it"

/**
 * For commands that serve many tenants: logs such a rejection with its stack, and the process continues. Exceptions still end it.
 */
export function logUnhandledRejections(log: Log): void {
  process.on("unhandledRejection", (error) => log.error({ err: error }, unhandledRejection))
}
