// The kubectl versions installed besides the default one: kubectl.1.27, kubectl.1.28, ….

import { existsSync, realpathSync } from "node:fs"
import path from "node:path"

const minors = ["1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33"]

export function installedKubectls(): { minor: string; program: string }[] {
  return minors.flatMap((minor) => {
    const program = find(`kubectl.${minor}`)
    return program === undefined ? [] : [{ minor, program }]
  })
}

/**
 * Removes kubectl's own message about WebSocket from its output: before 1.34 kubectl reads before it has created its streams. The
 * message it then drops is the empty one with which a server reports that the connection is established; the loss of others would
 * be noticed. Source: client-go/tools/remotecommand/websocket.go (readDemuxLoop), apiserver/pkg/util/proxy/websocket.go.
 */
export const withoutEarlyMessage = (printed: string): string =>
  printed.replaceAll(/^E\d{4} .*\bUnknown stream.*, discarding message.*\n/gm, "")

/** Searches PATH, and the folder of the kubectl that a link on PATH points to. */
function find(program: string): string | undefined {
  for (const directory of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const direct = path.join(directory, program)
    if (existsSync(direct)) return direct
    const kubectl = path.join(directory, "kubectl")
    if (!existsSync(kubectl)) continue
    for (const folder of [path.dirname(realpathSync(kubectl)), "/usr/lib/google-cloud-sdk/bin"]) {
      if (existsSync(path.join(folder, program))) return path.join(folder, program)
    }
  }
  return undefined
}
