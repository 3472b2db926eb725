// Writes NOTICES.txt: the licenses of the packages whose code the built files contain.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENSE_FILE = /^(?:licen[cs]e|notice|copying|thirdpartynotices)/i;
const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const RULE = "=".repeat(78);

const HEADER = `Third parties' notices

The files in this folder are built from gateway/graphiql and contain code of these packages.
`;

function licenses(folder) {
  const files = readdirSync(folder).filter((name) => LICENSE_FILE.test(name));
  return files.sort().map((name) => readFileSync(join(folder, name), "utf8").trim());
}

// A package without a license file of its own is covered by that of its repository: the nearest
// sibling that ships it.
function borrowed(manifest, others) {
  const home = (other) => other.repository?.url ?? other.repository;
  return others.find((other) => other.texts.length && home(other) === home(manifest))?.texts;
}

export class Notices {
  #folders = new Set();

  // Notes the package of each module that went into a chunk: of the page, and of each worker.
  collector() {
    return {
      name: "collect-notices",
      generateBundle: (_options, bundle) => {
        for (const chunk of Object.values(bundle)) {
          for (const [id, module] of Object.entries(chunk.modules ?? {})) {
            if (module.renderedLength > 0 || /\.css(?:\?|$)/.test(id)) this.#note(id);
          }
        }
      },
    };
  }

  writer() {
    return {
      name: "write-notices",
      generateBundle: {
        order: "post",
        handler: this.#emit(this),
      },
    };
  }

  #emit(notices) {
    return function emit() {
      this.emitFile({ type: "asset", fileName: "NOTICES.txt", source: notices.text() });
    };
  }

  #note(id) {
    const folder = PACKAGE.exec(id.replace(/^\0/, "").replaceAll("\\", "/"))?.[1];
    if (folder && existsSync(join(folder, "package.json"))) this.#folders.add(folder);
  }

  text() {
    const packages = [...this.#folders].map((folder) => ({
      ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
      texts: licenses(folder),
    }));
    const sections = new Map();
    for (const manifest of packages) {
      const texts = manifest.texts.length ? manifest.texts : borrowed(manifest, packages);
      if (!texts) throw new Error(`no license text for ${manifest.name}@${manifest.version}`);
      const title = `${manifest.name} ${manifest.version} (${manifest.license})`;
      sections.set(title, texts.join("\n\n"));
    }
    const ordered = [...sections].sort(([a], [b]) => (a < b ? -1 : 1));
    const body = ordered.map(([title, text]) => `${RULE}\n${title}\n${RULE}\n\n${text}\n`);
    return [HEADER, ...body].join("\n").replace(/\r\n/g, "\n");
  }
}
