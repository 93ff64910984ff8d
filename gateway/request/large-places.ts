// Limits the requests of one control plane that hold much memory at the same time: the answer to a long list, a part of one that its
// client has not read yet; the body of a write, and the object in it while webhooks are asked. Requests in flight are limited already,
// but not what each of them holds, and clients and webhooks may be slow.
// Each kind has places of its own (places.ts).

/** A request may hold this much without a place. */
export const largeBytes = 512 * 1024

/** Large requests of a control plane at the same time. Beyond: they wait, within their time. */
export const listPlaces = 8
/** Watches are many, so each may hold less. */
export const largeWatchBytes = 64 * 1024
/**
 * Watches of a control plane that hold more at the same time: initial events, changes read from the log, large changes. They do not take
 * the places of lists: their clients may be slow for long.
 */
export const watchPlaces = 16
/** Large bodies of a control plane at the same time, from when they are received until their requests end. Beyond: likewise. */
export const bodyPlaces = 16
