// The folders that images are made of, out of Debian's programs and our own builds. Each function fills one folder; `work` has
// the unpacked Debian packages and the compiled helpers.

import { chmod, copyFile, cp, mkdir, realpath, symlink, writeFile } from "node:fs/promises"
import path from "node:path"
import { run, succeed } from "../../../harness/processes.ts"
import { binDirectory } from "../layout.ts"
import { exists, systemPath } from "../machine.ts"

export interface Sources {
  /** With the folder `debian`, where packages that are not installed lie unpacked. */
  work: string
  /** Of the module k8s.io/kubernetes. */
  kubernetes: string
}

type Layer = (folder: string, sources: Sources) => Promise<void>

/** Of the C library: loaded by name when a program looks up a user or a host. */
const nameServices = ["files", "dns"].map((name) => `/lib/x86_64-linux-gnu/libnss_${name}.so.2`)

/** Programs go to /usr/bin, shared libraries to where they were. */
async function addPrograms(folder: string, programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    const file = await realpath(await find(program))
    await place(file, path.join(folder, "usr/bin", path.basename(file)))
    // It exits with an error for static programs.
    const { stdout } = await run("ldd", [file])
    const libraries = [...stdout.matchAll(/(\/\S+)/g)]
      .map(([, library]) => library ?? "")
      .filter((it) => !it.endsWith(":"))
    for (const library of [...libraries, ...nameServices]) {
      const to = path.join(folder, library)
      if (!(await exists(to))) await place(await realpath(library), to)
    }
  }
}

async function find(program: string): Promise<string> {
  if (path.isAbsolute(program)) return program
  for (const directory of systemPath.split(":")) {
    const file = path.join(directory, program)
    if (await exists(file)) return file
  }
  throw new Error(`${program} is not installed`)
}

async function place(from: string, to: string, mode = 0o755): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true })
  await copyFile(from, to)
  await chmod(to, mode)
}

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, content)
  }
}

async function link(folder: string, links: Record<string, string>): Promise<void> {
  for (const [name, target] of Object.entries(links)) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await symlink(target, file)
  }
}

const built = (name: string): string => path.join(binDirectory, name)
const programLayer =
  (name: string, to: string): Layer =>
  (folder) =>
    place(built(name), path.join(folder, to))

const users = {
  "etc/passwd":
    "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1:daemon:/usr/sbin:/bin/false\nnobody:x:65534:65534:nobody:/home:/bin/false\n",
  "etc/group": "root:x:0:\ndaemon:x:1:\nusers:x:100:\nnobody:x:65534:\n",
}

/** busybox, as a whole small system. */
const base: Layer = async (folder, { work }) => {
  const directories = ["bin", "sbin", "usr/sbin", "usr/local/bin", "root", "home", "proc", "sys", "dev", "var/run"]
  for (const name of directories) await mkdir(path.join(folder, name), { recursive: true })
  for (const name of ["tmp", "var/tmp"]) {
    await mkdir(path.join(folder, name), { recursive: true })
    await chmod(path.join(folder, name), 0o1777)
  }
  const busybox = path.join(work, "debian/bin/busybox")
  await addPrograms(folder, [busybox, "wget"])
  await place(busybox, path.join(folder, "bin/busybox"))
  await place(path.join(work, "shell"), path.join(folder, "bin/sh"))
  // Its own wget crashes on -T, which the suite uses.
  const applets = (await succeed(busybox, ["--list"])).trim().split("\n")
  const own = new Set(["sh", "busybox", "wget"])
  await link(
    folder,
    Object.fromEntries(applets.filter((it) => !own.has(it)).map((it) => [`bin/${it}`, "/bin/busybox"])),
  )
  await link(folder, { "bin/wget": "/usr/bin/wget" })
  await write(folder, {
    ...users,
    "etc/nsswitch.conf": "hosts: files dns\npasswd: files\ngroup: files\n",
    // The suite reads it, in images that are Alpine's elsewhere.
    "etc/os-release": 'NAME="Alpine Linux"\n',
  })
}

const networkPrograms = ["curl", "dig", "host", "ip", "iperf", "nc", "nslookup", "ss"]
const agnhost: Layer = async (folder) => {
  await addPrograms(folder, ["bash", "dash", "getent", "lsns", "nsenter", "setpriv", "unshare", ...networkPrograms])
  await link(folder, {
    ...Object.fromEntries(["bash", "ip", "nsenter", "nslookup"].map((name) => [`bin/${name}`, `/usr/bin/${name}`])),
    "bin/nc": "/usr/bin/nc.openbsd",
    "usr/bin/nc": "nc.openbsd",
    "bin/sh": "/usr/bin/dash",
    "sbin/ip": "/usr/bin/ip",
    "usr/local/bin/iperf": "/usr/bin/iperf",
    "agnhost-2": "agnhost",
  })
  await place(built("agnhost"), path.join(folder, "agnhost"))
  await mkdir(path.join(folder, "uploads"))
  const key = path.join(folder, "localhost.key")
  await succeed("openssl", [
    ..."req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=localhost".split(" "),
    ..."-addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout".split(" "),
    key,
    "-out",
    path.join(folder, "localhost.crt"),
  ])
  await chmod(key, 0o644)
  await write(folder, {
    "etc/passwd": `${users["etc/passwd"]}user-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n`,
    "etc/group": `${users["etc/group"]}user-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n`,
  })
}

const page =
  (name: string): Layer =>
  async (folder, { kubernetes }) => {
    await cp(path.join(kubernetes, "test/images", name, "html"), folder, { recursive: true })
    await succeed("chmod", ["-R", "u+w", folder])
  }

const nginxConfiguration = `user nobody;
worker_processes 1;
pid /run/nginx.pid;
error_log /dev/stderr;
events { worker_connections 256; }
http {
  access_log /dev/stdout;
  server { listen 80; root /usr/share/nginx/html; index index.html; }
}
`
const nginx: Layer = async (folder, { work }) => {
  await addPrograms(folder, [path.join(work, "debian/usr/sbin/nginx")])
  for (const name of ["var/log/nginx", "var/lib/nginx", "run"])
    await mkdir(path.join(folder, name), { recursive: true })
  await link(folder, { "usr/sbin/nginx": "/usr/bin/nginx" })
  await write(folder, {
    "etc/nginx/nginx.conf": nginxConfiguration,
    "usr/share/nginx/html/index.html":
      "<html><head><title>Welcome to nginx!</title></head><body><h1>Welcome to nginx!</h1></body></html>\n",
  })
}

/** Starts the two others: one uses the processor, the other memory. */
const resourceConsumer: Layer = async (folder, { work }) => {
  await addPrograms(folder, [path.join(work, "debian/usr/bin/stress")])
  await place(built("resource-consumer"), path.join(folder, "consumer"))
  await place(built("consume-cpu"), path.join(folder, "consume-cpu/consume-cpu"))
}

export const layers = {
  base,
  agnhost,
  nginx,
  resourceConsumer,
  nautilus: page("nautilus"),
  kitten: page("kitten"),
  coredns: programLayer("coredns", "coredns"),
  etcd: programLayer("etcd", "usr/local/bin/etcd"),
  sampleAPIServer: programLayer("sample-apiserver", "sample-apiserver"),
  pause: (folder, { work }) => place(path.join(work, "pause"), path.join(folder, "pause")),
  /** The set-uid bit is the point of it. */
  effectiveUID: (folder, { work }) =>
    place(path.join(work, "effective-uid"), path.join(folder, "usr/local/bin/nnp"), 0o6755),
  /** An image that differs from the older one, so that an update is one. */
  newer: (folder) => write(folder, { "etc/nginx-version": "1.27\n" }),
} satisfies Record<string, Layer>

export type LayerName = keyof typeof layers
