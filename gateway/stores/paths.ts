// Where in a data directory the stores are (data-directory.ts).

import { join } from "node:path"

/** The uid of the super cluster's store. */
export const superUid = "super"

/** The gateway's own records. */
export const recordsPath = (path: string): string => join(path, "gateway")

/** Contains one directory per control plane, named by its uid. */
export const storesPath = (path: string): string => join(path, "stores")

export function storePath(path: string, uid: string): string {
  if (!/^[\w-]+$/.test(uid)) throw new Error(`not a uid: ${uid}`)
  return join(storesPath(path), uid)
}
