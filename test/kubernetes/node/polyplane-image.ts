// Builds the image for the manifests from this working tree and the running Node, without a registry or an image builder. Its
// entry point is the command line, so a container's arguments are a subcommand and its flags.

import { chmod, copyFile, cp, mkdir, realpath, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { repository } from "../../harness/polyplane.ts"
import { run, succeed } from "../../harness/processes.ts"
import { OCILayout } from "./images/oci-layout.ts"

/** The parts needed at run time. */
const parts =
  "apimachinery storage client gateway controllers syncer vn-agent operator simulator cli manifests package.json"
const longMs = 180_000

/** Writes an OCI archive with the image `name` (REPOSITORY:TAG) to `file`, overwriting it. */
export async function makePolyplaneImage(name: string, file: string): Promise<void> {
  const work = `${file}.work`
  await rm(work, { recursive: true, force: true })
  const [system, program] = [path.join(work, "system"), path.join(work, "program")]
  await makeSystem(system)
  await makeProgram(path.join(program, "polyplane"))
  const layout = await OCILayout.create(path.join(work, "layout"))
  const entry = ["/usr/bin/node", "--max-semi-space-size=32", "/polyplane/cli/polyplane.mjs"]
  await layout.add([name], { Entrypoint: entry, User: "65532", WorkingDir: "/" }, [system, program])
  await layout.finish()
  await succeed("tar", ["-C", path.join(work, "layout"), "-cf", file, "."], { timeoutMs: longMs })
  await rm(work, { recursive: true })
}

/** Node and its shared libraries, with their paths on this machine. */
async function makeSystem(folder: string): Promise<void> {
  const libraries = [...(await succeed("ldd", [process.execPath])).matchAll(/(\/\S+)/g)].map(([, file]) => file ?? "")
  const files = new Map([["/usr/bin/node", process.execPath], ...libraries.map((file) => [file, file] as const)])
  for (const [to, from] of files) {
    const target = path.join(folder, to)
    await mkdir(path.dirname(target), { recursive: true })
    await copyFile(await realpath(from), target)
    await chmod(target, 0o755)
  }
  await mkdir(path.join(folder, "tmp"), { recursive: true })
  await chmod(path.join(folder, "tmp"), 0o1777)
  await mkdir(path.join(folder, "etc"), { recursive: true })
  await writeFile(path.join(folder, "etc/passwd"), "root:x:0:0::/:/\npolyplane:x:65532:65532::/:/\n")
}

/** The sources and the installed runtime packages. */
async function makeProgram(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of parts.split(" "))
    await cp(path.join(repository, name), path.join(folder, name), {
      recursive: true,
      filter: (file) => !file.endsWith(".test.ts"),
    })
  // The exit code reports missing optional packages of other platforms.
  const { stdout } = await run("npm", ["ls", "--omit=dev", "--omit=optional", "--all", "--parseable"], {
    cwd: repository,
    timeoutMs: longMs,
  })
  const packages = stdout
    .split("\n")
    .map((file) => path.relative(repository, file))
    .filter((file) => file.startsWith("node_modules"))
  for (const name of packages)
    await cp(path.join(repository, name), path.join(folder, name), { recursive: true, verbatimSymlinks: true })
}
