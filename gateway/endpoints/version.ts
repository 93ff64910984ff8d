// The content of /version: the Kubernetes version of the API, and that the server is Polyplane.

import { release } from "../../apimachinery/schema/facts.ts"

const gitVersion = release()
const [major = "1", minor = "0"] = gitVersion.replace(/^v/, "").split(".")

// Go's names, which clients know; for other systems and processors Node's names are used.
const systems: Partial<Record<NodeJS.Platform, string>> = { win32: "windows", sunos: "solaris" }
const processors: Partial<Record<NodeJS.Architecture, string>> = { x64: "amd64", ia32: "386", ppc64: "ppc64le" }

export const versionInfo = {
  major,
  minor,
  emulationMajor: major,
  emulationMinor: minor,
  minCompatibilityMajor: major,
  minCompatibilityMinor: String(Number(minor) - 1),
  gitVersion: `${gitVersion}+polyplane`,
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: `node ${process.version}`,
  platform: `${systems[process.platform] ?? process.platform}/${processors[process.arch] ?? process.arch}`,
}
