// A promise that fails and that nobody waits for is a fault in polyplane, which Node answers by ending the process. Here it would
// end every tenant, as often as one of them finds the way to it (docs/decisions/0018).

import type { Log } from "../client/log.ts"

export const strayRejection = "a promise failed that nobody waited for: a fault in polyplane itself"

/** For commands that serve many: such a fault is told, with its stack, and the process goes on. Exceptions still end it. */
export function surviveStrayRejections(log: Log): void {
  process.on("unhandledRejection", (error) => log.error({ err: error }, strayRejection))
}
