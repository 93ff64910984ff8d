// What /version says: the Kubernetes whose API this is, and that it is not that program.

import { release } from "../../apimachinery/schema/facts.ts"

const gitVersion = release()
const [major = "1", minor = "0"] = gitVersion.replace(/^v/, "").split(".")

// As Go calls them, whose names clients know; others are called as Node calls them.
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
