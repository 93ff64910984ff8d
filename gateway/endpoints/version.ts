// What /version says: the Kubernetes whose API this is, and that it is not that program.

import { release } from "../../apimachinery/schema/facts.ts"

const gitVersion = release()
const [major = "1", minor = "0"] = gitVersion.replace(/^v/, "").split(".")

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
  platform: `${process.platform}/${process.arch}`,
}
