// What is told of something that was thrown, which in JavaScript may be anything.

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
