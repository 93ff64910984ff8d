// Runs before `npm start` and `npm test`: installs what package-lock.json specifies if node_modules is missing or was created
// from another lock file. Plain JavaScript for any Node with which npm runs; imports nothing that would have to be installed
// first.

import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = new URL("../", import.meta.url)
const stamp = new URL("node_modules/.polyplane-lock", root)
const lock = createHash("sha256")
  .update(readFileSync(new URL("package-lock.json", root)))
  .digest("hex")

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  process.stderr.write("polyplane: installing packages from package-lock.json (about 20 seconds) …\n")
  try {
    execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
      cwd: fileURLToPath(root),
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    })
  } catch {
    process.stderr.write("polyplane: `npm ci` failed; its message is above. Run it by hand, then try again.\n")
    process.exit(1)
  }
  writeFileSync(stamp, lock)
}
