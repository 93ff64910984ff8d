// It cannot be done on this machine, which is not the fault of what was to be built: Go or the network is absent, for instance.

export class UnavailableError extends Error {}

/** What `npm run kubernetes:build` ends with then: EX_UNAVAILABLE of sysexits.h. */
export const unavailableExitCode = 69
