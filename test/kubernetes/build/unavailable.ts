// The build is impossible on this machine for a reason outside the built program, such as missing Go or network access.

export class UnavailableError extends Error {}

/** Exit code of `npm run kubernetes:build` in that case: EX_UNAVAILABLE of sysexits.h. */
export const unavailableExitCode = 69
