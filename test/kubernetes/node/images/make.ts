// npm run kubernetes:build images: every image the conformance suite names, made on this machine. No registry outside is asked.
// The result is an OCI layout, for the registry of a cluster, and the same unpacked, for its nodes to start with.

import { createHash } from "node:crypto"
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import { run, succeed } from "../../../harness/processes.ts"
import { binDirectory, here, images, kubernetesVersion } from "../layout.ts"
import { debianPackages, exists, systemPath, whyNotThisMachine } from "../machine.ts"
import { recipes } from "./images.ts"
import { layers, type LayerName, type Sources } from "./layers.ts"
import { OCILayout } from "./oci-layout.ts"

const builtPrograms = [
  "agnhost",
  "consume-cpu",
  "containerd",
  "coredns",
  "ctr",
  "etcd",
  "resource-consumer",
  "sample-apiserver",
]
const longMs = 300_000
/** Unpacked, never installed: busybox would replace the one that is there, nginx would start a web server. */
const unpackedPackages = ["busybox", "nginx", "stress"]

/** What is up to date stays. Answers false when there was nothing to do. Fails with a sentence. */
export async function makeImages(say: (what: string) => void): Promise<boolean> {
  const stamp = await currentStamp()
  if ((await exists(images.stamp)) && (await readFile(images.stamp, "utf8")) === stamp) return false
  const why = await whyNotThisMachine()
  if (why !== undefined) throw new Error(why)
  await installPackages(say)
  await Promise.all(Object.values(images).map((it) => rm(it, { recursive: true, force: true })))
  await mkdir(images.work, { recursive: true })
  const sources: Sources = { work: images.work, kubernetes: await kubernetesSources() }
  say("helpers")
  await compileHelpers(images.work)
  await unpackPackages(path.join(images.work, "debian"))
  const folders = await makeLayers(sources, say)
  const layout = await OCILayout.create(images.layout)
  for (const { names, config, layers: used } of recipes) {
    say(names[0] ?? "")
    await layout.add(
      names,
      config,
      used.map((name) => folders.get(name) ?? ""),
    )
  }
  await layout.finish()
  say("unpacking")
  await mkdir(images.root, { recursive: true })
  const unpack = ["bash", here("images/unpack.sh"), binDirectory, images.layout, images.root]
  await succeed("unshare", ["--mount", "--pid", "--fork", "--kill-child", ...unpack], { timeoutMs: longMs })
  await rm(images.work, { recursive: true })
  await writeFile(`${images.stamp}.new`, stamp)
  await rename(`${images.stamp}.new`, images.stamp)
  return true
}

/** Of all that goes into images: these files, and the programs built from Go. */
async function currentStamp(): Promise<string> {
  const hash = createHash("sha256").update(kubernetesVersion)
  for (const name of (await readdir(here("images"), { recursive: true })).sort()) {
    const file = here(`images/${name}`)
    if ((await stat(file)).isFile() && !name.endsWith(".test.ts")) hash.update(name).update(await readFile(file))
  }
  for (const name of builtPrograms) {
    const file = path.join(binDirectory, name)
    if (!(await exists(file))) throw new Error(`images need ${name}: npm run kubernetes:build`)
    const { size, mtimeMs } = await stat(file)
    hash.update(`${name} ${size} ${mtimeMs}`)
  }
  return hash.digest("hex")
}

async function installPackages(say: (what: string) => void): Promise<void> {
  const { stdout } = await run("dpkg-query", [
    "--show",
    "--showformat",
    "${Package} ${db:Status-Status}\n",
    ...debianPackages,
  ])
  const installed = new Set(
    stdout.split("\n").flatMap((line) => (line.endsWith(" installed") ? [line.split(" ")[0]] : [])),
  )
  const absent = debianPackages.filter((name) => !installed.has(name))
  if (absent.length === 0) return
  say(`apt-get install ${absent.join(" ")}`)
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  await succeed("apt-get", ["update", "-qq"], { env, timeoutMs: longMs })
  await succeed("apt-get", ["install", "-qq", "-y", "--no-install-recommends", ...absent], { env, timeoutMs: longMs })
}

async function compileHelpers(work: string): Promise<void> {
  for (const name of ["pause", "shell"])
    await succeed("cc", ["-Os", "-static", "-o", path.join(work, name), here(`images/${name}.c`)])
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "-buildvcs=false" }
  const output = path.join(work, "effective-uid")
  await succeed("go", ["build", "-trimpath", "-ldflags", "-s -w", "-o", output, "."], {
    cwd: here("images/effective-uid"),
    env,
    timeoutMs: longMs,
  })
}

async function unpackPackages(to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const env = { ...process.env, PATH: `${systemPath}:${process.env["PATH"] ?? ""}` }
  const download = ["-qq", "-o", "APT::Sandbox::User=root", "download", ...unpackedPackages]
  const first = await run("apt-get", download, { cwd: to, env, timeoutMs: longMs })
  if (first.code !== 0) {
    await succeed("apt-get", ["update", "-qq"], { env, timeoutMs: longMs })
    await succeed("apt-get", download, { cwd: to, env, timeoutMs: longMs })
  }
  for (const name of await readdir(to))
    if (name.endsWith(".deb")) await succeed("dpkg-deb", ["-x", name, "."], { cwd: to, env })
}

async function makeLayers(sources: Sources, say: (what: string) => void): Promise<Map<LayerName, string>> {
  const folders = new Map<LayerName, string>()
  for (const name of new Set(recipes.flatMap((recipe) => recipe.layers))) {
    say(`layer ${name}`)
    const folder = path.join(sources.work, "layers", name)
    await mkdir(folder, { recursive: true })
    await layers[name](folder, sources)
    folders.set(name, folder)
  }
  return folders
}

/** The module lies in Go's cache since the suite was built from it. */
async function kubernetesSources(): Promise<string> {
  const described = await succeed("go", ["mod", "download", "-json", `k8s.io/kubernetes@${kubernetesVersion}`], {
    timeoutMs: longMs,
    env: { ...process.env, GOFLAGS: "-mod=mod", GOWORK: "off" },
  })
  return (JSON.parse(described) as { Dir: string }).Dir
}

if (import.meta.main) {
  try {
    const made = await makeImages((what) => process.stderr.write(`${what}\n`))
    process.stdout.write(`${made ? "made" : "up to date"}: ${images.layout}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
