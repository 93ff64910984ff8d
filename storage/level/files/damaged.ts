import { StorageError } from "../../types.ts"

/** `what` continues the sentence. */
export function damaged(directory: string, what: string): StorageError {
  return new StorageError("Corrupt", `store ${directory} is damaged: ${what}`)
}
