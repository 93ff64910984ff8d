// Writes an OCI image layout (github.com/opencontainers/image-spec, image-layout.md): blobs by digest, and an index that names
// images. A layer is a folder, packed without compression and with the same bytes on every machine.

import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { mkdir, rename, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import { pipeline } from "node:stream/promises"
import { succeed } from "../../../harness/processes.ts"

interface Descriptor {
  mediaType: string
  digest: string
  size: number
  annotations?: Record<string, string>
}

/** The "config" object of an image (image-spec, config.md). */
export interface ImageConfig {
  Entrypoint?: string[]
  Cmd?: string[]
  User?: string
  WorkingDir?: string
  Env?: string[]
  ExposedPorts?: Record<string, object>
}

const mediaType = (name: string): string => `application/vnd.oci.image.${name}`
const defaultPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
const packTimeoutMs = 120_000

export class OCILayout {
  readonly #directory: string
  readonly #manifests: Descriptor[] = []
  /** By folder: images share layers. */
  readonly #layers = new Map<string, Promise<Descriptor>>()
  #incoming = 0

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async create(directory: string): Promise<OCILayout> {
    await mkdir(path.join(directory, "blobs", "sha256"), { recursive: true })
    return new OCILayout(directory)
  }

  /** `layers`: folders, lowest first. Everything in them belongs to root in the image. */
  async add(names: readonly string[], config: ImageConfig, layers: readonly string[]): Promise<void> {
    const packed = await Promise.all(layers.map((folder) => this.#layer(folder)))
    const image = await this.#json(mediaType("config.v1+json"), {
      architecture: "amd64",
      os: "linux",
      config: { Env: [defaultPath], ...config },
      // Uncompressed, so the digest of the blob is the layer's own.
      rootfs: { type: "layers", diff_ids: packed.map(({ digest }) => digest) },
    })
    const manifestType = mediaType("manifest.v1+json")
    const manifest = await this.#json(manifestType, {
      schemaVersion: 2,
      mediaType: manifestType,
      config: image,
      layers: packed,
    })
    for (const name of names) {
      const tag = name.slice(name.lastIndexOf(":") + 1)
      const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": tag }
      this.#manifests.push({ ...manifest, annotations })
    }
  }

  async finish(): Promise<void> {
    const index = { schemaVersion: 2, mediaType: mediaType("index.v1+json"), manifests: this.#manifests }
    await writeFile(path.join(this.#directory, "index.json"), JSON.stringify(index, undefined, 1))
    await writeFile(path.join(this.#directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}')
  }

  #layer(folder: string): Promise<Descriptor> {
    let packing = this.#layers.get(folder)
    if (packing === undefined) this.#layers.set(folder, (packing = this.#pack(folder)))
    return packing
  }

  async #pack(folder: string): Promise<Descriptor> {
    const file = this.#temporary()
    const same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--format=posix"]
    // posix headers otherwise carry times, and the pid of tar.
    const headers = "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"
    await succeed("tar", ["-C", folder, ...same, headers, "-cf", file, "."], { timeoutMs: packTimeoutMs })
    return this.#keep(mediaType("layer.v1.tar"), file)
  }

  async #json(type: string, value: unknown): Promise<Descriptor> {
    const file = this.#temporary()
    await writeFile(file, JSON.stringify(value))
    return this.#keep(type, file)
  }

  async #keep(type: string, file: string): Promise<Descriptor> {
    const hash = createHash("sha256")
    await pipeline(createReadStream(file), hash)
    const digest = hash.digest("hex")
    const { size } = await stat(file)
    await rename(file, path.join(this.#directory, "blobs", "sha256", digest))
    return { mediaType: type, digest: `sha256:${digest}`, size }
  }

  #temporary(): string {
    return path.join(this.#directory, `incoming-${this.#incoming++}`)
  }
}
